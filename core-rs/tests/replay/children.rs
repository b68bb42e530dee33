//! Child workflows (docs/dev/semantics/commands.md#children).
use crate::support::history::{failure, json, payloads};
use crate::support::lang::child;
use crate::support::show::{resolution_failure, said};
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, timer};
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::api::command::v1::{
    RequestCancelExternalWorkflowExecutionCommandAttributes, StartChildWorkflowExecutionCommandAttributes,
};
use temporalex_core::api::common::v1::{Memo, Payload, SearchAttributes};
use temporalex_core::api::enums::v1::{
    CancelExternalWorkflowExecutionFailedCause, ParentClosePolicy, RetryState, StartChildWorkflowExecutionFailedCause,
    TimeoutType, WorkflowIdReusePolicy,
};
use temporalex_core::api::failure::v1::failure::FailureInfo;
use temporalex_core::api::failure::v1::{ChildWorkflowExecutionFailureInfo, Failure};
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{
    ChildWorkflowCancellationType, CommandKind, ErrorKind, Job, RetryPolicy, StartChildWorkflow, resolve_child_workflow,
    resolve_child_workflow_start,
};
use temporalex_core::error::codes;

use ChildWorkflowCancellationType::{Abandon, TryCancel, WaitCancellationCompleted, WaitCancellationRequested};

const ALL: [ChildWorkflowCancellationType; 4] = [Abandon, TryCancel, WaitCancellationCompleted, WaitCancellationRequested];
const WAITING: [ChildWorkflowCancellationType; 2] = [WaitCancellationCompleted, WaitCancellationRequested];
const AT_ONCE: [ChildWorkflowCancellationType; 2] = [Abandon, TryCancel];

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

fn wait() -> Cmd {
    child("c", WaitCancellationCompleted)
}

fn info(failure: &Failure) -> &ChildWorkflowExecutionFailureInfo {
    match failure.failure_info.as_ref() {
        Some(FailureInfo::ChildWorkflowExecutionFailureInfo(info)) => info,
        other => panic!("no failure of a child: {other:?}"),
    }
}

/// Namespace, type, id and run id, and the ids of the events.
fn check_info(failure: &Failure, initiated: i64, started: i64, retry_state: RetryState) {
    let info = info(failure);
    let run_id = if started == 0 { "" } else { "c-run" };
    let execution = info.workflow_execution.as_ref().map(|e| (e.workflow_id.as_str(), e.run_id.as_str()));
    assert_eq!(execution, Some(("c", run_id)));
    assert_eq!((info.namespace.as_str(), info.workflow_type.as_ref().map(|t| t.name.as_str())), ("ns", Some("child")));
    assert_eq!((info.initiated_event_id, info.started_event_id, info.retry_state()), (initiated, started, retry_state));
}

fn is_cancellation(failure: &Failure) -> bool {
    matches!(failure.cause.as_ref().and_then(|c| c.failure_info.as_ref()), Some(FailureInfo::CanceledFailureInfo(_)))
}

fn result(job: &Job) -> Option<Payload> {
    match job.variant.as_ref() {
        Some(Variant::ResolveChildWorkflow(r)) => match r.result.as_ref() {
            Some(resolve_child_workflow::Result::Completed(c)) => c.result.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// S W(2-4) Init(5) Started(6) W(7-9) ...: the run with one child that has started; `behind` comes from outside.
fn with_child(behind: impl FnOnce(HistoryBuilder) -> HistoryBuilder) -> HistoryBuilder {
    behind(start().child_initiated("c").child_started("c").w()).w().wf_completed()
}

fn script() -> Script {
    Script::new([vec![wait()], vec![], vec![Cmd::Complete]])
}

/// S W(2-4) Init(5) Started(6) W(7-9) Completed(10) W(11-13) Completed(14)
#[test]
fn child_ok() {
    let test = RunTest::new(&with_child(|h| h.child_completed("c")), script());
    let inc = test.same("{Init} {ChildStart 1 ok} {Child 1 ok}");
    assert_eq!(inc.commands(), "StartChildWorkflowExecution c |  | CompleteWorkflowExecution");
    let Some(Variant::ResolveChildWorkflowStart(r)) = inc.jobs(1)[0].variant.as_ref() else { panic!() };
    match r.status.as_ref() {
        Some(resolve_child_workflow_start::Status::Started(s)) => assert_eq!(s.run_id, "c-run"),
        other => panic!("{other:?}"),
    }
    assert_eq!(result(&inc.jobs(2)[0]), Some(json("\"ok\"")));
    assert_eq!((inc.jobs(1)[0].event_id, inc.jobs(2)[0].event_id), (6, 10));
}

/// Started and closed before the next task: both jobs in one activation, the start first. A void result has no payload.
#[test]
fn child_ok_in_one_task_and_without_result() {
    let history = start().child_initiated("c").child_started("c").child_completed_with("c", None).w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![wait()], vec![Cmd::Complete]]));
    assert_eq!(result(&test.same("{Init} {ChildStart 1 ok, Child 1 ok}").jobs(1)[1]), None);
    test.compat().all_same();
}

#[test]
fn two_results_are_no_result() {
    let two = payloads([json("1"), json("2")]);
    let e = RunTest::new(&with_child(|h| h.child_completed_with("c", Some(two))), script()).replay_error();
    assert_eq!((e.kind(), e.code), (ErrorKind::Fatal, codes::PAYLOAD_COUNT));
    assert_eq!(said(&e), "Not exactly one payload in child workflow result");
    assert_eq!((e.event_id, e.command_kind(), e.seq), (10, CommandKind::StartChildWorkflow, 1));
}

/// Everything that a start may say reaches the server; what is left out is the workflow's own, or stays unset.
#[test]
fn all_of_the_start_is_sent() {
    let full = StartChildWorkflow {
        namespace: "other".into(),
        workflow_id: "c".into(),
        workflow_type: "child".into(),
        task_queue: "q2".into(),
        arguments: vec![json("1"), json("2")],
        workflow_execution_timeout_ms: 3000.0,
        workflow_run_timeout_ms: 2000.0,
        workflow_task_timeout_ms: 1500.0,
        parent_close_policy: ParentClosePolicy::RequestCancel as i32,
        workflow_id_reuse_policy: WorkflowIdReusePolicy::RejectDuplicate as i32,
        retry_policy: Some(RetryPolicy { maximum_attempts: 3, ..Default::default() }),
        cron_schedule: "* * * * *".into(),
        headers: [("h".to_string(), json("3"))].into(),
        memo: [("m".to_string(), json("4"))].into(),
        search_attributes: [("s".to_string(), json("5"))].into(),
        // Priority { priority_key: 2 }
        priority: vec![8, 2],
        summary: Some(json("\"sum\"")),
        details: Some(json("\"det\"")),
        ..Default::default()
    };
    let sent = sent_start(Cmd::Child(full));
    let seconds = |s: i64, nanos: i32| Some(prost_types::Duration { seconds: s, nanos });
    assert_eq!((sent.0.namespace.as_str(), sent.0.workflow_id.as_str()), ("other", "c"));
    assert_eq!(sent.0.workflow_type.map(|t| t.name).as_deref(), Some("child"));
    assert_eq!(sent.0.task_queue.map(|q| q.name).as_deref(), Some("q2"));
    assert_eq!(sent.0.input, Some(payloads([json("1"), json("2")])));
    assert_eq!((sent.0.workflow_execution_timeout, sent.0.workflow_run_timeout), (seconds(3, 0), seconds(2, 0)));
    assert_eq!(sent.0.workflow_task_timeout, seconds(1, 500_000_000));
    assert_eq!(sent.0.parent_close_policy, ParentClosePolicy::RequestCancel as i32);
    assert_eq!(sent.0.workflow_id_reuse_policy, WorkflowIdReusePolicy::RejectDuplicate as i32);
    assert_eq!((sent.0.retry_policy.map(|p| p.maximum_attempts), sent.0.cron_schedule.as_str()), (Some(3), "* * * * *"));
    assert_eq!(sent.0.header.map(|h| h.fields), Some([("h".to_string(), json("3"))].into()));
    assert_eq!(sent.0.memo, Some(Memo { fields: [("m".to_string(), json("4"))].into() }));
    let attributes = SearchAttributes { indexed_fields: [("s".to_string(), json("5"))].into() };
    assert_eq!(sent.0.search_attributes, Some(attributes));
    assert!(!sent.0.inherit_build_id, "another queue");
    assert_eq!(sent.1, [Some(json("\"sum\"")), Some(json("\"det\""))]);

    let (sent, metadata) = sent_start(wait());
    let expected = StartChildWorkflowExecutionCommandAttributes {
        namespace: "ns".into(),
        workflow_id: "c".into(),
        workflow_type: Some(temporalex_core::api::common::v1::WorkflowType { name: "child".into() }),
        task_queue: Some(temporalex_core::api::taskqueue::v1::TaskQueue { name: "q".into(), ..Default::default() }),
        inherit_build_id: true,
        ..Default::default()
    };
    assert_eq!((sent, metadata), (expected, [None, None]));
}

/// The attributes of the command, and summary and details of its metadata.
fn sent_start(start: Cmd) -> (StartChildWorkflowExecutionCommandAttributes, [Option<Payload>; 2]) {
    let session = RunTest::new(&HistoryBuilder::new().w_open(), Script::new([vec![start]])).inc();
    let command = session.end().completed().commands[0].clone();
    let metadata = command.user_metadata.unwrap_or_default();
    match command.attributes {
        Some(Attributes::StartChildWorkflowExecutionCommandAttributes(a)) => (a, [metadata.summary, metadata.details]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn child_fail() {
    let history = with_child(|h| h.child_failed("c", failure("boom"), RetryState::MaximumAttemptsReached));
    let inc = RunTest::new(&history, script()).same("{Init} {ChildStart 1 ok} {Child 1 failed}");
    let seen = resolution_failure(&inc.jobs(2)[0]);
    assert_eq!((seen.message.as_str(), seen.cause.as_deref()), ("Child Workflow execution failed", Some(&failure("boom"))));
    check_info(&seen, 5, 6, RetryState::MaximumAttemptsReached);
}

#[test]
fn child_timed_out() {
    let history = with_child(|h| h.child_timed_out("c", RetryState::Timeout));
    let inc = RunTest::new(&history, script()).same("{Init} {ChildStart 1 ok} {Child 1 failed}");
    let seen = resolution_failure(&inc.jobs(2)[0]);
    assert_eq!(seen.message, "Child Workflow execution timed out");
    check_info(&seen, 5, 6, RetryState::Timeout);
    let cause = seen.cause.expect("a cause");
    match cause.failure_info.as_ref() {
        Some(FailureInfo::TimeoutFailureInfo(timeout)) => assert_eq!(timeout.timeout_type(), TimeoutType::StartToClose),
        other => panic!("{other:?}"),
    }
    assert_eq!(cause.message, "Timed out");
}

#[test]
fn child_terminated() {
    let inc = RunTest::new(&with_child(|h| h.child_terminated("c")), script()).same("{Init} {ChildStart 1 ok} {Child 1 failed}");
    let seen = resolution_failure(&inc.jobs(2)[0]);
    assert_eq!(seen.message, "Child Workflow execution terminated");
    check_info(&seen, 5, 6, RetryState::NonRetryableFailure);
    let cause = seen.cause.expect("a cause");
    assert!(matches!(cause.failure_info, Some(FailureInfo::TerminatedFailureInfo(_))), "{cause:?}");
    assert_eq!(cause.message, "Terminated");
}

/// Canceled by another caller.
#[test]
fn child_cancelled() {
    let history = with_child(|h| h.child_canceled("c"));
    let inc = RunTest::new(&history, script()).same("{Init} {ChildStart 1 ok} {Child 1 cancelled}");
    let seen = resolution_failure(&inc.jobs(2)[0]);
    assert_eq!(seen.message, "Child Workflow execution cancelled");
    assert!(is_cancellation(&seen));
    check_info(&seen, 5, 6, RetryState::NonRetryableFailure);
}

/// S W(2-4) Init(5) StartFailed(6) W(7-9) Completed(10); a cancel behind it does nothing.
#[test]
fn child_start_fail() {
    use StartChildWorkflowExecutionFailedCause::{NamespaceNotFound, WorkflowAlreadyExists};
    for cause in [WorkflowAlreadyExists, NamespaceNotFound] {
        let history = start().child_initiated("c").child_start_failed("c", cause).w().wf_completed();
        let program = Script::new([vec![wait()], vec![Cmd::CancelChild(1, ""), Cmd::Complete]]);
        let inc = RunTest::new(&history, program).same("{Init} {ChildStart 1 failed}");
        let Some(Variant::ResolveChildWorkflowStart(r)) = inc.jobs(1)[0].variant.as_ref() else { panic!() };
        match r.status.as_ref() {
            Some(resolve_child_workflow_start::Status::Failed(f)) => {
                assert_eq!((f.workflow_id.as_str(), f.workflow_type.as_str(), f.cause), ("c", "child", cause as i32));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(inc.commands(), "StartChildWorkflowExecution c | CompleteWorkflowExecution");
    }
}

/// S W(2-4) Completed(5): started and cancelled before anything was sent.
#[test]
fn cancel_before_sent() {
    for cancellation in ALL {
        let first = vec![child("c", cancellation), Cmd::CancelChild(1, "too late")];
        let program = Script::new([first, vec![Cmd::CancelChild(1, "again"), Cmd::Complete]]);
        let inc = RunTest::new(&start().wf_completed(), program).same("{Init} {ChildStart 1 cancelled}");
        assert_eq!(inc.commands(), "CompleteWorkflowExecution", "{cancellation:?}");
        assert_eq!(inc.activations[1].started_event_id, 3, "a further activation of the same task");
        let seen = resolution_failure(&inc.jobs(1)[0]);
        assert_eq!(seen.message, "Child Workflow Execution cancelled before scheduled: too late");
        assert!(is_cancellation(&seen));
        check_info(&seen, 0, 0, RetryState::NonRetryableFailure);
    }
}

/// Only an unsent command is withdrawn: S W(2-4) Init a(5) W(7-9): b is started and canceled while a is under way.
#[test]
fn cancel_of_the_pending_one_only() {
    let history = start().child_initiated("a").child_started("a").w().child_initiated("d").timer_started("1");
    let history = history.timer_fired("1").w().wf_completed();
    let second =
        vec![child("b", WaitCancellationCompleted), child("d", WaitCancellationCompleted), timer(), Cmd::CancelChild(2, "no")];
    let program = Script::new([vec![child("a", WaitCancellationCompleted)], second, vec![], vec![Cmd::Complete]]);
    let inc = RunTest::new(&history, program).same("{Init} {ChildStart 1 ok} {ChildStart 2 cancelled} {Fire 1}");
    assert_eq!(
        inc.commands(),
        "StartChildWorkflowExecution a | StartChildWorkflowExecution d, StartTimer 1 | CompleteWorkflowExecution"
    );
}

/// Cancelled by a signal between initiated and started: S W(2-4) Init(5) Signal(6) W(7-9) [CancelReq] ...
fn before_start(requested: bool, tail: impl FnOnce(HistoryBuilder) -> HistoryBuilder) -> HistoryBuilder {
    let history = start().child_initiated("c").signal("s").w();
    let history = if requested { history.cancel_initiated("c", true) } else { history };
    tail(history.timer_started("1")).timer_fired("1").w().wf_completed()
}

#[test]
fn cancel_between_initiated_and_started_waits() {
    for cancellation in WAITING {
        let history = before_start(true, |h| h.child_started("c").cancel_delivered("c").child_canceled("c"));
        let second = vec![Cmd::CancelChild(1, "enough"), timer(), Cmd::CancelChild(1, "once is enough")];
        let program = Script::new([vec![child("c", cancellation)], second, vec![Cmd::Complete]]);
        let test = RunTest::new(&history, program);
        let inc = test.same("{Init} {Signal s} {ChildStart 1 ok, Child 1 cancelled, Fire 1}");
        assert_eq!(
            inc.commands(),
            "StartChildWorkflowExecution c | RequestCancelExternalWorkflowExecution c, StartTimer 1 | CompleteWorkflowExecution"
        );
        let sent = match inc.ends[1].completed().commands[0].attributes.clone() {
            Some(Attributes::RequestCancelExternalWorkflowExecutionCommandAttributes(a)) => a,
            other => panic!("{other:?}"),
        };
        let expected = RequestCancelExternalWorkflowExecutionCommandAttributes {
            namespace: "ns".into(),
            workflow_id: "c".into(),
            child_workflow_only: true,
            reason: "enough".into(),
            ..Default::default()
        };
        assert_eq!(sent, expected);
        test.compat().all_same();
    }
}

/// It resolves in a further activation of the same task; the start that comes later is swallowed, as everything behind it.
#[test]
fn cancel_between_initiated_and_started_at_once() {
    use StartChildWorkflowExecutionFailedCause::WorkflowAlreadyExists;
    let later: [fn(HistoryBuilder) -> HistoryBuilder; 3] = [
        |h| h.child_started("c").child_canceled("c"),
        |h| h.child_start_failed("c", WorkflowAlreadyExists),
        |h| h.child_started("c"),
    ];
    for (cancellation, tail) in AT_ONCE.into_iter().flat_map(|c| later.map(|tail| (c, tail))) {
        let requested = cancellation == TryCancel;
        let history = before_start(requested, tail);
        let second = vec![Cmd::CancelChild(1, ""), timer()];
        let program = Script::new([vec![child("c", cancellation)], second, vec![], vec![Cmd::Complete]]);
        let inc = RunTest::new(&history, program).same("{Init} {Signal s} {Child 1 cancelled} {Fire 1}");
        let request = if requested { "RequestCancelExternalWorkflowExecution c, " } else { "" };
        assert_eq!(inc.commands(), format!("StartChildWorkflowExecution c | {request}StartTimer 1 | CompleteWorkflowExecution"));
        let seen = resolution_failure(&inc.jobs(2)[0]);
        assert_eq!(seen.message, "Child Workflow execution cancelled");
        assert!(is_cancellation(&seen));
        check_info(&seen, 5, 0, RetryState::NonRetryableFailure);
        assert_eq!(inc.activations[2].started_event_id, inc.activations[1].started_event_id);
    }
}

/// Cancelled after its start: S W(2-4) Init(5) Started(6) W(7-9) [CancelReq] TmrS ... {tail} TmrF W Completed
fn after_start(requested: bool, tail: impl FnOnce(HistoryBuilder) -> HistoryBuilder) -> HistoryBuilder {
    let history = start().child_initiated("c").child_started("c").w();
    let history = if requested { history.cancel_initiated("c", true) } else { history };
    tail(history.timer_started("1")).timer_fired("1").w().wf_completed()
}

fn ends() -> [fn(HistoryBuilder) -> HistoryBuilder; 5] {
    [
        |h| h.child_completed("c"),
        |h| h.child_failed("c", failure("late"), RetryState::RetryPolicyNotSet),
        |h| h.child_timed_out("c", RetryState::Timeout),
        |h| h.child_terminated("c"),
        |h| h.child_canceled("c"),
    ]
}

/// Cases 146 and 147: the outcome of an abandoned child, or of one whose cancellation was only requested, is ignored.
#[test]
fn detached_children_end_later() {
    for (cancellation, tail) in AT_ONCE.into_iter().flat_map(|c| ends().map(|tail| (c, tail))) {
        let requested = cancellation == TryCancel;
        let history = after_start(requested, |h| {
            let h = if requested { h.cancel_delivered("c") } else { h };
            tail(h)
        });
        let second = vec![Cmd::CancelChild(1, ""), timer()];
        let program =
            Script::new([vec![child("c", cancellation)], second, vec![Cmd::CancelChild(1, "again")], vec![Cmd::Complete]]);
        let inc = RunTest::new(&history, program).same("{Init} {ChildStart 1 ok} {Child 1 cancelled} {Fire 1}");
        check_info(&resolution_failure(&inc.jobs(2)[0]), 5, 6, RetryState::NonRetryableFailure);
    }
}

/// Both types that wait take whatever the child comes to, also when the request did not reach it.
#[test]
fn waiting_takes_what_comes() {
    let expected = ["ok", "failed", "failed", "failed", "cancelled"];
    for cancellation in WAITING {
        for (tail, expected) in ends().into_iter().zip(expected) {
            let history = after_start(true, |h| tail(h.cancel_delivered("c")));
            let program =
                Script::new([vec![child("c", cancellation)], vec![Cmd::CancelChild(1, ""), timer()], vec![Cmd::Complete]]);
            let inc =
                RunTest::new(&history, program).same(&format!("{{Init}} {{ChildStart 1 ok}} {{Child 1 {expected}, Fire 1}}"));
            match &inc.ends[1].completed().commands[0].attributes {
                Some(Attributes::RequestCancelExternalWorkflowExecutionCommandAttributes(a)) => assert_eq!(a.run_id, "c-run"),
                other => panic!("{other:?}"),
            }
        }
        let not_found = CancelExternalWorkflowExecutionFailedCause::ExternalWorkflowExecutionNotFound;
        let history = after_start(true, |h| h.cancel_failed("c", not_found).child_completed("c"));
        let program = Script::new([vec![child("c", cancellation)], vec![Cmd::CancelChild(1, ""), timer()], vec![Cmd::Complete]]);
        RunTest::new(&history, program).same("{Init} {ChildStart 1 ok} {Child 1 ok, Fire 1}");
    }
}

/// History has the cancel event, and the code issues no cancel, or one for another workflow.
#[test]
fn request_to_cancel_is_matched() {
    let history = after_start(true, |h| h.child_canceled("c"));
    let e = RunTest::new(&history, Script::new([vec![wait()], vec![timer()], vec![Cmd::Complete]])).replay_error();
    assert_eq!(
        said(&e),
        "Timer machine does not handle this event: HistoryEvent(id: 10, RequestCancelExternalWorkflowExecutionInitiated)"
    );
    // The response to the core's own request is checked, too.
    let history =
        start().child_initiated("c").child_started("c").w().cancel_initiated("c", true).timer_fired_as("1", 10).w_open();
    let e = RunTest::new(&history, Script::new([vec![wait()], vec![Cmd::CancelChild(1, "")]])).replay_error();
    assert_eq!(said(&e), "Cancel external WF machine does not handle this event: HistoryEvent(id: 11, TimerFired)");
    assert_eq!((e.command_kind(), e.seq), (CommandKind::CancelChildWorkflow, 1));
}
