//! A reset: the state of a run as its first events left it (reset_reapply.rs has what the new run gets again).
//!
//! The rules are those of a server (docs/dev/semantics/engine.md#resets). Timers keep their moment, activities that no worker had
//! wait from the reset on, children stay with the new run, and requests to other runs without a result are sent again.
use super::context::Context;
use super::messages::common::*;
use super::messages::events::*;
use super::messages::failure;
use super::messages::orders::{CancelExternal, Outgoing, SignalExternal, StartChild, what};
use super::messages::updates::UpdateRequestView;
use super::new_run::{NewRun, begin};
use super::rpc::{self, Rpc, SERVER};
use super::state::pending::ChildState;
use super::state::run::{Run, TaskState, kind};
use super::state::update::{Stage, Update};
use super::time::{Micros, SECOND, micros_or_zero, timestamp_opt};
use super::{activity, attach, codec, nexus, payloads, reset_points, timers, versioning};
use crate::api::enums::v1::{EventType as E, RetryState, WorkflowTaskFailedCause};
use crate::boundary::HistoryBatch;
use crate::proto::fields::google;
use crate::proto::fields::history::{History, HistoryEvent};
use crate::wire::{Message, Writer};

/// An event of a stored history.
pub struct Past<'a> {
    pub id: i64,
    pub time: Micros,
    pub kind: E,
    pub(super) message: Message<'a>,
}

/// The events of an encoded History.
pub fn events(history: &[u8]) -> Vec<Past<'_>> {
    let past = |bytes| {
        let message = Message(bytes);
        let time = message.sub(HistoryEvent::event_time);
        let nanos = time.int(google::Timestamp::nanos);
        Past {
            id: message.int(HistoryEvent::event_id),
            time: time.int(google::Timestamp::seconds) * SECOND + nanos / 1_000,
            kind: E::try_from(message.int32(HistoryEvent::event_type)).unwrap_or(E::Unspecified),
            message,
        }
    };
    Message(history).all(History::events).map(past).collect()
}

impl Past<'_> {
    pub fn attrs<A: Attributes + Default>(&self) -> A {
        self.message.bytes(A::FIELD).and_then(|bytes| codec::read(bytes).ok()).unwrap_or_default()
    }

    fn user_metadata(&self) -> Option<Vec<u8>> {
        self.message.bytes(HistoryEvent::user_metadata).map(<[u8]>::to_vec)
    }
}

/// A reset that was checked.
pub struct Reset<'a> {
    pub base: &'a Run,
    pub run_id: String,
    pub request_id: String,
    pub reason: String,
    pub finish_id: i64,
}

/// The new run with the events before `finish_id`, and a workflow task that failed because of the reset.
pub fn rebuild(cx: &mut Context, r: &Reset, past: &[Past]) -> Rpc<Run> {
    let first = past.first().filter(|e| e.kind == E::WorkflowExecutionStarted);
    let Some(first) = first else { return Err(rpc::data_loss("the stored history does not begin with its start")) };
    // No event of a run is before its start.
    let time = past.iter().take_while(|e| e.id < r.finish_id).map(|e| e.time).fold(cx.now, Micros::max);
    let mut run = start(r, first, time);
    for event in past.iter().take_while(|e| e.id < r.finish_id) {
        apply(&mut run, cx, event);
        copy(&mut run, event);
    }
    let text = "Can only reset workflow to event ID in range [WorkflowTaskScheduled +1, WorkflowTaskStarted + 1]";
    let Some(task) = run.head.task.take() else { return Err(rpc::invalid(format!("{text}: {}", r.finish_id))) };
    fail_task(&mut run, cx, r, task);
    restart_activities(&mut run, cx, &r.reason);
    run.reset_attempts();
    run.want_task = true;
    Ok(run)
}

fn start(r: &Reset, first: &Past, time: Micros) -> Run {
    let mut attrs: StartedAttrs = first.attrs();
    let execution = micros_or_zero(&attrs.workflow_execution_timeout);
    attrs.workflow_execution_expiration_time = timestamp_opt(if execution > 0 { time + execution } else { 0 });
    attrs.first_workflow_task_backoff = None;
    // Servers before 1.25 did not write these.
    if attrs.workflow_id.is_empty() {
        attrs.workflow_id.clone_from(&r.base.head.workflow_id);
    }
    if attrs.first_execution_run_id.is_empty() {
        attrs.first_execution_run_id.clone_from(&r.base.head.first_run_id);
    }
    let new = NewRun {
        run_id: r.run_id.clone(),
        request_id: r.request_id.clone(),
        attrs,
        user_metadata: first.user_metadata(),
        links: Vec::new(),
        first_start_us: r.base.head.first_start_us,
    };
    let mut run = begin(&new, time);
    run.head.base_run_ids = std::iter::once(&r.base.head.run_id).chain(&r.base.head.base_run_ids).cloned().collect();
    run
}

/// Copies the event as it is.
fn copy(run: &mut Run, event: &Past) {
    if !run.batch_open {
        run.batches.push(HistoryBatch { first_event_id: event.id as u32, ..Default::default() });
        run.batch_open = true;
    }
    let mut w = Writer::new();
    w.message(History::events, event.message.0);
    let bytes = w.finish();
    if let Some(batch) = run.batches.last_mut() {
        batch.last_event_id = event.id as u32;
        batch.events.extend_from_slice(&bytes);
    }
    run.head.history_bytes += bytes.len() as i64;
    run.head.next_event_id = event.id + 1;
    run.head.last_time_us = run.head.last_time_us.max(event.time);
    if event.kind == E::WorkflowTaskStarted {
        run.cut_batch();
    }
}

/// What the event means for the state of its run.
fn apply(run: &mut Run, cx: &mut Context, event: &Past) {
    match event.kind {
        E::WorkflowTaskScheduled => {
            let a: TaskScheduledAttrs = event.attrs();
            run.head.task = Some(TaskState {
                scheduled_id: event.id,
                attempt: a.attempt,
                scheduled_us: event.time,
                original_scheduled_us: event.time,
                start_to_close_us: micros_or_zero(&a.start_to_close_timeout),
                in_history: true,
                ..Default::default()
            });
        }
        E::WorkflowTaskStarted => {
            if let Some(task) = &mut run.head.task {
                task.started_id = event.id;
                task.started_us = event.time;
            }
        }
        E::WorkflowTaskCompleted => {
            let a: TaskCompletedAttrs = event.attrs();
            run.head.task = None;
            run.head.last_completed_started_id = a.started_event_id;
            reset_points::add(run, &a, event.id, event.time);
            if a.deployment_version.is_some() || run.head.versioning.is_some() {
                versioning::complete(&mut run.head, &a);
            }
            if a.worker_version.is_some() {
                run.head.worker_version = a.worker_version;
            }
        }
        E::WorkflowTaskFailed | E::WorkflowTaskTimedOut => run.head.task = None,
        E::WorkflowExecutionCancelRequested => run.head.cancel_requested = true,
        E::WorkflowExecutionOptionsUpdated => {
            versioning::restore_options(run, &event.attrs());
            attach::copied(run, event.attrs(), event.id, event.time);
        }
        E::UpsertWorkflowSearchAttributes => {
            let a: UpsertAttrs = event.attrs();
            let merged = payloads::merge(run.head.search_attributes.take(), a.search_attributes.as_deref());
            run.head.search_attributes = merged;
        }
        E::WorkflowPropertiesModified => {
            let a: PropertiesModifiedAttrs = event.attrs();
            run.head.memo = payloads::merge(run.head.memo.take(), a.upserted_memo.as_deref());
        }
        E::TimerStarted => {
            let a: TimerStartedAttrs = event.attrs();
            timers::insert(run, cx, a.timer_id, event.id, event.time + micros_or_zero(&a.start_to_fire_timeout));
        }
        E::TimerFired => drop(timers::remove(run, &event.attrs::<TimerFiredAttrs>().timer_id)),
        E::TimerCanceled => drop(timers::remove(run, &event.attrs::<TimerCanceledAttrs>().timer_id)),
        _ if apply_nexus(run, event) => {}
        _ => apply_activity(run, cx, event),
    }
}

fn apply_activity(run: &mut Run, cx: &mut Context, event: &Past) {
    let ended = match event.kind {
        E::ActivityTaskScheduled => return activity::insert(run, event.attrs(), event.id, event.time),
        E::ActivityTaskStarted => {
            let a: ActivityStartedAttrs = event.attrs();
            if let Some(activity) = run.activities.get_mut(&a.scheduled_event_id) {
                activity.state.started_us = event.time;
                activity.state.identity = a.identity;
                // Where the state has no place for it: the id of the event.
                activity.state.last_complete_us = event.id;
            }
            return;
        }
        E::ActivityTaskCancelRequested => {
            let a: ActivityCancelRequestedAttrs = event.attrs();
            if let Some(activity) = run.activities.get_mut(&a.scheduled_event_id) {
                activity.state.cancel_requested_id = event.id;
            }
            return;
        }
        E::ActivityTaskCompleted => event.attrs::<ActivityCompletedAttrs>().scheduled_event_id,
        E::ActivityTaskFailed => event.attrs::<ActivityFailedAttrs>().scheduled_event_id,
        E::ActivityTaskTimedOut => event.attrs::<ActivityTimedOutAttrs>().scheduled_event_id,
        E::ActivityTaskCanceled => event.attrs::<ActivityCanceledAttrs>().scheduled_event_id,
        _ => return apply_other_runs(run, cx, event),
    };
    activity::remove(run, cx, ended);
}

/// What the event means for the operations of the run; false: the event is not about one.
fn apply_nexus(run: &mut Run, event: &Past) -> bool {
    let ended = match event.kind {
        E::NexusOperationScheduled => {
            nexus::insert(run, event.attrs(), event.id, event.time);
            return true;
        }
        E::NexusOperationStarted => {
            let a: NexusStartedAttrs = event.attrs();
            let token = if a.operation_token.is_empty() { &a.operation_id } else { &a.operation_token };
            nexus::apply_started(run, a.scheduled_event_id, token, event.time);
            return true;
        }
        E::NexusOperationCancelRequested => {
            let a: NexusCancelRequestedAttrs = event.attrs();
            nexus::request_cancel(run, a.scheduled_event_id, event.id, event.time);
            return true;
        }
        E::NexusOperationCancelRequestCompleted => {
            nexus::cancel_sent(run, event.attrs::<NexusCancelCompletedAttrs>().scheduled_event_id, true);
            return true;
        }
        E::NexusOperationCancelRequestFailed => {
            nexus::cancel_sent(run, event.attrs::<NexusCancelFailedAttrs>().scheduled_event_id, false);
            return true;
        }
        E::NexusOperationCompleted => event.attrs::<NexusCompletedAttrs>().scheduled_event_id,
        E::NexusOperationFailed => event.attrs::<NexusFailedAttrs>().scheduled_event_id,
        E::NexusOperationCanceled => event.attrs::<NexusCanceledAttrs>().scheduled_event_id,
        E::NexusOperationTimedOut => event.attrs::<NexusTimedOutAttrs>().scheduled_event_id,
        _ => return false,
    };
    nexus::remove(run, ended);
    true
}

/// Children, and what was asked of other runs.
fn apply_other_runs(run: &mut Run, cx: &mut Context, event: &Past) {
    let answered = match event.kind {
        E::StartChildWorkflowExecutionInitiated => return initiate_child(run, cx, event),
        E::SignalExternalWorkflowExecutionInitiated => {
            let a: SignalInitiatedAttrs = event.attrs();
            let WorkflowExecution { workflow_id, run_id } = a.workflow_execution.clone().unwrap_or_default();
            let signal = Some(SignalExternal {
                namespace: a.namespace,
                execution: a.workflow_execution,
                signal_name: a.signal_name,
                input: a.input,
                control: a.control,
                child_workflow_only: a.child_workflow_only,
                header: a.header,
            });
            let initiated_id = event.id;
            return run.order(Outgoing { what: what::SIGNAL, workflow_id, run_id, initiated_id, signal, ..Default::default() });
        }
        E::RequestCancelExternalWorkflowExecutionInitiated => {
            let a: CancelInitiatedAttrs = event.attrs();
            let WorkflowExecution { workflow_id, run_id } = a.workflow_execution.unwrap_or_default();
            let cancel = Some(CancelExternal {
                namespace: a.namespace,
                workflow_id: workflow_id.clone(),
                run_id: run_id.clone(),
                control: a.control,
                child_workflow_only: a.child_workflow_only,
                reason: a.reason,
            });
            let initiated_id = event.id;
            return run.order(Outgoing { what: what::CANCEL, workflow_id, run_id, initiated_id, cancel, ..Default::default() });
        }
        E::ExternalWorkflowExecutionSignaled => event.attrs::<ExternalSignaledAttrs>().initiated_event_id,
        E::SignalExternalWorkflowExecutionFailed => event.attrs::<SignalFailedAttrs>().initiated_event_id,
        E::ExternalWorkflowExecutionCancelRequested => event.attrs::<ExternalCancelRequestedAttrs>().initiated_event_id,
        E::RequestCancelExternalWorkflowExecutionFailed => event.attrs::<CancelFailedAttrs>().initiated_event_id,
        E::ChildWorkflowExecutionStarted => {
            child_started(run, event.id, &event.attrs());
            return;
        }
        E::StartChildWorkflowExecutionFailed => {
            let initiated = event.attrs::<ChildStartFailedAttrs>().initiated_event_id;
            run.remove_child(initiated);
            initiated
        }
        _ => {
            if let Some((initiated, _)) = child_end(event) {
                run.remove_child(initiated);
            } else {
                apply_update(run, event);
            }
            return;
        }
    };
    run.drop_order_of(answered);
}

fn initiate_child(run: &mut Run, cx: &mut Context, event: &Past) {
    let a: ChildInitiatedAttrs = event.attrs();
    let workflow_id = a.workflow_id.clone();
    let child = ChildState {
        initiated_id: event.id,
        workflow_id: workflow_id.clone(),
        workflow_type: a.workflow_type.as_ref().map(|t| t.name.clone()).unwrap_or_default(),
        parent_close_policy: a.parent_close_policy,
        ..Default::default()
    };
    run.mark(kind::CHILD, event.id.to_string());
    run.children.insert(event.id, child);
    run.order(Outgoing {
        what: what::START,
        workflow_id,
        initiated_id: event.id,
        request_id: cx.rng.uuid4(),
        user_metadata: event.user_metadata(),
        start: Some(StartChild {
            namespace: a.namespace,
            workflow_id: a.workflow_id,
            workflow_type: a.workflow_type,
            task_queue: a.task_queue,
            input: a.input,
            workflow_execution_timeout: a.workflow_execution_timeout,
            workflow_run_timeout: a.workflow_run_timeout,
            workflow_task_timeout: a.workflow_task_timeout,
            parent_close_policy: a.parent_close_policy,
            control: a.control,
            workflow_id_reuse_policy: a.workflow_id_reuse_policy,
            retry_policy: a.retry_policy,
            cron_schedule: a.cron_schedule,
            header: a.header,
            memo: a.memo,
            search_attributes: a.search_attributes,
            inherit_build_id: a.inherit_build_id,
            priority: a.priority,
        }),
        ..Default::default()
    });
}

pub(super) fn child_started(run: &mut Run, event_id: i64, a: &ChildStartedAttrs) {
    if let Some(child) = run.children.get_mut(&a.initiated_event_id) {
        child.run_id = a.workflow_execution.as_ref().map(|e| e.run_id.clone()).unwrap_or_default();
        run.child_started_as(a.initiated_event_id, event_id);
    }
    run.drop_order_of(a.initiated_event_id);
}

/// The child whose end the event reports, by its Initiated event, and how it is written with another Started event.
#[allow(clippy::type_complexity)]
pub(super) fn child_end(event: &Past) -> Option<(i64, Box<dyn Fn(&mut Run, Micros, i64)>)> {
    macro_rules! end {
        ($attrs:ident) => {{
            let attrs: $attrs = event.attrs();
            let write = move |run: &mut Run, time, started_event_id| {
                run.append(time, &$attrs { started_event_id, ..attrs.clone() });
            };
            (event.attrs::<$attrs>().initiated_event_id, Box::new(write) as Box<dyn Fn(&mut Run, Micros, i64)>)
        }};
    }
    Some(match event.kind {
        E::ChildWorkflowExecutionCompleted => end!(ChildCompletedAttrs),
        E::ChildWorkflowExecutionFailed => end!(ChildFailedAttrs),
        E::ChildWorkflowExecutionCanceled => end!(ChildCanceledAttrs),
        E::ChildWorkflowExecutionTimedOut => end!(ChildTimedOutAttrs),
        E::ChildWorkflowExecutionTerminated => end!(ChildTerminatedAttrs),
        _ => return None,
    })
}

fn apply_update(run: &mut Run, event: &Past) {
    match event.kind {
        E::WorkflowExecutionUpdateAdmitted => {
            admit(run, &event.attrs::<UpdateAdmittedAttrs>().request);
        }
        E::WorkflowExecutionUpdateAccepted => {
            let id = event.attrs::<UpdateAcceptedAttrs>().protocol_instance_id;
            let update = Update { stage: Stage::Accepted, accepted_id: event.id, ..blank_update() };
            run.mark(kind::UPDATE, id.clone());
            run.updates.insert(id, update);
        }
        E::WorkflowExecutionUpdateCompleted => {
            let a: UpdateCompletedAttrs = event.attrs();
            let id = a.meta.map(|m| m.update_id).unwrap_or_default();
            if let Some(update) = run.updates.get_mut(&id) {
                update.stage = Stage::Completed;
                update.outcome = a.outcome;
                run.mark(kind::UPDATE, id);
            }
        }
        _ => {}
    }
}

fn blank_update() -> Update {
    Update { stage: Stage::Admitted, seq: 0, request: None, accepted_id: 0, outcome: None, waits: Vec::new(), admitted: true }
}

/// An update whose request is in history waits for the workflow's decision.
/// Returns false for an update that the run has already.
pub(super) fn admit(run: &mut Run, request: &Option<Vec<u8>>) -> bool {
    let view = codec::read::<UpdateRequestView>(request.as_deref().unwrap_or_default()).unwrap_or_default();
    let id = view.meta.unwrap_or_default().update_id;
    if run.updates.contains_key(&id) {
        return false;
    }
    run.update_seq += 1;
    let seq = run.update_seq;
    run.mark(kind::UPDATE, id.clone());
    run.updates.insert(id, Update { seq, ..blank_update() });
    true
}

/// The task at which the copy ends fails; one that no worker had is started for that.
fn fail_task(run: &mut Run, cx: &mut Context, r: &Reset, mut task: TaskState) {
    let time = run.time(cx.now);
    if task.started_id == 0 {
        let attrs = TaskStartedAttrs {
            scheduled_event_id: task.scheduled_id,
            identity: SERVER.into(),
            request_id: cx.rng.uuid4(),
            history_size_bytes: run.head.history_bytes,
            ..Default::default()
        };
        task.started_id = run.append(time, &attrs);
        run.cut_batch();
    }
    let attrs = TaskFailedAttrs {
        scheduled_event_id: task.scheduled_id,
        started_event_id: task.started_id,
        cause: WorkflowTaskFailedCause::ResetWorkflow as i32,
        failure: Some(failure::reset(&r.reason, None)),
        identity: SERVER.into(),
        base_run_id: r.base.head.run_id.clone(),
        new_run_id: r.run_id.clone(),
        ..Default::default()
    };
    run.append(time, &attrs);
}

/// Activities without a result: one that a worker has fails, the others wait from now on.
fn restart_activities(run: &mut Run, cx: &mut Context, reason: &str) {
    let time = run.time(cx.now);
    for id in run.activities.keys().copied().collect::<Vec<_>>() {
        let Some(a) = run.activities.get_mut(&id) else { continue };
        if !a.started() {
            let expires = micros_or_zero(&a.attrs.schedule_to_close_timeout);
            a.state.scheduled_us = time;
            a.state.first_scheduled_us = time;
            a.state.expiration_us = if expires > 0 { time + expires } else { 0 };
            activity::touched(run, id);
            continue;
        }
        let attrs = ActivityFailedAttrs {
            failure: Some(failure::reset(reason, None)),
            scheduled_event_id: id,
            started_event_id: a.state.last_complete_us,
            identity: a.state.identity.clone(),
            retry_state: RetryState::NonRetryableFailure as i32,
        };
        activity::remove(run, cx, id);
        run.append(time, &attrs);
    }
}
