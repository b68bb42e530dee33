//! Commands that cancel what an earlier command of the same completion has scheduled.
use super::support::*;

#[test]
fn an_activity_is_scheduled_and_canceled_by_one_completion() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![marker("m"), activity("a"), cancel_activity(6), activity("a")]);
    let expected = "Started WTScheduled WTStarted WTCompleted MarkerRecorded ActScheduled ActCancelRequested ActScheduled \
                    ActCanceled WTScheduled";
    assert_eq!(t.shape("w"), expected);
    let pending = t.describe("w", "").expect("a description").pending_activities;
    assert_eq!(pending.len(), 1, "the id is free again");
    assert!(t.try_activity().is_some());
    assert!(t.try_activity().is_none());
    t.check_memory();
    t.restart();
    assert_eq!(t.shape("w"), expected);
}

#[test]
fn an_eager_activity_that_is_canceled_does_not_start() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let eager = activity_with("a", |a| a.request_eager_execution = true);
    assert!(t.complete(&task, vec![eager, cancel_activity(5)]).activity_tasks.is_empty());
    assert!(t.try_activity().is_none());
}

#[test]
fn a_completion_cancels_an_activity_only_after_it_is_scheduled() {
    for commands in [
        vec![cancel_activity(6), activity("a")],
        vec![activity("a"), cancel_activity(6)],
        vec![timer("t", 1_000), cancel_activity(5)],
    ] {
        let mut t = T::new();
        t.start("w");
        let task = t.task();
        let error = t.try_complete(&task, commands).expect_err("a bad command");
        assert!(error.message.starts_with("BadRequestCancelActivityAttributes"), "{}", error.message);
        assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed");
    }
}

#[test]
fn a_transient_task_counts_its_own_events() {
    let mut t = T::new();
    t.start("w");
    for _ in 0..2 {
        let task = t.task();
        t.fail_task(&task).expect("a report");
        t.skip();
    }
    let task = t.task();
    assert!(task.attempt > 1);
    t.complete(&task, vec![activity("a"), cancel_activity(8)]);
    assert_eq!(
        t.shape("w"),
        "Started WTScheduled WTStarted WTFailed WTScheduled WTStarted WTCompleted ActScheduled ActCancelRequested ActCanceled WTScheduled"
    );
}
