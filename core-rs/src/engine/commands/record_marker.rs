//! RECORD_MARKER, including markers of transact (docs/dev/semantics/database.md#transact), whose
//! reducers the host runs before anything is written. The engine does not parse such a marker: the
//! host returns the result or failure for its event.
use super::kind::{At, Kind};
use super::plan::{Plan, Reducer};
use super::refusal::{Reject, bad, over};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::codec;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::MarkerAttrs;
use crate::engine::state::run::Run;
use crate::proto::fields::command::RecordMarkerCommandAttributesDetailsEntry as Entry;
use crate::proto::fields::common::Payloads;
use crate::wire::Writer;
use crate::wire::read::Message;

pub const TRANSACT: &str = "Transact";
const RESULT_KEY: &str = "result";
const ARGUMENTS_KEY: &str = "arguments";
const REQUIRED_KEY: &str = "required";

message! {
    Marker: command::RecordMarkerCommandAttributes {
        marker_name str, details raws(PAYLOADS_ENTRY), header fields, failure failure,
    }
}

impl Kind for Marker {
    const CAUSE: Cause = Cause::BadRecordMarkerAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        if self.marker_name.is_empty() {
            return bad(Self::CAUSE, "MarkerName is not set on RecordMarkerCommand.");
        }
        if over(&self.marker_name) {
            return bad(Self::CAUSE, "MarkerName on RecordMarkerCommand exceeds length limit or contains a NUL character.");
        }
        if self.marker_name == TRANSACT {
            match plan.reducers.next(|| codec::bytes(self)) {
                // The host names the reducer and the argument that are too large.
                Reducer::Asked => return Ok(()),
                Reducer::Missing => {
                    return bad(
                        Self::CAUSE,
                        "the marker of a transaction has no result: the host must report one outcome per marker",
                    );
                }
                Reducer::Ended(result) => {
                    plan.awaited |= result.awaited;
                    if !result.result.is_empty() {
                        self.details.push(result_entry(&result.result));
                    }
                    if !result.failure.is_empty() {
                        if self.has_detail(REQUIRED_KEY) {
                            plan.required_failure = Some(result.failure.clone());
                        }
                        // The failure states which argument is too large for the event.
                        if !plan.fits(self.detail_bytes()) {
                            self.details.retain(|entry| key(entry) != ARGUMENTS_KEY);
                        }
                        self.failure = Some(result.failure);
                    }
                }
            }
        }
        plan.size("RecordMarkerCommandAttributes.Details", self.detail_bytes())
    }

    fn apply(self, run: &mut Run, _: &mut Context, at: &At) -> bool {
        let Marker { marker_name, details, header, failure } = self;
        let workflow_task_completed_event_id = at.completed_id;
        at.write(run, &MarkerAttrs { marker_name, details, workflow_task_completed_event_id, header, failure });
        false
    }
}

impl Marker {
    fn detail_bytes(&self) -> usize {
        self.details.iter().map(Vec::len).sum()
    }

    fn has_detail(&self, name: &str) -> bool {
        self.details.iter().any(|entry| key(entry) == name)
    }
}

fn key(entry: &[u8]) -> &str {
    Message(entry).text(Entry::key)
}

fn result_entry(payload: &[u8]) -> Vec<u8> {
    let mut w = Writer::new();
    w.text(Entry::key, RESULT_KEY).nested(Entry::value, |w| {
        w.message(Payloads::payloads, payload);
    });
    w.finish()
}
