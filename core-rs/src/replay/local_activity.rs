//! Local activities as their markers tell them (core-spec 1.6). Replay never executes one.
//!
//! The look-ahead of a task collects its `core_local_activity` markers in order. A resolution is released, in that order, once its
//! activity is scheduled, and not before the activation that its marker names; when nothing else is left to do the marker's
//! activation cannot come otherwise, so it is released at once. Markers of older Cores name none. Cancelling changes nothing
//! here: whatever came of it was recorded, and the record wins.
//!
//! The marker event itself is fed to the machine and takes no command from the queue.
use std::collections::{BTreeMap, VecDeque};

use prost::Message;

use crate::api::failure::v1::Failure;
use crate::api::failure::v1::failure::FailureInfo;
use crate::api::history::v1::MarkerRecordedEventAttributes;
use crate::boundary::{ActivityCompleted, DoBackoff, ResolveActivity, resolve_activity};
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::replay::activity::{differs, single_payload};
use crate::replay::event::{EventRef, Place, bad_transition};
use crate::replay::json::{self, Json};

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
    resolution: ResolveActivity,
}

/// A result on its way to workflow code.
#[derive(Debug)]
pub struct Released {
    pub event_id: i64,
    /// Workflow time moves on to it.
    pub complete_ms: Option<f64>,
    pub resolution: ResolveActivity,
}

#[derive(Clone, Debug, Default)]
pub struct LocalActivities {
    by_seq: BTreeMap<u32, Local>,
    found: VecDeque<Found>,
}

impl LocalActivities {
    pub fn schedule(&mut self, seq: u32, id: String, kind: String) {
        self.by_seq.insert(seq, Local { state: State::WaitingForMarker, id, kind });
    }

    /// A marker in the look-ahead.
    pub fn find_ahead(&mut self, marker: &MarkerRecordedEventAttributes, event: EventRef) -> Result<()> {
        let data = read(marker).at_event(event)?;
        let resolution = resolution(marker, &data).at_event(event)?;
        let Data { seq, activation_index, complete_ms, .. } = data;
        self.found.push_back(Found { seq, event_id: event.id, activation_index, complete_ms, resolution });
        Ok(())
    }

    /// The next result for the activation with this index, if it may go out now.
    pub fn release(&mut self, activation_index: u32, other_jobs: bool) -> Option<Released> {
        let first = self.found.front()?;
        let local = self.by_seq.get_mut(&first.seq)?;
        if local.state != State::WaitingForMarker {
            return None;
        }
        if other_jobs && first.activation_index.is_some_and(|index| index > activation_index) {
            return None;
        }
        local.state = State::Resolved;
        let Found { event_id, complete_ms, resolution, .. } = self.found.pop_front()?;
        Some(Released { event_id, complete_ms, resolution })
    }

    /// The marker event. `check`: id and type are compared (flag 1).
    pub fn on_marker(&mut self, marker: &MarkerRecordedEventAttributes, check: bool, event: EventRef) -> Result<()> {
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

fn read(marker: &MarkerRecordedEventAttributes) -> Result<Data> {
    let damaged = || fatal(codes::BAD_MARKER, "Local activity marker has no data that could be read");
    let data = marker.details.get("data").and_then(json::of_payloads).ok_or_else(damaged)?;
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

fn resolution(marker: &MarkerRecordedEventAttributes, data: &Data) -> Result<ResolveActivity> {
    let result = match (&marker.failure, data.backoff_ms) {
        (Some(_), Some(backoff_ms)) => resolve_activity::Result::Backoff(DoBackoff {
            attempt: data.attempt.saturating_add(1),
            backoff_ms,
            original_schedule_time_ms: data.original_schedule_ms.unwrap_or(0.0),
        }),
        (Some(failure), None) if is_cancelled(failure) => resolve_activity::Result::Cancelled(failure.encode_to_vec()),
        (Some(failure), None) => resolve_activity::Result::Failed(failure.encode_to_vec()),
        (None, _) => {
            let result = single_payload(marker.details.get("result").cloned())?;
            resolve_activity::Result::Completed(ActivityCompleted { result })
        }
    };
    Ok(ResolveActivity { seq: data.seq, is_local: true, result: Some(result) })
}

/// The failure is a cancellation, or an activity failure that wraps one.
fn is_cancelled(failure: &Failure) -> bool {
    match failure.failure_info.as_ref() {
        Some(FailureInfo::CanceledFailureInfo(_)) => true,
        Some(FailureInfo::ActivityFailureInfo(_)) => {
            let cause = failure.cause.as_deref().and_then(|c| c.failure_info.as_ref());
            matches!(cause, Some(FailureInfo::CanceledFailureInfo(_)))
        }
        _ => false,
    }
}
