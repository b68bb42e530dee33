//! Patches, each row of the table in which history and code meet
//! (docs/dev/semantics/commands.md#patches).
use crate::support::lang::Patches;
use crate::support::{Calls, Cmd, HistoryBuilder, Reply, RunTest, Script, act, json, show, timer};
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::boundary::{Activation, ErrorKind};

const PREFIX: &str = "[TMPRL1100] Nondeterminism error: ";

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

/// {history} TmrS TmrF W Completed
fn then_timer(history: HistoryBuilder) -> HistoryBuilder {
    history.timer_started("1").timer_fired("1").w().wf_completed()
}

/// S W(2-4) marker p(5) upsert(6) TmrS(7) TmrF(8) W(9-11) Completed(12)
fn marked(deprecated: bool) -> HistoryBuilder {
    then_timer(start().patch_marker("p", deprecated).change_version_upsert(&["p"]))
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) Completed(10)
fn unmarked() -> HistoryBuilder {
    then_timer(start())
}

/// `if (patched(id)) timer else activity`, then complete.
fn branches(id: &'static str) -> impl FnMut(&Activation, &mut Calls) -> Reply + Clone {
    let (mut patches, mut begun) = (Patches::default(), false);
    move |activation: &Activation, calls: &mut Calls<'_>| {
        patches.see(activation);
        if begun {
            calls.give(&Cmd::Complete);
        } else {
            begun = true;
            let step = if patches.patched(activation, calls, id) { timer() } else { act() };
            calls.give(&step);
        }
        Reply::Finish
    }
}

fn no_call() -> Script {
    Script::new([vec![timer()], vec![Cmd::Complete]])
}

fn deprecates(id: &'static str) -> Script {
    Script::new([vec![Cmd::Patch(id, true), timer()], vec![Cmd::Complete]])
}

#[test]
fn marker_and_no_call() {
    let error = RunTest::new(&marked(false), no_call()).replay_error();
    assert_eq!(
        error.message,
        format!("{PREFIX}Non-deprecated patch marker encountered for change p, but there is no corresponding change command!")
    );
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Nondeterminism, 5));
}

#[test]
fn deprecated_marker_and_no_call() {
    let test = RunTest::new(&marked(true), no_call()).strict().unchecked();
    assert_eq!(test.replay_ok().shown(), "{Init, Patch p} {Fire 1}");
    test.pages_are_equal();
    // The marker may come without its upsert.
    let history = then_timer(start().patch_marker("p", true));
    RunTest::new(&history, no_call()).strict().replay_ok();
}

#[test]
fn no_marker_replaying_patched() {
    let history = start().act_scheduled("1").act_done("1").w().wf_completed();
    let test = RunTest::new(&history, branches("p")).strict().unchecked();
    assert_eq!(test.replay_ok().shown(), "{Init} {Resolve 1 ok}");
    test.pages_are_equal();
}

/// S W(2-4) TmrS(5) TmrF(6) w(7-8): what is false while replaying is true once the run is live.
#[test]
fn false_is_not_kept() {
    let history = start().timer_started("1").timer_fired("1").w_open();
    let mut patches = Patches::default();
    let program = move |activation: &Activation, calls: &mut Calls<'_>| {
        patches.see(activation);
        if !patches.patched(activation, calls, "p") {
            calls.give(&timer());
        }
        Reply::Finish
    };
    let session = RunTest::new(&history, program).cut(1);
    assert_eq!(session.commands(), "RecordMarker core_patch, UpsertWorkflowSearchAttributes");
}

#[test]
fn no_marker_live_patched() {
    let inc = RunTest::new(&marked(false), branches("p")).inc();
    assert_eq!(inc.shown(), "{Init} {Fire 1}");
    assert_eq!(
        inc.commands(),
        "RecordMarker core_patch, UpsertWorkflowSearchAttributes, StartTimer 1 | CompleteWorkflowExecution"
    );
    let commands = &inc.ends[0].completed().commands;
    let Some(Attributes::RecordMarkerCommandAttributes(marker)) = &commands[0].attributes else { panic!("no marker") };
    let data = &marker.details["patch-data"].payloads;
    assert_eq!(data, &[json("{\"id\":\"p\",\"deprecated\":false}")]);
    let mut list = json("[\"p\"]");
    list.metadata.insert("type".into(), b"KeywordList".to_vec());
    assert_eq!(upserted(commands, 1), list);
}

fn upserted(commands: &[temporalex_core::api::command::v1::Command], index: usize) -> temporalex_core::api::common::v1::Payload {
    match &commands[index].attributes {
        Some(Attributes::UpsertWorkflowSearchAttributesCommandAttributes(a)) => {
            a.search_attributes.as_ref().expect("attributes").indexed_fields["TemporalChangeVersion"].clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn marker_and_patched() {
    let test = RunTest::new(&marked(false), branches("p")).strict();
    test.same("{Init} {Fire 1}");
    assert_eq!(test.replay_ok().shown(), "{Init, Patch p} {Fire 1}");
}

#[test]
fn marker_and_deprecate() {
    assert_eq!(RunTest::new(&marked(false), deprecates("p")).strict().replay_ok().shown(), "{Init, Patch p} {Fire 1}");
}

#[test]
fn deprecated_marker_and_patched_or_deprecate() {
    assert_eq!(RunTest::new(&marked(true), branches("p")).strict().replay_ok().shown(), "{Init, Patch p} {Fire 1}");
    let test = RunTest::new(&marked(true), deprecates("p")).strict();
    let inc = test.same("{Init} {Fire 1}");
    let Some(Attributes::RecordMarkerCommandAttributes(marker)) = &inc.ends[0].completed().commands[0].attributes else {
        panic!("no marker")
    };
    assert_eq!(marker.details["patch-data"].payloads, [json("{\"id\":\"p\",\"deprecated\":true}")]);
}

#[test]
fn no_marker_replaying_deprecate() {
    let test = RunTest::new(&unmarked(), deprecates("p")).strict().unchecked();
    assert_eq!(test.replay_ok().shown(), "{Init} {Fire 1}");
    test.pages_are_equal();
    // Behind the last command of its task the call is dropped when the next command event comes.
    let program = Script::new([vec![timer(), Cmd::Patch("p", true)], vec![Cmd::Complete]]);
    RunTest::new(&unmarked(), program).strict().replay_ok();
}

/// History has another id: S W(2-4) marker p(5) upsert(6) TmrS(7) ...
#[test]
fn patch_id_differs() {
    let error = RunTest::new(&marked(false), deprecates("q")).replay_error();
    assert_eq!(error.message, format!("{PREFIX}Change id p does not match expected id q"));
    assert_eq!(error.event_id, 5);
    // A deprecated marker is skipped even then, and so is the code's own deprecated call.
    RunTest::new(&marked(true), deprecates("q")).strict().replay_ok();
}

#[test]
fn patch_twice() {
    let twice = Script::new([vec![Cmd::Patch("p", false), Cmd::Patch("p", false), timer()], vec![Cmd::Complete]]);
    let inc = RunTest::new(&marked(false), twice).strict().same("{Init} {Fire 1}");
    assert_eq!(
        inc.commands(),
        "RecordMarker core_patch, UpsertWorkflowSearchAttributes, StartTimer 1 | CompleteWorkflowExecution"
    );
    // And in a later task.
    let later = Script::new([vec![Cmd::Patch("p", false), timer()], vec![Cmd::Patch("p", false), Cmd::Complete]]);
    RunTest::new(&marked(false), later).strict().same("{Init} {Fire 1}");
}

/// S W(2-4) marker b(5) upsert(6) marker a(7) upsert(8) TmrS(9) ...
#[test]
fn two_patches() {
    let history = start().patch_marker("b", false).change_version_upsert(&["b"]);
    let history = then_timer(history.patch_marker("a", false).change_version_upsert(&["a", "b"]));
    let program = Script::new([vec![Cmd::Patch("b", false), Cmd::Patch("a", false), timer()], vec![Cmd::Complete]]);
    let test = RunTest::new(&history, program).strict();
    let inc = test.same("{Init} {Fire 1}");
    assert_eq!(test.replay_ok().shown(), "{Init, Patch b, Patch a} {Fire 1}");
    let commands = &inc.ends[0].completed().commands;
    assert_eq!(show::commands(commands).matches("Upsert").count(), 2);
    assert_eq!(upserted(commands, 1).data, b"[\"b\"]");
    assert_eq!(upserted(commands, 3).data, b"[\"a\",\"b\"]");
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) marker p(10) upsert(11) TmrS(12) TmrF(13) W(14-16) Completed(17)
#[test]
fn patch_on_second_task() {
    let history = start().timer_started("1").timer_fired("1").w().patch_marker("p", false).change_version_upsert(&["p"]);
    let history = history.timer_started("2").timer_fired("2").w().wf_completed();
    let program = Script::new([vec![timer()], vec![Cmd::Patch("p", false), timer()], vec![Cmd::Complete]]);
    let test = RunTest::new(&history, program).strict();
    test.same("{Init} {Fire 1} {Fire 2}");
    assert_eq!(test.replay_ok().shown(), "{Init} {Patch p, Fire 1} {Fire 2}");
}

/// S W(2-4) marker a, deprecated(5) upsert(6) marker b(7) upsert(8) TmrS(9) ...
#[test]
fn deprecated_removed_near_other() {
    let history = start().patch_marker("a", true).change_version_upsert(&["a"]);
    let history = then_timer(history.patch_marker("b", false).change_version_upsert(&["a", "b"]));
    let program = Script::new([vec![Cmd::Patch("b", false), timer()], vec![Cmd::Complete]]);
    let test = RunTest::new(&history, program).strict().unchecked();
    assert_eq!(test.replay_ok().shown(), "{Init, Patch a, Patch b} {Fire 1}");
}

/// The list of patches has at most 2047 bytes; a longer one is not written, and replay agrees.
#[test]
fn list_of_patches_is_too_long() {
    for (length, written) in [(2043, true), (2044, false)] {
        let id: &'static str = Box::leak("x".repeat(length).into_boxed_str());
        let mut history = start().patch_marker(id, false);
        if written {
            history = history.change_version_upsert(&[id]);
        }
        let program = Script::new([vec![Cmd::Patch(id, false), timer()], vec![Cmd::Complete]]);
        let inc = RunTest::new(&then_timer(history), program).strict().same("{Init} {Fire 1}");
        assert_eq!(inc.ends[0].commands().contains("Upsert"), written, "id of {length} bytes");
    }
}

/// S W(2-4, no metadata) old marker(5) TmrS(6) TmrF(7) W(8-10) Completed(11)
#[test]
fn old_marker_format() {
    let history = then_timer(HistoryBuilder::new().w().patch_marker_old("p", false));
    let test = RunTest::new(&history, branches("p")).strict();
    assert_eq!(test.replay_ok().shown(), "{Init, Patch p} {Fire 1}");
    let history = then_timer(HistoryBuilder::new().w().patch_marker_old("p", true));
    RunTest::new(&history, no_call()).strict().replay_ok();
}

/// S W(2-4, flag 1 only) marker(5) TmrS(6) ...
#[test]
fn no_flag_2_history() {
    let history = HistoryBuilder::new().w().meta(&[1], &[], "temporal-typescript", "1.0.0").patch_marker("p", false);
    RunTest::new(&then_timer(history), branches("p")).strict().replay_ok();
}
