//! Updates whose workflow task fails, times out or is refused.
use temporalex_core::api::workflowservice::v1::*;

use super::support::*;
use super::updates::*;

/// Fails the task of this attempt, which carries the update or not; then the time of its back-off passes.
fn fail_attempt(t: &mut T, attempt: i32, updates: usize) {
    let task = t.task();
    assert_eq!((task.attempt, task.messages.len()), (attempt, updates));
    t.fail_task(&task).unwrap();
    t.advance(10_000.0);
}

#[test]
fn an_update_whose_task_fails_three_times_is_aborted_and_the_run_continues() {
    let mut t = T::new();
    t.start("w");
    let u = send(&mut t, "u1", COMPLETED);
    fail_attempt(&mut t, 1, 1);
    fail_attempt(&mut t, 2, 1);
    let error = |t: &mut T, id: u32| {
        let e = t.take::<UpdateWorkflowExecutionResponse>(id).expect("a reply").expect_err("an error");
        (e.code, e.reason, e.message)
    };
    let failed_state = "Unable to perform workflow execution update due to Workflow Task in failed state.";
    let expected = (9, "WorkflowNotReady".to_string(), failed_state.to_string());
    let fresh = send(&mut t, "u2", COMPLETED);
    assert_eq!(error(&mut t, fresh), expected);
    assert!(t.take::<UpdateWorkflowExecutionResponse>(u).is_none(), "two attempts have failed");
    let task = t.task();
    assert_eq!((task.attempt, task.messages.len()), (3, 1));
    t.fail_task(&task).unwrap();
    assert_eq!(error(&mut t, u), expected);
    assert_eq!(t.fail_task(&task).unwrap_err().code, 5, "the task has failed already");
    t.advance(10_000.0);
    let task = t.task();
    assert_eq!((task.attempt, task.messages.len()), (4, 0));
    complete(&mut t, &task, vec![done()], vec![]).unwrap();
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed WTScheduled WTStarted WTCompleted Completed");
}

#[test]
fn an_update_whose_task_times_out_three_times_is_aborted_and_an_accepted_one_is_not() {
    let mut t = running();
    let accepted = send(&mut t, "old", COMPLETED);
    let task = t.sticky_task();
    complete(&mut t, &task, vec![protocol("old/request/accept")], vec![accept(&task.messages[0])]).unwrap();
    let u = send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    assert_eq!(task.messages.len(), 1);
    t.advance(10_000.0); // On the sticky queue, which is not counted.
    for attempt in 1..=3 {
        assert!(t.take::<UpdateWorkflowExecutionResponse>(u).is_none());
        let task = t.task();
        assert_eq!((task.attempt, task.messages.len()), (attempt, 1));
        t.advance(10_000.0);
    }
    assert_eq!(t.take::<UpdateWorkflowExecutionResponse>(u).expect("a reply").unwrap_err().reason, "WorkflowNotReady");
    let task = t.task();
    assert_eq!((task.attempt, task.messages.len()), (4, 0));
    complete(&mut t, &task, vec![protocol("old/complete"), done()], vec![answer("old", "1")]).unwrap();
    assert_eq!(success(&result(&mut t, accepted).outcome), "1");
}

#[test]
fn an_update_whose_task_is_refused_is_aborted_and_the_next_one_is_kept() {
    let mut t = running();
    let sent = send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    let admitted = send(&mut t, "u2", COMPLETED);
    let e = complete(&mut t, &task, vec![protocol("nope")], vec![]).unwrap_err();
    assert_eq!(e.code, 3);
    let e = t.take::<UpdateWorkflowExecutionResponse>(sent).expect("a reply").unwrap_err();
    let text = "Unable to perform workflow execution update due to unexpected workflow task failure.";
    assert_eq!((e.code, e.reason.as_str(), e.message.as_str()), (9, "WorkflowNotReady", text));
    assert!(t.take::<UpdateWorkflowExecutionResponse>(admitted).is_none());
    let task = t.task();
    assert_eq!(task.messages.iter().map(|m| m.protocol_instance_id.as_str()).collect::<Vec<_>>(), ["u2"]);
}
