//! The marker of a local activity, name and details as Core has them: read for replay, written with a live result
//! (docs/dev/semantics/commands.md#local-activities).
//!
//! `data` is JSON with times as {seconds, nanos}; `result` holds the payload of a success, and a
//! failure is in the marker's `failure` field. A failure with a `backoff` belongs to an attempt
//! that is followed by another one, behind a timer.
use crate::api::enums::v1::RetryState;
use crate::error::{Result, codes, fatal};
use crate::proto::views::boundary::{DoBackoff, LocalActivityResolutionResult as Live, ResolveActivity};
use crate::proto::views::command::RecordMarkerCommandAttributes;
use crate::proto::views::common::Payload;
use crate::proto::views::failure::{ActivityFailureInfo, Failure};
use crate::proto::views::history::MarkerRecordedEventAttributes;
use crate::replay::commands::activity::failure;
use crate::replay::commands::marker;
use crate::replay::commands::shared::single_payload;
use crate::replay::event::{EventRef, Place};
use crate::replay::json::{Json, write_text};
use crate::wire::typed::{Encoded, Put, View, build};

/// What a marker says of its activity.
#[derive(Clone, Debug)]
pub struct Data {
    pub seq: u32,
    pub id: String,
    pub kind: String,
    pub attempt: u32,
    /// Position of the activation that got the result, within its workflow task; older Cores did not write it.
    pub activation_index: Option<u32>,
    /// Workflow time moves on to it. Whole milliseconds.
    pub complete_ms: Option<f64>,
    pub backoff_ms: Option<f64>,
    pub original_schedule_ms: Option<f64>,
}

/// What the activity came to.
#[derive(Clone, Debug)]
pub enum Outcome {
    Completed(Option<Encoded<Payload>>),
    Failed(Encoded<Failure>),
    Cancelled(Encoded<Failure>),
}

impl Outcome {
    /// That of an attempt in this process; `None`: none was given.
    pub fn of_live(result: Option<Live>) -> Option<Outcome> {
        Some(match result? {
            Live::Completed(completed) => Outcome::Completed(completed.opt_result().map(View::to_owned)),
            Live::Failed(failure) => Outcome::Failed(failure.to_owned()),
            Live::Cancelled(failure) => Outcome::Cancelled(failure.to_owned()),
        })
    }

    pub fn of_marker(marker: View<MarkerRecordedEventAttributes>) -> Result<Outcome> {
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

    pub fn is_success(&self) -> bool {
        matches!(self, Outcome::Completed(_))
    }

    fn failure(&self) -> Option<View<'_, Failure>> {
        match self {
            Outcome::Completed(_) => None,
            Outcome::Failed(failure) | Outcome::Cancelled(failure) => Some(failure.view()),
        }
    }
}

/// A marker that could be read, or is to be written.
#[derive(Clone, Debug)]
pub struct Marker {
    pub data: Data,
    pub outcome: Outcome,
}

impl Marker {
    pub fn read(recorded: View<MarkerRecordedEventAttributes>, at: EventRef) -> Result<Marker> {
        let data = Data::read(recorded, at)?;
        let outcome = Outcome::of_marker(recorded).at_event(at)?;
        Ok(Marker { data, outcome })
    }

    /// The resolution that workflow code receives: the same live and on replay.
    pub fn resolution(&self) -> Encoded<ResolveActivity> {
        let Marker { data, outcome } = self;
        build(|w: Put<ResolveActivity>| {
            let w = w.seq(data.seq).is_local(true);
            if let Some(backoff_ms) = data.backoff_ms {
                return w.backoff(|w: Put<DoBackoff>| {
                    w.attempt(data.attempt.saturating_add(1))
                        .backoff_ms(backoff_ms)
                        .original_schedule_time_ms(data.original_schedule_ms.unwrap_or(0.0))
                });
            }
            match outcome {
                Outcome::Completed(result) => w.completed(|w| w.copy_result(result.as_ref().map(Encoded::view))),
                Outcome::Failed(failure) => w.failed(wrapped(failure, data).view()),
                Outcome::Cancelled(failure) => w.cancelled(wrapped(failure, data).view()),
            }
        })
    }

    pub fn write<'w>(&self, w: Put<'w, RecordMarkerCommandAttributes>) -> Put<'w, RecordMarkerCommandAttributes> {
        let data = marker::payload(&self.data.json(), None);
        let w = marker::detail(w.marker_name(marker::LOCAL_ACTIVITY), "data", Some(data.view()));
        match &self.outcome {
            Outcome::Completed(Some(result)) => marker::detail(w, "result", Some(result.view())),
            Outcome::Completed(None) => w,
            Outcome::Failed(_) | Outcome::Cancelled(_) => w.copy_failure(self.outcome.failure()),
        }
    }
}

impl Data {
    pub fn read(recorded: View<MarkerRecordedEventAttributes>, at: EventRef) -> Result<Data> {
        let damaged =
            || fatal(codes::BAD_MARKER, format!("{at}: cannot decode `data` of the local activity marker")).at_event(at);
        let data = recorded.details().get("data").and_then(marker::of_payloads).ok_or_else(damaged)?;
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

    /// In the order of Core's fields.
    fn json(&self) -> String {
        let mut out = format!("{{\"seq\":{},\"attempt\":{},\"activity_id\":", self.seq, self.attempt);
        write_text(&mut out, &self.id);
        out.push_str(",\"activity_type\":");
        write_text(&mut out, &self.kind);
        let times = [
            ("complete_time", self.complete_ms),
            ("backoff", self.backoff_ms),
            ("original_schedule_time", self.original_schedule_ms),
        ];
        for (key, time) in times {
            out.push_str(&format!(",\"{key}\":"));
            write_time(&mut out, time);
        }
        if let Some(index) = self.activation_index {
            out.push_str(&format!(",\"activation_index\":{index}"));
        }
        out.push('}');
        out
    }
}

/// A time or duration as {seconds, nanos}.
fn milliseconds(value: &Json) -> Option<f64> {
    let seconds = value.get("seconds").and_then(Json::number)?;
    let nanos = value.get("nanos").and_then(Json::number).unwrap_or(0.0);
    Some(seconds * 1000.0 + nanos / 1e6)
}

/// The inverse, to the microsecond: a double holds no more of a time of our days.
fn write_time(out: &mut String, ms: Option<f64>) {
    let Some(ms) = ms.filter(|ms| ms.is_finite()) else { return out.push_str("null") };
    let seconds = (ms / 1000.0).floor();
    let micros = ((ms - seconds * 1000.0) * 1000.0).floor().clamp(0.0, 999_999.0);
    out.push_str(&format!("{{\"seconds\":{},\"nanos\":{}}}", seconds as i64, micros as i64 * 1000));
}

fn is_cancellation(failure: View<Failure>) -> bool {
    failure.opt_canceled_failure_info().is_some()
}

/// A bare cancellation or timeout is wrapped as that of an activity. Core does so where the activity ran, and not on replay of a
/// timeout; workflow code must see the same both times.
fn wrapped(failed: &Encoded<Failure>, data: &Data) -> Encoded<Failure> {
    let bare = failed.view();
    let (message, retry_state) = if is_cancellation(bare) {
        ("Local Activity cancelled", RetryState::CancelRequested)
    } else if bare.opt_timeout_failure_info().is_some() {
        ("Local Activity timed out", RetryState::Timeout)
    } else {
        return failed.clone();
    };
    let info = build(|w: Put<ActivityFailureInfo>| {
        w.activity_type(|w| w.name(&data.kind)).activity_id(&data.id).retry_state(retry_state)
    });
    failure(message, Some(bare), &info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Message;

    fn data() -> Data {
        Data {
            seq: 7,
            id: "a\"b".into(),
            kind: "kind".into(),
            attempt: 2,
            activation_index: Some(3),
            complete_ms: Some(1_795_200_295_522.0),
            backoff_ms: Some(200.0),
            original_schedule_ms: None,
        }
    }

    #[test]
    fn data_is_cores_json() {
        let text = "{\"seq\":7,\"attempt\":2,\"activity_id\":\"a\\\"b\",\"activity_type\":\"kind\",\
                    \"complete_time\":{\"seconds\":1795200295,\"nanos\":522000000},\
                    \"backoff\":{\"seconds\":0,\"nanos\":200000000},\"original_schedule_time\":null,\"activation_index\":3}";
        assert_eq!(data().json(), text);
    }

    /// The event repeats name and details.
    #[test]
    fn a_written_marker_reads_back() {
        let read = |marker: &Marker| {
            let written = build(|w: Put<RecordMarkerCommandAttributes>| marker.write(w)).into_bytes();
            let recorded: View<MarkerRecordedEventAttributes> = View::of(Message(&written));
            // Name and details have the same numbers in the event; that of `failure` differs.
            (recorded.marker_name().to_string(), recorded.details().get("data").and_then(marker::of_payloads).unwrap())
        };
        let result = marker::payload("\"done\"", None);
        let marker = Marker { data: data(), outcome: Outcome::Completed(Some(result)) };
        let (name, json) = read(&marker);
        assert_eq!(name, "core_local_activity");
        assert_eq!(json.get("seq").and_then(Json::integer), Some(7));
        assert_eq!(json.get("complete_time").and_then(milliseconds), Some(1_795_200_295_522.0));
        assert_eq!(json.get("original_schedule_time"), None);
    }

    #[test]
    fn times_are_cut_to_microseconds() {
        let written = |ms: f64| {
            let mut out = String::new();
            write_time(&mut out, Some(ms));
            out
        };
        assert_eq!(written(0.0), "{\"seconds\":0,\"nanos\":0}");
        assert_eq!(written(1500.25), "{\"seconds\":1,\"nanos\":500250000}");
        assert_eq!(written(f64::NAN), "null");
    }
}
