//! START_CHILD_WORKFLOW_EXECUTION: the event, the pending child, and the order to start it.
use super::kind::{At, Kind};
use super::plan::{ACROSS, Plan};
use super::refusal::{Reject, bad, over};
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
use crate::engine::state::run::Run;
use crate::engine::state::run::kind;
use crate::engine::time::{duration, micros};

const COMMAND: &str = "StartChildWorkflowExecutionCommand";

impl Kind for StartChild {
    const CAUSE: Cause = Cause::BadStartChildExecutionAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        let a = self;
        if plan.foreign(&a.namespace) {
            return bad(Self::CAUSE, ACROSS);
        }
        a.namespace = plan.namespace.into();
        let name = a.workflow_type.as_ref().map_or("", |t| &t.name).to_string();
        let (id, ns) = (a.workflow_id.clone(), &a.namespace);
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
            ("WorkflowExecutionTimeout", &a.workflow_execution_timeout),
            ("WorkflowRunTimeout", &a.workflow_run_timeout),
            ("WorkflowTaskTimeout", &a.workflow_task_timeout),
        ];
        for (time, (what, d)) in times.iter_mut().zip(given) {
            match micros(d) {
                Ok(t) => *time = t,
                Err(why) => return bad(Self::CAUSE, format!("Invalid {what} on {COMMAND}: {why}. {about}")),
            }
        }
        if let Some(policy) = &mut a.retry_policy {
            retry::fill_defaults(policy);
            if let Err(why) = retry::check(policy) {
                return bad(Self::CAUSE, format!("invalid WorkflowRetryPolicy on {COMMAND}: {why}. {about}"));
            }
        }
        if !a.cron_schedule.is_empty() {
            return bad(Self::CAUSE, format!("invalid CronSchedule on {COMMAND}: this engine has no cron schedules. {about}"));
        }
        let queue = a.task_queue.as_ref().map_or("", |q| &q.name);
        let queue = if queue.is_empty() { plan.run.head.task_queue.clone() } else { queue.to_string() };
        if over(&queue) {
            let why = "taskQueue length exceeds limit or contains a NUL character";
            return bad(Self::CAUSE, format!("invalid TaskQueue on {COMMAND}: {why}. {about}"));
        }
        a.task_queue = Some(normal_queue(&queue));
        let [execution, mut run, task] = times;
        if execution > 0 && (run == 0 || run > execution) {
            run = execution;
        }
        a.workflow_run_timeout = Some(duration(run));
        a.workflow_task_timeout = Some(duration(task_timeout(task, run)));
        if a.parent_close_policy == ParentClosePolicy::Unspecified as i32 {
            a.parent_close_policy = ParentClosePolicy::Terminate as i32;
        }
        if a.workflow_id_reuse_policy == WorkflowIdReusePolicy::Unspecified as i32 {
            a.workflow_id_reuse_policy = WorkflowIdReusePolicy::AllowDuplicate as i32;
        }
        let sizes = [("Input", &a.input), ("Header", &a.header), ("Memo", &a.memo), ("SearchAttributes", &a.search_attributes)];
        let sizes = sizes.map(|(what, value)| (what, value.as_ref().map_or(0, Vec::len)));
        for (what, size) in sizes {
            plan.size(&format!("StartChildWorkflowExecutionCommandAttributes.{what}"), size)?;
        }
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

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let mut c = self;
        c.search_attributes = search_attributes::typed(c.search_attributes.take(), None);
        c.namespace.clone_from(&cx.namespace);
        let attrs = ChildInitiatedAttrs {
            namespace: c.namespace.clone(),
            workflow_id: c.workflow_id.clone(),
            workflow_type: c.workflow_type.clone(),
            task_queue: c.task_queue.clone(),
            input: c.input.clone(),
            workflow_execution_timeout: c.workflow_execution_timeout,
            workflow_run_timeout: c.workflow_run_timeout,
            workflow_task_timeout: c.workflow_task_timeout,
            parent_close_policy: c.parent_close_policy,
            control: c.control.clone(),
            workflow_task_completed_event_id: at.completed_id,
            workflow_id_reuse_policy: c.workflow_id_reuse_policy,
            retry_policy: c.retry_policy.clone(),
            cron_schedule: c.cron_schedule.clone(),
            header: c.header.clone(),
            memo: c.memo.clone(),
            search_attributes: c.search_attributes.clone(),
            namespace_id: cx.namespace.clone(),
            inherit_build_id: c.inherit_build_id,
            priority: c.priority.clone(),
        };
        let initiated_id = at.write(run, &attrs);
        let child = ChildState {
            initiated_id,
            workflow_id: c.workflow_id.clone(),
            workflow_type: c.workflow_type.as_ref().map(|t| t.name.clone()).unwrap_or_default(),
            parent_close_policy: c.parent_close_policy,
            ..Default::default()
        };
        run.mark(kind::CHILD, initiated_id.to_string());
        run.children.insert(initiated_id, child);
        let order = Outgoing {
            what: what::START,
            workflow_id: c.workflow_id.clone(),
            initiated_id,
            request_id: cx.rng.uuid4(),
            user_metadata: at.extras.user_metadata.clone(),
            start: Some(c),
            ..Default::default()
        };
        run.order(order);
        false
    }
}
