//! Checks of the commands that reach beyond their run: children, signals and cancel requests to others. Causes and words are a server's.
use super::limits;
use super::outgoing::what;
use super::plan::{Planner, Reject, bad, check_retry_policy, over, retry_defaults};
use super::start;
use super::time::{duration, micros};
use super::wire::*;
use super::workflow_task::normal_queue;
use crate::api::enums::v1::{ParentClosePolicy, WorkflowIdReusePolicy, WorkflowTaskFailedCause as Cause};

/// The form of the ids that runs have here and on a server.
fn is_run_id(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(i, b)| if matches!(i, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() })
}

const ACROSS: &str = "cross namespace commands are not allowed";

impl Planner<'_> {
    fn foreign(&self, namespace: &str) -> bool {
        !namespace.is_empty() && namespace != self.namespace
    }

    pub(super) fn start_child(&mut self, c: &mut Command) -> Result<(), Reject> {
        const CAUSE: Cause = Cause::BadStartChildExecutionAttributes;
        const COMMAND: &str = "StartChildWorkflowExecutionCommand";
        let Some(a) = &mut c.start_child else {
            return bad(CAUSE, format!("StartChildWorkflowExecutionCommandAttributes is not set on {COMMAND}."));
        };
        if self.foreign(&a.namespace) {
            return bad(CAUSE, ACROSS);
        }
        a.namespace = self.namespace.into();
        let name = a.workflow_type.as_ref().map_or("", |t| &t.name).to_string();
        let (id, ns) = (a.workflow_id.clone(), &a.namespace);
        let about = format!("WorkflowId={id} WorkflowType={name} Namespace={ns}");
        if id.is_empty() {
            return bad(CAUSE, format!("Required field WorkflowId is not set on {COMMAND}. WorkflowType={name} Namespace={ns}"));
        }
        if name.is_empty() {
            return bad(CAUSE, format!("Required field WorkflowType is not set on {COMMAND}. WorkflowId={id} Namespace={ns}"));
        }
        for (what, value) in [("WorkflowId", &id), ("WorkflowType", &name)] {
            if let Some(why) = limits::bad_id(value) {
                let why = why.trim_start_matches("length ");
                return bad(CAUSE, format!("{what} on {COMMAND} {why} Length={} Limit={}", value.len(), limits::ID_BYTES));
            }
        }
        let mut times = [0; 3];
        let given = [
            ("WorkflowExecutionTimeout", &a.workflow_execution_timeout),
            ("WorkflowRunTimeout", &a.workflow_run_timeout),
            ("WorkflowTaskTimeout", &a.workflow_task_timeout),
        ];
        for (time, (what, d)) in times.iter_mut().zip(given) {
            match micros(d) {
                Ok(t) => *time = t,
                Err(why) => return bad(CAUSE, format!("Invalid {what} on {COMMAND}: {why}. {about}")),
            }
        }
        if let Some(policy) = &mut a.retry_policy {
            retry_defaults(policy);
            if let Err(why) = check_retry_policy(policy) {
                return bad(CAUSE, format!("invalid WorkflowRetryPolicy on {COMMAND}: {why}. {about}"));
            }
        }
        if !a.cron_schedule.is_empty() {
            return bad(CAUSE, format!("invalid CronSchedule on {COMMAND}: this engine has no cron schedules. {about}"));
        }
        let queue = a.task_queue.as_ref().map_or("", |q| &q.name);
        let queue = if queue.is_empty() { self.run.head.task_queue.clone() } else { queue.to_string() };
        if over(&queue) {
            let why = "taskQueue length exceeds limit or contains a NUL character";
            return bad(CAUSE, format!("invalid TaskQueue on {COMMAND}: {why}. {about}"));
        }
        a.task_queue = Some(normal_queue(&queue));
        let [execution, mut run, task] = times;
        if execution > 0 && (run == 0 || run > execution) {
            run = execution;
        }
        a.workflow_run_timeout = Some(duration(run));
        a.workflow_task_timeout = Some(duration(start::task_timeout(task, run)));
        if a.parent_close_policy == ParentClosePolicy::Unspecified as i32 {
            a.parent_close_policy = ParentClosePolicy::Terminate as i32;
        }
        if a.workflow_id_reuse_policy == WorkflowIdReusePolicy::Unspecified as i32 {
            a.workflow_id_reuse_policy = WorkflowIdReusePolicy::AllowDuplicate as i32;
        }
        let sizes = [("Input", &a.input), ("Header", &a.header), ("Memo", &a.memo), ("SearchAttributes", &a.search_attributes)];
        let sizes = sizes.map(|(what, value)| (what, value.as_ref().map_or(0, Vec::len)));
        for (what, size) in sizes {
            self.size(&format!("StartChildWorkflowExecutionCommandAttributes.{what}"), size)?;
        }
        if self.run.children.len() + self.started_children.len() >= limits::PENDING_CHILDREN {
            return bad(
                Cause::PendingChildWorkflowsLimitExceeded,
                format!(
                    "the number of pending child workflow executions, {}, has reached the per-workflow limit of {}",
                    self.run.children.len() + self.started_children.len(),
                    limits::PENDING_CHILDREN
                ),
            );
        }
        self.started_children.push(id);
        Ok(())
    }

    pub(super) fn signal_external(&mut self, c: &Command) -> Result<(), Reject> {
        const CAUSE: Cause = Cause::BadSignalWorkflowExecutionAttributes;
        const COMMAND: &str = "SignalExternalWorkflowExecutionCommand";
        let Some(a) = &c.signal_external else {
            return bad(CAUSE, format!("SignalExternalWorkflowExecutionCommandAttributes is not set on {COMMAND}."));
        };
        let Some(WorkflowExecution { workflow_id, run_id }) = &a.execution else {
            return bad(CAUSE, format!("Execution is not set on {COMMAND}."));
        };
        if self.foreign(&a.namespace) {
            return bad(CAUSE, ACROSS);
        }
        let (ns, name) = (&a.namespace, &a.signal_name);
        if workflow_id.is_empty() {
            return bad(CAUSE, format!("WorkflowId is not set on {COMMAND}. Namespace={ns} RunId={run_id} SignalName={name}"));
        }
        if over(workflow_id) || over(name) {
            return bad(
                CAUSE,
                format!("WorkflowId or SignalName on {COMMAND} exceeds length limit or contains a NUL character."),
            );
        }
        let about = format!("WorkflowId={workflow_id} Namespace={ns} RunId={run_id}");
        if !run_id.is_empty() && !is_run_id(run_id) {
            return bad(CAUSE, format!("Invalid RunId set on {COMMAND}. {about} SignalName={name}"));
        }
        if name.is_empty() {
            return bad(CAUSE, format!("SignalName is not set on {COMMAND}. {about}"));
        }
        self.payloads("SignalExternalWorkflowExecutionCommandAttributes.Input", &a.input)?;
        self.payloads("SignalExternalWorkflowExecutionCommandAttributes.Header", &a.header)?;
        self.signals += 1;
        if self.run.orders_of(what::SIGNAL) + self.signals > limits::PENDING_EXTERNALS {
            let text = format!(
                "the number of pending signals to external workflows has reached the per-workflow limit of {}",
                limits::PENDING_EXTERNALS
            );
            return bad(Cause::PendingSignalsLimitExceeded, text);
        }
        Ok(())
    }

    pub(super) fn cancel_external(&mut self, c: &Command) -> Result<(), Reject> {
        const CAUSE: Cause = Cause::BadRequestCancelExternalWorkflowExecutionAttributes;
        const COMMAND: &str = "RequestCancelExternalWorkflowExecutionCommand";
        let Some(a) = &c.cancel_external else {
            return bad(CAUSE, format!("RequestCancelExternalWorkflowExecutionCommandAttributes is not set on {COMMAND}."));
        };
        if self.foreign(&a.namespace) {
            return bad(CAUSE, ACROSS);
        }
        let CancelExternal { namespace, workflow_id, run_id, .. } = a;
        if workflow_id.is_empty() {
            return bad(CAUSE, format!("WorkflowId is not set on {COMMAND}. Namespace={namespace} RunId={run_id}"));
        }
        if over(workflow_id) {
            return bad(CAUSE, format!("WorkflowId on {COMMAND} exceeds length limit or contains a NUL character."));
        }
        let about = format!("WorkflowId={workflow_id} RunId={run_id} Namespace={namespace}");
        if !run_id.is_empty() && !is_run_id(run_id) {
            return bad(CAUSE, format!("Invalid RunId set on {COMMAND}. {about}"));
        }
        if self.started_children.contains(workflow_id) {
            let text = format!("Start and RequestCancel for child workflow is not allowed in same workflow task. {about}");
            return bad(CAUSE, text);
        }
        self.size("RequestCancelExternalWorkflowExecutionCommandAttributes.Reason", a.reason.len())?;
        self.cancels += 1;
        if self.run.orders_of(what::CANCEL) + self.cancels > limits::PENDING_EXTERNALS {
            let text = format!(
                "the number of pending requests to cancel external workflows has reached the per-workflow limit of {}",
                limits::PENDING_EXTERNALS
            );
            return bad(Cause::PendingRequestCancelLimitExceeded, text);
        }
        Ok(())
    }
}
