//! REQUEST_CANCEL_NEXUS_OPERATION: recorded at once, and sent to the handler when it has started the operation.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::NexusCancelRequestedAttrs;
use crate::engine::nexus;
use crate::engine::state::run::Run;

message! {
    CancelNexus: command::RequestCancelNexusOperationCommandAttributes { scheduled_event_id i64, }
}

impl Kind for CancelNexus {
    const CAUSE: Cause = Cause::BadRequestCancelNexusOperationAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        let id = self.scheduled_event_id;
        let op = plan.run.nexus.get(&id);
        if op.is_none() && !plan.nexus.contains(&id) && !plan.run.buffered_nexus_end(id) {
            let text = "requested cancelation for a non-existing or already completed operation with scheduled event ID of";
            return bad(Self::CAUSE, format!("{text} {id}"));
        }
        if op.is_some_and(|op| op.state.cancellation.is_some()) || !plan.canceled_nexus.insert(id) {
            let text = "cancelation was already requested for an operation with scheduled event ID";
            return bad(Self::CAUSE, format!("{text} {id}"));
        }
        Ok(())
    }

    fn apply(self, run: &mut Run, _: &mut Context, at: &At) -> bool {
        let scheduled_event_id = self.scheduled_event_id;
        let attrs = NexusCancelRequestedAttrs { scheduled_event_id, workflow_task_completed_event_id: at.completed_id };
        let requested_id = at.write(run, &attrs);
        nexus::request_cancel(run, scheduled_event_id, requested_id, at.time);
        false
    }
}
