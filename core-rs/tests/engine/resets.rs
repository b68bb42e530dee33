//! Resets: the new run, what it gets of the events after the reset point, and the runs before it.
use temporalex_core::api::enums::v1::{EventType as E, ResetReapplyExcludeType as X, WorkflowExecutionStatus as Status};
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions};

use super::support::*;
use super::updates::{COMPLETED, complete, running, send, success};

fn request(t: &T, id: &str, run: &str, event: i64) -> ResetWorkflowExecutionRequest {
    ResetWorkflowExecutionRequest {
        namespace: "default".into(),
        workflow_execution: Some(exec(id, run)),
        reason: "again".into(),
        workflow_task_finish_event_id: event,
        request_id: format!("reset-{}", t.next_id),
        ..Default::default()
    }
}

fn try_reset(t: &mut T, id: &str, run: &str, event: i64) -> Answer<ResetWorkflowExecutionResponse> {
    let request = request(t, id, run, event);
    t.call(M::ResetWorkflowExecution, &request)
}

fn reset(t: &mut T, id: &str, event: i64) -> String {
    try_reset(t, id, "", event).expect("a reset").run_id
}

#[test]
fn a_closed_run_continues_from_an_earlier_task() {
    let mut t = T::new();
    let old = t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("t", 1_000)]);
    t.advance(1_000.0);
    let task = t.task();
    t.complete(&task, vec![done()]);
    t.advance(60_000.0);
    let before = t.history("w", &old);
    let new = reset(&mut t, "w", 9);
    assert_ne!(new, old);
    assert_eq!(t.history("w", &old), before, "a closed base keeps its history");
    let h = t.history("w", "");
    assert_eq!(h[..8], before[..8]);
    let shown = "Started WTScheduled WTStarted WTCompleted TimerStarted TimerFired WTScheduled WTStarted WTFailed WTScheduled";
    assert_eq!(shape(&h), shown);
    let A::WorkflowTaskFailedEventAttributes(a) = attrs(&h[8]) else { panic!() };
    assert_eq!((a.scheduled_event_id, a.started_event_id), (7, 8));
    assert_eq!(a.cause, temporalex_core::api::enums::v1::WorkflowTaskFailedCause::ResetWorkflow as i32);
    assert_eq!((a.base_run_id.as_str(), a.new_run_id.as_str(), a.identity.as_str()), (&*old, &*new, "history-service"));
    assert_eq!(a.failure.as_ref().unwrap().message, "again");
    let info = t.describe("w", "").unwrap().workflow_execution_info.unwrap();
    assert_eq!((info.execution.unwrap().run_id, info.status), (new.clone(), Status::Running as i32));
    assert_eq!(info.start_time.unwrap().seconds, (t.now / 1_000.0) as i64, "the new run starts now");
    assert_eq!(t.describe("w", &old).unwrap().workflow_extended_info.unwrap().reset_run_id, new);
    t.check_memory();
    t.restart();
    let task = t.task();
    assert_eq!(shape(events(&task)), format!("{shown} WTStarted"));
    t.complete(&task, vec![done()]);
    assert_eq!(t.status("w"), Status::Completed as i32);
    t.check_memory();
}

#[test]
fn an_open_run_is_terminated_and_its_signals_come_again() {
    let mut t = T::new();
    let old = t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    t.signal("w", "a").unwrap();
    let task = t.task();
    t.signal("w", "b").unwrap();
    let new = reset(&mut t, "w", 4);
    let h = t.history("w", &old);
    let end = "Started WTScheduled WTStarted WTCompleted Signaled WTScheduled WTStarted WTFailed Signaled Terminated";
    assert_eq!(shape(&h), end);
    let A::WorkflowExecutionTerminatedEventAttributes(a) = attrs(h.last().unwrap()) else { panic!() };
    assert_eq!((a.reason.as_str(), a.identity.as_str()), ("again", "history-resetter"));
    assert!(t.try_complete(&task, vec![done()]).is_err(), "the task of the old run is over");
    let h = t.history("w", &new);
    assert_eq!(shape(&h), "Started WTScheduled WTStarted WTFailed Signaled Signaled WTScheduled");
    let names = |i: usize| match attrs(&h[i]) {
        A::WorkflowExecutionSignaledEventAttributes(a) => a.signal_name.clone(),
        _ => panic!(),
    };
    assert_eq!((names(4), names(5)), ("a".into(), "b".into()));
    t.check_memory();
}

#[test]
fn what_is_excluded_does_not_come_again() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    t.signal("w", "a").unwrap();
    let mut r = request(&t, "w", "", 4);
    r.reset_reapply_exclude_types = vec![X::Signal as i32];
    let _: ResetWorkflowExecutionResponse = t.call(M::ResetWorkflowExecution, &r).unwrap();
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed WTScheduled");
    #[allow(deprecated)]
    for kind in [2, 0] {
        let task = t.task();
        t.complete(&task, vec![]);
        t.signal("w", "b").unwrap();
        let mut r = request(&t, "w", "", 4);
        r.reset_reapply_type = kind;
        let _: ResetWorkflowExecutionResponse = t.call(M::ResetWorkflowExecution, &r).unwrap();
        let again = if kind == 2 { "" } else { "Signaled " };
        assert_eq!(t.shape("w"), format!("Started WTScheduled WTStarted WTFailed {again}WTScheduled"));
    }
}

#[test]
fn the_same_request_resets_once() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    let r = request(&t, "w", "", 4);
    let first: ResetWorkflowExecutionResponse = t.call(M::ResetWorkflowExecution, &r).unwrap();
    let second: ResetWorkflowExecutionResponse = t.call(M::ResetWorkflowExecution, &r).unwrap();
    assert_eq!(first.run_id, second.run_id);
    t.restart();
    let third: ResetWorkflowExecutionResponse = t.call(M::ResetWorkflowExecution, &r).unwrap();
    assert_eq!(first.run_id, third.run_id);
    assert_eq!(t.store.runs.len(), 2);
}

#[test]
fn bad_requests_change_nothing() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("t", 60_000)]);
    let range = "Workflow task finish ID must be > 1 && <= workflow last event ID.";
    let place = "Can only reset workflow to event ID in range [WorkflowTaskScheduled +1, WorkflowTaskStarted + 1]";
    for (event, why) in [(1, range.to_string()), (6, range.into()), (2, format!("{place}: 2")), (5, format!("{place}: 5"))] {
        let e = try_reset(&mut t, "w", "", event).unwrap_err();
        assert_eq!((e.code, e.message), (3, why), "event {event}");
    }
    assert_eq!(try_reset(&mut t, "absent", "", 4).unwrap_err().code, 5);
    let mut r = request(&t, "w", "", 4);
    r.request_id.clear();
    let e = t.call::<ResetWorkflowExecutionResponse>(M::ResetWorkflowExecution, &r).unwrap_err();
    assert_eq!((e.code, e.message.as_str()), (3, "RequestId is not set on request."));
    assert_eq!(t.store.runs.len(), 1);
    assert_eq!(t.status("w"), Status::Running as i32);
    t.check_memory();
}

#[test]
fn a_task_that_no_worker_had_is_started_and_fails() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    reset(&mut t, "w", 3);
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed WTScheduled");
    let task = t.task();
    t.complete(&task, vec![done()]);
    t.check_memory();
}

#[test]
fn timers_and_activities_of_the_copied_events_are_pending() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("t", 10_000), activity("a")]);
    t.signal("w", "go").unwrap();
    let task = t.task();
    t.complete(&task, vec![done()]);
    t.advance(4_000.0);
    reset(&mut t, "w", 10);
    let d = t.describe("w", "").unwrap();
    assert_eq!(d.pending_activities.len(), 1);
    t.check_memory();
    t.restart();
    let task = t.activity();
    assert_eq!((task.activity_id.as_str(), task.attempt), ("a", 1));
    t.complete_activity(&task, "1").unwrap();
    let task = t.task();
    t.complete(&task, vec![]);
    t.advance(6_000.0);
    assert!(t.shape("w").contains("TimerFired"), "ten seconds after its start: {}", t.shape("w"));
    t.check_memory();
}

#[test]
fn a_timer_whose_moment_has_passed_fires_at_once() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("t", 1_000)]);
    t.signal("w", "go").unwrap();
    let task = t.task();
    t.complete(&task, vec![done()]);
    t.advance(60_000.0);
    reset(&mut t, "w", 8);
    t.advance(0.0);
    assert!(t.shape("w").contains("TimerFired"), "{}", t.shape("w"));
}

#[test]
fn accepted_updates_are_admitted_again() {
    let mut t = running();
    let u = send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    let m = task.messages[0].clone();
    let commands = vec![protocol("u1/request/accept"), protocol("u1/complete")];
    complete(&mut t, &task, commands, vec![accept(&m), answer("u1", "6")]).unwrap();
    assert_eq!(success(&t.take::<UpdateWorkflowExecutionResponse>(u).unwrap().unwrap().outcome), "6");
    reset(&mut t, "w", 4);
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed UpdateAdmitted WTScheduled");
    t.check_memory();
    t.restart();
    let again = send(&mut t, "u1", COMPLETED);
    let task = t.task();
    assert!(task.messages.is_empty(), "the event has the request");
    let mut accepted = accept(&m);
    let mut response = answer("u1", "7");
    (accepted.id, response.id) = ("a".into(), "b".into());
    complete(&mut t, &task, vec![protocol("a"), protocol("b")], vec![accepted, response]).unwrap();
    assert_eq!(success(&t.take::<UpdateWorkflowExecutionResponse>(again).unwrap().unwrap().outcome), "7");
    t.check_memory();
    // Again, from a point after the admission.
    reset(&mut t, "w", 8);
    assert_eq!(t.shape("w").split(' ').nth(7), Some("WTFailed"));
    t.check_memory();
}

#[test]
fn signals_of_runs_that_continued_come_again() {
    let mut t = T::new();
    let first = t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    t.signal("w", "a").unwrap();
    let task = t.task();
    t.complete(&task, vec![continue_as_new(|_| {})]);
    t.signal("w", "b").unwrap();
    let second = t.describe("w", "").unwrap().workflow_execution_info.unwrap().execution.unwrap().run_id;
    t.restart();
    try_reset(&mut t, "w", &first, 4).unwrap();
    assert_eq!(t.describe("w", &second).unwrap().workflow_execution_info.unwrap().status, Status::Terminated as i32);
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed Signaled Signaled WTScheduled");
    t.check_memory();
}

#[test]
fn signals_of_each_run_of_a_longer_chain_come_again() {
    let mut t = T::new();
    let first = t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    for name in ["a", "b"] {
        t.signal("w", name).unwrap();
        let task = t.task();
        t.complete(&task, vec![continue_as_new(|_| {})]);
    }
    t.signal("w", "c").unwrap();
    // No run is in memory, so each is loaded for its state or its history.
    t.restart();
    try_reset(&mut t, "w", &first, 4).unwrap();
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed Signaled Signaled Signaled WTScheduled");
    t.check_memory();
}

fn with_child(t: &mut T) -> String {
    t.start("p");
    let task = t.task();
    t.complete(&task, vec![child_with("c", |a| a.parent_close_policy = 1)]);
    let task = t.task();
    t.complete(&task, vec![]);
    t.describe("c", "").unwrap().workflow_execution_info.unwrap().execution.unwrap().run_id
}

#[test]
fn a_child_stays_with_the_new_run() {
    let mut t = T::new();
    let child_run = with_child(&mut t);
    // After the child has started.
    let new = reset(&mut t, "p", 9);
    assert_eq!(t.status("c"), Status::Running as i32, "the close policy is not for a reset");
    assert_eq!(t.describe("p", "").unwrap().pending_children[0].run_id, child_run);
    t.restart();
    let of_child = t.task_on("c");
    t.complete(&of_child, vec![done()]);
    let h = t.history("p", &new);
    let A::ChildWorkflowExecutionCompletedEventAttributes(a) = attrs(find(&h, E::ChildWorkflowExecutionCompleted)) else {
        panic!()
    };
    assert_eq!((a.initiated_event_id, a.started_event_id), (5, 6));
    assert!(t.describe("p", "").unwrap().pending_children.is_empty());
    t.check_memory();
}

#[test]
fn a_child_of_the_copied_events_ends_with_the_new_run() {
    let mut t = T::new();
    with_child(&mut t);
    reset(&mut t, "p", 9);
    // A second reset terminates the first new run; the second one has the child too.
    reset(&mut t, "p", 9);
    assert_eq!(t.status("c"), Status::Running as i32);
    let task = t.task();
    t.complete(&task, vec![done()]);
    assert_eq!(t.status("c"), Status::Terminated as i32, "its close policy");
    t.check_memory();
}

#[test]
fn the_end_of_a_copied_child_comes_again() {
    let mut t = T::new();
    with_child(&mut t);
    let of_child = t.task_on("c");
    t.complete(&of_child, vec![done()]);
    reset(&mut t, "p", 9);
    let shown = "Started WTScheduled WTStarted WTCompleted StartChildInitiated ChildStarted WTScheduled WTStarted WTFailed ChildCompleted WTScheduled";
    assert_eq!(t.shape("p"), shown);
    t.check_memory();
}

#[test]
fn a_reset_child_reports_to_its_parent() {
    let mut t = T::new();
    with_child(&mut t);
    let of_child = t.task_on("c");
    t.complete(&of_child, vec![]);
    reset(&mut t, "c", 4);
    assert!(!t.shape("p").contains("ChildTerminated"), "its parent does not see the reset");
    let of_child = t.task_on("c");
    t.complete(&of_child, vec![done()]);
    assert!(t.shape("p").contains("ChildCompleted"), "{}", t.shape("p"));
    t.check_memory();
}

#[test]
fn timeouts_count_from_the_reset() {
    let mut t = T::new();
    t.start_with("w", |r| r.workflow_run_timeout = dur(10_000)).unwrap();
    let task = t.task();
    t.complete(&task, vec![]);
    t.advance(8_000.0);
    reset(&mut t, "w", 4);
    t.advance(8_000.0);
    assert_eq!(t.status("w"), Status::Running as i32);
    t.advance(3_000.0);
    assert_eq!(t.status("w"), Status::TimedOut as i32);
}

#[test]
fn a_failed_commit_loses_a_reset_as_a_whole() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    let r = request(&t, "w", "", 4);
    t.fail_commits = 1;
    let lost = t.send(M::ResetWorkflowExecution, &r);
    t.flush();
    assert_eq!(t.lost, vec![lost]);
    assert_eq!(t.store.runs.len(), 1);
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted");
    let done: ResetWorkflowExecutionResponse = t.call(M::ResetWorkflowExecution, &r).unwrap();
    assert_eq!(t.store.runs.len(), 2);
    assert!(t.store.runs.contains_key(&done.run_id));
    t.check_memory();
}

#[test]
fn the_limit_of_open_runs_holds_for_resets() {
    let mut t = T::with(EngineOptions { max_open_runs: 1, ..Default::default() });
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![done()]);
    t.start("other");
    assert_eq!(try_reset(&mut t, "w", "", 4).unwrap_err().code, 8);
}
