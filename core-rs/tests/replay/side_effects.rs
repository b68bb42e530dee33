//! Side effects (docs/dev/semantics/commands.md#side-effects).
use crate::support::lang::SideEffects;
use crate::support::{Calls, Cmd, HistoryBuilder, Reply, RunTest, Script, json, timer};
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{Activation, ErrorKind};

const PREFIX: &str = "[TMPRL1100] Nondeterminism error: ";

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

/// S W(2-4) SideEffect 0(5) TmrS(6) TmrF(7) W(8-10) Completed(11)
fn recorded() -> HistoryBuilder {
    start().side_effect_marker(0, json("42")).timer_started("1").timer_fired("1").w().wf_completed()
}

/// `const x = sideEffect(() => 42)`, a timer, then the result is x. Fails when the function runs on replay.
fn program(computed: &'static str) -> impl FnMut(&Activation, &mut Calls) -> Reply + Clone {
    let (mut effects, mut value) = (SideEffects::default(), None);
    move |activation: &Activation, calls: &mut Calls<'_>| {
        effects.see(activation);
        match &value {
            None => {
                value = Some(effects.run(activation, calls, || json(computed)));
                assert_eq!(effects.ran, u32::from(!activation.is_replaying), "the function runs live and only then");
                calls.give(&timer());
            }
            Some(value) => {
                let result = Some(value.clone());
                let complete = temporalex_core::boundary::CompleteWorkflow { result };
                calls.raw(temporalex_core::boundary::CommandKind::CompleteWorkflow, &complete);
            }
        }
        Reply::Finish
    }
}

#[test]
fn side_effect_live() {
    let inc = RunTest::new(&recorded(), program("42")).inc();
    assert_eq!(inc.shown(), "{Init} {Fire 1}");
    assert_eq!(inc.commands(), "RecordMarker SideEffect, StartTimer 1 | CompleteWorkflowExecution");
    let Some(Attributes::RecordMarkerCommandAttributes(marker)) = &inc.ends[0].completed().commands[0].attributes else {
        panic!("no marker")
    };
    assert_eq!(marker.details["side-effect-id"].payloads, [json("0")]);
    assert_eq!(marker.details["data"].payloads, [json("42")]);
}

#[test]
fn side_effect_replay() {
    // The function would give something else now.
    let test = RunTest::new(&recorded(), program("43")).strict();
    let session = test.replay_ok();
    assert_eq!(session.shown(), "{Init, SideEffect 0} {Fire 1}");
    let Some(Variant::SideEffectValue(value)) = session.jobs(0)[1].variant.as_ref() else { panic!("no value") };
    assert_eq!(value.payload, Some(json("42")));
    RunTest::new(&recorded(), program("42")).strict().same("{Init} {Fire 1}");
    // What the code made of it on a cold run is the recorded value.
    let session = test.cut(1);
    let Some(Attributes::CompleteWorkflowExecutionCommandAttributes(result)) = &session.end().completed().commands[0].attributes
    else {
        panic!("not complete")
    };
    assert_eq!(result.result.as_ref().map(|p| p.payloads.clone()), Some(vec![json("42")]));
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) Completed(10): the code has a side effect that history has not.
#[test]
fn missing_marker() {
    let history = start().timer_started("1").timer_fired("1").w().wf_completed();
    let script = Script::new([vec![Cmd::SideEffect(0, json("1")), timer()], vec![Cmd::Complete]]);
    let error = RunTest::new(&history, script).replay_error();
    assert_eq!(error.message, format!("{PREFIX}No side effect marker in history for side effect id 0"));
    assert_eq!(error.kind(), ErrorKind::Nondeterminism);
}

/// History has a side effect that the code has not.
#[test]
fn marker_and_no_call() {
    let error = RunTest::new(&recorded(), Script::new([vec![timer()], vec![Cmd::Complete]])).replay_error();
    assert_eq!(error.message, format!("{PREFIX}Timer machine does not handle this event: HistoryEvent(id: 5, MarkerRecorded)"));
}

/// S W(2-4) SideEffect 1(5) SideEffect 0(6) TmrS(7) ...: both values are known, but they stand in another order.
#[test]
fn id_mismatch() {
    let history = start().side_effect_marker(1, json("1")).side_effect_marker(0, json("0")).timer_started("1").w_open();
    let both = vec![Cmd::SideEffect(0, json("0")), Cmd::SideEffect(1, json("1")), timer()];
    let error = RunTest::new(&history, Script::new([both])).replay_error();
    assert_eq!(error.message, format!("{PREFIX}Side effect id 1 does not match expected id 0"));
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 5));
}

/// S W(2-4) TmrS(5) SideEffect 0(6) TmrS(7) TmrF(8) W(9-11) Completed(12)
#[test]
fn side_effect_between_two_timers() {
    let history = start().timer_started("1").side_effect_marker(0, json("1")).timer_started("2").timer_fired("2").w();
    let history = history.wf_completed();
    let first = || vec![timer(), Cmd::SideEffect(0, json("1")), timer()];
    let inc = RunTest::new(&history, Script::new([first(), vec![Cmd::Complete]])).strict().same("{Init} {Fire 2}");
    assert_eq!(inc.commands(), "StartTimer 1, RecordMarker SideEffect, StartTimer 2 | CompleteWorkflowExecution");
    let moved = vec![timer(), timer(), Cmd::SideEffect(0, json("1"))];
    let error = RunTest::new(&history, Script::new([moved, vec![Cmd::Complete]])).replay_error();
    assert_eq!(error.message, format!("{PREFIX}Timer machine does not handle this event: HistoryEvent(id: 6, MarkerRecorded)"));
}

/// S wF(2-4) w(5-6): the task in which the function ran was dropped, so it runs again.
#[test]
fn side_effect_runs_again_after_a_dropped_task() {
    let history = HistoryBuilder::new().w_failed().w_open();
    let session = RunTest::new(&history, program("42")).cut(0);
    assert_eq!(session.shown(), "{Init}");
    assert!(!session.activations[0].is_replaying);
    assert_eq!(session.commands(), "RecordMarker SideEffect, StartTimer 1");
}
