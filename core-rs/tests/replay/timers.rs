//! Timers (docs/dev/semantics/commands.md#timers).
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, show, timer};
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::boundary::{CommandKind, ErrorKind};

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) Completed(10)
#[test]
fn timer_basic() {
    let history = start().timer_started("1").timer_fired("1").w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![Cmd::Timer(1500.0)], vec![Cmd::Complete]]));
    let inc = test.same("{Init} {Fire 1}");
    assert_eq!(inc.commands(), "StartTimer 1 | CompleteWorkflowExecution");
    let Some(Attributes::StartTimerCommandAttributes(sent)) = &inc.ends[0].completed().commands[0].attributes else {
        panic!("no timer");
    };
    assert_eq!(sent.timer_id, "1");
    assert_eq!(sent.start_to_fire_timeout, Some(prost_types::Duration { seconds: 1, nanos: 500_000_000 }));
    assert_eq!(inc.jobs(1)[0].event_id, 6);
}

/// A wait "for ever". S W(2-4) TmrS(5) Signal(6) W(7-9) Completed(10)
#[test]
fn a_timer_that_is_too_long_for_protobuf_is_the_longest() {
    let history = start().timer_started("1").signal("s").w().wf_completed();
    for length in [9_007_199_254_740_991.0, 1e300] {
        let test = RunTest::new(&history, Script::new([vec![Cmd::Timer(length)], vec![Cmd::Complete]]));
        let inc = test.same("{Init} {Signal s}");
        let Some(Attributes::StartTimerCommandAttributes(sent)) = &inc.ends[0].completed().commands[0].attributes else {
            panic!("no timer");
        };
        assert_eq!(sent.start_to_fire_timeout, Some(prost_types::Duration { seconds: 315_576_000_000, nanos: 0 }));
    }
}

/// S W(2-4) TmrS(5) TmrS(6) TmrF "2"(7) TmrF "1"(8) W(9-11) Completed(12)
#[test]
fn parallel_timers_out_of_order() {
    let history = start().timer_started("1").timer_started("2").timer_fired("2").timer_fired("1").w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![timer(), timer()], vec![Cmd::Complete]]));
    test.same("{Init} {Fire 2, Fire 1}");
    RunTest::new(&history, Script::new([vec![timer(), timer()], vec![Cmd::Complete]])).compat().same("{Init} {Fire 2, Fire 1}");
}

/// S W(2-4) TmrS(5) Signal(6) W(7-9) TmrCanceled(10) Completed(11)
#[test]
fn timer_cancel() {
    let history = start().timer_started("1").signal("s").w().timer_canceled("1").wf_completed();
    let test = RunTest::new(&history, Script::new([vec![timer()], vec![Cmd::CancelTimer(1), Cmd::Complete]]));
    let inc = test.same("{Init} {Signal s}");
    assert_eq!(inc.commands(), "StartTimer 1 | CancelTimer 1, CompleteWorkflowExecution");
}

/// S W(2-4) Completed(5)
#[test]
fn timer_cancel_same_activation() {
    let history = start().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![timer(), Cmd::CancelTimer(1), Cmd::Complete]]));
    let inc = test.same("{Init}");
    assert_eq!(inc.commands(), "CompleteWorkflowExecution");
}

/// The seq of a timer that was never sent is not given out again: S W(2-4) TmrS "2"(5) TmrF(6) W(7-9) Completed(10)
#[test]
fn seq_of_a_dropped_timer_is_not_reused() {
    let history = start().timer_started("2").timer_fired("2").w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![timer(), Cmd::CancelTimer(1), timer()], vec![Cmd::Complete]]));
    let inc = test.same("{Init} {Fire 2}");
    assert_eq!(inc.commands(), "StartTimer 2 | CompleteWorkflowExecution");
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) Completed(10)
#[test]
fn timer_cancel_after_fired() {
    let history = start().timer_started("1").timer_fired("1").w().wf_completed();
    let test = RunTest::new(&history, Script::new([vec![timer()], vec![Cmd::CancelTimer(1), Cmd::Complete]]));
    let inc = test.same("{Init} {Fire 1}");
    assert_eq!(inc.commands(), "StartTimer 1 | CompleteWorkflowExecution");
}

/// A second cancel of the same timer: S W(2-4) TmrS(5) Signal(6) W(7-9) TmrCanceled(10) Completed(11)
#[test]
fn timer_cancelled_twice() {
    let history = start().timer_started("1").signal("s").w().timer_canceled("1").wf_completed();
    let twice = vec![Cmd::CancelTimer(1), Cmd::CancelTimer(1), Cmd::Complete];
    RunTest::new(&history, Script::new([vec![timer()], twice])).same("{Init} {Signal s}");
}

/// S W(2-4) TmrS "1"(5) TmrF "2" of 5(6) W(7-9) Completed(10)
#[test]
fn timer_id_mismatch() {
    let history = start().timer_started("1").timer_fired_as("2", 5).w().wf_completed();
    let error = RunTest::new(&history, Script::new([vec![timer()], vec![Cmd::Complete]])).replay_error();
    assert_eq!(error.message, "[TMPRL1100] Nondeterminism error: Timer fired event did not have expected timer id 1, it was 2!");
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 6));
    assert_eq!((error.command_kind(), error.seq), (CommandKind::StartTimer, 1));
    assert_eq!(show::activations(&RunTest::new(&history, Script::new([vec![timer()]])).replay().activations), "{Init}");
}
