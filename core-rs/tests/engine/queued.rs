//! Flush.queued_tasks: what hosts with virtual time need, to know that nothing but time can move a run on.
use super::support::T;

#[test]
fn tasks_that_wait_for_a_poll_are_counted() {
    let mut t = T::new();
    assert_eq!(t.flush().queued_tasks, 0);
    t.start("a");
    t.start("b");
    assert_eq!(t.flush().queued_tasks, 2);
    let task = t.task();
    assert_eq!(t.flush().queued_tasks, 1);
    t.poll_id("q");
    assert_eq!(t.flush().queued_tasks, 0, "a waiting poll takes a task");
    t.fail_task(&task).unwrap();
}
