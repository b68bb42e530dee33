//! FAIL_WORKFLOW_EXECUTION: the run ends, or is followed by another by its retry policy or cron schedule.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::children::End;
use crate::engine::close::{self, Next};
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::FailedAttrs;
use crate::engine::state::run::Run;

message! {
    Fail: command::FailWorkflowExecutionCommandAttributes { failure failure, }
}

impl Kind for Fail {
    const CAUSE: Cause = Cause::BadFailWorkflowExecutionAttributes;
    const CLOSES: bool = true;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        if self.failure.is_none() {
            return bad(Self::CAUSE, "Failure is not set on FailWorkflowExecutionCommand.");
        }
        plan.payloads("FailWorkflowExecutionCommandAttributes.Failure", &self.failure)
    }

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let failure = self.failure;
        let (next, retry_state) = close::retry(run, cx, failure.as_deref());
        let next = match next {
            // As on servers, a retry after a failure has no last result.
            Some(next) => Some(Next { result: Some(None), ..next }),
            None => close::cron(run, cx, failure.as_deref()),
        };
        let new_execution_run_id = next.as_ref().map(|n| n.run_id.clone()).unwrap_or_default();
        let retry_state = retry_state as i32;
        let attrs = FailedAttrs { failure, retry_state, workflow_task_completed_event_id: at.completed_id, new_execution_run_id };
        at.write(run, &attrs);
        let end = End { failure: attrs.failure, retry_state, ..End::default() };
        close::closed_with(run, cx, close::Closed::Failed, next, end);
        false
    }
}
