//! Real histories, second level (docs/dev/semantics/history.md#how-a-history-may-be-cut): a program
//! that follows the history replays it, and the activations are the same whole, cut after every
//! started event and continued task by task, fetched after a cache miss, and in pages of every
//! size.
use crate::support::RunTest;
use crate::support::follow::plan;
use crate::support::real::{Histories, histories, spread};
use crate::support::run_test::normal;
use crate::support::session::Session;
use crate::support::slim::{event_type, slim};
use temporalex_core::api::enums::v1::EventType;
use temporalex_core::api::history::v1::HistoryEvent;
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::boundary::Activation;
use temporalex_core::history::{BoundaryRule, HistoryBuffer, Next};

struct Followed {
    name: String,
    test: RunTest,
    local_activities: bool,
    /// Core's rule merges tasks of this history that a run which lived through them saw apart.
    merged: bool,
}

/// Histories that no program of this core can follow: markers that only other SDKs write, events of unknown type, and
/// commands that other SDKs send although they were canceled before.
const NOT_FOLLOWED: [&str; 6] = [
    "marker Version",
    "marker LocalActivity",
    "marker MutableSideEffect",
    "a side effect without id",
    "an event without attributes",
    "an activity scheduled and cancelled in one task",
];

/// The histories that use nothing which the core has no commands for, each as a compat program's and as a native one's; the others
/// are named.
fn followable(histories: &Histories) -> Vec<Followed> {
    let mut found = Vec::new();
    for (name, events) in histories {
        let (plan, events) = match plan(events) {
            Ok(followed) => followed,
            Err(reason) => {
                println!("not followed: {name}: {reason}");
                let known = NOT_FOLLOWED.iter().any(|known| reason.starts_with(known));
                assert!(known, "{name}: {reason}");
                continue;
            }
        };
        for native in [false, true] {
            let (plan, mut events) = (plan.clone(), events.clone());
            let (local_activities, mut merged) = (plan.has_local_activities(), false);
            if native {
                as_native(&mut events);
            } else {
                merged = is_merged(&events);
            }
            let mut test = RunTest::with(events, move || Box::new(plan.lang())).unchecked();
            if !native {
                test = test.compat();
            }
            test.options.known_lang_flags = (1..=20).collect();
            let name = format!("{name} ({})", if native { "native" } else { "compat" });
            found.push(Followed { name, test, local_activities, merged });
        }
    }
    println!("{} histories are followed", found.len() / 2);
    assert!(found.len() >= 250, "only {} histories were followed", found.len() / 2);
    found
}

/// As if a native worker had completed the first task, so that sequences are not merged.
fn as_native(events: &mut [HistoryEvent]) {
    let completed = events.iter_mut().find_map(|event| match event.attributes.as_mut() {
        Some(Attributes::WorkflowTaskCompletedEventAttributes(a)) => Some(a),
        _ => None,
    });
    if let Some(completed) = completed {
        let metadata = completed.sdk_metadata.get_or_insert_default();
        metadata.sdk_name = "temporalex-ts".into();
        metadata.core_used_flags.retain(|flag| *flag < 4);
    }
}

/// A run that ends at some started event of this history would merge tasks.
fn is_merged(events: &[HistoryEvent]) -> bool {
    use EventType::*;
    let kinds: Vec<_> = events.iter().filter_map(event_type).collect();
    let empty = |window: &[EventType]| window == [WorkflowTaskStarted, WorkflowTaskCompleted, WorkflowTaskScheduled];
    kinds.windows(3).any(empty) || ends(BoundaryRule::Core, events) != ends(BoundaryRule::Unmerged, events)
}

fn ends(rule: BoundaryRule, events: &[HistoryEvent]) -> Vec<i64> {
    let mut buffer = HistoryBuffer::new();
    buffer.set_rule(rule);
    buffer.push(slim(events), true).expect("a sound history");
    let mut ends = Vec::new();
    while let Next::Sequence(taken) = buffer.take_next() {
        ends.extend(taken.last().map(|e| e.event_id));
    }
    ends
}

/// Large histories are tried at few places: each try replays them.
fn places(test: &RunTest, last: usize) -> Vec<usize> {
    spread(last, if test.events.len() > 500 { 2 } else { 12 })
}

fn before(activations: &[Activation], started: i64) -> Vec<Activation> {
    activations.iter().filter(|a| i64::from(a.started_event_id) < started).cloned().collect()
}

fn check_end(session: &Session, what: &str) {
    assert_eq!(session.end().error, None, "{what}");
}

#[test]
fn real_histories_replay_whole_and_cut_short() {
    let Some(histories) = histories("real_histories_replay_whole_and_cut_short") else { return };
    for Followed { name, test, merged, .. } in followable(histories) {
        println!("{name}");
        let whole = normal(&test.replay_ok().activations);
        let tasks = if merged { Vec::new() } else { test.tasks() };
        for i in places(&test, tasks.len()) {
            // The task that is open at the end of a cut history does not know yet what it will be asked by updates.
            let started = tasks[i - 1].started;
            let mut session = test.session();
            session.replay(&test.events[..started as usize]);
            assert_eq!(session.end().error, None, "{name} cut after {started}");
            let seen = before(&normal(&session.activations), started);
            assert_eq!(seen, before(&whole, started), "{name} cut after {started}");
        }
    }
}

#[test]
fn real_histories_in_pages() {
    let Some(histories) = histories("real_histories_in_pages") else { return };
    for Followed { name, test, merged, .. } in followable(histories) {
        println!("{name}");
        let whole = normal(&test.replay_ok().activations);
        let tasks = test.tasks();
        let Some(last) = tasks.last() else { continue };
        let one = test.paged(usize::MAX);
        check_end(&one, &name);
        if !merged {
            assert_eq!(before(&normal(&one.activations), last.started), before(&whole, last.started), "{name} in one task");
        }
        for size in places(&test, last.started as usize) {
            let paged = test.paged(size);
            assert_eq!(paged.activations, one.activations, "{name} in pages of {size}");
            assert_eq!(format!("{:?}", paged.end()), format!("{:?}", one.end()), "{name} in pages of {size}");
            let fetched = test.missed(tasks.len() - 1, size);
            assert_eq!(fetched.activations, one.activations, "{name} fetched by {size}");
        }
    }
}

/// Task by task, and from a cold start at every task.
#[test]
fn real_histories_cut_and_continued() {
    let Some(histories) = histories("real_histories_cut_and_continued") else { return };
    let mut compared = 0;
    for Followed { name, test, local_activities, merged } in followable(histories) {
        // Without the activation in their markers, results that came one by one are replayed together.
        if local_activities || merged {
            continue;
        }
        println!("{name}");
        let whole = normal(&test.replay_ok().activations);
        let tasks = test.tasks();
        for i in places(&test, tasks.len()) {
            let session = test.cut(i - 1);
            check_end(&session, &name);
            let started = tasks[i - 1].started;
            let seen = normal(&session.activations);
            assert_eq!(before(&seen, started), before(&whole, started), "{name} from a cold start at {started}");
            // A history may hold more behind its last started event; no task came of that yet.
            let mut expected = whole.clone();
            expected.retain(|a| i64::from(a.history_length) <= tasks[tasks.len() - 1].started);
            assert_eq!(seen, expected, "{name} from a cold start at {started}, continued");
        }
        compared += 1;
    }
    assert!(compared >= 150, "only {compared} histories were compared");
}
