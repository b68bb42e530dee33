//! DescribeWorkflowExecution.
use super::state::{Activity, ChildState, Run};
use super::time::{Micros, duration, timestamp, timestamp_opt};
use super::wire::*;
use super::workflow_task::normal_queue;
use crate::api::enums::v1::{PendingActivityState, PendingWorkflowTaskState};

pub fn describe(run: &Run, namespace: &str, now: Micros) -> DescribeResponse {
    let h = &run.head;
    let closed = h.close_us != 0;
    DescribeResponse {
        execution_config: Some(ExecutionConfig {
            task_queue: Some(normal_queue(&h.task_queue)),
            workflow_execution_timeout: Some(duration(h.execution_timeout_us)),
            workflow_run_timeout: Some(duration(h.run_timeout_us)),
            default_workflow_task_timeout: Some(duration(h.task_timeout_us)),
            user_metadata: h.user_metadata.clone(),
        }),
        workflow_execution_info: Some(ExecutionInfo {
            execution: Some(run.execution()),
            r#type: Some(Named { name: h.workflow_type.clone() }),
            start_time: Some(timestamp(h.start_us)),
            close_time: timestamp_opt(h.close_us),
            status: h.status,
            history_length: run.last_event_id(),
            parent_namespace_id: h.parent.as_ref().map(|_| namespace.to_string()).unwrap_or_default(),
            parent_execution: h.parent.clone(),
            execution_time: Some(timestamp(h.execution_time_us)),
            // There even when they are empty: tools read them without a look.
            memo: h.memo.clone().or(Some(Vec::new())),
            search_attributes: h.search_attributes.clone().or(Some(Vec::new())),
            task_queue: h.task_queue.clone(),
            state_transition_count: h.transitions,
            history_size_bytes: h.history_bytes,
            most_recent_worker_version_stamp: h.worker_version.clone(),
            execution_duration: closed.then(|| duration((h.close_us - h.execution_time_us).max(0))),
            root_execution: Some(run.root()),
            first_run_id: h.first_run_id.clone(),
        }),
        pending_activities: run.activities.values().map(|a| pending_activity(a, now)).collect(),
        pending_children: run.children.values().map(pending_child).collect(),
        pending_workflow_task: h.task.as_ref().map(|t| PendingTask {
            state: if t.started_id != 0 { PendingWorkflowTaskState::Started } else { PendingWorkflowTaskState::Scheduled } as i32,
            scheduled_time: timestamp_opt(t.scheduled_us),
            original_scheduled_time: timestamp_opt(t.original_scheduled_us),
            started_time: timestamp_opt(t.started_us),
            attempt: t.attempt,
        }),
        workflow_extended_info: Some(ExtendedInfo {
            execution_expiration_time: timestamp_opt(h.execution_deadline_us),
            run_expiration_time: timestamp_opt(h.run_deadline_us),
            cancel_requested: h.cancel_requested,
            original_start_time: Some(timestamp(h.first_start_us)),
        }),
    }
}

fn pending_child(c: &ChildState) -> PendingChild {
    PendingChild {
        workflow_id: c.workflow_id.clone(),
        run_id: c.run_id.clone(),
        workflow_type_name: c.workflow_type.clone(),
        initiated_id: c.initiated_id,
        parent_close_policy: c.parent_close_policy,
    }
}

fn pending_activity(a: &Activity, now: Micros) -> PendingActivity {
    let s = &a.state;
    let state = match (a.started(), s.cancel_requested_id) {
        (_, c) if c != 0 => PendingActivityState::CancelRequested,
        (true, _) => PendingActivityState::Started,
        (false, _) => PendingActivityState::Scheduled,
    };
    let backing_off = !a.started() && s.scheduled_us > now;
    PendingActivity {
        activity_id: a.attrs.activity_id.clone(),
        activity_type: a.attrs.activity_type.clone(),
        state: state as i32,
        heartbeat_details: s.heartbeat_details.clone(),
        last_heartbeat_time: timestamp_opt(s.heartbeat_us),
        last_started_time: timestamp_opt(s.started_us),
        attempt: s.attempt,
        maximum_attempts: a.attrs.retry_policy.as_ref().map_or(0, |p| p.maximum_attempts),
        scheduled_time: timestamp_opt(s.scheduled_us),
        expiration_time: timestamp_opt(s.expiration_us),
        last_failure: s.last_failure.clone(),
        last_worker_identity: s.identity.clone(),
        current_retry_interval: (s.last_interval_us > 0).then(|| duration(s.last_interval_us)),
        last_attempt_complete_time: timestamp_opt(s.last_complete_us),
        next_attempt_schedule_time: if backing_off { timestamp_opt(s.scheduled_us) } else { None },
        priority: a.attrs.priority.clone(),
        activity_options: Some(ActivityOptions {
            task_queue: a.attrs.task_queue.clone(),
            schedule_to_close_timeout: a.attrs.schedule_to_close_timeout,
            schedule_to_start_timeout: a.attrs.schedule_to_start_timeout,
            start_to_close_timeout: a.attrs.start_to_close_timeout,
            heartbeat_timeout: a.attrs.heartbeat_timeout,
            retry_policy: a.attrs.retry_policy.clone(),
            priority: a.attrs.priority.clone(),
        }),
    }
}
