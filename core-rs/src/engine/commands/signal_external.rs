//! SIGNAL_EXTERNAL_WORKFLOW_EXECUTION: the event, and the order to signal.
use super::kind::{At, Kind};
use super::plan::{ACROSS, Plan};
use super::refusal::{Reject, bad, over};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::messages::common::WorkflowExecution;
use crate::engine::messages::events::SignalInitiatedAttrs;
use crate::engine::messages::orders::{Outgoing, SignalExternal, what};
use crate::engine::state::run::Run;

const COMMAND: &str = "SignalExternalWorkflowExecutionCommand";

impl Kind for SignalExternal {
    const CAUSE: Cause = Cause::BadSignalWorkflowExecutionAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        let Some(WorkflowExecution { workflow_id, run_id }) = &self.execution else {
            return bad(Self::CAUSE, format!("Execution is not set on {COMMAND}."));
        };
        if plan.foreign(&self.namespace) {
            return bad(Self::CAUSE, ACROSS);
        }
        let (ns, name) = (&self.namespace, &self.signal_name);
        if workflow_id.is_empty() {
            return bad(
                Self::CAUSE,
                format!("WorkflowId is not set on {COMMAND}. Namespace={ns} RunId={run_id} SignalName={name}"),
            );
        }
        if over(workflow_id) || over(name) {
            return bad(
                Self::CAUSE,
                format!("WorkflowId or SignalName on {COMMAND} exceeds length limit or contains a NUL character."),
            );
        }
        let about = format!("WorkflowId={workflow_id} Namespace={ns} RunId={run_id}");
        if !run_id.is_empty() && !limits::is_run_id(run_id) {
            return bad(Self::CAUSE, format!("Invalid RunId set on {COMMAND}. {about} SignalName={name}"));
        }
        if name.is_empty() {
            return bad(Self::CAUSE, format!("SignalName is not set on {COMMAND}. {about}"));
        }
        plan.payloads("SignalExternalWorkflowExecutionCommandAttributes.Input", &self.input)?;
        plan.header("SignalExternalWorkflowExecutionCommandAttributes.Header", &self.header)?;
        plan.signals += 1;
        if plan.run.orders_of(what::SIGNAL) + plan.signals > limits::PENDING_EXTERNALS {
            let text = format!(
                "the number of pending signals to external workflows has reached the per-workflow limit of {}",
                limits::PENDING_EXTERNALS
            );
            return bad(Cause::PendingSignalsLimitExceeded, text);
        }
        Ok(())
    }

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let attrs = SignalInitiatedAttrs {
            workflow_task_completed_event_id: at.completed_id,
            namespace: cx.namespace.clone(),
            workflow_execution: self.execution.clone(),
            signal_name: self.signal_name.clone(),
            input: self.input.clone(),
            control: self.control.clone(),
            child_workflow_only: self.child_workflow_only,
            header: self.header.clone(),
            namespace_id: cx.namespace.clone(),
        };
        let initiated_id = at.write(run, &attrs);
        let WorkflowExecution { workflow_id, run_id } = self.execution.clone().unwrap_or_default();
        run.order(Outgoing { what: what::SIGNAL, workflow_id, run_id, initiated_id, signal: Some(self), ..Default::default() });
        false
    }
}
