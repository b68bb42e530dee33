//! Runs with a cron schedule: the delay of the first task, and the run that follows each end.
use temporalex_core::api::enums::v1::{ContinueAsNewInitiator as Initiator, EventType as E, RetryState};
use temporalex_core::api::history::v1::WorkflowExecutionStartedEventAttributes as Started;
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

fn start(t: &mut T, change: impl FnOnce(&mut StartWorkflowExecutionRequest)) -> String {
    let started = t.start_with("w", |r| {
        r.cron_schedule = "@every 60s".into();
        change(r);
    });
    started.expect("a start").run_id
}

fn started(t: &mut T, id: &str) -> Started {
    let h = t.history(id, "");
    let A::WorkflowExecutionStartedEventAttributes(a) = attrs(&h[0]) else { panic!() };
    *a.clone()
}

#[test]
fn each_completion_is_followed_by_the_next_run_and_its_result_is_carried() {
    let mut t = T::new();
    let first = start(&mut t, |_| ());
    let a = started(&mut t, "w");
    assert_eq!((a.initiator, a.first_workflow_task_backoff), (Initiator::CronSchedule as i32, dur(60_000)));
    t.advance(59_999.0);
    assert!(t.try_task().is_none(), "the delay is not over");
    t.advance(1.0);
    let task = t.task();
    t.advance(5_500.0);
    t.complete(&task, vec![done()]);
    let h = t.history("w", &first);
    let A::WorkflowExecutionCompletedEventAttributes(closed) = attrs(h.last().unwrap()) else { panic!() };
    let a = started(&mut t, "w");
    assert_eq!(
        (closed.new_execution_run_id.as_str(), a.continued_execution_run_id.as_str()),
        (&*a.original_execution_run_id, &*first)
    );
    assert_eq!((a.initiator, a.attempt, a.cron_schedule.as_str()), (Initiator::CronSchedule as i32, 1, "@every 60s"));
    assert_eq!(a.first_workflow_task_backoff, dur(55_000), "54.5 seconds, rounded up");
    assert_eq!(a.last_completion_result, closed.result);
    assert_eq!((a.first_execution_run_id.as_str(), a.continued_failure), (&*first, None));
    t.check_memory();
    t.restart();
    t.advance(54_999.0);
    assert!(t.try_task().is_none());
    t.advance(1.0);
    assert!(t.try_task().is_some(), "the delay continues after a restart");
}

#[test]
fn a_run_that_takes_longer_skips_times() {
    let mut t = T::new();
    start(&mut t, |_| ());
    t.advance(60_000.0);
    let task = t.task();
    t.advance(5_000.0);
    t.complete(&task, vec![timer("t", 150_000)]);
    t.advance(150_000.0);
    let task = t.task();
    t.complete(&task, vec![done()]);
    assert_eq!(started(&mut t, "w").first_workflow_task_backoff, dur(25_000));
}

#[test]
fn retries_come_before_the_schedule_and_the_failure_is_carried() {
    let mut t = T::new();
    start(&mut t, |r| r.retry_policy = retry_policy(2));
    t.advance(60_000.0);
    let task = t.task();
    t.complete(&task, vec![fail_workflow(failure("Boom", "boom"))]);
    let a = started(&mut t, "w");
    assert_eq!((a.initiator, a.attempt), (Initiator::Retry as i32, 2));
    t.skip();
    let task = t.task();
    t.complete(&task, vec![fail_workflow(failure("Boom", "again"))]);
    let a = started(&mut t, "w");
    assert_eq!((a.initiator, a.attempt), (Initiator::CronSchedule as i32, 1));
    assert_eq!(a.continued_failure.unwrap().message, "again");
    let h = t.history("w", &a.continued_execution_run_id);
    let A::WorkflowExecutionFailedEventAttributes(closed) = attrs(h.last().unwrap()) else { panic!() };
    assert_eq!(closed.retry_state, RetryState::MaximumAttemptsReached as i32);
    assert_eq!(closed.new_execution_run_id, a.original_execution_run_id);
}

#[test]
fn a_run_timeout_is_followed_by_the_next_run_and_the_execution_timeout_is_not() {
    let mut t = T::new();
    let first = start(&mut t, |r| {
        r.workflow_run_timeout = dur(90_000);
        r.workflow_execution_timeout = dur(200_000);
    });
    t.advance(60_000.0);
    t.task();
    t.advance(90_000.0);
    let h = t.history("w", &first);
    let A::WorkflowExecutionTimedOutEventAttributes(closed) = attrs(h.last().unwrap()) else { panic!() };
    let a = started(&mut t, "w");
    assert_eq!(
        (closed.new_execution_run_id.as_str(), a.initiator),
        (&*a.original_execution_run_id, Initiator::CronSchedule as i32)
    );
    assert_eq!(a.first_workflow_task_backoff, dur(30_000));
    assert!(a.continued_failure.is_some());
    t.check_memory();
    t.advance(30_000.0);
    t.task();
    t.advance(300_000.0);
    let h = t.history("w", "");
    let A::WorkflowExecutionTimedOutEventAttributes(closed) = attrs(h.last().unwrap()) else { panic!() };
    assert_eq!(closed.new_execution_run_id, "");
    assert!(!t.skip(), "nothing waits any more");
}

#[test]
fn a_canceled_or_terminated_run_ends_the_chain() {
    let mut t = T::new();
    start(&mut t, |_| ());
    t.advance(10_000.0);
    t.cancel("w").unwrap();
    let task = t.task();
    t.complete(&task, vec![cancel_workflow()]);
    assert_eq!(t.history("w", "").last().unwrap().event_type, E::WorkflowExecutionCanceled as i32);
    assert!(!t.skip());
    start(&mut t, |_| ());
    t.terminate("w").unwrap();
    assert!(!t.skip());
}

#[test]
fn a_signal_waits_for_the_delay() {
    let mut t = T::new();
    start(&mut t, |_| ());
    t.signal("w", "s").unwrap();
    assert!(t.try_task().is_none());
    assert_eq!(shape(&t.history("w", "")), "Started Signaled");
    t.advance(60_000.0);
    assert!(t.try_task().is_some());
}

#[test]
fn a_child_runs_at_the_times_of_its_schedule_and_stays_pending() {
    let mut t = T::new();
    t.start("p");
    let task = t.task();
    t.complete(&task, vec![child_with("w", |a| a.cron_schedule = "@every 60s".into())]);
    let task = t.task();
    t.complete(&task, vec![]);
    let a = started(&mut t, "w");
    assert_eq!((a.initiator, a.first_workflow_task_backoff), (Initiator::CronSchedule as i32, dur(60_000)));
    t.advance(60_000.0);
    let task = t.task_on("w");
    t.complete(&task, vec![done()]);
    assert_eq!(started(&mut t, "w").parent_workflow_execution.unwrap().workflow_id, "p");
    assert!(t.try_task().is_none(), "the parent is not notified of a run that another follows");
    assert_eq!(t.describe("p", "").unwrap().pending_children.len(), 1);
    t.check_memory();
}

#[test]
fn the_schedule_of_a_continue_as_new_is_the_one_of_its_command() {
    let mut t = T::new();
    start(&mut t, |_| ());
    t.advance(60_000.0);
    let task = t.task();
    t.complete(&task, vec![continue_as_new(|a| a.cron_schedule = "@every 30s".into())]);
    let a = started(&mut t, "w");
    assert_eq!((a.cron_schedule.as_str(), a.first_workflow_task_backoff), ("@every 30s", None));
    let task = t.task();
    t.complete(&task, vec![done()]);
    assert_eq!(started(&mut t, "w").first_workflow_task_backoff, dur(30_000));
}

#[test]
fn the_following_run_and_the_closing_event_are_in_one_commit() {
    let mut t = T::new();
    let first = start(&mut t, |_| ());
    t.advance(60_000.0);
    let task = t.task();
    t.fail_commits = 1;
    let request = t.completion(&task, vec![done()]);
    t.send(M::RespondWorkflowTaskCompleted, &request);
    t.flush();
    assert_eq!(t.lost.len(), 1, "the worker gets no reply");
    t.restart();
    assert_eq!(t.describe("w", "").unwrap().workflow_execution_info.unwrap().execution.unwrap().run_id, first);
    t.complete(&task, vec![done()]);
    assert_ne!(started(&mut t, "w").original_execution_run_id, first);
    t.check_memory();
}

#[test]
fn bad_schedules_are_rejected() {
    let mut t = T::new();
    let e = t.start_with("w", |r| r.cron_schedule = "soon".into()).unwrap_err();
    assert_eq!((e.code, e.message.as_str()), (3, "invalid CronSchedule \"soon\""));
    let e = t
        .start_with("w", |r| {
            r.cron_schedule = "@every 60s".into();
            r.workflow_start_delay = dur(1_000);
        })
        .unwrap_err();
    assert_eq!((e.code, e.message.as_str()), (3, "CronSchedule and WorkflowStartDelay may not be used together."));
    let request = SignalWithStartWorkflowExecutionRequest { cron_schedule: "@every 60s".into(), ..signal_with_start(&t) };
    let run: SignalWithStartWorkflowExecutionResponse = t.call(M::SignalWithStartWorkflowExecution, &request).unwrap();
    assert!(run.started);
    assert!(t.try_task().is_none());
    assert_eq!(shape(&t.history("w", "")), "Started Signaled");
}

fn signal_with_start(t: &T) -> SignalWithStartWorkflowExecutionRequest {
    let start = t.start_request("w");
    SignalWithStartWorkflowExecutionRequest {
        namespace: start.namespace,
        workflow_id: start.workflow_id,
        workflow_type: start.workflow_type,
        task_queue: start.task_queue,
        request_id: "once".into(),
        signal_name: "s".into(),
        ..Default::default()
    }
}
