//! The end of a run: by a command, by termination or by timeout; and the run that follows it (continue-as-new, retry).
use super::apply::At;
use super::children::{self, End};
use super::codec;
use super::cx::Cx;
use super::start::{self, NewRun};
use super::state::{Run, kind};
use super::time::{Micros, duration, micros_or_zero};
use super::wire::*;
use super::{activity, apply, queries, retry as policy, search_attributes, updates, workflow_task};
use crate::api::enums::v1::{ContinueAsNewInitiator, RetryState, WorkflowExecutionStatus as Status, WorkflowTaskFailedCause};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    Completed,
    Failed,
    Canceled,
    Terminated,
    ContinuedAsNew,
    TimedOut,
}

impl Closed {
    fn status(self) -> Status {
        match self {
            Closed::Completed => Status::Completed,
            Closed::Failed => Status::Failed,
            Closed::Canceled => Status::Canceled,
            Closed::Terminated => Status::Terminated,
            Closed::ContinuedAsNew => Status::ContinuedAsNew,
            Closed::TimedOut => Status::TimedOut,
        }
    }
}

/// The run that follows by retry: its id and when its first task may start.
pub struct Next {
    pub run_id: String,
    pub backoff: Micros,
    pub failure: Option<Vec<u8>>,
}

pub fn closed(run: &mut Run, cx: &mut Cx, how: Closed, end: End) {
    closed_with(run, cx, how, None, end);
}

/// After the closing event was written: nothing of the run is pending any more.
pub fn closed_with(run: &mut Run, cx: &mut Cx, how: Closed, next: Option<Next>, end: End) {
    let time = run.time(cx.now);
    if let Some(next) = &next {
        run.head.next_run_id.clone_from(&next.run_id);
        follow_by_retry(run, cx, next, time);
    }
    run.head.status = how.status() as i32;
    run.head.close_us = time;
    run.head.close_event_id = run.last_event_id();
    workflow_task::remove(run, cx);
    for id in run.activities.keys().copied().collect::<Vec<_>>() {
        activity::remove(run, cx, id);
    }
    for id in run.timers.keys().cloned().collect::<Vec<_>>() {
        apply::remove_timer(run, &id);
    }
    let continues = how == Closed::ContinuedAsNew || next.is_some();
    children::run_closed(run, how.status(), !continues, end);
    while let Some(b) = run.buffer.pop_front() {
        run.mark(kind::BUFFERED, super::history::buffer_id(b.seq));
    }
    for id in std::mem::take(&mut run.request_ids) {
        run.mark(kind::REQUEST, id);
    }
    if run.started_attrs.take().is_some() {
        run.mark(kind::STARTED, "");
    }
    run.set_run_deadline(None);
    run.set_first_task_deadline(None);
    run.recent = None;
    run.want_task = false;
    run.to_queue.clear();
    run.dirty = true;
    cx.open_runs -= 1;
    updates::run_closed(run, cx, continues);
    queries::unblock(run, cx);
}

/// A started task is failed first, so that its holder's answer finds nothing, and what was buffered enters history.
fn force_task_end(run: &mut Run, cx: &mut Cx) {
    if run.task_started() {
        workflow_task::fail(run, cx, WorkflowTaskFailedCause::ForceCloseCommand, None, "history-service", "");
        run.want_task = false;
    } else {
        workflow_task::make_normal(run);
    }
    run.flush_buffer();
}

pub fn terminate(run: &mut Run, cx: &mut Cx, reason: String, details: Option<Vec<u8>>, identity: String) {
    force_task_end(run, cx);
    let time = run.time(cx.now);
    run.append(time, &TerminatedAttrs { reason, details, identity });
    closed(run, cx, Closed::Terminated, End::default());
}

/// The run or execution timeout has passed.
pub fn timed_out(run: &mut Run, cx: &mut Cx) {
    force_task_end(run, cx);
    let time = run.time(cx.now);
    let execution_over = run.head.execution_deadline_us > 0 && time >= run.head.execution_deadline_us;
    // A run timeout may be retried; the execution's never.
    let failure = Failure {
        message: "workflow timeout".into(),
        source: "Server".into(),
        timeout_info: Some(TimeoutInfo {
            timeout_type: crate::api::enums::v1::TimeoutType::StartToClose as i32,
            last_heartbeat_details: None,
        }),
        ..Default::default()
    };
    let (next, retry_state) =
        if execution_over { (None, RetryState::Timeout) } else { retry(run, cx, Some(&codec::bytes(&failure))) };
    let new_execution_run_id = next.as_ref().map(|n| n.run_id.clone()).unwrap_or_default();
    let retry_state = retry_state as i32;
    run.append(time, &TimedOutAttrs { retry_state, new_execution_run_id });
    closed_with(run, cx, Closed::TimedOut, next, End { retry_state, ..End::default() });
}

/// Whether the workflow's own retry policy wants another run after this failure.
pub fn retry(run: &mut Run, cx: &mut Cx, failure: Option<&[u8]>) -> (Option<Next>, RetryState) {
    let time = run.time(cx.now);
    let Some(p) = &run.head.retry_policy else { return (None, RetryState::RetryPolicyNotSet) };
    // The next attempt would know nothing of the request.
    if run.head.cancel_requested {
        return (None, RetryState::CancelRequested);
    }
    let view = codec::read::<Failure>(failure.unwrap_or_default()).unwrap_or_default();
    match policy::next(p, run.head.attempt, time, run.head.execution_deadline_us, &view) {
        Ok((_, backoff)) if run.started_attrs.is_some() => {
            let next = Next { run_id: cx.rng.uuid4(), backoff, failure: failure.map(<[u8]>::to_vec) };
            (Some(next), RetryState::InProgress)
        }
        Ok(_) => (None, RetryState::InternalServerError),
        Err(state) => (None, state),
    }
}

fn follow_by_retry(run: &mut Run, cx: &mut Cx, next: &Next, time: Micros) {
    let Some(mut attrs) = run.started_attrs.as_deref().and_then(|b| codec::read::<StartedAttrs>(b).ok()) else { return };
    attrs.continued_execution_run_id.clone_from(&run.head.run_id);
    attrs.original_execution_run_id.clone_from(&next.run_id);
    attrs.initiator = ContinueAsNewInitiator::Retry as i32;
    attrs.continued_failure.clone_from(&next.failure);
    attrs.attempt = run.head.attempt + 1;
    attrs.identity.clear();
    attrs.first_workflow_task_backoff = Some(duration(next.backoff));
    let new = NewRun {
        run_id: next.run_id.clone(),
        request_id: cx.rng.uuid4(),
        attrs,
        user_metadata: None,
        first_start_us: run.head.first_start_us,
    };
    start::create(cx, new, time);
}

/// CONTINUE_AS_NEW: the closing event and the new run, linked both ways.
pub fn continue_as_new(run: &mut Run, cx: &mut Cx, mut a: ContinueAsNew, at: &At) {
    a.search_attributes = search_attributes::typed(a.search_attributes.take(), run.head.search_attributes.as_deref());
    let time = at.time;
    let run_id = cx.rng.uuid4();
    let head = &run.head;
    let namespace_of_parent = if head.parent.is_some() { cx.namespace.clone() } else { String::new() };
    let execution = head.execution_timeout_us;
    let mut run_timeout = micros_or_zero(&a.workflow_run_timeout);
    if run_timeout == 0 {
        run_timeout = head.run_timeout_us;
    }
    if execution > 0 && (run_timeout == 0 || run_timeout > execution) {
        run_timeout = execution;
    }
    let mut task_timeout = micros_or_zero(&a.workflow_task_timeout);
    if task_timeout == 0 {
        task_timeout = head.task_timeout_us;
    }
    let task_timeout = start::task_timeout(task_timeout, run_timeout);
    let initiator = if a.initiator == 0 { ContinueAsNewInitiator::Workflow as i32 } else { a.initiator };
    let attrs = StartedAttrs {
        workflow_type: a.workflow_type.clone(),
        task_queue: a.task_queue.clone(),
        input: a.input.clone(),
        workflow_execution_timeout: (execution > 0).then(|| duration(execution)),
        workflow_run_timeout: Some(duration(run_timeout)),
        workflow_task_timeout: Some(duration(task_timeout)),
        continued_execution_run_id: head.run_id.clone(),
        initiator,
        continued_failure: a.failure.clone(),
        last_completion_result: a.last_completion_result.clone(),
        original_execution_run_id: run_id.clone(),
        first_execution_run_id: head.first_run_id.clone(),
        retry_policy: a.retry_policy.clone(),
        attempt: 1,
        workflow_execution_expiration_time: super::time::timestamp_opt(head.execution_deadline_us),
        first_workflow_task_backoff: a.backoff_start_interval,
        memo: a.memo.clone(),
        search_attributes: a.search_attributes.clone(),
        header: a.header.clone(),
        workflow_id: head.workflow_id.clone(),
        priority: head.priority.clone(),
        parent_workflow_namespace: namespace_of_parent.clone(),
        parent_workflow_namespace_id: namespace_of_parent,
        parent_workflow_execution: head.parent.clone(),
        parent_initiated_event_id: head.parent_initiated_id,
        root_workflow_execution: head.root.clone(),
        ..Default::default()
    };
    let closing = ContinuedAsNewAttrs {
        new_execution_run_id: run_id.clone(),
        workflow_type: a.workflow_type,
        task_queue: a.task_queue,
        input: a.input,
        workflow_run_timeout: Some(duration(run_timeout)),
        workflow_task_timeout: Some(duration(task_timeout)),
        workflow_task_completed_event_id: at.completed_id,
        backoff_start_interval: a.backoff_start_interval,
        initiator: a.initiator,
        failure: a.failure,
        last_completion_result: a.last_completion_result,
        header: a.header,
        memo: a.memo,
        search_attributes: a.search_attributes,
        inherit_build_id: a.inherit_build_id,
        initial_versioning_behavior: a.initial_versioning_behavior,
    };
    let first_start_us = run.head.first_start_us;
    at.write(run, &closing);
    run.head.next_run_id.clone_from(&run_id);
    closed(run, cx, Closed::ContinuedAsNew, End::default());
    let request_id = cx.rng.uuid4();
    start::create(cx, NewRun { run_id, request_id, attrs, user_metadata: None, first_start_us }, time);
}
