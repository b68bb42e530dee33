//! Operations of Nexus services (docs/dev/semantics/commands.md#nexus-operations).
use crate::support::history::{failure, json};
use crate::support::lang::nexus;
use crate::support::show::{resolution_failure, said};
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, timer};
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::api::command::v1::{Command, ScheduleNexusOperationCommandAttributes};
use temporalex_core::api::common::v1::Payload;
use temporalex_core::api::failure::v1::failure::FailureInfo;
use temporalex_core::api::failure::v1::{Failure, NexusOperationFailureInfo};
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{
    CommandKind, ErrorKind, Job, NexusOperationCancellationType, ScheduleNexusOperation, resolve_nexus_operation,
};
use temporalex_core::error::codes;

use NexusOperationCancellationType::{Abandon, TryCancel, WaitCancellationCompleted, WaitCancellationRequested};

const ALL: [NexusOperationCancellationType; 4] = [WaitCancellationCompleted, Abandon, TryCancel, WaitCancellationRequested];

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

fn wait() -> Cmd {
    nexus("o", WaitCancellationCompleted)
}

/// Says what failed, and where.
fn info(failure: &Failure) -> &NexusOperationFailureInfo {
    match failure.failure_info.as_ref() {
        Some(FailureInfo::NexusOperationExecutionFailureInfo(info)) => info,
        other => panic!("no failure of an operation: {other:?}"),
    }
}

fn check_info(failure: &Failure, scheduled: i64, token: &str) {
    let i = info(failure);
    assert_eq!((i.endpoint.as_str(), i.service.as_str(), i.operation.as_str()), ("e", "s", "o"));
    assert_eq!((i.scheduled_event_id, i.operation_token.as_str()), (scheduled, token));
}

fn is_cancellation(failure: &Failure) -> bool {
    matches!(failure.cause.as_ref().and_then(|c| c.failure_info.as_ref()), Some(FailureInfo::CanceledFailureInfo(_)))
}

fn result(job: &Job) -> Option<Payload> {
    match job.variant.as_ref() {
        Some(Variant::ResolveNexusOperation(r)) => match r.result.as_ref() {
            Some(resolve_nexus_operation::Result::Completed(c)) => c.result.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// S W(2-4) Scheduled(5) Completed(6) W(7-9) Completed(10): both jobs in one activation, the start first.
#[test]
fn result_at_once() {
    for (payload, program) in [(Some(json("1")), "compat"), (None, "native")] {
        let history = start().nexus_scheduled("o").nexus_completed("o", payload.clone()).w().wf_completed();
        let test = RunTest::new(&history, Script::new([vec![wait()], vec![Cmd::Complete]]));
        let test = if program == "compat" { test.compat() } else { test };
        let inc = test.same("{Init} {NexusStart 1 sync, Nexus 1 ok}");
        assert_eq!(inc.commands(), "ScheduleNexusOperation o | CompleteWorkflowExecution");
        assert_eq!(result(&inc.jobs(1)[1]), payload);
    }
}

/// S W(2-4) Scheduled(5) Started(6) W(7-9) Completed(10) W(11-13) Completed(14)
#[test]
fn started_and_completed_later() {
    let history = start().nexus_scheduled("o").nexus_started("o").w();
    let history = history.nexus_completed("o", Some(json("\"ok\""))).w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![wait()], vec![], vec![Cmd::Complete]]));
    let inc = test.same("{Init} {NexusStart 1 o-token} {Nexus 1 ok}");
    assert_eq!((inc.jobs(1)[0].event_id, inc.jobs(2)[0].event_id), (6, 10));
    assert_eq!(result(&inc.jobs(2)[0]), Some(json("\"ok\"")));
    test.compat().all_same();
}

/// What the server says of a failure reaches workflow code as it came.
#[test]
fn ends_without_a_result() {
    type End = fn(HistoryBuilder, Option<Failure>) -> HistoryBuilder;
    let ends: [(End, &str, &str); 3] = [
        (|h, f| h.nexus_failed("o", f), "failed", "Nexus operation failed but failure field was not populated"),
        (|h, f| h.nexus_timed_out("o", f), "failed", "Nexus operation timed out but failure field was not populated"),
        (|h, f| h.nexus_canceled("o", f), "cancelled", "Nexus operation was cancelled but failure field was not populated"),
    ];
    for (end, how, unsaid) in ends {
        for why in [Some(failure("boom")), None] {
            let expected = why.clone().unwrap_or_else(|| Failure { message: unsaid.into(), ..Default::default() });
            let history = end(start().nexus_scheduled("o"), why.clone()).w().wf_completed();
            let inc =
                RunTest::new(&history, Script::new([vec![wait()], vec![Cmd::Complete]])).same("{Init} {NexusStart 1 failed}");
            assert_eq!(resolution_failure(&inc.jobs(1)[0]), expected);

            let history = end(start().nexus_scheduled("o").nexus_started("o").w(), why).w().wf_completed();
            let program = Script::new([vec![wait()], vec![], vec![Cmd::Complete]]);
            let inc = RunTest::new(&history, program).same(&format!("{{Init}} {{NexusStart 1 o-token}} {{Nexus 1 {how}}}"));
            assert_eq!(resolution_failure(&inc.jobs(2)[0]), expected);
        }
    }
}

/// S W(2-4) Completed(5): scheduled and cancelled before anything was sent.
#[test]
fn cancel_before_sent() {
    for cancellation in ALL {
        let program =
            Script::new([vec![nexus("o", cancellation), Cmd::CancelNexus(1)], vec![Cmd::CancelNexus(1), Cmd::Complete]]);
        let inc = RunTest::new(&start().wf_completed(), program).same("{Init} {NexusStart 1 failed}");
        assert_eq!(inc.commands(), "CompleteWorkflowExecution", "{cancellation:?}");
        let seen = resolution_failure(&inc.jobs(1)[0]);
        assert_eq!(seen.message, "Nexus Operation cancelled before scheduled");
        assert!(is_cancellation(&seen));
        check_info(&seen, 0, "");
    }
}

/// Cancelled by a signal: S W(2-4) Scheduled(5) [Started(6)] Signal W [CancelRequested] TimerStarted tail TimerFired W Completed
fn cancelled(started: bool, requested: bool, tail: impl FnOnce(HistoryBuilder) -> HistoryBuilder) -> HistoryBuilder {
    let history = start().nexus_scheduled("o");
    let history = if started { history.nexus_started("o").signal("s").w() } else { history.signal("s").w() };
    let history = if requested { history.nexus_cancel_requested("o") } else { history };
    tail(history.timer_started("1")).timer_fired("1").w().wf_completed()
}

/// The request goes out once, and the operation ends as it ends.
#[test]
fn cancel_waits_for_the_end() {
    let second = || vec![Cmd::CancelNexus(1), timer(), Cmd::CancelNexus(1)];
    let history = cancelled(true, true, |h| h.nexus_cancel_delivered("o").nexus_canceled("o", Some(failure("gone"))));
    let program = Script::new([vec![wait()], second(), vec![Cmd::Complete]]);
    let test = RunTest::new(&history, program);
    let inc = test.same("{Init} {NexusStart 1 o-token, Signal s} {Nexus 1 cancelled, Fire 1}");
    assert_eq!(
        inc.commands(),
        "ScheduleNexusOperation o | RequestCancelNexusOperation 5, StartTimer 1 | CompleteWorkflowExecution"
    );
    assert_eq!(resolution_failure(&inc.jobs(2)[0]), failure("gone"));

    // Its result came first; what the server reports of the request after that is ignored.
    let history =
        cancelled(true, true, |h| h.nexus_completed("o", None).nexus_cancel_failed("o", None).nexus_cancel_delivered("o"));
    let program = Script::new([vec![wait()], second(), vec![Cmd::Complete]]);
    RunTest::new(&history, program).same("{Init} {NexusStart 1 o-token, Signal s} {Nexus 1 ok, Fire 1}");

    // Before the server told of the start.
    let history = cancelled(false, true, |h| h.nexus_started("o").nexus_cancel_delivered("o").nexus_canceled("o", None));
    let program = Script::new([vec![wait()], second(), vec![Cmd::Complete]]);
    RunTest::new(&history, program).same("{Init} {Signal s} {NexusStart 1 o-token, Nexus 1 cancelled, Fire 1}");
}

#[test]
fn cancel_waits_for_its_delivery() {
    let program = || {
        let second = vec![Cmd::CancelNexus(1), timer()];
        Script::new([vec![nexus("o", WaitCancellationRequested)], second, vec![Cmd::Complete]])
    };
    // Whatever the operation says behind it is swallowed.
    let history = cancelled(true, true, |h| h.nexus_cancel_delivered("o").nexus_completed("o", Some(json("1"))));
    let inc = RunTest::new(&history, program()).same("{Init} {NexusStart 1 o-token, Signal s} {Nexus 1 cancelled, Fire 1}");
    let seen = resolution_failure(&inc.jobs(2)[0]);
    assert_eq!(seen.message, "Nexus operation cancellation request completed");
    assert!(is_cancellation(&seen));
    check_info(&seen, 5, "o-token");

    for why in [Some(failure("no")), None] {
        let cause = why.clone().map_or("Nexus operation cancellation request failed".to_string(), |f| f.message);
        let history = cancelled(true, true, |h| h.nexus_cancel_failed("o", why).nexus_completed("o", None));
        let inc = RunTest::new(&history, program()).same("{Init} {NexusStart 1 o-token, Signal s} {Nexus 1 failed, Fire 1}");
        let seen = resolution_failure(&inc.jobs(2)[0]);
        assert_eq!(seen.message, "Nexus operation cancellation request failed");
        assert_eq!(seen.cause.as_ref().map(|c| c.message.clone()), Some(cause));
        check_info(&seen, 5, "o-token");
    }
    let history = cancelled(true, true, |h| h.nexus_completed("o", None).nexus_cancel_delivered("o"));
    RunTest::new(&history, program()).same("{Init} {NexusStart 1 o-token, Signal s} {Nexus 1 ok, Fire 1}");
}

/// It resolves in a further activation of the same task; what comes later is swallowed, its start, too.
#[test]
fn cancel_at_once() {
    let later: [fn(HistoryBuilder) -> HistoryBuilder; 5] = [
        |h| h.nexus_cancel_delivered("o").nexus_canceled("o", None),
        |h| h.nexus_completed("o", Some(json("1"))),
        |h| h.nexus_failed("o", None),
        |h| h.nexus_timed_out("o", None),
        |h| h,
    ];
    for cancellation in [Abandon, TryCancel] {
        for started in [true, false] {
            for tail in later {
                let requested = cancellation == TryCancel;
                let history = cancelled(started, requested, |h| tail(if started { h } else { h.nexus_started("o") }));
                let second = vec![Cmd::CancelNexus(1), timer()];
                let program =
                    Script::new([vec![nexus("o", cancellation)], second, vec![Cmd::CancelNexus(1)], vec![Cmd::Complete]]);
                let first = if started { "NexusStart 1 o-token, " } else { "" };
                let expected = format!("{{Init}} {{{first}Signal s}} {{Nexus 1 cancelled}} {{Fire 1}}");
                let inc = RunTest::new(&history, program).same(&expected);
                let request = if requested { "RequestCancelNexusOperation 5, " } else { "" };
                assert_eq!(
                    inc.commands(),
                    format!("ScheduleNexusOperation o | {request}StartTimer 1 | CompleteWorkflowExecution")
                );
                let seen = resolution_failure(&inc.jobs(2)[0]);
                assert_eq!(seen.message, "Nexus operation cancelled after starting");
                assert!(is_cancellation(&seen));
                check_info(&seen, 5, if started { "o-token" } else { "" });
            }
        }
    }
}

fn sent(schedule: Cmd) -> Command {
    let session = RunTest::new(&HistoryBuilder::new().w_open(), Script::new([vec![schedule]])).inc();
    session.end().completed().commands[0].clone()
}

/// Everything that the call may say reaches the server.
#[test]
fn all_of_the_call_is_sent() {
    let command = sent(Cmd::Nexus(ScheduleNexusOperation {
        endpoint: "e".into(),
        service: "s".into(),
        operation: "o".into(),
        input: Some(json("7")),
        schedule_to_close_timeout_ms: 3000.0,
        schedule_to_start_timeout_ms: 2000.0,
        start_to_close_timeout_ms: 1500.0,
        nexus_header: [("a".to_string(), "b".to_string()), ("c".to_string(), String::new())].into(),
        cancellation_type: TryCancel as i32,
        summary: Some(json("\"sum\"")),
        ..Default::default()
    }));
    let seconds = |s: i64, nanos: i32| Some(prost_types::Duration { seconds: s, nanos });
    let expected = ScheduleNexusOperationCommandAttributes {
        endpoint: "e".into(),
        service: "s".into(),
        operation: "o".into(),
        input: Some(json("7")),
        schedule_to_close_timeout: seconds(3, 0),
        nexus_header: [("a".to_string(), "b".to_string()), ("c".to_string(), String::new())].into(),
        schedule_to_start_timeout: seconds(2, 0),
        start_to_close_timeout: seconds(1, 500_000_000),
    };
    assert_eq!(command.attributes, Some(Attributes::ScheduleNexusOperationCommandAttributes(expected)));
    assert_eq!(command.user_metadata.and_then(|m| m.summary), Some(json("\"sum\"")));
    assert_eq!(sent(wait()).user_metadata, None);
}

#[test]
fn what_no_server_takes_is_refused() {
    let refused = |attributes: ScheduleNexusOperation| {
        let test = RunTest::new(&HistoryBuilder::new().w_open(), Script::new([vec![Cmd::Nexus(attributes)]]));
        let error = test.replay_error();
        assert_eq!((error.kind(), error.code), (ErrorKind::Misuse, codes::BAD_VALUE));
    };
    refused(ScheduleNexusOperation { schedule_to_close_timeout_ms: -1.0, ..Default::default() });
    refused(ScheduleNexusOperation { schedule_to_start_timeout_ms: f64::NAN, ..Default::default() });
    refused(ScheduleNexusOperation { start_to_close_timeout_ms: -1.0, ..Default::default() });
    refused(ScheduleNexusOperation { cancellation_type: 9, ..Default::default() });
}

/// Order and type are compared; endpoint, service and operation are not, as in Core.
#[test]
fn what_is_compared() {
    let history = start().nexus_scheduled("o").nexus_completed("o", None).w().wf_completed();
    let other = Script::new([vec![nexus("another", Abandon)], vec![Cmd::Complete]]);
    RunTest::new(&history, other).same("{Init} {NexusStart 1 sync, Nexus 1 ok}");

    let e = RunTest::new(&history, Script::new([vec![timer()], vec![Cmd::Complete]])).replay_error();
    assert_eq!((e.kind(), e.code, e.event_id), (ErrorKind::Nondeterminism, codes::COMMAND_TYPE, 5));
    assert_eq!(said(&e), "Timer machine does not handle this event: HistoryEvent(id: 5, NexusOperationScheduled)");

    let e = RunTest::new(&start().timer_started("1").timer_fired("1").w(), Script::new([vec![wait()]])).replay_error();
    assert_eq!((e.kind(), e.code, e.event_id), (ErrorKind::Nondeterminism, codes::COMMAND_TYPE, 5));
    assert_eq!((e.command_kind(), e.seq), (CommandKind::ScheduleNexusOperation, 1));
    assert_eq!(said(&e), "Nexus operation machine does not handle this event: HistoryEvent(id: 5, TimerStarted)");
    assert_eq!((e.expected.as_str(), e.actual.as_str()), ("TimerStarted", "ScheduleNexusOperation"));

    let e = RunTest::new(&history, Script::new([vec![], vec![Cmd::Complete]])).replay_error();
    assert_eq!((e.code, e.event_id), (codes::NO_COMMAND, 5));
    // The cancel that the code no longer issues, and one that it issues additionally.
    let e = RunTest::new(&cancelled(true, true, |h| h), Script::new([vec![wait()], vec![timer()]])).replay_error();
    assert_eq!((e.kind(), e.code), (ErrorKind::Nondeterminism, codes::COMMAND_TYPE));
    let e = RunTest::new(&cancelled(true, false, |h| h), Script::new([vec![wait()], vec![Cmd::CancelNexus(1), timer()]]))
        .replay_error();
    assert_eq!((e.kind(), e.code), (ErrorKind::Nondeterminism, codes::COMMAND_TYPE));
}

/// Histories that no server writes.
#[test]
fn damaged_histories() {
    let fatal = |history: HistoryBuilder| {
        let e = RunTest::new(&history, Script::new([vec![wait()], vec![], vec![], vec![]])).replay_error();
        assert_eq!((e.kind(), e.code), (ErrorKind::Fatal, codes::BAD_TRANSITION), "{}", e.message);
    };
    fatal(start().nexus_scheduled("o").nexus_started("o").nexus_started("o").w());
    fatal(start().nexus_scheduled("o").nexus_completed("o", None).nexus_completed("o", None).w());
    fatal(start().nexus_scheduled("o").nexus_completed("o", None).nexus_started("o").w());
    fatal(start().nexus_scheduled("o").nexus_cancel_delivered("o").w());
    fatal(start().nexus_scheduled("o").nexus_cancel_failed("o", None).w());

    let e = RunTest::new(&start(), Script::new([vec![Cmd::CancelNexus(3)]])).replay_error();
    assert_eq!((e.code, e.command_kind(), e.seq), (codes::MISSING_MACHINE, CommandKind::ScheduleNexusOperation, 3));
}
