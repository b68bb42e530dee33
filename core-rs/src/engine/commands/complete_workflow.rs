//! COMPLETE_WORKFLOW_EXECUTION: the run ends, or is followed by another by its cron schedule.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::Reject;
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::children::End;
use crate::engine::close::{self, Next};
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::CompletedAttrs;
use crate::engine::state::run::Run;

message! {
    Complete: command::CompleteWorkflowExecutionCommandAttributes { result payloads, }
}

impl Kind for Complete {
    const CAUSE: Cause = Cause::BadCompleteWorkflowExecutionAttributes;
    const CLOSES: bool = true;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        plan.payloads("CompleteWorkflowExecutionCommandAttributes.Result", &self.result)
    }

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let next = close::cron(run, cx, None).map(|next| Next { result: Some(self.result.clone()), ..next });
        let attrs = CompletedAttrs {
            result: self.result,
            workflow_task_completed_event_id: at.completed_id,
            new_execution_run_id: next.as_ref().map(|n| n.run_id.clone()).unwrap_or_default(),
        };
        at.write(run, &attrs);
        close::closed_with(run, cx, close::Closed::Completed, next, End { payloads: attrs.result, ..End::default() });
        false
    }
}
