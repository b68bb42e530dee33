//! DescribeWorkflowExecution.
use super::activity_options::{ActivityOptions, options};
use super::describe_nexus;
use super::shared::*;
use crate::api::enums::v1::{EventType, PendingActivityState, PendingWorkflowTaskState};
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::versioning::{Version, Versioning};
use crate::engine::rpc::Rpc;
use crate::engine::state::pending::{Activity, ChildState};
use crate::engine::state::request::Again;
use crate::engine::state::run::{Head, Run, TaskState};
use crate::engine::time::{Micros, duration, timestamp, timestamp_opt};
use crate::engine::workflow_task;

message! {
    DescribeRequest: workflowservice::DescribeWorkflowExecutionRequest { namespace str, execution msg(WorkflowExecution), }
    ExecutionConfig: workflow::WorkflowExecutionConfig {
        task_queue msg(TaskQueue), workflow_execution_timeout dur, workflow_run_timeout dur, default_workflow_task_timeout dur,
        user_metadata meta,
    }
    ExecutionInfo: workflow::WorkflowExecutionInfo {
        execution msg(WorkflowExecution), r#type msg(Named), start_time ts, close_time ts, status i32, history_length i64,
        parent_namespace_id str, parent_execution msg(WorkflowExecution), execution_time ts, memo fields,
        search_attributes fields, auto_reset_points msg(ResetPoints), task_queue str, state_transition_count i64, history_size_bytes i64,
        most_recent_worker_version_stamp msg(WorkerVersionStamp), execution_duration dur, root_execution msg(WorkflowExecution),
        first_run_id str, versioning_info msg(Versioning), worker_deployment_name str,
    }
    ResetPoints: workflow::ResetPoints { points reps(ResetPointInfo), }
    ResetPointInfo: workflow::ResetPointInfo {
        binary_checksum str, run_id str, first_workflow_task_completed_id i64, create_time ts, resettable bool, build_id str,
    }
    ExtendedInfo: workflow::WorkflowExecutionExtendedInfo {
        execution_expiration_time ts, run_expiration_time ts, cancel_requested bool, last_reset_time ts, original_start_time ts,
        reset_run_id str, request_id_infos reps(RequestEntry),
    }
    RequestEntry: workflow::WorkflowExecutionExtendedInfoRequestIdInfosEntry { key str, value msg(RequestInfo), }
    RequestInfo: workflow::RequestIdInfo { event_type i32, event_id i64, buffered bool, }
    PendingActivity: workflow::PendingActivityInfo {
        activity_id str, activity_type msg(Named), state i32, heartbeat_details payloads, last_heartbeat_time ts,
        last_started_time ts, attempt i32, maximum_attempts i32, scheduled_time ts, expiration_time ts, last_failure failure,
        last_worker_identity str, current_retry_interval dur, last_attempt_complete_time ts, next_attempt_schedule_time ts,
        paused bool, priority raw(PRIORITY), pause_info msg(PauseInfo), activity_options msg(ActivityOptions),
        last_deployment_version msg(Version),
    }
    PauseInfo: workflow::PendingActivityInfoPauseInfo { pause_time ts, manual msg(PausedBy), }
    PausedBy: workflow::PendingActivityInfoPauseInfoManual { identity str, reason str, }
    PendingChild: workflow::PendingChildExecutionInfo {
        workflow_id str, run_id str, workflow_type_name str, initiated_id i64, parent_close_policy i32,
    }
    PendingTask: workflow::PendingWorkflowTaskInfo {
        state i32, scheduled_time ts, original_scheduled_time ts, started_time ts, attempt i32,
    }
    DescribeResponse: workflowservice::DescribeWorkflowExecutionResponse {
        execution_config msg(ExecutionConfig), workflow_execution_info msg(ExecutionInfo),
        pending_activities reps(PendingActivity), pending_children reps(PendingChild), pending_workflow_task msg(PendingTask),
        callbacks reps(describe_nexus::CallbackInfo), pending_nexus_operations reps(describe_nexus::PendingNexus),
        workflow_extended_info msg(ExtendedInfo),
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: DescribeRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let (workflow_id, run_id) = target(&req.execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        let response = describe(run, &cx.namespace, cx.now);
        cx.reply(id, &response);
        Ok(())
    });
    Ok(())
}

fn describe(run: &Run, namespace: &str, now: Micros) -> DescribeResponse {
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
            auto_reset_points: (!h.reset_points.is_empty()).then(|| reset_points(h)),
            task_queue: h.task_queue.clone(),
            state_transition_count: h.transitions,
            history_size_bytes: h.history_bytes,
            most_recent_worker_version_stamp: h.worker_version.clone(),
            execution_duration: closed.then(|| duration((h.close_us - h.execution_time_us).max(0))),
            root_execution: Some(run.root()),
            first_run_id: h.first_run_id.clone(),
            versioning_info: h.versioning.clone(),
            worker_deployment_name: h.worker_deployment_name.clone(),
        }),
        pending_activities: run.activities.values().map(|a| pending_activity(a, now)).collect(),
        pending_children: run.children.values().map(pending_child).collect(),
        pending_workflow_task: h.task.as_ref().map(pending_task),
        callbacks: run.callbacks.values().map(describe_nexus::callback).collect(),
        pending_nexus_operations: run.nexus.values().map(describe_nexus::pending).collect(),
        workflow_extended_info: Some(ExtendedInfo {
            execution_expiration_time: timestamp_opt(h.execution_deadline_us),
            run_expiration_time: timestamp_opt(h.run_deadline_us),
            cancel_requested: h.cancel_requested,
            last_reset_time: timestamp_opt(if h.base_run_ids.is_empty() { 0 } else { h.start_us }),
            original_start_time: Some(timestamp(h.first_start_us)),
            reset_run_id: h.reset_run_id.clone(),
            request_id_infos: requests(run),
        }),
    }
}

/// The requests that started the run, or were attached to it.
fn requests(run: &Run) -> Vec<RequestEntry> {
    let entry = |key: &String, kind: EventType, event_id: i64| RequestEntry {
        key: key.clone(),
        value: Some(RequestInfo { event_type: kind as i32, event_id, buffered: event_id == 0 }),
    };
    let started = entry(&run.head.create_request_id, EventType::WorkflowExecutionStarted, 1);
    let attached = run.attached.iter().map(|(id, event_id)| entry(id, EventType::WorkflowExecutionOptionsUpdated, *event_id));
    std::iter::once(started).chain(attached).collect()
}

fn reset_points(h: &Head) -> ResetPoints {
    let points = h.reset_points.iter().map(|p| ResetPointInfo {
        binary_checksum: p.binary_checksum.clone(),
        run_id: if p.run_id.is_empty() { h.run_id.clone() } else { p.run_id.clone() },
        first_workflow_task_completed_id: p.completed_id,
        create_time: timestamp_opt(p.time_us),
        resettable: true,
        build_id: p.build_id.clone(),
    });
    ResetPoints { points: points.collect() }
}

/// A task that has failed and waits for its back-off is the next attempt, which no worker has.
fn pending_task(t: &TaskState) -> PendingTask {
    let held = workflow_task::is_held(t);
    PendingTask {
        state: if held { PendingWorkflowTaskState::Started } else { PendingWorkflowTaskState::Scheduled } as i32,
        scheduled_time: timestamp_opt(t.scheduled_us),
        original_scheduled_time: timestamp_opt(t.original_scheduled_us),
        started_time: if held { timestamp_opt(t.started_us) } else { None },
        attempt: if t.started_id != 0 && !held { t.attempt + 1 } else { t.attempt },
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
    let state = match (a.started(), a.paused(), s.cancel_requested_id) {
        (_, _, c) if c != 0 => PendingActivityState::CancelRequested,
        (true, true, _) => PendingActivityState::PauseRequested,
        (false, true, _) => PendingActivityState::Paused,
        (true, false, _) => PendingActivityState::Started,
        (false, false, _) => PendingActivityState::Scheduled,
    };
    let backing_off = !a.started() && !a.paused() && s.scheduled_us > now;
    let pause_info = a.paused().then(|| PauseInfo {
        pause_time: timestamp_opt(s.paused_us),
        manual: Some(PausedBy { identity: s.paused_by.clone(), reason: s.pause_reason.clone() }),
    });
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
        pause_info,
        paused: a.paused(),
        activity_options: Some(options(a)),
        last_deployment_version: s.deployment_version.clone(),
    }
}
