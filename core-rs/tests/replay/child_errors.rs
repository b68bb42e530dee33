//! Child workflows whose code or history is not what it was (docs/dev/semantics/commands.md#children), and children side by side.
use crate::support::history::failure;
use crate::support::lang::{child, signal_external};
use crate::support::show::said;
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, timer};
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::api::enums::v1::{EventType, RetryState};
use temporalex_core::boundary::{ChildWorkflowCancellationType, CommandKind, ErrorKind, StartChildWorkflow};
use temporalex_core::error::codes;

use ChildWorkflowCancellationType::WaitCancellationCompleted;

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

fn wait() -> Cmd {
    child("c", WaitCancellationCompleted)
}

#[test]
fn id_or_type_change() {
    let history = start().child_initiated_as("c", "child").timer_started("1").w_open();
    let run = |id: &str, kind: &str| {
        let start = StartChildWorkflow { workflow_id: id.into(), workflow_type: kind.into(), ..Default::default() };
        RunTest::new(&history, Script::new([vec![Cmd::Child(start), timer()]])).replay_error()
    };
    let e = run("other", "child");
    assert_eq!(said(&e), "Child workflow id of scheduled event 'c' does not match child workflow id of command 'other'");
    assert_eq!((e.kind(), e.code, e.event_id, e.seq), (ErrorKind::Nondeterminism, codes::CHILD_ID, 5, 1));
    assert_eq!((e.expected.as_str(), e.actual.as_str(), e.command_kind()), ("c", "other", CommandKind::StartChildWorkflow));
    let e = run("c", "other");
    assert_eq!(said(&e), "Child workflow type of scheduled event 'child' does not match child workflow type of command 'other'");
    assert_eq!((e.code, e.diffs[0].field.as_str()), (codes::CHILD_TYPE, "workflow_type"));
    // Without flag 1 in history they are not compared.
    let history = HistoryBuilder::new().w().child_initiated_as("c", "child").child_started("c").w().timer_started("1").w_open();
    let start = StartChildWorkflow { workflow_id: "x".into(), workflow_type: "y".into(), ..Default::default() };
    RunTest::new(&history, Script::new([vec![Cmd::Child(start)], vec![timer()]])).compat().replay_ok();
}

#[test]
fn child_against_other_events() {
    let history = start().timer_started("1").w_open();
    let e = RunTest::new(&history, Script::new([vec![wait()]])).replay_error();
    assert_eq!(said(&e), "Child workflow machine does not handle this event: HistoryEvent(id: 5, TimerStarted)");
    assert_eq!((e.actual.as_str(), e.kind()), ("StartChildWorkflowExecution", ErrorKind::Nondeterminism));
    let history = start().child_initiated("c").w_open();
    let e = RunTest::new(&history, Script::new([vec![timer()]])).replay_error();
    assert_eq!(said(&e), "Timer machine does not handle this event: HistoryEvent(id: 5, StartChildWorkflowExecutionInitiated)");
    let e = RunTest::new(&history, Script::new([vec![]])).replay_error();
    assert_eq!(said(&e), "No command scheduled for event HistoryEvent(id: 5, StartChildWorkflowExecutionInitiated)");
}

/// Events that a child cannot bring in the state it is in.
#[test]
fn damaged_histories() {
    let twice = start().child_initiated("c").child_started("c").child_started("c").w_open();
    let e = RunTest::new(&twice, Script::new([vec![wait()]])).replay_error();
    assert_eq!((e.kind(), e.code, e.event_id), (ErrorKind::Fatal, codes::BAD_TRANSITION, 7));
    let over = start().child_initiated("c").child_started("c").child_completed("c").child_canceled("c").w_open();
    let e = RunTest::new(&over, Script::new([vec![wait()]])).replay_error();
    assert_eq!((e.kind(), e.event_id), (ErrorKind::Fatal, 8));
    assert_eq!(
        said(&e),
        "ChildWorkflowMachine in state Closed says the transition is invalid during event \
         HistoryEvent(id: 8, ChildWorkflowExecutionCanceled)"
    );
    let foreign = start().child_initiated("c").timer_fired_as("1", 5).w_open();
    let e = RunTest::new(&foreign, Script::new([vec![wait()]])).replay_error();
    assert_eq!((e.kind(), e.event_id), (ErrorKind::Nondeterminism, 6));
    let absent = start().timer_started("1").tweak(|_| {}).add(
        EventType::ChildWorkflowExecutionTerminated,
        temporalex_core::api::history::v1::history_event::Attributes::ChildWorkflowExecutionTerminatedEventAttributes(
            temporalex_core::api::history::v1::ChildWorkflowExecutionTerminatedEventAttributes {
                initiated_event_id: 99,
                ..Default::default()
            },
        ),
    );
    let e = RunTest::new(&absent.w_open(), Script::new([vec![timer()]])).replay_error();
    assert_eq!(e.code, codes::UNKNOWN_INITIATOR);
}

/// S W(2-4) Init(5) Started(6) W(7-9) SignalInit(10) Signaled(11) Completed(12) W(13-15) Completed(16)
#[test]
fn signal_child() {
    let history = start().child_initiated("c").child_started("c").w().signal_initiated("c").signal_delivered("c");
    let history = history.child_completed("c").w().wf_completed();
    let mut signal = signal_external("c");
    if let Cmd::SignalExternal(s) = &mut signal {
        (s.child_workflow_only, s.run_id, s.namespace) = (true, "some run".into(), "elsewhere".into());
    }
    let inc = RunTest::new(&history, Script::new([vec![wait()], vec![signal], vec![Cmd::Complete]]))
        .same("{Init} {ChildStart 1 ok} {Signaled 1 ok, Child 1 ok}");
    match &inc.ends[1].completed().commands[0].attributes {
        Some(Attributes::SignalExternalWorkflowExecutionCommandAttributes(a)) => {
            let target = a.execution.as_ref().map(|e| (e.workflow_id.as_str(), e.run_id.as_str()));
            assert_eq!((a.namespace.as_str(), target, a.child_workflow_only), ("ns", Some(("c", "")), true));
        }
        other => panic!("{other:?}"),
    }
}

/// Several at once: each resolution finds its own, in the order of events.
#[test]
fn children_side_by_side() {
    let history = start().child_initiated("a").child_initiated("b").child_initiated("d");
    let history = history.child_started("d").child_started("a").child_completed("d").child_started("b").signal("s");
    let history = history.child_failed("a", failure("x"), RetryState::InProgress).w().wf_completed();
    let first = ["a", "b", "d"].map(|id| child(id, WaitCancellationCompleted)).to_vec();
    let program = Script::new([first, vec![Cmd::Complete]]);
    let test = RunTest::new(&history, program);
    test.same("{Init} {ChildStart 3 ok, ChildStart 1 ok, Child 3 ok, ChildStart 2 ok, Signal s, Child 1 failed}");
    let compat = test.compat().all_same();
    assert_eq!(
        compat.shown(),
        "{Init} {Signal s, ChildStart 3 ok, ChildStart 1 ok, Child 3 ok, ChildStart 2 ok, Child 1 failed}"
    );
}

#[test]
fn bad_commands_are_refused_by_what_is_wrong() {
    let bad = |change: fn(&mut StartChildWorkflow)| {
        let mut start = StartChildWorkflow { workflow_id: "c".into(), workflow_type: "child".into(), ..Default::default() };
        change(&mut start);
        let session = RunTest::new(&HistoryBuilder::new().w_open(), Script::new([vec![Cmd::Child(start)]])).inc();
        let e = session.end().error.clone().expect("refused");
        assert_eq!((e.kind(), e.code), (ErrorKind::Misuse, codes::BAD_VALUE), "{}", e.message);
        e.message
    };
    assert_eq!(bad(|s| s.workflow_id.clear()), "StartChildWorkflow: workflow_id is empty");
    assert_eq!(bad(|s| s.workflow_type.clear()), "StartChildWorkflow: workflow_type is empty");
    assert_eq!(bad(|s| s.parent_close_policy = 17), "StartChildWorkflow: unknown parent_close_policy 17");
    assert_eq!(bad(|s| s.workflow_id_reuse_policy = 9), "StartChildWorkflow: unknown workflow_id_reuse_policy 9");
    assert_eq!(bad(|s| s.cancellation_type = 4), "StartChildWorkflow: unknown cancellation_type 4");
    assert!(bad(|s| s.workflow_run_timeout_ms = -1.0).starts_with("invalid workflow_run_timeout_ms: -1 ("));
    assert!(bad(|s| s.workflow_task_timeout_ms = f64::NAN).starts_with("invalid workflow_task_timeout_ms: NaN ("));
    assert!(bad(|s| s.workflow_execution_timeout_ms = f64::INFINITY).starts_with("invalid workflow_execution_timeout_ms: inf ("));
    assert_eq!(bad(|s| s.seq = 1_000_000), "invalid seq 1000000 of a command: the last one was 0");
}

#[test]
fn cancel_of_an_unknown_child() {
    let session = RunTest::new(&HistoryBuilder::new().w_open(), Script::new([vec![Cmd::CancelChild(9, "")]])).inc();
    let e = session.end().error.clone().expect("an error");
    assert_eq!((said(&e), e.code), ("Missing associated machine for ChildWorkflowStart(9)", codes::MISSING_MACHINE));
}

/// Commands after a terminal command that no flag moves are dropped; their seq is never used again.
#[test]
fn children_behind_the_end_are_not_started() {
    let program = Script::new([vec![Cmd::Complete, wait(), Cmd::CancelChild(1, "")]]);
    let inc = RunTest::new(&HistoryBuilder::new().w_open(), program.clone()).inc();
    assert_eq!(inc.commands(), "CompleteWorkflowExecution", "moved before the end, and canceled there");
    RunTest::new(&HistoryBuilder::new().w().wf_completed(), program).compat().replay_ok();
}
