//! START_CHILD_WORKFLOW_EXECUTION: the event, the pending child, and the order to start it.
use super::kind::{At, Kind};
use super::plan::{ACROSS, Plan};
use super::refusal::{Reject, bad, bad_queue};
use crate::api::enums::v1::{ParentClosePolicy, WorkflowIdReusePolicy, WorkflowTaskFailedCause as Cause};
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::messages::common::normal_queue;
use crate::engine::messages::events::ChildInitiatedAttrs;
use crate::engine::messages::orders::{Outgoing, StartChild, what};
use crate::engine::new_run::task_timeout;
use crate::engine::retry;
use crate::engine::search_attributes;
use crate::engine::state::pending::ChildState;
use crate::engine::state::run::{Run, kind};
use crate::engine::time::{duration, micros};

const COMMAND: &str = "StartChildWorkflowExecutionCommand";

impl Kind for StartChild {
    const CAUSE: Cause = Cause::BadStartChildExecutionAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        if plan.foreign(&self.namespace) {
            return bad(Self::CAUSE, ACROSS);
        }
        self.namespace = plan.namespace.into();
        let name = self.workflow_type.as_ref().map_or("", |t| &t.name).to_string();
        let (id, ns) = (self.workflow_id.clone(), &self.namespace);
        let about = format!("WorkflowId={id} WorkflowType={name} Namespace={ns}");
        if id.is_empty() {
            return bad(
                Self::CAUSE,
                format!("Required field WorkflowId is not set on {COMMAND}. WorkflowType={name} Namespace={ns}"),
            );
        }
        if name.is_empty() {
            return bad(
                Self::CAUSE,
                format!("Required field WorkflowType is not set on {COMMAND}. WorkflowId={id} Namespace={ns}"),
            );
        }
        for (what, value) in [("WorkflowId", &id), ("WorkflowType", &name)] {
            if let Some(why) = limits::bad_id(value) {
                let why = why.trim_start_matches("length ");
                return bad(Self::CAUSE, format!("{what} on {COMMAND} {why} Length={} Limit={}", value.len(), limits::ID_BYTES));
            }
        }
        let mut times = [0; 3];
        let given = [
            ("WorkflowExecutionTimeout", &self.workflow_execution_timeout),
            ("WorkflowRunTimeout", &self.workflow_run_timeout),
            ("WorkflowTaskTimeout", &self.workflow_task_timeout),
        ];
        for (time, (what, d)) in times.iter_mut().zip(given) {
            match micros(d) {
                Ok(t) => *time = t,
                Err(why) => return bad(Self::CAUSE, format!("Invalid {what} on {COMMAND}: {why}. {about}")),
            }
        }
        if let Some(policy) = &mut self.retry_policy {
            retry::fill_defaults(policy);
            if let Err(why) = retry::check(policy) {
                return bad(Self::CAUSE, format!("invalid WorkflowRetryPolicy on {COMMAND}: {why}. {about}"));
            }
        }
        if let Err(why) = plan.crons.delay(&self.cron_schedule) {
            return bad(Self::CAUSE, format!("invalid CronSchedule on {COMMAND}: {why}. {about}"));
        }
        let queue = self.task_queue.as_ref().map_or("", |q| &q.name);
        let queue = if queue.is_empty() { plan.run.head.task_queue.clone() } else { queue.to_string() };
        if let Some(why) = bad_queue(&queue) {
            return bad(Self::CAUSE, format!("invalid TaskQueue on {COMMAND}: {why}. {about}"));
        }
        if let Some(why) = limits::bad_priority(self.priority.as_deref()) {
            return bad(Self::CAUSE, format!("invalid Priority on {COMMAND}: {why}. {about}"));
        }
        if let Err(why) = search_attributes::check(self.search_attributes.as_deref(), plan.attributes) {
            return bad(Cause::BadSearchAttributes, why);
        }
        self.task_queue = Some(normal_queue(&queue));
        let [execution, mut run, task] = times;
        if execution > 0 && (run == 0 || run > execution) {
            run = execution;
        }
        self.workflow_run_timeout = Some(duration(run));
        self.workflow_task_timeout = Some(duration(task_timeout(task, run)));
        if self.parent_close_policy == ParentClosePolicy::Unspecified as i32 {
            self.parent_close_policy = ParentClosePolicy::Terminate as i32;
        }
        if self.workflow_id_reuse_policy == WorkflowIdReusePolicy::Unspecified as i32 {
            self.workflow_id_reuse_policy = WorkflowIdReusePolicy::AllowDuplicate as i32;
        }
        let sizes = [("Input", &self.input), ("Memo", &self.memo), ("SearchAttributes", &self.search_attributes)];
        let sizes = sizes.map(|(what, value)| (what, value.as_ref().map_or(0, Vec::len)));
        for (what, size) in sizes {
            plan.size(&format!("StartChildWorkflowExecutionCommandAttributes.{what}"), size)?;
        }
        plan.header("StartChildWorkflowExecutionCommandAttributes.Header", &self.header)?;
        if plan.run.children.len() + plan.started_children.len() >= limits::PENDING_CHILDREN {
            return bad(
                Cause::PendingChildWorkflowsLimitExceeded,
                format!(
                    "the number of pending child workflow executions, {}, has reached the per-workflow limit of {}",
                    plan.run.children.len() + plan.started_children.len(),
                    limits::PENDING_CHILDREN
                ),
            );
        }
        plan.started_children.push(id);
        Ok(())
    }

    fn apply(mut self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        self.search_attributes = search_attributes::typed(self.search_attributes.take(), None, cx.attributes.as_ref());
        self.namespace.clone_from(&cx.namespace);
        let attrs = ChildInitiatedAttrs {
            namespace: self.namespace.clone(),
            workflow_id: self.workflow_id.clone(),
            workflow_type: self.workflow_type.clone(),
            task_queue: self.task_queue.clone(),
            input: self.input.clone(),
            workflow_execution_timeout: self.workflow_execution_timeout,
            workflow_run_timeout: self.workflow_run_timeout,
            workflow_task_timeout: self.workflow_task_timeout,
            parent_close_policy: self.parent_close_policy,
            control: self.control.clone(),
            workflow_task_completed_event_id: at.completed_id,
            workflow_id_reuse_policy: self.workflow_id_reuse_policy,
            retry_policy: self.retry_policy.clone(),
            cron_schedule: self.cron_schedule.clone(),
            header: self.header.clone(),
            memo: self.memo.clone(),
            search_attributes: self.search_attributes.clone(),
            namespace_id: cx.namespace.clone(),
            inherit_build_id: self.inherit_build_id,
            priority: self.priority.clone(),
        };
        let initiated_id = at.write(run, &attrs);
        let child = ChildState {
            initiated_id,
            workflow_id: self.workflow_id.clone(),
            workflow_type: self.workflow_type.as_ref().map(|t| t.name.clone()).unwrap_or_default(),
            parent_close_policy: self.parent_close_policy,
            ..Default::default()
        };
        run.mark(kind::CHILD, initiated_id.to_string());
        run.children.insert(initiated_id, child);
        let order = Outgoing {
            what: what::START,
            workflow_id: self.workflow_id.clone(),
            initiated_id,
            request_id: cx.rng.uuid4(),
            user_metadata: at.extras.user_metadata.clone(),
            start: Some(self),
            ..Default::default()
        };
        run.order(order);
        false
    }
}
