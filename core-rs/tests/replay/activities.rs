//! Activities (docs/dev/semantics/commands.md#activities).
use crate::support::history::{failure, json, payloads};
use crate::support::lang::{act_cancelling, act_named};
use crate::support::show::resolution_failure;
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, act, timer};
use temporalex_core::api::common::v1::Payloads;
use temporalex_core::api::enums::v1::{RetryState, TimeoutType};
use temporalex_core::api::failure::v1::failure::FailureInfo;
use temporalex_core::api::failure::v1::{ActivityFailureInfo, Failure};
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{ActivityCancellationType, CommandKind, ErrorKind, Job, resolve_activity};

use ActivityCancellationType::{Abandon, TryCancel, WaitCancellationCompleted};

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

fn activity_info(failure: &Failure) -> &ActivityFailureInfo {
    match failure.failure_info.as_ref() {
        Some(FailureInfo::ActivityFailureInfo(info)) => info,
        other => panic!("no activity failure: {other:?}"),
    }
}

fn canceled_details(failure: &Failure) -> Option<Payloads> {
    match failure.cause.as_ref().and_then(|c| c.failure_info.as_ref()) {
        Some(FailureInfo::CanceledFailureInfo(info)) => info.details.clone(),
        other => panic!("the cause is not a cancellation: {other:?}"),
    }
}

fn result(job: &Job) -> Option<temporalex_core::api::common::v1::Payload> {
    match job.variant.as_ref() {
        Some(Variant::ResolveActivity(r)) => match r.result.as_ref() {
            Some(resolve_activity::Result::Completed(c)) => c.result.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// S W(2-4) ActS(5) ActSt(6) ActC(7) W(8-10) Completed(11)
#[test]
fn activity_complete() {
    let history = start().act_scheduled("1").act_done("1").w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![act()], vec![Cmd::Complete]]));
    let inc = test.same("{Init} {Resolve 1 ok}");
    assert_eq!(inc.commands(), "ScheduleActivityTask 1 | CompleteWorkflowExecution");
    assert_eq!(result(&inc.jobs(1)[0]), Some(json("\"ok\"")));
    assert_eq!(inc.jobs(1)[0].event_id, 7);
}

/// A void result has no payload.
#[test]
fn activity_complete_without_result() {
    let history = start().act_scheduled("1").act_started("1").act_completed_with("1", None).w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![act()], vec![Cmd::Complete]]));
    let inc = test.same("{Init} {Resolve 1 ok}");
    assert_eq!(result(&inc.jobs(1)[0]), None);
}

/// S W(2-4) ActS(5) ActSt(6) ActF(7) W(8-10) WfFailed(11)
#[test]
fn activity_fail() {
    let history = start().act_scheduled("1").act_started("1");
    let history = history.act_failed("1", failure("boom"), RetryState::MaximumAttemptsReached).w().wf_failed(failure("x"));
    let test = RunTest::new(&history, Script::new([vec![act()], vec![Cmd::Fail(failure("x"))]]));
    let inc = test.same("{Init} {Resolve 1 failed}");
    let seen = resolution_failure(&inc.jobs(1)[0]);
    assert_eq!(seen.message, "Activity task failed");
    assert_eq!(seen.cause.as_deref(), Some(&failure("boom")));
    let info = activity_info(&seen);
    assert_eq!(info.retry_state(), RetryState::MaximumAttemptsReached);
    assert_eq!((info.activity_id.as_str(), info.activity_type.as_ref().map(|t| t.name.as_str())), ("1", Some("act")));
    assert_eq!((info.scheduled_event_id, info.started_event_id, info.identity.as_str()), (5, 6, "worker"));
}

/// S W(2-4) ActS(5) ActTO(6) W(7-9) Completed(10)
#[test]
fn activity_timeout_scheduled() {
    let history = start().act_scheduled("1").act_timed_out("1", TimeoutType::ScheduleToStart).w().wf_completed();
    let inc = RunTest::new(&history, Script::new([vec![act()], vec![Cmd::Complete]])).same("{Init} {Resolve 1 failed}");
    check_timeout(&resolution_failure(&inc.jobs(1)[0]), TimeoutType::ScheduleToStart, 0);
}

/// S W(2-4) ActS(5) ActSt(6) ActTO(7) W(8-10) Completed(11)
#[test]
fn activity_timeout_started() {
    let history = start().act_scheduled("1").act_started("1").act_timed_out("1", TimeoutType::StartToClose).w().wf_completed();
    let inc = RunTest::new(&history, Script::new([vec![act()], vec![Cmd::Complete]])).same("{Init} {Resolve 1 failed}");
    check_timeout(&resolution_failure(&inc.jobs(1)[0]), TimeoutType::StartToClose, 6);
}

fn check_timeout(seen: &Failure, kind: TimeoutType, started: i64) {
    assert_eq!(seen.message, "Activity task timed out");
    let info = activity_info(seen);
    assert_eq!((info.retry_state(), info.started_event_id), (RetryState::Timeout, started));
    match seen.cause.as_ref().and_then(|c| c.failure_info.as_ref()) {
        Some(FailureInfo::TimeoutFailureInfo(timeout)) => assert_eq!(timeout.timeout_type(), kind),
        other => panic!("the cause is not a timeout: {other:?}"),
    }
}

/// S W(2-4) Completed(5): scheduled and cancelled before anything was sent.
#[test]
fn activity_cancel_unsent() {
    for cancellation in [TryCancel, WaitCancellationCompleted, Abandon] {
        let history = start().wf_completed();
        let first = vec![act_cancelling(cancellation), Cmd::CancelAct(1)];
        let inc = RunTest::new(&history, Script::new([first, vec![Cmd::Complete]])).same("{Init} {Resolve 1 cancelled}");
        assert_eq!(inc.commands(), "CompleteWorkflowExecution", "{cancellation:?}");
        assert_eq!(inc.activations[1].started_event_id, 3, "a further activation of the same task");
        assert_eq!(resolution_failure(&inc.jobs(1)[0]).message, "Activity cancelled");
    }
}

/// S W(2-4) ActS(5) Signal(6) W(7-9) ActCancelReq(10) TmrS(11) {tail} TmrF W Completed
fn try_cancelled(tail: impl FnOnce(HistoryBuilder) -> HistoryBuilder) -> HistoryBuilder {
    let history = start().act_scheduled("1").signal("s").w().act_cancel_requested("1").timer_started("1");
    tail(history).timer_fired("1").w().wf_completed()
}

#[test]
fn activity_try_cancel() {
    let later: [fn(HistoryBuilder) -> HistoryBuilder; 4] = [
        |h| h.act_done("1"),
        |h| h.act_started("1").act_failed("1", failure("late"), RetryState::CancelRequested),
        |h| h.act_timed_out("1", TimeoutType::ScheduleToStart),
        |h| h.act_started("1").act_canceled("1", None),
    ];
    for tail in later {
        let history = try_cancelled(tail);
        let script = Script::new([vec![act()], vec![Cmd::CancelAct(1)], vec![timer()], vec![Cmd::Complete]]);
        let inc = RunTest::new(&history, script).same("{Init} {Signal s} {Resolve 1 cancelled} {Fire 1}");
        assert_eq!(
            inc.commands(),
            "ScheduleActivityTask 1 | RequestCancelActivityTask 5, StartTimer 1 | CompleteWorkflowExecution"
        );
        assert_eq!(inc.activations[2].started_event_id, 8, "a further activation of the same task");
        let seen = resolution_failure(&inc.jobs(2)[0]);
        assert_eq!(seen.message, "Activity cancelled");
        assert_eq!(canceled_details(&seen), None);
        assert_eq!((activity_info(&seen).scheduled_event_id, activity_info(&seen).activity_id.as_str()), (5, "1"));
    }
}

/// S W(2-4) ActS(5) Signal(6) W(7-9) ActCancelReq(10) ActSt(11) ActCanceled(12) W(13-15) Completed(16)
#[test]
fn activity_wait_cancel() {
    let details = payloads([json("\"tidied up\"")]);
    let history = start().act_scheduled("1").signal("s").w().act_cancel_requested("1").act_started("1");
    let history = history.act_canceled("1", Some(details.clone())).w().wf_completed();
    let script = Script::new([vec![act_cancelling(WaitCancellationCompleted)], vec![Cmd::CancelAct(1)], vec![Cmd::Complete]]);
    let inc = RunTest::new(&history, script).same("{Init} {Signal s} {Resolve 1 cancelled}");
    assert_eq!(inc.commands(), "ScheduleActivityTask 1 | RequestCancelActivityTask 5 | CompleteWorkflowExecution");
    assert_eq!(canceled_details(&resolution_failure(&inc.jobs(2)[0])), Some(details));
}

/// Waiting for a cancel that the activity never saw: S W(2-4) ActS(5) Signal(6) W(7-9) CancelReq(10) ActSt(11) ActC(12) W Completed
#[test]
fn activity_wait_cancel_completes_instead() {
    let history = start().act_scheduled("1").signal("s").w().act_cancel_requested("1").act_done("1").w().wf_completed();
    let script = Script::new([vec![act_cancelling(WaitCancellationCompleted)], vec![Cmd::CancelAct(1)], vec![Cmd::Complete]]);
    RunTest::new(&history, script).same("{Init} {Signal s} {Resolve 1 ok}");
}

/// S W(2-4) ActS(5) Signal(6) W(7-9) TmrS(10) ActSt(11) ActC(12) TmrF(13) W(14-16) Completed(17)
#[test]
fn activity_abandon_then_started_completed() {
    let history = start().act_scheduled("1").signal("s").w().timer_started("1").act_done("1").timer_fired("1").w();
    let script = Script::new([vec![act_cancelling(Abandon)], vec![Cmd::CancelAct(1)], vec![timer()], vec![Cmd::Complete]]);
    let inc = RunTest::new(&history.wf_completed(), script).same("{Init} {Signal s} {Resolve 1 cancelled} {Fire 1}");
    assert_eq!(inc.commands(), "ScheduleActivityTask 1 | StartTimer 1 | CompleteWorkflowExecution");
}

/// S W(2-4) ActS(5) Signal(6) ActSt(7) ActC(8) W(9-11) Completed(12)
#[test]
fn activity_cancel_after_complete_same_task() {
    let history = start().act_scheduled("1").signal("s").act_done("1").w().wf_completed();
    for cancellation in [TryCancel, WaitCancellationCompleted, Abandon] {
        let script = Script::new([vec![act_cancelling(cancellation)], vec![Cmd::CancelAct(1), Cmd::Complete]]);
        let inc = RunTest::new(&history, script).same("{Init} {Signal s, Resolve 1 ok}");
        assert_eq!(inc.commands(), "ScheduleActivityTask 1 | CompleteWorkflowExecution", "{cancellation:?}");
    }
}

/// S W(2-4) ActS(5) TmrS(6) [ActSt(7)] TmrF W CancelReq TmrS {ActSt} ActC TmrF W Completed
#[test]
fn activity_not_cancelled_on_replay() {
    for started_early in [true, false] {
        let mut history = start().act_scheduled("1").timer_started("1");
        if started_early {
            history = history.act_started("1");
        }
        history = history.timer_fired("1").w().act_cancel_requested("1").timer_started("2");
        if !started_early {
            history = history.act_started("1");
        }
        let history = history.act_completed("1", json("1")).timer_fired("2").w().wf_completed();
        let script = Script::new([vec![act(), timer()], vec![Cmd::CancelAct(1)], vec![timer()], vec![Cmd::Complete]]);
        RunTest::new(&history, script).same("{Init} {Fire 1} {Resolve 1 cancelled} {Fire 2}");
    }
}

/// S W(2-4) ActS(5) Sig(6) W(7-9) CancelReq(10) TmrS(11) ActSt(12) ActC(13) W(14-16) TmrF(17) W(18-20) Completed(21)
#[test]
fn activity_cancel_then_complete() {
    let history = start().act_scheduled("1").signal("s").w().act_cancel_requested("1").timer_started("1");
    let history = history.act_done("1").w().timer_fired("1").w().wf_completed();
    let script = Script::new([vec![act()], vec![Cmd::CancelAct(1)], vec![timer()], vec![Cmd::Complete]]);
    let inc = RunTest::new(&history, script).same("{Init} {Signal s} {Resolve 1 cancelled} {Fire 1}");
    // The task that contained only the ignored completion completes without activating the program.
    assert_eq!(inc.ends[2].commands(), "");
}

/// History ActS "a" of type "act", flag 1 recorded: S W(2-4) ActS(5) ActSt(6) ActC(7) W(8-10) Completed(11)
fn scheduled_as(id: &str, kind: &str, flags: &[u32]) -> HistoryBuilder {
    let history = HistoryBuilder::new().w().meta(flags, &[], "temporalex-ts", "0.1.0");
    history.act_scheduled_as(id, kind).act_done(id).w().wf_completed()
}

fn schedules(id: &str, kind: &str) -> Script {
    Script::new([vec![act_named(id, kind)], vec![Cmd::Complete]])
}

#[test]
fn activity_id_change() {
    let error = RunTest::new(&scheduled_as("a", "act", &[1, 2, 3]), schedules("b", "act")).replay_error();
    assert_eq!(
        error.message,
        "[TMPRL1100] Nondeterminism error: Activity id of scheduled event 'a' does not match activity id of activity command 'b'"
    );
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 5));
    assert_eq!((error.command_kind(), error.seq), (CommandKind::ScheduleActivity, 1));
    assert_eq!((error.expected.as_str(), error.actual.as_str()), ("a", "b"));
    let diffs: Vec<_> = error.diffs.iter().map(|d| (d.field.as_str(), d.expected.as_str(), d.actual.as_str())).collect();
    assert_eq!(diffs, [("activity_id", "a", "b")]);
}

#[test]
fn activity_type_change() {
    let error = RunTest::new(&scheduled_as("a", "act", &[1, 2, 3]), schedules("a", "other")).replay_error();
    assert_eq!(
        error.message,
        "[TMPRL1100] Nondeterminism error: Activity type of scheduled event 'act' does not match activity type of activity \
         command 'other'"
    );
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 5));
}

#[test]
fn activity_change_without_flag_1() {
    RunTest::new(&scheduled_as("a", "act", &[2, 3]), schedules("b", "other")).replay_ok();
}

#[test]
fn activity_two_payloads() {
    for bad in [payloads([json("1"), json("2")]), payloads([])] {
        let history = start().act_scheduled("1").act_started("1").act_completed_with("1", Some(bad)).w().wf_completed();
        let error = RunTest::new(&history, Script::new([vec![act()], vec![Cmd::Complete]])).replay_error();
        assert_eq!((error.kind(), error.event_id), (ErrorKind::Fatal, 7));
        assert!(error.message.starts_with("Fatal error in workflow machines: Not exactly one payload"), "{}", error.message);
    }
}
