//! Invalid input never panics and never loops for ever: histories and poll responses that were truncated, bit-flipped, or
//! whose events were dropped, duplicated, swapped, retyped or stripped give an outcome, and an error that has a code.
use std::cell::Cell;

use crate::support::follow::{Follower, Plan, plan};
use crate::support::history::{HistoryBuilder, RUN_ID, WORKFLOW_ID, update_request};
use crate::support::lang::{Calls, Lang, Reply};
use crate::support::random::history;
use crate::support::run_test::{query, request_message};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message as _;
use temporalex_core::api::common::v1::WorkflowExecution;
use temporalex_core::api::enums::v1::{CancelExternalWorkflowExecutionFailedCause, RetryState};
use temporalex_core::api::history::v1::{History, HistoryEvent};
use temporalex_core::api::workflowservice::v1::{PollWorkflowTaskQueueResponse, RespondWorkflowTaskCompletedResponse};
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{CommandKind, CoreError, ErrorKind, JobOrder, QueryResult, RunOptions, query_result, step};
use temporalex_core::error::Result;
use temporalex_core::replay::Run;

/// More steps than any of these inputs can ask for; beyond it a run goes round in circles.
const MANY: u32 = 20_000;

fn new_run(order: JobOrder) -> Run {
    let options =
        RunOptions { namespace: "ns".into(), job_order: order as i32, known_lang_flags: vec![1, 2], ..Default::default() };
    Run::new(options).expect("good options")
}

/// Continues until the outcome; returns its error, or the one that a call threw. `pages` are the fetched pages, damaged or
/// not.
fn drive(run: &mut Run, started: Result<()>, lang: &mut dyn Lang, pages: &[Vec<u8>]) -> Option<CoreError> {
    let fetched = Cell::new(0);
    let mut work = || -> Result<Option<CoreError>> {
        started.clone()?;
        for _ in 0..MANY {
            match run.next()?.kind.expect("a step says what it is") {
                step::Kind::Outcome(outcome) => return Ok(outcome.error),
                step::Kind::LocalWork(work) if work.wait => run.heartbeat()?,
                step::Kind::LocalWork(_) => {}
                step::Kind::NeedHistory(_) => {
                    let i = fetched.get();
                    fetched.set(i + 1);
                    let next = if i + 1 < pages.len() { vec![1] } else { Vec::new() };
                    run.feed_history(pages.get(i).map_or(&[], Vec::as_slice), &next)?;
                }
                step::Kind::Activation(activation) => {
                    let mut calls = Calls::new(run);
                    let mut queries = 0;
                    for job in &activation.jobs {
                        if let Some(Variant::QueryWorkflow(asked)) = &job.variant {
                            queries += 1;
                            let result = Some(query_result::Result::Succeeded(Default::default()));
                            calls.raw(CommandKind::QueryResult, &QueryResult { query_id: asked.query_id.clone(), result });
                        }
                    }
                    let reply = if queries > 0 { Reply::Finish } else { lang.activate(&activation, &mut calls) };
                    if let Some(error) = calls.error {
                        return Err(error);
                    }
                    match reply {
                        Reply::Finish => run.finish_activation()?,
                        Reply::FailTask(why, cause) => run.fail_activation(&why.encode_to_vec(), cause as i32)?,
                    }
                }
            }
        }
        panic!("the run does not end");
    };
    work().unwrap_or_else(|thrown| Some(*thrown))
}

fn check(error: Option<CoreError>) {
    if let Some(error) = error {
        assert!(error.code >= 1000, "{error:?}");
        assert_ne!(error.kind(), ErrorKind::Unspecified, "{error:?}");
        assert!(!error.message.is_empty(), "{error:?}");
    }
}

/// Feeds the events in every way: as a replay, as one task, as a partial task with fetched pages, with a query.
fn feed_everywhere(events: &[HistoryEvent], plan: &Plan) {
    for order in [JobOrder::Native, JobOrder::Compat] {
        let bytes = History { events: events.to_vec() }.encode_to_vec();
        let mut run = new_run(order);
        let started = run.start_replay(WORKFLOW_ID, &bytes);
        check(drive(&mut run, started, &mut plan.lang(), &[]));

        let half = events.len() / 2;
        let pages: Vec<Vec<u8>> = events.chunks(5).map(|page| History { events: page.to_vec() }.encode_to_vec()).collect();
        for (own, pages) in [(events, &[][..]), (&events[half..], &pages[..]), (&[][..], &pages[..])] {
            let started_id = own.iter().rev().find(|e| e.event_type == 6).map_or(0, |e| e.event_id);
            let mut poll = poll(own, started_id);
            poll.messages = vec![request_message(&update_request("late", "upd"), started_id - 1)];
            if own.is_empty() {
                poll.query = Some(query("state"));
            }
            let mut run = new_run(order);
            let started = run.start_task(&poll.encode_to_vec());
            check(drive(&mut run, started, &mut plan.lang(), pages));
            // The run takes a further task after whatever happened.
            let report = run.task_reported(&RespondWorkflowTaskCompletedResponse::default().encode_to_vec());
            check(report.err().map(|e| *e));
            let started = run.start_task(&poll.encode_to_vec());
            check(drive(&mut run, started, &mut plan.lang(), pages));
        }
    }
}

fn poll(events: &[HistoryEvent], started_event_id: i64) -> PollWorkflowTaskQueueResponse {
    PollWorkflowTaskQueueResponse {
        task_token: b"token".to_vec(),
        workflow_execution: Some(WorkflowExecution { workflow_id: WORKFLOW_ID.into(), run_id: RUN_ID.into() }),
        workflow_type: Some(Default::default()),
        started_event_id,
        attempt: 1,
        history: Some(History { events: events.to_vec() }),
        ..Default::default()
    }
}

/// A history with something of everything, local activities included.
fn rich() -> HistoryBuilder {
    use crate::support::{failure, json};
    let h = HistoryBuilder::new().w_native().timer_started("1").act_scheduled("1").patch_marker("p", false);
    let h = h.change_version_upsert(&["p"]).side_effect_marker(0, json("1")).act_done("1").signal("s").w_failed().w();
    let h = h.update_accepted("u", "upd").timer_started("2").timer_fired("2").cancel_requested("c").w();
    let h = h.child_initiated("a").child_initiated("try:b").child_initiated("d").signal_initiated("o").upsert([("k", json("1"))]);
    let h = h.child_started("a").signal_delivered("o").child_started("try:b").child_completed("a").child_started("d").w();
    let h = h.cancel_initiated("try:b", true).cancel_initiated("d", true).cancel_initiated("o", false);
    let h = h.properties_modified([("k", json("1"))]).cancel_delivered("o").cancel_delivered("d").child_canceled("d");
    let h = h.cancel_failed("try:b", CancelExternalWorkflowExecutionFailedCause::ExternalWorkflowExecutionNotFound);
    let h = h.child_failed("try:b", failure("late"), RetryState::Timeout).w();
    h.update_completed("u").la_marker(1, "1", json("1")).timer_canceled("1").wf_completed()
}

#[derive(Clone, Debug)]
enum Damage {
    Drop(usize),
    Double(usize),
    Swap(usize, usize),
    Retype(usize, i32),
    Strip(usize),
    NewId(usize, i64),
    NoTime(usize),
    /// Attributes of another event.
    Transplant(usize, usize),
    Cut(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || 0usize..200;
    prop_oneof![
        at().prop_map(Damage::Drop),
        at().prop_map(Damage::Double),
        (at(), at()).prop_map(|(a, b)| Damage::Swap(a, b)),
        (at(), prop_oneof![0..70i32, any::<i32>()]).prop_map(|(i, kind)| Damage::Retype(i, kind)),
        at().prop_map(Damage::Strip),
        (at(), prop_oneof![-3i64..60, any::<i64>()]).prop_map(|(i, id)| Damage::NewId(i, id)),
        at().prop_map(Damage::NoTime),
        (at(), at()).prop_map(|(a, b)| Damage::Transplant(a, b)),
        at().prop_map(Damage::Cut),
    ]
}

/// Ids are made contiguous again where the damage is not to them, so that it is not found at the gate.
fn apply(events: &mut Vec<HistoryEvent>, damage: &Damage) {
    if events.is_empty() {
        return;
    }
    let n = events.len();
    match *damage {
        Damage::Drop(i) => {
            events.remove(i % n);
        }
        Damage::Double(i) => events.insert(i % n, events[i % n].clone()),
        Damage::Swap(a, b) => events.swap(a % n, b % n),
        Damage::Retype(i, kind) => events[i % n].event_type = kind,
        Damage::Strip(i) => events[i % n].attributes = None,
        Damage::NewId(i, id) => {
            events[i % n].event_id = id;
            return;
        }
        Damage::NoTime(i) => events[i % n].event_time = None,
        Damage::Transplant(a, b) => events[a % n].attributes = events[b % n].attributes.clone(),
        Damage::Cut(i) => events.truncate(i % n),
    }
    for (i, event) in events.iter_mut().enumerate() {
        event.event_id = i as i64 + 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_events(tape in vec(any::<u8>(), 0..100), all in vec(damage(), 1..5), with_rich in any::<bool>()) {
        let sound = if with_rich { rich() } else { history(&tape, true) };
        let (plan, mut events) = plan(&sound.events).expect("a history that can be followed");
        for damage in &all {
            apply(&mut events, damage);
        }
        feed_everywhere(&events, &plan);
    }

    #[test]
    fn flipped_bits(tape in vec(any::<u8>(), 0..60), flips in vec((any::<prop::sample::Index>(), 0u8..8), 1..6)) {
        let sound = history(&tape, true);
        let (plan, _) = plan(&sound.events).expect("a history that can be followed");
        let mut bytes = History { events: sound.events.clone() }.encode_to_vec();
        let mut task = poll(&sound.events, sound.last_id()).encode_to_vec();
        for (index, bit) in &flips {
            let at = index.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let at = index.index(task.len());
            task[at] ^= 1 << bit;
        }
        let mut run = new_run(JobOrder::Native);
        let started = run.start_replay(WORKFLOW_ID, &bytes);
        check(drive(&mut run, started, &mut plan.lang(), &[]));
        let mut run = new_run(JobOrder::Compat);
        let started = run.start_task(&task);
        check(drive(&mut run, started, &mut plan.lang(), std::slice::from_ref(&bytes)));
    }

    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..200), attributes in vec(any::<u8>(), 0..40), kind in 0i32..14) {
        let nothing = Plan::default();
        let mut run = new_run(JobOrder::Native);
        let started = run.start_replay(WORKFLOW_ID, &bytes);
        check(drive(&mut run, started, &mut nothing.lang(), &[]));
        let mut run = new_run(JobOrder::Native);
        let started = run.start_task(&bytes);
        check(drive(&mut run, started, &mut nothing.lang(), std::slice::from_ref(&bytes)));
        // Commands whose attributes are anything, and calls out of turn.
        let mut run = new_run(JobOrder::Native);
        let events = HistoryBuilder::new().w_open().events;
        let calls = |run: &mut Run| {
            if let Ok(kind) = CommandKind::try_from(kind) {
                check(run.command(kind, &attributes).err().map(|e| *e));
                check(run.cancel(kind, u32::from(bytes.len() as u8)).err().map(|e| *e));
            }
            check(run.fail_activation(&attributes, kind).err().map(|e| *e));
            check(run.feed_history(&bytes, &attributes).err().map(|e| *e));
            check(run.task_reported(&bytes).err().map(|e| *e));
            check(run.finish_activation().err().map(|e| *e));
        };
        calls(&mut run);
        let started = run.start_task(&poll(&events, 3).encode_to_vec());
        check(started.err().map(|e| *e));
        check(run.next().err().map(|e| *e));
        calls(&mut run);
        check(run.next().err().map(|e| *e));
    }
}

/// Every prefix of a history's bytes, and of a poll response's.
#[test]
fn truncated_bytes() {
    let events = rich().events;
    let (plan, _) = plan(&events).expect("a history that can be followed");
    let history = History { events: events.clone() }.encode_to_vec();
    let task = poll(&events, 25).encode_to_vec();
    let mut errors = 0;
    for cut in 0..history.len() {
        let mut run = new_run(JobOrder::Native);
        let started = run.start_replay(WORKFLOW_ID, &history[..cut]);
        let error = drive(&mut run, started, &mut plan.lang(), &[]);
        errors += u32::from(error.is_some());
        check(error);
    }
    assert!(errors as usize > history.len() * 9 / 10, "{errors} of {} prefixes are refused", history.len());
    for cut in 0..task.len() {
        let mut run = new_run(JobOrder::Native);
        let started = run.start_task(&task[..cut]);
        check(drive(&mut run, started, &mut plan.lang(), &[]));
    }
}

/// The follower itself does no harm to a sound history, so that what the other tests find is the damage.
#[test]
fn sound_history_is_no_error() {
    let (plan, events) = plan(&rich().events).expect("a history that can be followed");
    let mut run = new_run(JobOrder::Native);
    let started = run.start_replay(WORKFLOW_ID, &History { events }.encode_to_vec());
    let mut lang: Follower = plan.lang();
    assert_eq!(drive(&mut run, started, &mut lang, &[]), None);
}
