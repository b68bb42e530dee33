//! The life of runs: id policies, signal-with-start, cancel, terminate, timeouts, continue-as-new, retries of workflows.
use temporalex_core::api::command::v1::{self as cmd, command::Attributes as C};
use temporalex_core::api::enums::v1::{CommandType, EventType as E};
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

fn close(t: &mut T, commands: Vec<temporalex_core::api::command::v1::Command>) {
    let task = t.task();
    t.complete(&task, commands);
}

#[test]
fn the_same_request_starts_once() {
    let mut t = T::new();
    let run = t.start("w");
    assert_eq!(t.start("w"), run, "the same request id: the same run");
    close(&mut t, vec![done()]);
    assert_eq!(t.start("w"), run, "even after it ended");
    t.restart();
    assert_eq!(t.start("w"), run);
    assert_eq!(t.store.runs.len(), 1);
}

#[test]
fn conflict_policies() {
    let mut t = T::new();
    let run = t.start("w");
    let e = t.start_with("w", |_| {}).unwrap_err();
    assert_eq!((e.code, e.reason.as_str()), (6, "WorkflowExecutionAlreadyStarted"));
    assert_eq!(e.metadata["run_id"], run);
    assert!(e.message.contains("Workflow execution is already running."), "{}", e.message);
    let r = t.start_with("w", |r| r.workflow_id_conflict_policy = 2).unwrap();
    assert_eq!((r.run_id.as_str(), r.started, r.status), (run.as_str(), false, 1));
    let r = t.start_with("w", |r| r.workflow_id_conflict_policy = 3).unwrap();
    assert!(r.started && r.run_id != run);
    assert_eq!(t.describe("w", &run).unwrap().workflow_execution_info.unwrap().status, 5);
    let h = t.history("w", &run);
    assert_eq!(shape(&h), "Started WTScheduled Terminated");
    assert_eq!(t.describe("w", "").unwrap().workflow_execution_info.unwrap().execution.unwrap().run_id, r.run_id);
    let r2 = t.start_with("w", |r| r.workflow_id_reuse_policy = 4).unwrap();
    assert_ne!(r2.run_id, r.run_id, "TERMINATE_IF_RUNNING is the older name of it");
    t.check_memory();
}

#[test]
fn reuse_policies() {
    for (end, failed_only_allows) in [("done", false), ("fail", true), ("cancel", true), ("terminate", true)] {
        let mut t = T::new();
        t.start("w");
        match end {
            "done" => close(&mut t, vec![done()]),
            "fail" => close(&mut t, vec![fail_workflow(failure("E", "x"))]),
            "cancel" => {
                t.cancel("w").unwrap();
                close(&mut t, vec![cancel_workflow()]);
            }
            _ => {
                t.terminate("w").unwrap();
            }
        }
        let e = t.start_with("w", |r| r.workflow_id_reuse_policy = 3).unwrap_err();
        assert_eq!((e.code, e.reason.as_str()), (6, "WorkflowExecutionAlreadyStarted"), "reject duplicate");
        let r = t.start_with("w", |r| r.workflow_id_reuse_policy = 2);
        assert_eq!(r.is_ok(), failed_only_allows, "failed only after {end}");
        if r.is_err() {
            assert!(t.start_with("w", |r| r.workflow_id_reuse_policy = 1).is_ok());
        }
    }
}

fn signal_with_start(t: &mut T, request: &str) -> Answer<SignalWithStartWorkflowExecutionResponse> {
    let r = SignalWithStartWorkflowExecutionRequest {
        namespace: "default".into(),
        workflow_id: "w".into(),
        workflow_type: Some(temporalex_core::api::common::v1::WorkflowType { name: "Flow".into() }),
        task_queue: Some(queue(QUEUE)),
        request_id: request.into(),
        signal_name: "go".into(),
        signal_input: Some(json("1")),
        identity: "client".into(),
        ..Default::default()
    };
    t.call(M::SignalWithStartWorkflowExecution, &r)
}

#[test]
fn signal_with_start_starts_or_signals() {
    let mut t = T::new();
    let r = signal_with_start(&mut t, "r1").unwrap();
    assert!(r.started);
    assert_eq!(t.shape("w"), "Started Signaled WTScheduled", "the signal is there before the first task");
    let again = signal_with_start(&mut t, "r1").unwrap();
    assert_eq!((again.run_id.as_str(), t.shape("w").as_str()), (r.run_id.as_str(), "Started Signaled WTScheduled"));
    let other = signal_with_start(&mut t, "r2").unwrap();
    assert_eq!((other.run_id.as_str(), other.started), (r.run_id.as_str(), false));
    assert_eq!(t.shape("w"), "Started Signaled WTScheduled Signaled");
    close(&mut t, vec![done()]);
    let new = signal_with_start(&mut t, "r3").unwrap();
    assert!(new.started && new.run_id != r.run_id);
    t.check_memory();
}

#[test]
fn a_signal_with_one_request_id_is_delivered_once() {
    let mut t = T::new();
    t.start("w");
    let mut r = t.signal_request("w", "go");
    r.request_id = "s1".into();
    for _ in 0..3 {
        t.call::<SignalWorkflowExecutionResponse>(M::SignalWorkflowExecution, &r).unwrap();
        t.restart();
    }
    assert_eq!(t.shape("w"), "Started WTScheduled Signaled");
}

#[test]
fn cancel_is_a_request() {
    let mut t = T::new();
    t.start("w");
    t.cancel("w").unwrap();
    t.cancel("w").unwrap();
    assert_eq!(t.shape("w"), "Started WTScheduled CancelRequested", "asked twice, recorded once");
    let h = t.history("w", "");
    let A::WorkflowExecutionCancelRequestedEventAttributes(c) = attrs(&h[2]) else { panic!() };
    assert_eq!((c.cause.as_str(), c.identity.as_str()), ("enough", "client"));
    assert!(t.describe("w", "").unwrap().workflow_extended_info.unwrap().cancel_requested);
    close(&mut t, vec![cancel_workflow()]);
    assert_eq!(t.status("w"), 4);
    let events = t.history("w", "").len();
    t.cancel("w").expect("what has ended need not be cancelled");
    assert_eq!(t.history("w", "").len(), events);
}

#[test]
fn terminate_ends_everything_at_once() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity("1"), timer("1", 1_000)]);
    let a = t.activity();
    t.signal("w", "x").unwrap();
    let task = t.task();
    t.signal("w", "y").unwrap();
    t.terminate("w").unwrap();
    assert_eq!(
        shape(&t.history("w", "")[6..]),
        "Signaled WTScheduled WTStarted WTFailed Signaled Terminated",
        "the started task is failed and what was buffered is kept"
    );
    assert_eq!(t.try_complete(&task, vec![done()]).unwrap_err().code, 5);
    assert_eq!(t.complete_activity(&a, "1").unwrap_err().code, 5);
    assert_eq!(t.heartbeat(&a, "1").unwrap_err().code, 5);
    assert!(!t.skip(), "nothing waits any more");
    t.check_memory();
    assert!(t.store.runs.values().all(|s| s.items.is_empty()));
    let first = TerminateWorkflowExecutionRequest {
        workflow_execution: Some(exec("w", "")),
        first_execution_run_id: "another".into(),
        ..Default::default()
    };
    assert_eq!(t.call::<TerminateWorkflowExecutionResponse>(M::TerminateWorkflowExecution, &first).unwrap_err().code, 5);
}

#[test]
fn run_and_execution_timeouts() {
    let mut t = T::new();
    t.start_with("w", |r| r.workflow_run_timeout = dur(5_000)).unwrap();
    t.advance(3_000.0);
    t.task();
    t.advance(2_000.0);
    assert_eq!(t.status("w"), 7);
    let h = t.history("w", "");
    assert_eq!(shape(&h), "Started WTScheduled WTStarted WTFailed TimedOut");
    let A::WorkflowExecutionTimedOutEventAttributes(o) = attrs(&h[4]) else { panic!() };
    assert_eq!(o.retry_state, 5, "a run without a retry policy says so");
    let mut t = T::new();
    t.start_with("w", |r| r.workflow_execution_timeout = dur(5_000)).unwrap();
    let h = t.history("w", "");
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&h[0]) else { panic!() };
    assert_eq!(s.workflow_run_timeout, dur(5_000), "bounded by the execution's");
    assert!(s.workflow_execution_expiration_time.is_some());
    let task = t.task();
    t.advance(3_000.0);
    t.complete(&task, vec![continue_as_new(|_| {})]);
    t.restart();
    t.advance(1_999.0);
    assert_eq!(t.status("w"), 1);
    t.advance(1.0);
    assert_eq!(t.status("w"), 7, "the deadline of the execution spans its runs");
    t.check_memory();
}

#[test]
fn continue_as_new_links_the_runs() {
    let mut t = T::new();
    let first = t
        .start_with("w", |r| {
            r.workflow_run_timeout = dur(60_000);
            r.memo = Some(temporalex_core::api::common::v1::Memo { fields: [("m".into(), payload("1"))].into() });
        })
        .unwrap()
        .run_id;
    let memo = temporalex_core::api::common::v1::Memo { fields: [("m".into(), payload("2"))].into() };
    let header = temporalex_core::api::common::v1::Header { fields: [("h".into(), payload("3"))].into() };
    close(
        &mut t,
        vec![continue_as_new(|a| {
            a.memo = Some(memo.clone());
            a.header = Some(header.clone());
            a.workflow_task_timeout = dur(5_000);
        })],
    );
    let old = t.history("w", &first);
    let A::WorkflowExecutionContinuedAsNewEventAttributes(c) = attrs(old.last().unwrap()) else { panic!() };
    let second = c.new_execution_run_id.clone();
    assert_eq!((c.workflow_task_completed_event_id, c.workflow_type.as_ref().unwrap().name.as_str()), (4, "Flow"));
    assert_eq!((c.workflow_run_timeout, c.workflow_task_timeout), (dur(60_000), dur(5_000)));
    assert_eq!(t.describe("w", &first).unwrap().workflow_execution_info.unwrap().status, 6);
    let info = t.describe("w", "").unwrap().workflow_execution_info.unwrap();
    assert_eq!((info.execution.unwrap().run_id, info.first_run_id), (second.clone(), first.clone()));
    let new = t.history("w", "");
    assert_eq!(shape(&new), "Started WTScheduled");
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&new[0]) else { panic!() };
    assert_eq!((s.continued_execution_run_id.as_str(), s.first_execution_run_id.as_str()), (first.as_str(), first.as_str()));
    assert_eq!((s.original_execution_run_id.as_str(), s.initiator, s.attempt), (second.as_str(), 1, 1));
    assert_eq!((s.memo.clone(), s.header.clone(), s.input.clone()), (Some(memo), Some(header), Some(json("2"))));
    assert_eq!((s.identity.as_str(), s.first_workflow_task_backoff), ("", None));
    assert_eq!(t.store.runs[&first].row.next_run_id, second);
    assert_eq!(t.store.runs[&second].row.first_run_id, first);
    // A request for the chain reaches the new run; the old one is closed for good.
    t.signal("w", "x").unwrap();
    assert_eq!(t.shape("w"), "Started WTScheduled Signaled");
    t.check_memory();
}

#[test]
fn continue_as_new_can_wait_and_change_type_and_queue() {
    let mut t = T::new();
    t.start("w");
    close(
        &mut t,
        vec![continue_as_new(|a| {
            a.backoff_start_interval = dur(5_000);
            a.workflow_type = Some(temporalex_core::api::common::v1::WorkflowType { name: "Other".into() });
            a.task_queue = Some(queue("elsewhere"));
        })],
    );
    assert_eq!(t.shape("w"), "Started");
    t.signal("w", "early").unwrap();
    assert_eq!(t.shape("w"), "Started Signaled", "nothing starts the first task before its time");
    t.restart();
    t.advance(5_000.0);
    assert_eq!(t.shape("w"), "Started Signaled WTScheduled");
    assert!(t.try_task().is_none());
    let id = t.poll_id("elsewhere");
    let task = t.finish_poll(id).unwrap();
    assert_eq!(task.workflow_type.unwrap().name, "Other");
    t.check_memory();
}

#[test]
fn continue_as_new_meets_buffered_signals() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.signal("w", "late").unwrap();
    let e = t.try_complete(&task, vec![continue_as_new(|_| {})]).unwrap_err();
    assert_eq!(e.message, "UnhandledCommand");
    assert_eq!(t.store.runs.len(), 1, "no run was made");
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed Signaled WTScheduled");
}

#[test]
fn a_workflow_with_a_retry_policy_runs_again() {
    let mut t = T::new();
    let first = t
        .start_with("w", |r| {
            r.retry_policy = retry_policy(3);
            r.header = Some(temporalex_core::api::common::v1::Header { fields: [("h".into(), payload("1"))].into() });
        })
        .unwrap()
        .run_id;
    close(&mut t, vec![fail_workflow(failure("E", "one"))]);
    let old = t.history("w", &first);
    let A::WorkflowExecutionFailedEventAttributes(f) = attrs(old.last().unwrap()) else { panic!() };
    assert_eq!(f.retry_state, 1);
    let second = f.new_execution_run_id.clone();
    let new = t.history("w", "");
    assert_eq!(shape(&new), "Started");
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&new[0]) else { panic!() };
    assert_eq!((s.attempt, s.initiator, s.first_workflow_task_backoff), (2, 2, dur(1_000)));
    assert_eq!(s.continued_failure.as_ref().unwrap().message, "one");
    assert_eq!(
        (s.input.clone(), s.header.is_some(), s.original_execution_run_id.as_str()),
        (Some(json("1")), true, second.as_str())
    );
    t.restart();
    t.advance(1_000.0);
    close(&mut t, vec![fail_workflow(failure("E", "two"))]);
    t.advance(2_000.0);
    close(&mut t, vec![fail_workflow(failure("E", "three"))]);
    let last = t.history("w", "");
    let A::WorkflowExecutionFailedEventAttributes(f) = attrs(last.last().unwrap()) else { panic!() };
    assert_eq!((f.retry_state, f.new_execution_run_id.as_str()), (4, ""));
    assert_eq!((t.status("w"), t.store.runs.len()), (3, 3));
    t.check_memory();
}

#[test]
fn a_non_retryable_failure_ends_the_workflow() {
    let mut t = T::new();
    t.start_with("w", |r| {
        let mut p = retry_policy(0).unwrap();
        p.non_retryable_error_types = vec!["Fatal".into()];
        r.retry_policy = Some(p);
    })
    .unwrap();
    close(&mut t, vec![fail_workflow(failure("Fatal", "x"))]);
    let h = t.history("w", "");
    let A::WorkflowExecutionFailedEventAttributes(f) = attrs(find(&h, E::WorkflowExecutionFailed)) else { panic!() };
    assert_eq!(f.retry_state, 2);
    // The same is reported without a policy.
    let mut t = T::new();
    t.start("w");
    close(&mut t, vec![fail_workflow(failure("E", "x"))]);
    let h = t.history("w", "");
    let A::WorkflowExecutionFailedEventAttributes(f) = attrs(find(&h, E::WorkflowExecutionFailed)) else { panic!() };
    assert_eq!(f.retry_state, 5);
}

#[test]
fn a_workflow_that_was_asked_to_cancel_is_not_retried() {
    let retried = |change: fn(&mut StartWorkflowExecutionRequest)| {
        let mut t = T::new();
        t.start_with("w", |r| {
            r.retry_policy = retry_policy(0);
            change(r);
        })
        .unwrap();
        t
    };
    let mut t = retried(|_| {});
    let task = t.task();
    t.complete(&task, vec![]);
    t.signal("w", "x").unwrap();
    t.cancel("w").unwrap();
    close(&mut t, vec![fail_workflow(failure("E", "one"))]);
    let h = t.history("w", "");
    let A::WorkflowExecutionFailedEventAttributes(f) = attrs(find(&h, E::WorkflowExecutionFailed)) else { panic!() };
    assert_eq!((f.retry_state, f.new_execution_run_id.as_str()), (7, ""), "another attempt would not know of the request");
    // No worker was there: the request would be gone with the run that timed out.
    let mut t = retried(|r| r.workflow_run_timeout = dur(5_000));
    t.cancel("w").unwrap();
    t.advance(5_000.0);
    let h = t.history("w", "");
    let A::WorkflowExecutionTimedOutEventAttributes(e) = attrs(find(&h, E::WorkflowExecutionTimedOut)) else { panic!() };
    assert_eq!((e.retry_state, e.new_execution_run_id.as_str()), (7, ""));
    assert_eq!(t.store.runs.len(), 1);
}

/// Name and type of each attribute.
fn types(attributes: &Option<temporalex_core::api::common::v1::SearchAttributes>) -> Vec<(&str, &str)> {
    let mut all: Vec<_> = attributes
        .iter()
        .flat_map(|a| &a.indexed_fields)
        .map(|(name, p)| (name.as_str(), p.metadata.get("type").map_or("", |t| std::str::from_utf8(t).unwrap())))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn search_attributes_without_a_type_get_the_one_that_they_show_or_had() {
    let mut t = T::new();
    t.start_with("w", |r| {
        r.search_attributes =
            attributes(&[("K", "[\"a\"]"), ("N", "[4]"), ("On", "true"), ("At", "[\"2026-01-31T12:00:00.000Z\"]")]);
        let sa = r.search_attributes.as_mut().unwrap();
        let mut double = payload("1.5");
        double.metadata.insert("type".into(), b"Double".to_vec());
        let mut words = payload("\"some words\"");
        words.metadata.insert("type".into(), b"Text".to_vec());
        sa.indexed_fields.extend([("D".to_string(), double), ("T".to_string(), words)]);
    })
    .unwrap();
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&t.history("w", "")[0]).clone() else { panic!() };
    let began = [("At", "Datetime"), ("D", "Double"), ("K", "Keyword"), ("N", "Int"), ("On", "Bool"), ("T", "Text")];
    assert_eq!(types(&s.search_attributes), began);
    let task = t.task();
    let again = attributes(&[("D", "2"), ("T", "\"others\""), ("K", "[\"a\",\"b\"]"), ("N", "null")]);
    t.complete(
        &task,
        vec![
            command(
                CommandType::UpsertWorkflowSearchAttributes,
                C::UpsertWorkflowSearchAttributesCommandAttributes(cmd::UpsertWorkflowSearchAttributesCommandAttributes {
                    search_attributes: again,
                }),
            ),
            child_with("c", |c| c.search_attributes = attributes(&[("C", "7")])),
        ],
    );
    let h = t.history("w", "");
    let A::UpsertWorkflowSearchAttributesEventAttributes(u) = attrs(find(&h, E::UpsertWorkflowSearchAttributes)) else {
        panic!()
    };
    assert_eq!(types(&u.search_attributes), [("D", "Double"), ("K", "KeywordList"), ("N", ""), ("T", "Text")]);
    let A::StartChildWorkflowExecutionInitiatedEventAttributes(i) = attrs(find(&h, E::StartChildWorkflowExecutionInitiated))
    else {
        panic!()
    };
    assert_eq!(types(&i.search_attributes), [("C", "Int")]);
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&t.history("c", "")[0]).clone() else { panic!() };
    assert_eq!(types(&s.search_attributes), [("C", "Int")]);
    let info = t.describe("w", "").unwrap().workflow_execution_info.unwrap();
    let now = [("At", "Datetime"), ("D", "Double"), ("K", "KeywordList"), ("On", "Bool"), ("T", "Text")];
    assert_eq!(types(&info.search_attributes), now);
    // The child's task waits in the queue, too, and is the older one.
    let task = loop {
        let task = t.task();
        if task.workflow_execution.as_ref().unwrap().workflow_id == "w" {
            break task;
        }
    };
    t.complete(&task, vec![continue_as_new(|c| c.search_attributes = attributes(&[("D", "3"), ("X", "0.5")]))]);
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&t.history("w", "")[0]).clone() else { panic!() };
    assert_eq!(types(&s.search_attributes), [("D", "Double"), ("X", "Double")]);
    t.check_memory();
}

#[test]
fn a_start_can_be_delayed() {
    let mut t = T::new();
    t.start_with("w", |r| r.workflow_start_delay = dur(7_000)).unwrap();
    assert_eq!(t.shape("w"), "Started");
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&t.history("w", "")[0]).clone() else { panic!() };
    assert_eq!(s.first_workflow_task_backoff, dur(7_000));
    t.advance(6_999.0);
    assert!(t.try_task().is_none());
    t.advance(1.0);
    assert!(t.try_task().is_some());
    t.check_memory();
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let mut t = T::new();
    for (change, text) in [
        (
            Box::new(|r: &mut StartWorkflowExecutionRequest| r.workflow_type = None)
                as Box<dyn Fn(&mut StartWorkflowExecutionRequest)>,
            "WorkflowType",
        ),
        (Box::new(|r| r.task_queue = None), "task queue"),
        (Box::new(|r| r.workflow_id.clear()), "WorkflowId"),
        (Box::new(|r| r.workflow_run_timeout = dur(-1_000)), "WorkflowRunTimeout"),
        (Box::new(|r| r.workflow_id = "x".repeat(1_001)), "WorkflowId"),
        (
            Box::new(|r| {
                r.workflow_id_reuse_policy = 3;
                r.workflow_id_conflict_policy = 3
            }),
            "REJECT_DUPLICATE",
        ),
    ] {
        let e = t.start_with("w", change).unwrap_err();
        assert_eq!(e.code, 3);
        assert!(e.message.contains(text), "{} names {text}", e.message);
    }
    let e = t.start_with("w", |r| r.namespace = "other".into()).unwrap_err();
    assert_eq!((e.code, e.reason.as_str()), (5, "NamespaceNotFound"));
    assert!(t.store.runs.is_empty());
}
