//! Local activities where they run (docs/dev/semantics/commands.md#local-activities): the caller gets them to run, returns
//! their results within the task, and markers record them.
use crate::support::history::{BASE_SECONDS, failure, json};
use crate::support::lang::{la, la_named};
use crate::support::run_test::{Task, query};
use crate::support::session::{LocalResult, Session};
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, timer};
use prost::Message;
use temporalex_core::api::command::v1::RecordMarkerCommandAttributes;
use temporalex_core::api::command::v1::command::Attributes;
use temporalex_core::api::failure::v1::failure::FailureInfo;
use temporalex_core::api::failure::v1::{CanceledFailureInfo, Failure, TimeoutFailureInfo};
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{
    ActivityCancellationType, ActivityCompleted, LocalActivityResolution, ScheduleLocalActivity, local_activity_resolution,
    resolve_activity,
};

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

fn done(seq: u32) -> LocalResult {
    of(seq, local_activity_resolution::Result::Completed(ActivityCompleted { result: Some(json("1")) }))
}

fn of(seq: u32, result: local_activity_resolution::Result) -> LocalResult {
    let resolution = LocalActivityResolution { seq, result: Some(result), attempt: 1, ..Default::default() };
    LocalResult { resolution, activation_index: 0, complete_ms: 0.0 }
}

fn failed(seq: u32, why: &Failure) -> LocalResult {
    of(seq, local_activity_resolution::Result::Failed(why.encode_to_vec()))
}

fn la_cancelling(kind: ActivityCancellationType) -> Cmd {
    let Cmd::La(attributes) = la() else { unreachable!() };
    Cmd::La(ScheduleLocalActivity { cancellation_type: kind as i32, ..attributes })
}

/// The first task of a run, with these results at hand.
fn first(script: Script, results: Vec<LocalResult>) -> (RunTest, Session) {
    let test = RunTest::new(&HistoryBuilder::new().w_open(), script);
    let mut session = test.session();
    session.results = results.into();
    session.task(&test.poll(1, test.tasks()[0]));
    (test, session)
}

fn markers(session: &Session) -> Vec<RecordMarkerCommandAttributes> {
    let commands = session.end().completed().commands.clone();
    commands
        .into_iter()
        .filter_map(|c| match c.attributes {
            Some(Attributes::RecordMarkerCommandAttributes(a)) => Some(a),
            _ => None,
        })
        .collect()
}

fn data(marker: &RecordMarkerCommandAttributes) -> String {
    String::from_utf8(marker.details["data"].payloads[0].data.clone()).unwrap()
}

/// S W(2-4) LaMarker(5) Completed(6): the marker's bytes, and the same activations live and on replay.
#[test]
fn a_result_becomes_a_marker() {
    let mut result = done(1);
    result.complete_ms = (BASE_SECONDS as f64 + 3.5) * 1000.0;
    result.resolution.original_schedule_time_ms = 1500.0;
    let (_, session) = first(Script::new([vec![la()], vec![Cmd::Complete]]), vec![result]);
    assert_eq!(session.shown(), "{Init} {ResolveLocal 1 ok}");
    assert_eq!(session.commands(), "RecordMarker core_local_activity, CompleteWorkflowExecution");
    let [marker] = &markers(&session)[..] else { panic!("one marker") };
    let at = BASE_SECONDS + 3;
    let expected = format!(
        "{{\"seq\":1,\"attempt\":1,\"activity_id\":\"1\",\"activity_type\":\"la\",\"complete_time\":{{\"seconds\":{at},\"nanos\":500000000}},\
         \"backoff\":null,\"original_schedule_time\":{{\"seconds\":1,\"nanos\":500000000}},\"activation_index\":1}}"
    );
    assert_eq!(data(marker), expected);
    assert_eq!(marker.details["data"].payloads[0].metadata["encoding"], b"json/plain");
    assert_eq!(marker.details["result"].payloads, [json("1")]);
    assert_eq!(session.works[0].workflow_task_timeout_ms, 10_000.0);
    assert_eq!(session.activations[1].time_ms, (BASE_SECONDS as f64 + 3.5) * 1000.0);
}

/// One after the other, two at once, then a timer: live, replayed whole, cut and in pages.
#[test]
fn live_and_replayed_runs_are_the_same() {
    let marker = |history: HistoryBuilder, seq: u32, index: u32| {
        let data = history.la_data(seq, &seq.to_string(), "la", Some(index));
        history.marker("core_local_activity", [("data", data), ("result", json("1"))])
    };
    let history = marker(marker(marker(start(), 1, 1), 3, 2), 2, 3).timer_started("1").timer_fired("1").w().wf_completed();
    let script = Script::new([vec![la()], vec![la(), la()], vec![], vec![timer()], vec![Cmd::Complete]]);
    RunTest::new(&history, script).same("{Init} {ResolveLocal 1 ok} {ResolveLocal 3 ok} {ResolveLocal 2 ok} {Fire 1}");
}

/// S W(2-4) W(5-7) W(8-10) LaMarker(11) Completed(12): two heartbeats, and the result in the third task.
#[test]
fn a_heartbeat_answers_the_task_and_the_activity_runs_on() {
    let history = start().w().w();
    let data = history.la_data(1, "1", "la", Some(0));
    let history = history.marker("core_local_activity", [("data", data), ("result", json("1"))]).wf_completed();
    let script = Script::new([vec![la()], vec![Cmd::Complete]]);
    let test = RunTest::new(&history, script);
    let session = test.same("{Init} {ResolveLocal 1 ok}");
    let forced: Vec<bool> = session.ends.iter().map(|end| end.completed().force_create_new_workflow_task).collect();
    assert_eq!(forced, [true, true, false]);
    let returned: Vec<bool> = session.ends.iter().map(|end| end.completed().return_new_workflow_task).collect();
    assert_eq!(returned, [true, true, false], "also without a sticky queue");
    let started: Vec<usize> = session.works.iter().map(|work| work.start.len()).collect();
    assert_eq!(started, [1, 0, 0], "it was started once");
}

/// The worker that made heartbeats is gone: the next one runs the activity again.
#[test]
fn what_history_does_not_hold_is_run_again() {
    let history = start().w().w_open();
    let test = RunTest::new(&history, Script::new([vec![la()], vec![Cmd::Complete]])).unchecked();
    let mut session = test.session();
    let tasks = test.tasks();
    session.results = vec![done(1)].into();
    session.task(&test.poll(1, *tasks.last().unwrap()));
    assert_eq!(session.shown(), "{Init} {ResolveLocal 1 ok}");
    assert_eq!(session.works[0].start.len(), 1);
    assert_eq!(session.commands(), "RecordMarker core_local_activity, CompleteWorkflowExecution");
}

#[test]
fn a_replay_without_a_service_runs_none() {
    let test = RunTest::new(&start(), Script::new([vec![la()], vec![Cmd::Complete]]));
    let session = test.replay_ok();
    assert_eq!(session.shown(), "{Init}");
    assert!(session.works.is_empty());
}

/// A failure, one with another attempt after a timer, and a timeout: the errors that workflow code gets.
#[test]
fn failures() {
    let told = |result: LocalResult| {
        let (_, session) = first(Script::new([vec![la()], vec![Cmd::Complete]]), vec![result]);
        let [marker] = &markers(&session)[..] else { panic!("one marker") };
        let Some(Variant::ResolveActivity(r)) = session.jobs(1)[0].variant.clone() else { panic!("a resolution") };
        (r.result.unwrap(), marker.failure.clone().unwrap(), data(marker))
    };
    let (told_failure, recorded, _) = told(failed(1, &failure("boom")));
    assert_eq!(told_failure, resolve_activity::Result::Failed(failure("boom").encode_to_vec()));
    assert_eq!(recorded, failure("boom"));

    let mut result = failed(1, &failure("boom"));
    result.resolution.backoff_ms = 90_000.0;
    result.resolution.attempt = 3;
    result.resolution.original_schedule_time_ms = 1000.0;
    let (told_backoff, recorded, data) = told(result);
    let resolve_activity::Result::Backoff(backoff) = told_backoff else { panic!("{told_backoff:?}") };
    assert_eq!((backoff.attempt, backoff.backoff_ms, backoff.original_schedule_time_ms), (4, 90_000.0, 1000.0));
    assert_eq!(recorded, failure("boom"));
    assert!(data.contains("\"backoff\":{\"seconds\":90,\"nanos\":0}"), "{data}");

    let timeout = Failure {
        message: "Activity timed out".into(),
        failure_info: Some(FailureInfo::TimeoutFailureInfo(TimeoutFailureInfo { timeout_type: 1, ..Default::default() })),
        ..Default::default()
    };
    let (told_timeout, recorded, _) = told(failed(1, &timeout));
    assert_eq!(recorded, timeout, "the marker has it bare");
    let resolve_activity::Result::Failed(bytes) = told_timeout else { panic!("{told_timeout:?}") };
    let told_timeout = Failure::decode(&bytes[..]).unwrap();
    assert_eq!((told_timeout.message.as_str(), *told_timeout.cause.unwrap()), ("Local Activity timed out", timeout.clone()));

    // The same on replay, where Core hands it over bare.
    let history = start().la_failure_marker(1, "1", timeout).wf_completed();
    let session = RunTest::new(&history, Script::new([vec![la()], vec![Cmd::Complete]])).replay_ok();
    let Some(Variant::ResolveActivity(r)) = session.jobs(1)[0].variant.clone() else { panic!("a resolution") };
    assert_eq!(r.result, Some(resolve_activity::Result::Failed(bytes)));
}

fn cancelled_failure() -> Failure {
    Failure {
        message: "Activity cancelled".into(),
        failure_info: Some(FailureInfo::CanceledFailureInfo(CanceledFailureInfo::default())),
        ..Default::default()
    }
}

/// Cancelled in the activation that scheduled it: it never runs, and a marker says so, whatever the type.
#[test]
fn cancelled_before_it_ran() {
    for kind in [
        ActivityCancellationType::TryCancel,
        ActivityCancellationType::WaitCancellationCompleted,
        ActivityCancellationType::Abandon,
    ] {
        let script = Script::new([vec![la_cancelling(kind), Cmd::CancelLa(1)], vec![Cmd::Complete]]);
        let (_, session) = first(script, vec![]);
        assert_eq!(session.shown(), "{Init} {ResolveLocal 1 cancelled}", "{kind:?}");
        assert!(session.works.is_empty(), "{kind:?}");
        let [marker] = &markers(&session)[..] else { panic!("one marker") };
        assert_eq!(marker.failure, Some(cancelled_failure()), "{kind:?}");
        let timed = data(marker).contains("\"complete_time\":{");
        assert_eq!(timed, kind == ActivityCancellationType::WaitCancellationCompleted, "{kind:?}");
    }
}

/// S W(2-4) Signal(5) W(6-8): the first task completes with a heartbeat, and on the signal workflow code cancels.
fn cancelled_while_it_runs(kind: ActivityCancellationType, results: Vec<LocalResult>) -> Session {
    let history = start().signal("stop").w_open();
    let test = RunTest::new(&history, Script::new([vec![la_cancelling(kind)], vec![Cmd::CancelLa(1)], vec![Cmd::Complete]]));
    let mut session = test.session();
    let [one, two] = test.tasks()[..] else { panic!("two tasks") };
    session.task(&test.poll(one.from, one));
    session.results = results.into();
    session.task(&test.poll(two.from, two));
    session
}

#[test]
fn cancelled_while_it_runs_by_type() {
    let session = cancelled_while_it_runs(ActivityCancellationType::TryCancel, vec![]);
    assert_eq!(session.shown(), "{Init} {Signal stop} {ResolveLocal 1 cancelled}");
    assert_eq!(session.works.last().unwrap().cancel, [1]);
    assert_eq!(session.commands(), " | RecordMarker core_local_activity, CompleteWorkflowExecution");

    let session = cancelled_while_it_runs(ActivityCancellationType::Abandon, vec![]);
    assert_eq!(session.shown(), "{Init} {Signal stop} {ResolveLocal 1 cancelled}");
    assert_eq!((&session.works.last().unwrap().abandon[..], &session.works.last().unwrap().cancel[..]), (&[1][..], &[][..]));

    // It gets the cancellation, and its result counts, whatever that is.
    let session = cancelled_while_it_runs(ActivityCancellationType::WaitCancellationCompleted, vec![done(1)]);
    assert_eq!(session.shown(), "{Init} {Signal stop}");
    assert_eq!(session.works.last().unwrap().cancel, [1]);
    assert!(session.works.last().unwrap().wait);
    assert!(session.end().completed().force_create_new_workflow_task);
}

/// It was cancelled, and did not answer before its worker was gone: it is not run again, and counts as cancelled.
#[test]
fn cancelled_on_replay_and_never_recorded() {
    let history = start().signal("stop").w().w_open();
    let kind = ActivityCancellationType::WaitCancellationCompleted;
    let script = Script::new([vec![la_cancelling(kind)], vec![Cmd::CancelLa(1)], vec![Cmd::Complete]]);
    let test = RunTest::new(&history, script);
    let mut session = test.session();
    session.task(&test.poll(1, *test.tasks().last().unwrap()));
    assert_eq!(session.shown(), "{Init} {Signal stop} {ResolveLocal 1 cancelled}");
    assert!(session.works.is_empty());
    assert_eq!(session.commands(), "RecordMarker core_local_activity, CompleteWorkflowExecution");
}

/// The run ends while some run: they are canceled, and the task completes at once.
#[test]
fn the_end_of_the_run_does_not_wait() {
    let script = Script::new([vec![la(), la()], vec![Cmd::Complete]]);
    let (_, session) = first(script, vec![done(1)]);
    assert_eq!(session.shown(), "{Init} {ResolveLocal 1 ok}");
    assert_eq!((&session.works[1].cancel[..], session.works[1].wait), (&[2][..], false));
    assert_eq!(session.commands(), "RecordMarker core_local_activity, CompleteWorkflowExecution");
    assert!(!session.end().completed().force_create_new_workflow_task);
}

/// Queries that came with the task get their results at once, while local activities still run.
#[test]
fn queries_do_not_wait() {
    let test = RunTest::new(&HistoryBuilder::new().w_open(), Script::new([vec![la()], vec![Cmd::Complete]]));
    let mut session = test.session();
    let mut poll = test.poll(1, test.tasks()[0]);
    poll.queries.insert("q".into(), query("state"));
    session.results = vec![done(1)].into();
    session.task(&poll);
    assert_eq!(session.shown(), "{Init} {Query q}");
    let completed = session.end().completed();
    assert_eq!(completed.query_results.len(), 1);
    assert!(completed.force_create_new_workflow_task);
    assert_eq!((session.works.len(), session.works[0].start.len(), session.works[0].wait), (1, 1, false));
}

/// A query by itself neither runs nor waits for one.
#[test]
fn a_query_task_runs_none() {
    let test = RunTest::new(&start(), Script::new([vec![la()], vec![Cmd::Complete]]));
    let mut session = test.session();
    let task = Task { from: 1, started: 4, previous_started: 3 };
    let mut poll = test.poll(1, task);
    poll.started_event_id = 0;
    poll.query = Some(query("state"));
    session.task(&poll);
    assert_eq!(session.shown(), "{Init} {Query legacy_query}");
    assert!(session.works.is_empty());
}

/// The marker that comes back must say what happened here.
#[test]
fn a_marker_of_another_outcome_is_nondeterminism() {
    let history = start().la_failure_marker(1, "1", failure("boom")).timer_started("1").timer_fired("1").w_open();
    let test = RunTest::new(&history, Script::new([vec![la()], vec![timer()], vec![Cmd::Complete]])).unchecked();
    let mut session = test.session();
    let [one, two] = test.tasks()[..] else { panic!("two tasks") };
    session.results = vec![done(1)].into();
    session.task(&test.poll(one.from, one));
    session.task(&test.poll(two.from, two));
    let expected = "Local activity (seq 1) completed successfully locally, but history said it failed!";
    assert!(session.end().message().ends_with(expected), "{}", session.end().message());
}

/// Late results, and invalid results.
#[test]
fn results_that_no_code_awaits() {
    let (_, session) = first(Script::new([vec![la_named("x", "la")], vec![Cmd::Complete]]), vec![done(1), done(1), done(9)]);
    assert_eq!(session.commands(), "RecordMarker core_local_activity, CompleteWorkflowExecution");
}
