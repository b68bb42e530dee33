//! What happens when code and history differ, wordings verbatim
//! (docs/dev/semantics/commands.md#commands-are-matched-in-order,
//! docs/dev/semantics/errors.md#kinds-of-errors-of-the-core).
use crate::support::history::failure;
use crate::support::{Cmd, HistoryBuilder, Response, RunTest, Script, act, timer};
use temporalex_core::api::enums::v1::WorkflowTaskFailedCause;
use temporalex_core::api::failure::v1::failure::FailureInfo;
use temporalex_core::boundary::{CommandKind, ErrorKind, EvictionReason};

const PREFIX: &str = "[TMPRL1100] Nondeterminism error: ";
const EXTRA_ACTIVITY: &str = "Extra command ScheduleActivityTask not found in history";

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

/// S W(2-4) ActS(5) ActSt(6) ActC(7) W(8-10) Completed(11)
fn one_activity() -> HistoryBuilder {
    start().act_scheduled("1").act_done("1").w().wf_completed()
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) Completed(10)
fn one_timer() -> HistoryBuilder {
    start().timer_started("1").timer_fired("1").w().wf_completed()
}

#[test]
fn timer_vs_activity() {
    let test = RunTest::new(&one_activity(), Script::new([vec![timer()], vec![Cmd::Complete]]));
    let expected = format!("{PREFIX}Timer machine does not handle this event: HistoryEvent(id: 5, ActivityTaskScheduled)");
    let error = test.replay_error();
    assert_eq!(error.message, expected);
    assert_eq!(
        (error.kind(), error.event_id, error.event_type.as_str()),
        (ErrorKind::Nondeterminism, 5, "ActivityTaskScheduled")
    );
    assert_eq!((error.command_kind(), error.seq), (CommandKind::StartTimer, 1));
    assert_eq!((error.expected.as_str(), error.actual.as_str()), ("ActivityTaskScheduled", "StartTimer"));
    assert_eq!((error.task_started_event_id, error.diffs.len()), (3, 0));

    // As a task of a worker: the task is failed with the cause, and the run is dropped.
    let session = test.cut(1);
    let end = session.end();
    let failed = end.failed();
    assert_eq!(failed.cause(), WorkflowTaskFailedCause::NonDeterministicError);
    assert_eq!((end.evict, end.eviction_reason), (true, EvictionReason::Nondeterminism));
    assert_eq!(failed.task_token, b"task 9");
    assert_eq!((failed.identity.as_str(), failed.namespace.as_str()), ("worker", "ns"));
    let reported = failed.failure.as_ref().expect("a failure");
    assert_eq!(reported.message, expected);
    match reported.failure_info.as_ref() {
        Some(FailureInfo::ApplicationFailureInfo(info)) => assert_eq!((info.r#type.as_str(), info.non_retryable), ("", false)),
        other => panic!("{other:?}"),
    }
    assert_eq!(session.shown(), "{Init}");
}

#[test]
fn missing_command() {
    let error = RunTest::new(&one_timer(), Script::new([vec![], vec![Cmd::Complete]])).replay_error();
    assert_eq!(error.message, format!("{PREFIX}No command scheduled for event HistoryEvent(id: 5, TimerStarted)"));
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 5));
}

#[test]
fn early_complete() {
    let error = RunTest::new(&one_timer(), Script::new([vec![Cmd::Complete]])).replay_error();
    assert_eq!(
        error.message,
        format!("{PREFIX}Complete workflow machine does not handle this event: HistoryEvent(id: 5, TimerStarted)")
    );
    for (command, name) in [(Cmd::Fail(failure("x")), "Fail workflow"), (Cmd::CancelWorkflow, "Cancel workflow")] {
        let error = RunTest::new(&one_timer(), Script::new([vec![command]])).replay_error();
        let text = format!("{PREFIX}{name} machine does not handle this event: HistoryEvent(id: 5, TimerStarted)");
        assert_eq!(error.message, text);
    }
    let again = Cmd::ContinueAsNew(Default::default());
    let error = RunTest::new(&one_timer(), Script::new([vec![again]])).replay_error();
    let text = format!("{PREFIX}Continue as new workflow machine does not handle this event: HistoryEvent(id: 5, TimerStarted)");
    assert_eq!(error.message, text);
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) TmrS(10) TmrF(11) W(12-14) Completed(15); the code also schedules an activity at first.
#[test]
fn extra_command_mid() {
    let history = start().timer_started("1").timer_fired("1").w().timer_started("2").timer_fired("2").w().wf_completed();
    let script = || Script::new([vec![timer(), act()], vec![timer()], vec![Cmd::Complete]]);
    let error = RunTest::new(&history, script()).replay_error();
    assert_eq!(
        error.message,
        format!("{PREFIX}Activity machine does not handle this event: HistoryEvent(id: 10, TimerStarted)"),
        "Core notices it at the next command event"
    );
    let session = RunTest::new(&history, script()).strict().replay();
    let error = session.end().error.clone().expect("an error");
    assert_eq!(error.kind(), ErrorKind::Nondeterminism);
    assert_eq!(error.message, format!("{PREFIX}{EXTRA_ACTIVITY} before event 6"));
    assert_eq!((error.command_kind(), error.seq), (CommandKind::ScheduleActivity, 1));
    assert_eq!(session.shown(), "{Init}", "the strict check locates the first divergence");
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) Completed(10); the code also schedules an activity at first.
#[test]
fn extra_command_tail() {
    let history = start().timer_started("1").timer_fired("1").w();
    let script = || Script::new([vec![timer(), act()], vec![]]);
    let lenient = RunTest::new(&history, script()).replay_ok();
    let warnings: Vec<&str> = lenient.end().warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0], format!("{EXTRA_ACTIVITY} before event 6"));
    let error = RunTest::new(&history, script()).strict().replay_error();
    assert_eq!(error.message, format!("{PREFIX}{EXTRA_ACTIVITY} before event 6"));
}

/// S W(2-4) TmrS(5); the code also schedules an activity, after the last task of the history.
#[test]
fn extra_command_at_the_end() {
    let history = start().timer_started("1");
    let script = || Script::new([vec![timer(), act()]]);
    let lenient = RunTest::new(&history, script()).replay_ok();
    let warnings: Vec<&str> = lenient.end().warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(warnings, [format!("{EXTRA_ACTIVITY} up to event 5")]);
    let error = RunTest::new(&history, script()).strict().replay_error();
    assert_eq!(error.message, format!("{PREFIX}{EXTRA_ACTIVITY} up to event 5"));
    assert_eq!((error.command_kind(), error.seq), (CommandKind::ScheduleActivity, 1));
}

/// S W(2-4) TmrS(5) TmrF(6): no task of the history could hold what the code does after the timer.
#[test]
fn commands_after_the_history() {
    let history = start().timer_started("1").timer_fired("1");
    let session = RunTest::new(&history, Script::new([vec![timer()], vec![act()]])).strict().replay_ok();
    assert!(session.end().warnings.is_empty());
}

/// S W(2-4) TmrS(5) ActS(6) ActSt(7) ActC(8) W(9-11) Completed(12)
#[test]
fn swapped_order() {
    let history = start().timer_started("1").act_scheduled("1").act_done("1").w().wf_completed();
    let error = RunTest::new(&history, Script::new([vec![act(), timer()], vec![Cmd::Complete]])).replay_error();
    assert_eq!(error.message, format!("{PREFIX}Activity machine does not handle this event: HistoryEvent(id: 5, TimerStarted)"));
    // The order does not distinguish two commands of one kind: the ids are compared.
    let history = start().timer_started("1").timer_started("2").timer_fired("1").w().wf_completed();
    RunTest::new(&history, Script::new([vec![timer(), timer()], vec![Cmd::Complete]])).replay_ok();
}

#[test]
fn recover_after_nondeterminism() {
    let bad = RunTest::new(&one_timer(), Script::new([vec![act()]]));
    assert!(matches!(bad.cut(1).end().response, Response::Failed(_)));
    let good = RunTest::new(&one_timer(), Script::new([vec![timer()], vec![Cmd::Complete]]));
    let mut session = good.session();
    let mut poll = good.poll(1, good.tasks()[1]);
    poll.attempt = 2;
    let end = session.task(&poll);
    assert_eq!(end.commands(), "CompleteWorkflowExecution");
    assert_eq!(session.shown(), "{Init} {Fire 1}");
}

#[test]
fn attempt_2_not_reported() {
    let test = RunTest::new(&one_timer(), Script::new([vec![act()]]));
    let mut session = test.session();
    let mut poll = test.poll(1, test.tasks()[1]);
    poll.attempt = 2;
    let end = session.task(&poll);
    assert!(matches!(end.response, Response::Nothing), "{:?}", end.response);
    assert_eq!((end.evict, end.eviction_reason), (true, EvictionReason::Nondeterminism));
    assert!(end.message().starts_with(PREFIX));
}

#[test]
fn resolve_unknown_seq() {
    let cases = [(Cmd::CancelTimer(9), "Timer(9)"), (Cmd::CancelAct(9), "Activity(9)")];
    for (command, shown) in cases {
        let test = RunTest::new(&one_timer(), Script::new([vec![command, timer()], vec![Cmd::Complete]]));
        let error = test.replay_error();
        assert_eq!(error.message, format!("{PREFIX}Missing associated machine for {shown}"));
        assert_eq!(error.kind(), ErrorKind::Nondeterminism);
    }
}

/// S W(2-4) TmrS(5) TmrF of 99(6) W(7-9) Completed(10)
#[test]
fn event_for_unknown_initiator() {
    let history = start().timer_started("1").timer_fired_as("1", 99).w().wf_completed();
    let error = RunTest::new(&history, Script::new([vec![timer()], vec![Cmd::Complete]])).replay_error();
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 6));
    let text = "During event handling, this event had an initial command ID but we could not find a matching command for it: ";
    assert!(error.message.starts_with(&format!("{PREFIX}{text}")), "{}", error.message);
    assert!(error.message.contains("HistoryEvent(id: 6, TimerFired)"), "{}", error.message);
}

#[test]
fn lang_failure() {
    let boom = Cmd::FailTask(failure("user code threw"), WorkflowTaskFailedCause::Unspecified);
    let test = RunTest::new(&one_timer(), Script::new([vec![timer()], vec![boom]]));
    let session = test.inc();
    let end = session.end();
    assert_eq!(end.failed().cause(), WorkflowTaskFailedCause::WorkflowWorkerUnhandledFailure);
    assert_eq!(end.failed().failure, Some(failure("user code threw")));
    assert_eq!((end.evict, end.eviction_reason), (true, EvictionReason::LangFail));
    assert_eq!(end.error.as_ref().map(|e| e.kind()), Some(ErrorKind::Lang));

    // The retry is a full replay up to the point of the failure.
    let good = RunTest::new(&one_timer(), Script::new([vec![timer()], vec![Cmd::Complete]]));
    let session = good.cut(1);
    let replaying: Vec<bool> = session.activations.iter().map(|a| a.is_replaying).collect();
    assert_eq!((session.shown().as_str(), replaying), ("{Init} {Fire 1}", vec![true, false]));

    // The program may name the cause itself.
    let forced = Cmd::FailTask(failure("x"), WorkflowTaskFailedCause::NonDeterministicError);
    let session = RunTest::new(&one_timer(), Script::new([vec![forced]])).inc();
    assert_eq!(session.end().failed().cause(), WorkflowTaskFailedCause::NonDeterministicError);
}
