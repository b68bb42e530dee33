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
use crate::boundary::CommandKind;
use crate::error::{Result, codes, fatal};
use crate::proto::views::boundary::{DoBackoff, ResolveActivity, ScheduleLocalActivity};
use crate::proto::views::common::Payload;
use crate::proto::views::failure::{ActivityFailureInfo, Failure};
use crate::proto::views::history::MarkerRecordedEventAttributes;
use crate::replay::commands::activity::{differs, failure, id_or_seq};
use crate::replay::commands::machines::{claim, missing};
use crate::replay::commands::shared::{bad_value, single_payload};
use crate::replay::commands::{Given, Take, checked, marker};
use crate::replay::event::{EventRef, Place, bad_transition};
use crate::replay::json::Json;
use crate::replay::workflow::Workflow;
use crate::sorted::SortedMap;
use crate::wire::typed::{Encoded, Put, View, build};

pub const MARKER: &str = marker::LOCAL_ACTIVITY;
const MACHINE: &str = "LocalActivity";

/// Given: what its marker is compared with.
#[derive(Debug)]
pub struct Schedule {
    seq: u32,
    id: String,
    kind: String,
}

/// Given: workflow code cancels.
#[derive(Debug)]
pub struct Cancel {
    pub seq: u32,
}

/// Compat programs number activities and local activities together, as the official SDK does: their ids are in history.
pub fn read(bytes: &[u8], run: &mut Workflow) -> Result<(u32, Given)> {
    let c = checked::<ScheduleLocalActivity>(bytes)?;
    if c.activity_type().is_empty() {
        return bad_value("a local activity needs a type");
    }
    let seq = if run.is_compat() { run.activities.claim(c.seq())? } else { claim(&mut run.local_activities.last, c.seq())? };
    Ok((seq, Schedule { seq, id: id_or_seq(c.activity_id(), seq), kind: c.activity_type().into() }.into()))
}

impl Take for Schedule {
    fn take(self, run: &mut Workflow) -> Result<()> {
        run.local_activities.schedule(self.seq, self.id, self.kind);
        Ok(())
    }
}

impl Take for Cancel {
    fn take(self, run: &mut Workflow) -> Result<()> {
        let last = if run.is_compat() { run.activities.last() } else { run.local_activities.last };
        if self.seq == 0 || self.seq > last {
            return Err(missing(MACHINE, self.seq).of_command(CommandKind::ScheduleLocalActivity, self.seq));
        }
        if let Some(released) = run.local_activities.cancel(self.seq, run.activation_index) {
            run.resolve_local_activity(released);
        }
        Ok(())
    }
}

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

/// The result of a marker, before it is known whose it is.
#[derive(Clone, Debug)]
enum Outcome {
    Completed(Option<Encoded<Payload>>),
    Failed(Encoded<Failure>),
    Cancelled(Encoded<Failure>),
    Backoff(Encoded<DoBackoff>),
}

/// A result on its way to workflow code.
#[derive(Debug)]
pub struct Released {
    pub event_id: i64,
    /// Workflow time moves on to it.
    pub complete_ms: Option<f64>,
    pub resolution: Encoded<ResolveActivity>,
}

#[derive(Clone, Debug, Default)]
pub struct LocalActivities {
    /// The last seq of native programs.
    last: u32,
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
    pub fn find_ahead(&mut self, marker: View<MarkerRecordedEventAttributes>, event: EventRef) -> Result<()> {
        let data = read_marker(marker).at_event(event)?;
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
        let resolution = build(|w: Put<ResolveActivity>| {
            let w = w.seq(found.seq).is_local(true);
            match found.result {
                Outcome::Completed(result) => w.completed(|w| w.copy_result(result.as_ref().map(Encoded::view))),
                Outcome::Failed(failure) => w.failed(failure.view()),
                Outcome::Cancelled(failure) => w.cancelled(wrapped(failure, local).view()),
                Outcome::Backoff(backoff) => w.copy_backoff(Some(backoff.view())),
            }
        });
        Some(Released { event_id: found.event_id, complete_ms: found.complete_ms, resolution })
    }

    /// The marker event. `check`: id and type are compared (flag 1).
    pub fn on_marker(&mut self, marker: View<MarkerRecordedEventAttributes>, check: bool, event: EventRef) -> Result<()> {
        let data = read_marker(marker).at_event(event)?;
        let Some(local) = self.by_seq.get_mut(&data.seq) else {
            return Err(missing(MACHINE, data.seq).at_event(event));
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

fn read_marker(marker: View<MarkerRecordedEventAttributes>) -> Result<Data> {
    let damaged = || fatal(codes::BAD_MARKER, "Local activity marker has no data that could be read");
    let data = marker.details().get("data").and_then(marker::of_payloads).ok_or_else(damaged)?;
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

fn outcome(marker: View<MarkerRecordedEventAttributes>, data: &Data) -> Result<Outcome> {
    if let Some(backoff_ms) = data.backoff_ms {
        return Ok(Outcome::Backoff(build(|w: Put<DoBackoff>| {
            w.attempt(data.attempt.saturating_add(1))
                .backoff_ms(backoff_ms)
                .original_schedule_time_ms(data.original_schedule_ms.unwrap_or(0.0))
        })));
    }
    match marker.opt_failure() {
        Some(failure) if is_cancellation(failure) || failure.opt_cause().is_some_and(is_cancellation) => {
            Ok(Outcome::Cancelled(failure.to_owned()))
        }
        Some(failure) => Ok(Outcome::Failed(failure.to_owned())),
        None => {
            let result = marker.details().get("result").filter(|p| !p.is_empty());
            Ok(Outcome::Completed(single_payload("activity", result)?.map(View::to_owned)))
        }
    }
}

fn is_cancellation(failure: View<Failure>) -> bool {
    failure.opt_canceled_failure_info().is_some()
}

/// A bare cancellation is wrapped as that of an activity.
fn wrapped(cancelled: Encoded<Failure>, local: &Local) -> Encoded<Failure> {
    if !is_cancellation(cancelled.view()) {
        return cancelled;
    }
    let info = build(|w: Put<ActivityFailureInfo>| {
        w.activity_type(|w| w.name(&local.kind)).activity_id(&local.id).retry_state(RetryState::CancelRequested)
    });
    failure("Local Activity cancelled", Some(cancelled.view()), &info)
}
