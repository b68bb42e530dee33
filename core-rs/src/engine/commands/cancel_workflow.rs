//! CANCEL_WORKFLOW_EXECUTION: the run ends as cancelled.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::Reject;
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::children::End;
use crate::engine::close;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::CanceledAttrs;
use crate::engine::state::run::Run;

message! {
    Cancel: command::CancelWorkflowExecutionCommandAttributes { details payloads, }
}

impl Kind for Cancel {
    const CAUSE: Cause = Cause::BadCancelWorkflowExecutionAttributes;
    const CLOSES: bool = true;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        plan.payloads("CancelWorkflowExecutionCommandAttributes.Details", &self.details)
    }

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let attrs = CanceledAttrs { workflow_task_completed_event_id: at.completed_id, details: self.details };
        at.write(run, &attrs);
        close::closed(run, cx, close::Closed::Canceled, End { payloads: attrs.details, ..End::default() });
        false
    }
}
