//! Random lives of the engine: clients, a worker, failing commits, crashes and clock jumps in any order. Whatever happens, what was
//! acknowledged is there once, what was not is nowhere, histories have a server's form, and memory equals the store.
//! ENGINE_CASES sets the number of lives (default 256).
use std::collections::BTreeMap;

use crate::random::Sim;
use crate::support::*;
use proptest::prelude::*;

#[test]
fn random_lives_are_rich() {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..240 {
        let mut sim = Sim::new();
        for _ in 0..200 {
            let r = random();
            sim.step((r >> 40) as u8, (r >> 16) as u16);
        }
        sim.finish();
        for s in sim.t.store.runs.values() {
            for e in s.events() {
                sim.saw_in(&mut seen, &name(&e));
            }
        }
        for (what, n) in &sim.seen {
            *seen.entry(what.clone()).or_default() += n;
        }
    }
    let wanted = "Started Completed Failed TimedOut Canceled? Terminated ContinuedAsNew CancelRequested Signaled WTScheduled WTStarted WTCompleted WTFailed WTTimedOut ActScheduled ActStarted ActCompleted ActFailed ActTimedOut ActCancelRequested ActCanceled TimerStarted TimerFired TimerCanceled MarkerRecorded StartChildInitiated StartChildFailed ChildStarted ChildCompleted ChildFailed ChildTerminated ChildTimedOut? ChildCanceled? SignalExternalInitiated SignalExternalFailed ExternalSignaled RequestCancelExternalInitiated RequestCancelExternalFailed ExternalCancelRequested UpdateAccepted UpdateCompleted";
    for kind in wanted.split(' ').filter(|k| !k.ends_with('?')) {
        assert!(seen.get(kind).copied().unwrap_or(0) > 5, "{kind} is rare: {seen:?}");
    }
    for what in [
        "inline task",
        "discarded task",
        "query task",
        "transient task",
        "speculative task",
        "partial task",
        "task with queries",
        "task with updates",
        "crash",
        "crash that loses",
        "lost reply",
    ] {
        assert!(seen.get(what).copied().unwrap_or(0) > 5, "{what} is rare: {seen:?}");
    }
    println!("{seen:?}");
}

fn live(steps: &[(u8, u16)]) -> Vec<u8> {
    let mut sim = Sim::new();
    for (kind, a) in steps {
        sim.step(*kind, *a);
    }
    sim.finish();
    // Everything that was stored, as one string of bytes.
    let mut trace = Vec::new();
    for (id, s) in &sim.t.store.runs {
        trace.extend(id.as_bytes());
        trace.extend(&s.head);
        s.batches.iter().for_each(|b| trace.extend(&b.events));
        s.items.values().for_each(|v| trace.extend(v));
    }
    trace
}

fn cases() -> u32 {
    std::env::var("ENGINE_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(256)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_lives_keep_every_promise(steps in proptest::collection::vec(any::<(u8, u16)>(), 1..160)) {
        live(&steps);
    }

    #[test]
    fn a_life_is_a_function_of_its_inputs(steps in proptest::collection::vec(any::<(u8, u16)>(), 1..80)) {
        prop_assert_eq!(live(&steps), live(&steps));
    }
}

/// A timer and the retry of an activity that are due in the same microsecond, and a crash before either.
#[test]
fn a_retry_and_a_timer_of_one_moment() {
    live(&[
        (133, 0),
        (98, 19685),
        (66, 17),
        (138, 16384),
        (16, 14712),
        (206, 22016),
        (58, 19713),
        (0, 2048),
        (30, 714),
        (39, 30978),
        (122, 1000),
        (26, 0),
    ]);
}
