//! Local activities as their markers tell them (docs/dev/semantics/commands.md#local-activities).
//! Replay never executes one.
//!
//! The look-ahead of a task collects its `core_local_activity` markers in order. A resolution is released, in that order, once its
//! activity is scheduled, and not before the activation that its marker names; when nothing else is left to do the marker's
//! activation cannot come otherwise, so it is released at once. Markers of older Cores name none. Whatever came of a cancel was
//! recorded, and the record wins: cancelling only releases it ahead of its turn.
//!
//! The marker event itself is fed to the machine and takes no command from the queue.
use std::collections::VecDeque;

use crate::api::enums::v1::RetryState;
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::replay::activity::{CANCELED_FAILURE, CAUSE, differs, failure, single_payload};
use crate::replay::event::{EventRef, Place, bad_transition};
use crate::replay::jobs::{Resolution, activity_completed, resolve_activity};
use crate::replay::json::Json;
use crate::replay::marker;
use crate::sorted::SortedMap;
use crate::wire::{Message, Writer};

pub const MARKER: &str = "core_local_activity";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    WaitingForMarker,
    Resolved,
    Recorded,
}

#[derive(Clone, Debug)]
struct Local {
    state: State,
    id: String,
    kind: String,
}

/// What a marker says.
#[derive(Clone, Debug)]
struct Data {
    seq: u32,
    id: String,
    kind: String,
    attempt: u32,
    activation_index: Option<u32>,
    complete_ms: Option<f64>,
    backoff_ms: Option<f64>,
    original_schedule_ms: Option<f64>,
}

/// A result found ahead.
#[derive(Clone, Debug)]
struct Found {
    seq: u32,
    event_id: i64,
    activation_index: Option<u32>,
    complete_ms: Option<f64>,
    result: Outcome,
}

/// The result of a marker, before it is known whose it is. Payload, Failure or boundary.DoBackoff.
#[derive(Clone, Debug)]
enum Outcome {
    Completed(Option<Vec<u8>>),
    Failed(Vec<u8>),
    Cancelled(Vec<u8>),
    Backoff(Vec<u8>),
}

/// A result on its way to workflow code.
#[derive(Debug)]
pub struct Released {
    pub event_id: i64,
    /// Workflow time moves on to it.
    pub complete_ms: Option<f64>,
    /// boundary.ResolveActivity.
    pub resolution: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
pub struct LocalActivities {
    by_seq: SortedMap<u32, Local>,
    found: VecDeque<Found>,
}

impl Found {
    /// Recorded for a later activation of its task.
    fn is_held(&self, activation_index: u32) -> bool {
        self.activation_index.is_some_and(|index| index > activation_index)
    }
}

impl LocalActivities {
    pub fn schedule(&mut self, seq: u32, id: String, kind: String) {
        self.by_seq.insert(seq, Local { state: State::WaitingForMarker, id, kind });
    }

    /// A marker in the look-ahead. One whose activity is resolved already has nothing to say.
    pub fn find_ahead(&mut self, marker: Message, event: EventRef) -> Result<()> {
        let data = read(marker).at_event(event)?;
        if self.by_seq.get(&data.seq).is_some_and(|l| l.state != State::WaitingForMarker) {
            return Ok(());
        }
        let result = outcome(marker, &data).at_event(event)?;
        let Data { seq, activation_index, complete_ms, .. } = data;
        self.found.push_back(Found { seq, event_id: event.id, activation_index, complete_ms, result });
        Ok(())
    }

    /// The next result for the activation with this index, if it may go out now.
    pub fn release(&mut self, activation_index: u32, other_jobs: bool) -> Option<Released> {
        let first = self.found.front()?;
        if (other_jobs && first.is_held(activation_index)) || !self.by_seq.contains_key(&first.seq) {
            return None;
        }
        let found = self.found.pop_front()?;
        self.resolve(found)
    }

    /// Workflow code cancels: what the record says comes now, unless it was recorded for a later activation.
    pub fn cancel(&mut self, seq: u32, activation_index: u32) -> Option<Released> {
        let index = self.found.iter().position(|f| f.seq == seq && !f.is_held(activation_index))?;
        let found = self.found.remove(index)?;
        self.resolve(found)
    }

    fn resolve(&mut self, found: Found) -> Option<Released> {
        let local = self.by_seq.get_mut(&found.seq).filter(|l| l.state == State::WaitingForMarker)?;
        local.state = State::Resolved;
        let (kind, result) = match found.result {
            Outcome::Completed(result) => (Resolution::Completed, activity_completed(result.as_deref())),
            Outcome::Failed(failure) => (Resolution::Failed, failure),
            Outcome::Cancelled(failure) => (Resolution::Cancelled, wrapped(failure, local)),
            Outcome::Backoff(backoff) => (Resolution::Backoff, backoff),
        };
        let resolution = resolve_activity(found.seq, true, kind, &result);
        Some(Released { event_id: found.event_id, complete_ms: found.complete_ms, resolution })
    }

    /// The marker event. `check`: id and type are compared (flag 1).
    pub fn on_marker(&mut self, marker: Message, check: bool, event: EventRef) -> Result<()> {
        let data = read(marker).at_event(event)?;
        let Some(local) = self.by_seq.get_mut(&data.seq) else {
            let text = format!("Missing associated machine for LocalActivity({})", data.seq);
            return Err(nondeterminism(codes::MISSING_MACHINE, text).at_event(event));
        };
        if local.state != State::Resolved {
            return Err(bad_transition("LocalActivityMachine", local.state, event));
        }
        if check && data.id != local.id {
            let e = differs("id", "recorded marker", "local activity command", codes::LOCAL_ACTIVITY_ID, &data.id, &local.id);
            return Err(e.at_event(event));
        }
        if check && data.kind != local.kind {
            let code = codes::LOCAL_ACTIVITY_TYPE;
            let e = differs("type", "recorded marker", "local activity command", code, &data.kind, &local.kind);
            return Err(e.at_event(event));
        }
        local.state = State::Recorded;
        Ok(())
    }

    /// The first one that has no result, if any.
    pub fn unresolved(&self) -> Option<(u32, &str)> {
        let waiting = |l: &&Local| l.state == State::WaitingForMarker;
        self.by_seq.iter().find_map(|(seq, l)| Some(l).filter(waiting).map(|l| (*seq, l.kind.as_str())))
    }
}

fn read(marker: Message) -> Result<Data> {
    let damaged = || fatal(codes::BAD_MARKER, "Local activity marker has no data that could be read");
    let data = marker.entry(marker::DETAILS, "data").and_then(marker::of_payloads).ok_or_else(damaged)?;
    let text = |key: &str| data.get(key).and_then(Json::text).unwrap_or_default().to_string();
    let integer = |key: &str| data.get(key).and_then(Json::integer);
    Ok(Data {
        seq: integer("seq").ok_or_else(damaged)?,
        id: text("activity_id"),
        kind: text("activity_type"),
        attempt: integer("attempt").unwrap_or(1),
        activation_index: integer("activation_index"),
        complete_ms: data.get("complete_time").and_then(milliseconds).map(f64::floor),
        backoff_ms: data.get("backoff").and_then(milliseconds),
        original_schedule_ms: data.get("original_schedule_time").and_then(milliseconds),
    })
}

/// A time or duration as {seconds, nanos}.
fn milliseconds(value: &Json) -> Option<f64> {
    let seconds = value.get("seconds").and_then(Json::number)?;
    let nanos = value.get("nanos").and_then(Json::number).unwrap_or(0.0);
    Some(seconds * 1000.0 + nanos / 1e6)
}

fn outcome(marker: Message, data: &Data) -> Result<Outcome> {
    if let Some(backoff_ms) = data.backoff_ms {
        let mut w = Writer::new();
        w.uint(1, u64::from(data.attempt.saturating_add(1))).double(2, backoff_ms);
        w.double(3, data.original_schedule_ms.unwrap_or(0.0));
        return Ok(Outcome::Backoff(w.finish()));
    }
    match marker.get(marker::FAILURE) {
        Some(failure) if is_cancellation(failure) || failure.get(CAUSE).is_some_and(is_cancellation) => {
            Ok(Outcome::Cancelled(failure.0.to_vec()))
        }
        Some(failure) => Ok(Outcome::Failed(failure.0.to_vec())),
        None => {
            let result = marker.entry(marker::DETAILS, "result").filter(|p| !p.0.is_empty());
            Ok(Outcome::Completed(single_payload("activity", result)?.map(<[u8]>::to_vec)))
        }
    }
}

fn is_cancellation(failure: Message) -> bool {
    failure.get(CANCELED_FAILURE).is_some()
}

/// A bare cancellation is wrapped as that of an activity.
fn wrapped(cancelled: Vec<u8>, local: &Local) -> Vec<u8> {
    if !is_cancellation(Message(&cancelled)) {
        return cancelled;
    }
    let mut info = Writer::new();
    info.named(4, &local.kind).text(5, &local.id).int(6, RetryState::CancelRequested as i64);
    failure("Local Activity cancelled", Some(&cancelled), &info.finish())
}
