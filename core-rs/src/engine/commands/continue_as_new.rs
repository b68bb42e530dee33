//! CONTINUE_AS_NEW_WORKFLOW_EXECUTION: the closing event and the new run, linked both ways.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad, bad_queue, over};
use crate::api::enums::v1::{ContinueAsNewInitiator, TaskQueueKind, WorkflowTaskFailedCause as Cause};
use crate::engine::callbacks;
use crate::engine::children::End;
use crate::engine::close::{Closed, closed};
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::{ContinuedAsNewAttrs, StartedAttrs};
use crate::engine::new_run::{self, NewRun, create};
use crate::engine::state::run::Run;
use crate::engine::time::{duration, micros, micros_or_zero, timestamp_opt};
use crate::engine::{retry, search_attributes, versioning};

message! {
    ContinueAsNew: command::ContinueAsNewWorkflowExecutionCommandAttributes {
        workflow_type msg(Named), task_queue msg(TaskQueue), input payloads, workflow_run_timeout dur, workflow_task_timeout dur,
        backoff_start_interval dur, retry_policy msg(RetryPolicy), initiator i32, failure failure,
        last_completion_result payloads, cron_schedule str, header fields, memo fields, search_attributes fields,
        inherit_build_id bool, initial_versioning_behavior i32,
    }
}

impl Kind for ContinueAsNew {
    const CAUSE: Cause = Cause::BadContinueAsNewAttributes;
    const CLOSES: bool = true;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        let head = &plan.run.head;
        let kind = self.workflow_type.get_or_insert_default();
        if kind.name.is_empty() {
            kind.name = head.workflow_type.clone();
        }
        if over(&kind.name) {
            return bad(
                Self::CAUSE,
                "WorkflowType on ContinueAsNewWorkflowExecutionCommand exceeds length limit or contains a NUL character.",
            );
        }
        let queue = self.task_queue.get_or_insert_default();
        if queue.name.is_empty() {
            queue.name = head.task_queue.clone();
        }
        if let Some(why) = bad_queue(&queue.name) {
            return bad(Self::CAUSE, format!("invalid TaskQueue on ContinueAsNewWorkflowExecutionCommand: {why}"));
        }
        queue.kind = TaskQueueKind::Normal as i32;
        queue.normal_name.clear();
        for (name, d) in [
            ("WorkflowRunTimeout", &self.workflow_run_timeout),
            ("WorkflowTaskTimeout", &self.workflow_task_timeout),
            ("BackoffStartInterval", &self.backoff_start_interval),
        ] {
            if let Err(why) = micros(d) {
                return bad(Self::CAUSE, format!("Invalid {name} on ContinueAsNewWorkflowExecutionCommand: {why}."));
            }
        }
        if let Some(policy) = &mut self.retry_policy {
            retry::fill_defaults(policy);
            if let Err(why) = retry::check(policy) {
                return bad(Self::CAUSE, format!("invalid WorkflowRetryPolicy on ContinueAsNewWorkflowExecutionCommand: {why}"));
            }
        }
        plan.payloads("ContinueAsNewWorkflowExecutionCommandAttributes. Input", &self.input)?;
        plan.header("ContinueAsNewWorkflowExecutionCommandAttributes. Header", &self.header)?;
        plan.payloads("ContinueAsNewWorkflowExecutionCommandAttributes. SearchAttributes", &self.search_attributes)?;
        if let Err(why) = search_attributes::check(self.search_attributes.as_deref(), plan.attributes) {
            return bad(Cause::BadSearchAttributes, why);
        }
        if self.memo.as_ref().map_or(0, Vec::len) > limits::MEMO_BYTES {
            return bad(Cause::PayloadsTooLarge, "ContinueAsNewWorkflowExecutionCommandAttributes. Memo exceeds size limit.");
        }
        Ok(())
    }

    fn apply(mut self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let known = run.head.search_attributes.as_deref();
        self.search_attributes = search_attributes::typed(self.search_attributes.take(), known, cx.attributes.as_ref());
        let time = at.time;
        let run_id = cx.rng.uuid4();
        let head = &run.head;
        let namespace_of_parent = if head.parent.is_some() { cx.namespace.clone() } else { String::new() };
        let execution = head.execution_timeout_us;
        let mut run_timeout = micros_or_zero(&self.workflow_run_timeout);
        if run_timeout == 0 {
            run_timeout = head.run_timeout_us;
        }
        if execution > 0 && (run_timeout == 0 || run_timeout > execution) {
            run_timeout = execution;
        }
        let mut task_timeout = micros_or_zero(&self.workflow_task_timeout);
        if task_timeout == 0 {
            task_timeout = head.task_timeout_us;
        }
        let task_timeout = new_run::task_timeout(task_timeout, run_timeout);
        let initiator = if self.initiator == 0 { ContinueAsNewInitiator::Workflow as i32 } else { self.initiator };
        let mut attrs = StartedAttrs {
            workflow_type: self.workflow_type.clone(),
            task_queue: self.task_queue.clone(),
            input: self.input.clone(),
            workflow_execution_timeout: (execution > 0).then(|| duration(execution)),
            workflow_run_timeout: Some(duration(run_timeout)),
            workflow_task_timeout: Some(duration(task_timeout)),
            continued_execution_run_id: head.run_id.clone(),
            initiator,
            continued_failure: self.failure.clone(),
            last_completion_result: self.last_completion_result.clone(),
            original_execution_run_id: run_id.clone(),
            first_execution_run_id: head.first_run_id.clone(),
            retry_policy: self.retry_policy.clone(),
            attempt: 1,
            cron_schedule: self.cron_schedule,
            workflow_execution_expiration_time: timestamp_opt(head.execution_deadline_us),
            first_workflow_task_backoff: self.backoff_start_interval,
            memo: self.memo.clone(),
            search_attributes: self.search_attributes.clone(),
            header: self.header.clone(),
            workflow_id: head.workflow_id.clone(),
            priority: head.priority.clone(),
            parent_workflow_namespace: namespace_of_parent.clone(),
            parent_workflow_namespace_id: namespace_of_parent,
            parent_workflow_execution: head.parent.clone(),
            parent_initiated_event_id: head.parent_initiated_id,
            root_workflow_execution: head.root.clone(),
            completion_callbacks: callbacks::carried(run),
            ..Default::default()
        };
        versioning::inherit(run, cx, &mut attrs, self.initial_versioning_behavior, false);
        let closing = ContinuedAsNewAttrs {
            new_execution_run_id: run_id.clone(),
            workflow_type: self.workflow_type,
            task_queue: self.task_queue,
            input: self.input,
            workflow_run_timeout: Some(duration(run_timeout)),
            workflow_task_timeout: Some(duration(task_timeout)),
            workflow_task_completed_event_id: at.completed_id,
            backoff_start_interval: self.backoff_start_interval,
            initiator: self.initiator,
            failure: self.failure,
            last_completion_result: self.last_completion_result,
            header: self.header,
            memo: self.memo,
            search_attributes: self.search_attributes,
            inherit_build_id: self.inherit_build_id,
            initial_versioning_behavior: self.initial_versioning_behavior,
        };
        let first_start_us = run.head.first_start_us;
        at.write(run, &closing);
        run.head.next_run_id.clone_from(&run_id);
        closed(run, cx, Closed::ContinuedAsNew, End::default());
        let request_id = cx.rng.uuid4();
        create(cx, NewRun { run_id, request_id, attrs, user_metadata: None, links: Vec::new(), first_start_us }, time);
        false
    }
}
