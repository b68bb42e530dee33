//! Event groups (docs/dev/semantics/commands.md#event-groups).
use crate::support::lang::la;
use crate::support::session::{LocalResult, Session};
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, act, timer};
use prost::Message;
use temporalex_core::boundary::{
    ActivityCompleted, EventGroups, LocalActivityResolution, event_group_marker, local_activity_resolution,
};

/// A RespondWorkflowTaskCompletedRequest, of whose commands only the markers are read: they have the same field in both messages.
#[derive(Clone, PartialEq, Message)]
struct Completion {
    #[prost(message, repeated, tag = "2")]
    commands: Vec<EventGroups>,
}

fn grouped(id: &'static str, command: Cmd) -> Cmd {
    Cmd::Grouped(id, Box::new(command))
}

/// Ids of the groups of each command: "a, -, b"
fn groups(session: &Session, task: usize) -> String {
    let completion = Completion::decode(session.sent[task].as_slice()).expect("a completion");
    let shown = completion.commands.iter().map(|command| {
        let ids = command.event_group_markers.iter().map(|marker| match &marker.variant {
            Some(event_group_marker::Variant::Label(label)) => label.id.clone(),
            other => panic!("{other:?}"),
        });
        let ids: Vec<_> = ids.collect();
        if ids.is_empty() { "-".into() } else { ids.join("+") }
    });
    shown.collect::<Vec<String>>().join(", ")
}

/// S W(2-4) TmrS(5) ActS(6) TmrS(7) TmrF(8) W(9-11) CancelReq(12) Completed(13): the history has no markers.
#[test]
fn a_marker_goes_with_the_next_command_and_is_not_compared() {
    let history = HistoryBuilder::new().w_native().timer_started("1").act_scheduled("1").timer_started("2").timer_fired("1");
    let history = history.w().act_cancel_requested("1").wf_completed();
    let first = vec![grouped("a", timer()), grouped("b", act()), timer()];
    let script = Script::new([first, vec![grouped("c", Cmd::CancelAct(1)), grouped("d", Cmd::Complete)]]);
    let session = RunTest::new(&history, script).same("{Init} {Fire 1}");
    assert_eq!(
        session.commands(),
        "StartTimer 1, ScheduleActivityTask 1, StartTimer 2 | RequestCancelActivityTask 6, CompleteWorkflowExecution"
    );
    assert_eq!(groups(&session, 0), "a, b, -");
    assert_eq!(groups(&session, 1), "c, d");
}

/// A command that was canceled in its own task is not sent, and its marker is not attached to another one.
#[test]
fn the_marker_of_a_command_that_was_taken_back_is_dropped() {
    let history = HistoryBuilder::new().w_native().timer_started("2").timer_fired("2").w().wf_completed();
    let first = vec![grouped("a", timer()), grouped("b", Cmd::CancelTimer(1)), timer()];
    let session = RunTest::new(&history, Script::new([first, vec![Cmd::Complete]])).same("{Init} {Fire 2}");
    assert_eq!(groups(&session, 0), "-");
}

/// The marker that records a local activity is written long after the call.
#[test]
fn a_local_activity_keeps_its_groups_for_its_marker() {
    let script = Script::new([vec![grouped("a", la()), timer()], vec![Cmd::Complete]]);
    let test = RunTest::new(&HistoryBuilder::new().w_open(), script);
    let mut session = test.session();
    let result = local_activity_resolution::Result::Completed(ActivityCompleted { result: None });
    let resolution = LocalActivityResolution { seq: 1, result: Some(result), attempt: 1, ..Default::default() };
    session.results = [LocalResult { resolution, activation_index: 0, complete_ms: 0.0 }].into();
    session.task(&test.poll(1, test.tasks()[0]));
    assert_eq!(session.commands(), "StartTimer 1, RecordMarker core_local_activity, CompleteWorkflowExecution");
    assert_eq!(groups(&session, 0), "-, a, -");
}
