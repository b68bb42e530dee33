//! Local activities on replay (docs/dev/semantics/commands.md#local-activities). They are resolved
//! from their markers and never executed.
use crate::support::history::{BASE_SECONDS, failure, json};
use crate::support::lang::{la, la_named};
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, act, timer};
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{ErrorKind, Job, resolve_activity};

const PREFIX: &str = "[TMPRL1100] Nondeterminism error: ";

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

/// Replays whole, and cold in pages of every size.
fn replayed(history: &HistoryBuilder, script: Script, expected: &str) -> crate::support::session::Session {
    let test = RunTest::new(history, script).unchecked();
    let session = test.replay_ok();
    assert_eq!(session.shown(), expected);
    test.pages_are_equal();
    session
}

fn completed(job: &Job) -> Option<temporalex_core::api::common::v1::Payload> {
    match job.variant.as_ref() {
        Some(Variant::ResolveActivity(r)) => match r.result.as_ref() {
            Some(resolve_activity::Result::Completed(c)) => c.result.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// S W(2-4) LaMarker(5) TmrS(6) TmrF(7) W(8-10) Completed(11)
#[test]
fn local_activity_replay() {
    let history = start().la_marker(1, "1", json("\"done\"")).timer_started("1").timer_fired("1").w().wf_completed();
    let script = Script::new([vec![la()], vec![timer()], vec![Cmd::Complete]]);
    let session = replayed(&history, script, "{Init} {ResolveLocal 1 ok} {Fire 1}");
    assert_eq!(completed(&session.jobs(1)[0]), Some(json("\"done\"")));
    assert_eq!(session.activations[1].started_event_id, 3, "a further activation of the same task");
}

/// S W(2-4) LaMarker, failed(5) Completed(6)
#[test]
fn local_activity_failed_on_replay() {
    let history = start().la_failure_marker(1, "1", failure("boom")).wf_completed();
    replayed(&history, Script::new([vec![la()], vec![Cmd::Complete]]), "{Init} {ResolveLocal 1 failed}");
}

/// One after the other: S W(2-4) LaMarker 1(5) LaMarker 2(6) Completed(7)
#[test]
fn local_activity_two_seq() {
    let history = start().la_marker(1, "1", json("1")).la_marker(2, "2", json("2")).wf_completed();
    let script = Script::new([vec![la()], vec![la()], vec![Cmd::Complete]]);
    replayed(&history, script, "{Init} {ResolveLocal 1 ok} {ResolveLocal 2 ok}");
    // And over two tasks: S W(2-4) LaMarker 1(5) TmrS(6) TmrF(7) W(8-10) LaMarker 2(11) Completed(12)
    let history = start().la_marker(1, "1", json("1")).timer_started("1").timer_fired("1").w();
    let history = history.la_marker(2, "2", json("2")).wf_completed();
    let script = Script::new([vec![la()], vec![timer()], vec![la()], vec![Cmd::Complete]]);
    replayed(&history, script, "{Init} {ResolveLocal 1 ok} {Fire 1} {ResolveLocal 2 ok}");
}

/// Two at once, finished in the other order: S W(2-4) LaMarker 2(5) LaMarker 1(6) Completed(7)
#[test]
fn local_activity_parallel_one_task() {
    let history = start().la_marker(2, "2", json("2")).la_marker(1, "1", json("1")).wf_completed();
    let script = Script::new([vec![la(), la()], vec![Cmd::Complete]]);
    replayed(&history, script, "{Init} {ResolveLocal 2 ok, ResolveLocal 1 ok}");
}

/// S W(2-4) Signal(5) W(6-8) LaMarker(9) Completed(10): the marker came with the second task.
#[test]
fn local_activity_two_tasks_before_marker() {
    let history = start().signal("s").w().la_marker(1, "1", json("1")).wf_completed();
    let script = Script::new([vec![la()], vec![Cmd::Complete]]);
    replayed(&history, script, "{Init} {Signal s, ResolveLocal 1 ok}");
}

/// S W(2-4) LaMarker(5) Completed(6)
#[test]
fn local_activity_id_type_mismatch() {
    let history = start().la_marker(1, "1", json("1")).wf_completed();
    let error = RunTest::new(&history, Script::new([vec![la_named("x", "la")], vec![Cmd::Complete]])).replay_error();
    assert_eq!(
        error.message,
        format!("{PREFIX}Activity id of recorded marker '1' does not match activity id of local activity command 'x'")
    );
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 5));
    let error = RunTest::new(&history, Script::new([vec![la_named("1", "other")], vec![Cmd::Complete]])).replay_error();
    assert_eq!(
        error.message,
        format!("{PREFIX}Activity type of recorded marker 'la' does not match activity type of local activity command 'other'")
    );
    // Without flag 1 neither is compared.
    let history = HistoryBuilder::new().w().la_marker(1, "1", json("1")).wf_completed();
    RunTest::new(&history, Script::new([vec![la_named("x", "other")], vec![Cmd::Complete]])).replay_ok();
}

/// The code issues another command than the marker's.
#[test]
fn marker_and_no_local_activity() {
    let history = start().la_marker(1, "1", json("1")).wf_completed();
    let error = RunTest::new(&history, Script::new([vec![act()], vec![Cmd::Complete]])).replay_error();
    assert_eq!(error.kind(), ErrorKind::Nondeterminism);
    assert_eq!(error.event_id, 5);
}

/// A result that is null, and one that is absent.
#[test]
fn local_activity_null_result() {
    let script = || Script::new([vec![la()], vec![Cmd::Complete]]);
    let history = start().la_marker(1, "1", json("null")).wf_completed();
    let session = replayed(&history, script(), "{Init} {ResolveLocal 1 ok}");
    assert_eq!(completed(&session.jobs(1)[0]), Some(json("null")));
    let bare = start();
    let data = bare.la_data(1, "1", "la", None);
    let history = bare.marker("core_local_activity", [("data", data)]).wf_completed();
    let session = replayed(&history, script(), "{Init} {ResolveLocal 1 ok}");
    assert_eq!(completed(&session.jobs(1)[0]), None);
}

/// Both local activities are started in the first activation; marker 2 was recorded for a later activation of the task, which
/// the resolution of 1 makes: S W(2-4) LaMarker 1 for #1(5) LaMarker 2 for #2(6) Completed(7)
#[test]
fn local_activity_activation_index_hold_and_release() {
    let marker = |history: HistoryBuilder, seq: u32, index: u32| {
        let data = history.la_data(seq, &seq.to_string(), "la", Some(index));
        history.marker("core_local_activity", [("data", data), ("result", json("1"))])
    };
    let held = marker(marker(start(), 1, 1), 2, 2).wf_completed();
    let script = || Script::new([vec![la(), la()], vec![], vec![Cmd::Complete]]);
    replayed(&held, script(), "{Init} {ResolveLocal 1 ok} {ResolveLocal 2 ok}");
    let together = marker(marker(start(), 1, 1), 2, 1).wf_completed();
    let script = || Script::new([vec![la(), la()], vec![Cmd::Complete]]);
    replayed(&together, script(), "{Init} {ResolveLocal 1 ok, ResolveLocal 2 ok}");
}

/// Markers of older Cores have no index: they are released in marker order, up to the first whose activity is not scheduled yet.
#[test]
fn old_markers_without_index() {
    let history = start().la_marker(1, "1", json("1")).la_marker(3, "3", json("3")).la_marker(2, "2", json("2"));
    let script = Script::new([vec![la(), la()], vec![la()], vec![Cmd::Complete]]);
    replayed(&history.wf_completed(), script, "{Init} {ResolveLocal 1 ok} {ResolveLocal 3 ok, ResolveLocal 2 ok}");
}

/// Time moves to the completion of a local activity and never back.
#[test]
fn time_monotonic_with_local_activities() {
    // S W(2-4) LaMarker completed at second 5(5) TmrS(6) TmrF(7) W(8-10) Completed(11)
    let history = start().la_marker(1, "1", json("1")).timer_started("1").timer_fired("1").w().wf_completed();
    let script = Script::new([vec![la()], vec![timer()], vec![Cmd::Complete]]);
    let session = replayed(&history, script, "{Init} {ResolveLocal 1 ok} {Fire 1}");
    let seconds: Vec<f64> = session.activations.iter().map(|a| a.time_ms / 1000.0 - BASE_SECONDS as f64).collect();
    assert_eq!(seconds, [3.0, 5.0, 9.0]);
}
