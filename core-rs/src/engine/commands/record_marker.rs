//! RECORD_MARKER.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad, over};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::MarkerAttrs;
use crate::engine::state::run::Run;

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
        plan.size("RecordMarkerCommandAttributes.Details", self.details.iter().map(Vec::len).sum())
    }

    fn apply(self, run: &mut Run, _: &mut Context, at: &At) -> bool {
        let Marker { marker_name, details, header, failure } = self;
        let workflow_task_completed_event_id = at.completed_id;
        at.write(run, &MarkerAttrs { marker_name, details, workflow_task_completed_event_id, header, failure });
        false
    }
}
