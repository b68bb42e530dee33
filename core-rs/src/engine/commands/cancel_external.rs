//! REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION: the event, and the order to request it.
use super::kind::{At, Kind};
use super::plan::{ACROSS, Plan};
use super::refusal::{Reject, bad, over};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::messages::common::WorkflowExecution;
use crate::engine::messages::events::CancelInitiatedAttrs;
use crate::engine::messages::orders::{CancelExternal, Outgoing, what};
use crate::engine::state::run::Run;

const COMMAND: &str = "RequestCancelExternalWorkflowExecutionCommand";

impl Kind for CancelExternal {
    const CAUSE: Cause = Cause::BadRequestCancelExternalWorkflowExecutionAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        if plan.foreign(&self.namespace) {
            return bad(Self::CAUSE, ACROSS);
        }
        let CancelExternal { namespace, workflow_id, run_id, .. } = &*self;
        if workflow_id.is_empty() {
            return bad(Self::CAUSE, format!("WorkflowId is not set on {COMMAND}. Namespace={namespace} RunId={run_id}"));
        }
        if over(workflow_id) {
            return bad(Self::CAUSE, format!("WorkflowId on {COMMAND} exceeds length limit or contains a NUL character."));
        }
        let about = format!("WorkflowId={workflow_id} RunId={run_id} Namespace={namespace}");
        if !run_id.is_empty() && !limits::is_run_id(run_id) {
            return bad(Self::CAUSE, format!("Invalid RunId set on {COMMAND}. {about}"));
        }
        if plan.started_children.contains(workflow_id) {
            let text = format!("Start and RequestCancel for child workflow is not allowed in same workflow task. {about}");
            return bad(Self::CAUSE, text);
        }
        plan.size("RequestCancelExternalWorkflowExecutionCommandAttributes.Reason", self.reason.len())?;
        plan.cancels += 1;
        if plan.run.orders_of(what::CANCEL) + plan.cancels > limits::PENDING_EXTERNALS {
            let text = format!(
                "the number of pending requests to cancel external workflows has reached the per-workflow limit of {}",
                limits::PENDING_EXTERNALS
            );
            return bad(Cause::PendingRequestCancelLimitExceeded, text);
        }
        Ok(())
    }

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let execution = WorkflowExecution { workflow_id: self.workflow_id.clone(), run_id: self.run_id.clone() };
        let attrs = CancelInitiatedAttrs {
            workflow_task_completed_event_id: at.completed_id,
            namespace: cx.namespace.clone(),
            workflow_execution: Some(execution.clone()),
            control: self.control.clone(),
            child_workflow_only: self.child_workflow_only,
            reason: self.reason.clone(),
            namespace_id: cx.namespace.clone(),
        };
        let initiated_id = at.write(run, &attrs);
        let WorkflowExecution { workflow_id, run_id } = execution;
        run.order(Outgoing { what: what::CANCEL, workflow_id, run_id, initiated_id, cancel: Some(self), ..Default::default() });
        false
    }
}
