//! Reducers in the transaction of a task, on the worker's side (docs/dev/semantics/database.md#transact).
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, failure, json, timer};
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::boundary::ErrorKind;
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::resolve_transact::Result;

const PREFIX: &str = "[TMPRL1100] Nondeterminism error: ";

/// S W(2-4) Transact 1 "hit"(5) Transact 2 "log"(6) W(7-9) Completed(10)
fn recorded() -> HistoryBuilder {
    HistoryBuilder::new()
        .w_native()
        .transact_marker(1, "hit", json("93"))
        .transact_marker(2, "log", json("null"))
        .w()
        .wf_completed()
}

fn program() -> Script {
    Script::new([vec![Cmd::Transact("hit", true), Cmd::Transact("log", false)], vec![Cmd::Complete]])
}

#[test]
fn the_answer_comes_with_the_next_task_live_and_on_replay() {
    let inc = RunTest::new(&recorded(), program()).strict().same("{Init} {Transact 1 completed, Transact 2 completed}");
    assert_eq!(inc.commands(), "RecordMarker Transact, RecordMarker Transact | CompleteWorkflowExecution");
    let Some(Variant::ResolveTransact(answer)) = inc.jobs(1)[0].variant.as_ref() else { panic!("no answer") };
    let Some(Result::Completed(completed)) = &answer.result else { panic!("not completed") };
    assert_eq!(completed.result, Some(json("93")));
}

#[test]
fn the_marker_says_which_reducer_with_what_and_whether_code_waits() {
    let inc = RunTest::new(&recorded(), program()).inc();
    let details = |index: usize| {
        let Some(Attributes::RecordMarkerCommandAttributes(marker)) = &inc.ends[0].completed().commands[index].attributes else {
            panic!("no marker")
        };
        marker
            .details
            .iter()
            .map(|(key, value)| (key.clone(), value.payloads.clone()))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let all = |list: &[(&str, &str)]| list.iter().map(|(key, value)| (key.to_string(), vec![json(value)])).collect();
    assert_eq!(details(0), all(&[("id", "1"), ("reducer", "\"hit\""), ("arguments", "7"), ("awaited", "true")]));
    assert_eq!(details(1), all(&[("id", "2"), ("reducer", "\"log\""), ("arguments", "7")]));
}

#[test]
fn what_a_reducer_threw_is_the_answer() {
    let history = HistoryBuilder::new().w_native().transact_failure_marker(1, "hit", failure("no npc")).w().wf_completed();
    let script = Script::new([vec![Cmd::Transact("hit", true)], vec![Cmd::Complete]]);
    RunTest::new(&history, script).strict().same("{Init} {Transact 1 failed}");
}

#[test]
fn another_reducer_another_number_or_no_marker_is_nondeterminism() {
    let cases: [(HistoryBuilder, &str); 3] = [
        (
            HistoryBuilder::new().w_native().transact_marker(1, "heal", json("1")).w().wf_completed(),
            "Reducer heal of the recorded marker does not match the reducer hit of the command",
        ),
        (
            HistoryBuilder::new().w_native().transact_marker(2, "hit", json("1")).w().wf_completed(),
            "Transact id 2 does not match expected id 1",
        ),
        (
            HistoryBuilder::new().w_native().timer_started("1").timer_fired("1").w().wf_completed(),
            "Transact machine does not handle this event: HistoryEvent(id: 5, TimerStarted)",
        ),
    ];
    for (history, message) in cases {
        let script = Script::new([vec![Cmd::Transact("hit", true)], vec![Cmd::Complete]]);
        let error = RunTest::new(&history, script).replay_error();
        assert_eq!(error.message, format!("{PREFIX}{message}"));
        assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 5));
    }
}

/// The marker of another kind does not meet a transact, nor the other way round.
#[test]
fn a_marker_of_another_kind_does_not_match() {
    let history = HistoryBuilder::new().w_native().side_effect_marker(0, json("1")).w_open();
    let error = RunTest::new(&history, Script::new([vec![Cmd::Transact("hit", false), timer()]])).replay_error();
    assert_eq!(
        error.message,
        format!("{PREFIX}Transact machine does not handle this event: HistoryEvent(id: 5, MarkerRecorded)")
    );
}
