//! Property tests over random histories (docs/dev/semantics/history.md#how-a-history-may-be-cut): a
//! program that follows one gives the same activations and commands task by task, whole, from a
//! cold start at every task, after cache misses, and in pages of every size.
use crate::support::follow::plan;
use crate::support::lang::{cancel_external, child, signal_external};
use crate::support::random::history;
use crate::support::slim::slim;
use crate::support::{Cmd, HistoryBuilder, RunTest, Script, act, show, timer};
use proptest::collection::vec;
use proptest::prelude::*;
use temporalex_core::api::history::v1::HistoryEvent;
use temporalex_core::boundary::ChildWorkflowCancellationType;
use temporalex_core::history::{BoundaryRule, HistoryBuffer, Next};

fn tape() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..140)
}

fn followed(tape: &[u8], native: bool) -> RunTest {
    let (plan, events) = plan(&history(tape, native).events).expect("a history that can be followed");
    let test = RunTest::with(events, move || Box::new(plan.lang()));
    if native { test.strict() } else { test.compat().strict() }
}

fn cut(rule: BoundaryRule, events: &[HistoryEvent], pages: &[usize]) -> Vec<Vec<i64>> {
    let mut buffer = HistoryBuffer::new();
    buffer.set_rule(rule);
    let (mut out, mut rest, mut sizes) = (Vec::new(), events, pages.iter().cycle());
    loop {
        let size = sizes.next().copied().unwrap_or(usize::MAX).min(rest.len());
        let (page, behind) = rest.split_at(size);
        rest = behind;
        buffer.push(slim(page), rest.is_empty()).expect("a sound history");
        loop {
            match buffer.take_next() {
                Next::Sequence(taken) => out.push(taken.iter().map(|e| e.event_id).collect()),
                Next::NeedMore => break,
                Next::End => return out,
            }
        }
    }
}

/// What comes from outside after a task that started four timers, activities, children, signals and cancellations, with a task behind every event whose bit is
/// set, and behind the last.
fn grouped(arrivals: &[u8], bits: &[bool]) -> RunTest {
    let ids = ["1", "2", "3", "4"];
    let mut h = HistoryBuilder::new().w_native();
    let (mut timers, mut activities, mut signals, mut cancels) = (ids.iter(), ids.iter(), ids.iter(), ids.iter());
    let (mut starts, mut ends) = (ids.iter(), ids.iter());
    h = ids.iter().fold(h, |h, id| h.timer_started(id));
    h = ids.iter().fold(h, |h, id| h.act_scheduled(id));
    h = ids.iter().fold(h, |h, id| h.child_initiated(id));
    h = ids.iter().fold(h, |h, id| h.signal_initiated(id));
    h = ids.iter().fold(h, |h, id| h.cancel_initiated(id, false));
    for (arrival, bit) in arrivals.iter().zip(bits.iter().cycle()) {
        h = match arrival % 9 {
            0 => h.signal("a"),
            1 => h.signal("b"),
            2 => match timers.next() {
                Some(id) => h.timer_fired(id),
                None => h.signal("no timer left"),
            },
            3 => match activities.next() {
                Some(id) => h.act_done(id),
                None => h.signal("no activity left"),
            },
            4 => match starts.next() {
                Some(id) => h.child_started(id),
                None => h.signal("no child left"),
            },
            5 => match (ends.len() > starts.len()).then(|| ends.next()).flatten() {
                Some(id) => h.child_completed(id),
                None => h.signal("no child to end"),
            },
            6 => match signals.next() {
                Some(id) => h.signal_delivered(id),
                None => h.signal("no signal left"),
            },
            7 => match cancels.next() {
                Some(id) => h.cancel_delivered(id),
                None => h.signal("no request left"),
            },
            _ => h.cancel_requested("enough"),
        };
        if *bit {
            h = h.w();
        }
    }
    let waits = ChildWorkflowCancellationType::WaitCancellationCompleted;
    let of_all = |make: &dyn Fn(&str) -> Cmd| ids.map(make).to_vec();
    let others = [of_all(&|id| child(id, waits)), of_all(&signal_external), of_all(&cancel_external)].concat();
    let first = [vec![timer(); 4], vec![act(); 4], others].concat();
    RunTest::new(&h.w_open(), Script::new([first]))
}

/// Jobs of all activations, one behind the other.
fn jobs(test: &RunTest) -> Vec<String> {
    let session = test.inc();
    assert_eq!(session.end().error, None);
    session.activations.iter().flat_map(|a| a.jobs.iter().map(show::job)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn native_histories_are_fed_in_any_way(tape in tape()) {
        followed(&tape, true).all_same();
    }

    #[test]
    fn compat_histories_are_fed_in_any_way(tape in tape()) {
        followed(&tape, false).all_same();
    }

    /// A native program gets its jobs in the order of events, however these were grouped into tasks.
    #[test]
    fn native_jobs_do_not_depend_on_grouping(arrivals in vec(any::<u8>(), 1..12), bits in vec(any::<bool>(), 1..12)) {
        let alone = jobs(&grouped(&arrivals, &[true]));
        prop_assert_eq!(jobs(&grouped(&arrivals, &[false])), &alone[..]);
        prop_assert_eq!(jobs(&grouped(&arrivals, &bits)), &alone[..]);
    }

    /// Pages of changing sizes, among them empty ones.
    #[test]
    fn sequences_do_not_depend_on_pages(tape in tape(), pages in vec(0usize..7, 1..6).prop_filter("some page holds events", |p| p.iter().any(|n| *n > 0))) {
        let events = history(&tape, true).events;
        for rule in [BoundaryRule::Unmerged, BoundaryRule::Core, BoundaryRule::CoreChunkingV2] {
            prop_assert_eq!(cut(rule, &events, &pages), cut(rule, &events, &[usize::MAX]));
        }
    }
}
