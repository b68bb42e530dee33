//! Seeds, job order, sizes, time, caches, flags, metadata, fetching, and what an activation says of
//! itself (docs/dev/semantics/activations.md).
use crate::support::history::{BASE_SECONDS, RUN_ID, TASK_QUEUE, WORKFLOW_ID, WORKFLOW_TYPE, failure, json, payloads};
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, act, timer};
use temporalex_core::api::enums::v1::WorkflowTaskFailedCause;
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::workflowservice::v1::RespondWorkflowTaskCompletedRequest;
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{ErrorKind, EvictionReason, InitializeWorkflow};

fn start() -> HistoryBuilder {
    HistoryBuilder::new().w_native()
}

/// S W(2-4) TmrS(5) TmrF(6) W(7-9) Completed(10)
fn one_timer() -> HistoryBuilder {
    start().timer_started("1").timer_fired("1").w().wf_completed()
}

fn program() -> Script {
    Script::new([vec![timer()], vec![Cmd::Complete]])
}

fn initialize(session: &crate::support::session::Session) -> &InitializeWorkflow {
    match session.jobs(0)[0].variant.as_ref() {
        Some(Variant::InitializeWorkflow(job)) => job,
        other => panic!("{other:?}"),
    }
}

#[test]
fn initialize_tells_what_the_start_event_says() {
    let history = HistoryBuilder::with_start(|a| {
        a.input = Some(payloads([json("1"), json("2")]));
        a.continued_execution_run_id = "before".into();
        a.attempt = 3;
        a.workflow_run_timeout = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    });
    let session = RunTest::new(&history.w_open(), Script::new([])).inc();
    let job = initialize(&session);
    assert_eq!((job.workflow_type.as_str(), job.workflow_id.as_str()), (WORKFLOW_TYPE, WORKFLOW_ID));
    assert_eq!((job.run_id.as_str(), job.first_execution_run_id.as_str()), (RUN_ID, RUN_ID));
    assert_eq!((job.continued_from_run_id.as_str(), job.attempt, job.task_queue.as_str()), ("before", 3, TASK_QUEUE));
    assert_eq!(job.arguments, [json("1"), json("2")]);
    assert_eq!((job.workflow_run_timeout_ms, job.workflow_task_timeout_ms), (60_000.0, 10_000.0));
    assert_eq!(job.start_time_ms, (BASE_SECONDS + 1) as f64 * 1000.0);
}

/// S W(2-4) TmrS(5) TmrF(6) wF, reset(7-9) W(10-12) Completed(13)
#[test]
fn reset_seed() {
    let history = start().timer_started("1").timer_fired("1").w_reset("").w().wf_completed();
    let reset = |run_id: &str| {
        let mut history = history.clone();
        if let Some(Attributes::WorkflowTaskFailedEventAttributes(a)) = history.events[8].attributes.as_mut() {
            a.new_run_id = run_id.into();
        }
        history
    };
    let test = RunTest::new(&reset("86E39A5F-AE31-4626-BDFE-398EE072D156"), program());
    let session = test.same("{Init} {Seed, Fire 1}");
    assert_eq!(initialize(&session).randomness_seed, "2262813760565899150");
    let seed = |session: &crate::support::session::Session| match session.jobs(1)[0].variant.as_ref() {
        Some(Variant::UpdateRandomSeed(seed)) => seed.randomness_seed.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(seed(&session), "2262813760565899150");
    RunTest::new(&reset("another"), program()).compat().same("{Init} {Seed, Fire 1}");
    let empty = RunTest::new(&HistoryBuilder::with_start(|a| a.original_execution_run_id.clear()).w_open(), Script::new([]));
    assert_eq!(initialize(&empty.inc()).randomness_seed, "3476900567878811119");
}

/// S W(2-4) marker a(5) upsert(6) TmrS(7) TmrF(8) Signal(9) W(10-12) marker b(13) upsert(14) Completed(15)
#[test]
fn job_order() {
    let history = start().patch_marker("a", false).change_version_upsert(&["a"]).timer_started("1").timer_fired("1");
    let history = history.signal("s").w().patch_marker("b", false).change_version_upsert(&["a", "b"]).wf_completed();
    let program = || Script::new([vec![Cmd::Patch("a", false), timer()], vec![Cmd::Patch("b", false), Cmd::Complete]]);
    let compat = RunTest::new(&history, program()).compat();
    assert_eq!(compat.replay_ok().shown(), "{Init, Patch a} {Patch b, Signal s, Fire 1}");
    let native = RunTest::new(&history, program());
    assert_eq!(native.replay_ok().shown(), "{Init, Patch a} {Patch b, Fire 1, Signal s}");
    native.same("{Init} {Fire 1, Signal s}");
}

/// Everything at once, in Core's order and in ours: S W(2-4) ActS(5) TmrS(6) TmrF(7) Cancel(8) ActSt(9) ActC(10) Signal(11) W ...
#[test]
fn job_order_of_one_task() {
    let history = start().act_scheduled("1").timer_started("1").timer_fired("1").cancel_requested("x").act_done("1");
    let history = history.signal("s").w().wf_completed();
    let program = || Script::new([vec![act(), timer()], vec![Cmd::Complete]]);
    RunTest::new(&history, program()).same("{Init} {Fire 1, Cancel, Resolve 1 ok, Signal s}");
    RunTest::new(&history, program()).compat().same("{Init} {Signal s, Fire 1, Cancel, Resolve 1 ok}");
}

#[test]
fn continue_as_new_suggestion_and_size() {
    let mut history = one_timer();
    if let Some(Attributes::WorkflowTaskStartedEventAttributes(a)) = history.events[7].attributes.as_mut() {
        (a.suggest_continue_as_new, a.history_size_bytes) = (true, 123_456);
    }
    let inc = RunTest::new(&history, program()).same("{Init} {Fire 1}");
    let seen: Vec<(bool, f64)> = inc.activations.iter().map(|a| (a.continue_as_new_suggested, a.history_size_bytes)).collect();
    assert_eq!(seen, [(false, 0.0), (true, 123_456.0)]);
}

#[test]
fn time_monotonic() {
    let mut history = one_timer();
    let inc = RunTest::new(&history, program()).same("{Init} {Fire 1}");
    let seconds: Vec<f64> = inc.activations.iter().map(|a| a.time_ms / 1000.0 - BASE_SECONDS as f64).collect();
    assert_eq!(seconds, [3.0, 8.0], "the times of the started events");
    // A clock that went back.
    history.events[7].event_time = Some(prost_types::Timestamp { seconds: BASE_SECONDS - 100, nanos: 0 });
    let inc = RunTest::new(&history, program()).same("{Init} {Fire 1}");
    assert_eq!(inc.activations[1].time_ms, inc.activations[0].time_ms);
    // A started event without a time.
    history.events[7].event_time = None;
    let error = RunTest::new(&history, program()).replay_error();
    assert_eq!((error.kind(), error.event_id), (ErrorKind::Fatal, 8));
}

#[test]
fn history_length() {
    let inc = RunTest::new(&one_timer(), program()).same("{Init} {Fire 1}");
    assert_eq!(inc.activations.iter().map(|a| a.history_length).collect::<Vec<_>>(), [3, 8]);
    assert_eq!(inc.activations.iter().map(|a| a.started_event_id).collect::<Vec<_>>(), [3, 8]);
}

#[test]
fn sticky_hit_and_miss() {
    let test = RunTest::new(&one_timer(), program());
    let hit = test.inc();
    for page_size in 1..9 {
        let miss = test.missed(1, page_size);
        assert_eq!(miss.shown(), "{Init} {Fire 1}");
        assert_eq!(miss.end().completed().commands, hit.end().completed().commands);
        let replaying: Vec<bool> = miss.activations.iter().map(|a| a.is_replaying).collect();
        assert_eq!(replaying, [true, false]);
    }
}

/// A cached run that is given the whole history again takes only what is new to it.
#[test]
fn full_history_for_a_cached_run() {
    let test = RunTest::new(&one_timer(), program());
    let [first, second] = test.tasks()[..] else { panic!("two tasks") };
    for page_size in [2, 8] {
        let mut session = test.session();
        session.task(&test.poll(1, first));
        let mut poll = test.poll(1, second);
        session.page_size = page_size;
        session.upto(8);
        if page_size < 8 {
            poll.history.as_mut().expect("history").events.truncate(page_size);
            poll.next_page_token = page_size.to_string().into_bytes();
        }
        let end = session.task(&poll);
        assert_eq!((session.shown().as_str(), end.commands().as_str()), ("{Init} {Fire 1}", "CompleteWorkflowExecution"));
    }
}

#[test]
fn sticky_attributes_only_with_a_queue() {
    let mut test = RunTest::new(&one_timer(), program());
    let bare = test.inc();
    let completion: &RespondWorkflowTaskCompletedRequest = bare.ends[0].completed();
    assert!(completion.sticky_attributes.is_none() && !completion.return_new_workflow_task);
    test.options.sticky_queue = "sticky".into();
    test.options.sticky_schedule_to_start_timeout_ms = 10_000.0;
    let sticky = test.inc();
    let attributes = sticky.ends[0].completed().sticky_attributes.clone().expect("sticky");
    assert_eq!(attributes.worker_task_queue.map(|q| q.name).as_deref(), Some("sticky"));
    assert_eq!(attributes.schedule_to_start_timeout.map(|d| d.seconds), Some(10));
    let completion = sticky.ends[0].completed();
    assert!(completion.return_new_workflow_task);
    assert_eq!((completion.task_token.as_slice(), completion.namespace.as_str()), (b"task 3".as_slice(), "ns"));
    assert!(completion.capabilities.as_ref().is_some_and(|c| c.discard_speculative_workflow_task_with_events));
}

/// The events that the server made of our completions hold what those recorded; later ones record nothing again.
#[test]
fn flags_recorded_once() {
    let inc = RunTest::new(&one_timer(), program()).inc();
    let flags = |i: usize| inc.ends[i].completed().sdk_metadata.clone().unwrap_or_default();
    assert_eq!(flags(0).core_used_flags, [1, 2, 3]);
    assert_eq!(flags(1).core_used_flags, [0u32; 0]);
}

/// A first task that failed to be recorded leaves the flags to be written: S wF(2-4) w(5-6)
#[test]
fn flags_after_a_dropped_task() {
    let history = HistoryBuilder::new().w_failed().w_open();
    let session = RunTest::new(&history, program()).cut(0);
    assert_eq!(session.end().completed().sdk_metadata.clone().unwrap_or_default().core_used_flags, [1, 2, 3]);
}

/// Language flags of compat programs: known ones are recorded live when they are new.
#[test]
fn lang_flags() {
    let history = |first: &[u32], second: &[u32]| {
        let history = HistoryBuilder::new().w().meta(&[1, 2, 3], first, "temporal-typescript", "1.0.0");
        history.timer_started("1").timer_fired("1").w().meta(&[], second, "", "").wf_completed()
    };
    let mut test = RunTest::new(&history(&[1], &[2]), program()).compat();
    test.options.known_lang_flags = vec![1, 2];
    let seen: Vec<Vec<u32>> = test.replay_ok().activations.iter().map(|a| a.lang_flags.clone()).collect();
    assert_eq!(seen, [vec![1], vec![1, 2]]);
    // An unknown one is refused by its number.
    let mut test = RunTest::new(&history(&[1], &[77]), program()).compat();
    test.options.known_lang_flags = vec![1, 2];
    let error = test.replay_error();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message.contains("77"), "{}", error.message);
}

#[test]
fn unknown_core_flag_is_refused() {
    let history = HistoryBuilder::new().w().meta(&[1, 2, 3, 99], &[], "temporal-next", "9.0.0").timer_started("1").w_open();
    let error = RunTest::new(&history, program()).replay_error();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message.contains("99"), "{}", error.message);
}

#[test]
fn sdk_name_and_version_only_on_change() {
    let inc = RunTest::new(&one_timer(), program()).inc();
    let metadata = |i: usize| inc.ends[i].completed().sdk_metadata.clone().unwrap_or_default();
    assert_eq!((metadata(0).sdk_name.as_str(), metadata(0).sdk_version.as_str()), ("temporalex-ts", "0.1.0"));
    assert_eq!((metadata(1).sdk_name.as_str(), metadata(1).sdk_version.as_str()), ("", ""));
    let mut newer = RunTest::new(&one_timer(), program());
    newer.options.sdk_version = "0.2.0".into();
    let session = newer.cut(1);
    let metadata = session.end().completed().sdk_metadata.clone().unwrap_or_default();
    assert_eq!((metadata.sdk_name.as_str(), metadata.sdk_version.as_str()), ("", "0.2.0"));
}

/// The same seed gives the same numbers, live and replayed, however the run is fed.
#[test]
fn random_numbers_are_the_same_on_replay() {
    use std::cell::RefCell;
    use std::rc::Rc;
    let drawn: Rc<RefCell<Vec<f64>>> = Rc::default();
    let numbers = drawn.clone();
    let events = one_timer().events;
    let test = RunTest::with(events, move || {
        let (numbers, mut script) = (numbers.clone(), program());
        Box::new(move |activation: &temporalex_core::boundary::Activation, calls: &mut crate::support::Calls<'_>| {
            numbers.borrow_mut().extend([calls.random(), calls.random()]);
            crate::support::Lang::activate(&mut script, activation, calls)
        })
    });
    test.inc();
    let live = drawn.take();
    assert_eq!(live.len(), 4);
    assert!(live.iter().all(|n| (0.0..1.0).contains(n)));
    assert!(live.windows(2).all(|w| w[0] != w[1]));
    test.replay_ok();
    assert_eq!(drawn.take(), live);
    test.cut(1);
    assert_eq!(drawn.take(), live);
}

/// A replay that ends in an open task runs up to there; that task is not a replay, and its commands are dropped.
#[test]
fn open_task_at_the_end_of_a_replay() {
    let history = start().timer_started("1").timer_fired("1").w_open();
    let session = RunTest::new(&history, Script::new([vec![timer()], vec![act(), Cmd::Fail(failure("x"))]])).strict().replay_ok();
    let replaying: Vec<bool> = session.activations.iter().map(|a| a.is_replaying).collect();
    assert_eq!((session.shown().as_str(), replaying), ("{Init} {Fire 1}", vec![true, false]));
}

/// S W(2-4) TmrS(5) TmrF(6) w(7-8), of which only the first page comes.
#[test]
fn fetch_failure() {
    let history = start().timer_started("1").timer_fired("1").w_open();
    let test = RunTest::new(&history, program());
    let mut poll = test.poll(1, test.tasks()[1]);
    poll.history.as_mut().expect("history").events.truncate(4);
    poll.next_page_token = b"4".to_vec();
    let mut session = test.session();
    session.fetch_fails = true;
    let end = session.task(&poll);
    assert_eq!(end.failed().cause(), WorkflowTaskFailedCause::WorkflowWorkerUnhandledFailure);
    assert_eq!((end.evict, end.eviction_reason), (true, EvictionReason::PaginationOrHistoryFetch));
    assert_eq!(session.shown(), "", "nothing was given to the program yet");
    // The run takes the next attempt, from full history.
    let mut retry = test.poll(1, test.tasks()[1]);
    retry.attempt = 2;
    assert_eq!(session.task(&retry).commands(), "CompleteWorkflowExecution");
}

/// The pages end before the event that started the task.
#[test]
fn history_ends_early() {
    let history = start().timer_started("1").timer_fired("1").w_open();
    let test = RunTest::new(&history, program());
    let mut poll = test.poll(1, test.tasks()[1]);
    poll.history.as_mut().expect("history").events.truncate(5);
    let mut session = test.session();
    let end = session.task(&poll);
    assert_eq!((end.evict, end.eviction_reason), (true, EvictionReason::PaginationOrHistoryFetch));
    assert_eq!(
        end.message(),
        "Fatal error in workflow machines: History ends at event 5 although the task was started by event 8"
    );
}

/// Fetched ids that do not join the task's own: S W(2-4) TmrS(5) TmrF(6) w(7-8)
#[test]
fn history_gap_fails_the_task() {
    let history = start().timer_started("1").timer_fired("1").w_open();
    let test = RunTest::new(&history, program());
    let mut poll = test.poll(1, test.tasks()[1]);
    poll.history.as_mut().expect("history").events.remove(4);
    let mut session = test.session();
    let end = session.task(&poll);
    assert_eq!(end.message(), "Fatal error in workflow machines: History is out of order. Last processed event: 4, event id: 6");
    assert_eq!((end.evict, end.eviction_reason), (true, EvictionReason::Fatal));
    assert_eq!(end.failed().cause(), WorkflowTaskFailedCause::WorkflowWorkerUnhandledFailure);
}
