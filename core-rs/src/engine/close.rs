//! The end of a run: by a command, by termination or by timeout; and the run that follows it by retry or by cron schedule.
use super::children::{self, End};
use super::codec;
use super::context::Context;
use super::cron::{self, Waiting};
use super::event::{About, sequence_key};
use super::messages::events::*;
use super::messages::failure::{self, Failure};
use super::new_run::{NewRun, create};
use super::payloads::text_payloads;
use super::rpc::{RESETTER, SERVER};
use super::state::run::{Run, kind};
use super::time::{Micros, duration};
use super::{activity, callbacks, nexus, queries, retry as policy, task_events, timers, updates, versioning, workflow_task};
use crate::api::enums::v1::{
    ContinueAsNewInitiator, RetryState, TimeoutType, WorkflowExecutionStatus as Status, WorkflowTaskFailedCause,
};

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

/// The run that follows by retry or by cron schedule: its id and when its first task may start.
pub struct Next {
    pub run_id: String,
    pub backoff: Micros,
    pub failure: Option<Vec<u8>>,
    /// The last result that it knows. None: that of this run.
    pub result: Option<Option<Vec<u8>>>,
    pub initiator: ContinueAsNewInitiator,
}

pub fn closed(run: &mut Run, cx: &mut Context, how: Closed, end: End) {
    closed_with(run, cx, how, None, end);
}

/// After the closing event was written: nothing of the run is pending any more.
pub fn closed_with(run: &mut Run, cx: &mut Context, how: Closed, next: Option<Next>, end: End) {
    let time = run.time(cx.now);
    if let Some(next) = &next {
        run.head.next_run_id.clone_from(&next.run_id);
        follow(run, cx, next, time);
    }
    run.head.status = how.status() as i32;
    run.head.close_us = time;
    run.head.close_event_id = run.last_event_id();
    workflow_task::remove(run, cx);
    for id in run.activities.keys().copied().collect::<Vec<_>>() {
        activity::remove(run, cx, id);
    }
    for id in run.timers.keys().cloned().collect::<Vec<_>>() {
        timers::remove(run, &id);
    }
    let continues = how == Closed::ContinuedAsNew || next.is_some();
    nexus::run_closed(run);
    if !continues && !end.reset {
        callbacks::run_closed(run, cx, how.status(), &end);
    }
    children::run_closed(run, how.status(), !continues, end);
    while let Some(b) = run.buffer.pop_front() {
        run.mark(kind::BUFFERED, sequence_key(b.seq));
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

/// A started task is failed first, so that its worker cannot complete it, and what was buffered enters history.
fn force_task_end(run: &mut Run, cx: &mut Context) {
    if run.task_started() {
        workflow_task::fail(run, cx, WorkflowTaskFailedCause::ForceCloseCommand, None, SERVER, "");
        run.want_task = false;
    } else {
        task_events::make_normal(run);
    }
    run.flush_buffer();
}

/// `links`: encoded Links of the event.
pub fn terminate(
    run: &mut Run,
    cx: &mut Context,
    reason: String,
    details: Option<Vec<u8>>,
    identity: String,
    links: Vec<Vec<u8>>,
) {
    force_task_end(run, cx);
    let time = run.time(cx.now);
    run.add_linked(time, TerminatedAttrs { reason, details, identity }, About::Other, links);
    closed(run, cx, Closed::Terminated, End::default());
}

/// Another run continues this one from an earlier point.
pub fn terminate_for_reset(run: &mut Run, cx: &mut Context, reason: String, end: End) {
    force_task_end(run, cx);
    let time = run.time(cx.now);
    run.append(time, &TerminatedAttrs { reason, details: None, identity: RESETTER.into() });
    closed(run, cx, Closed::Terminated, end);
}

/// Makes room for a run of the same workflow id.
pub fn terminate_for(run: &mut Run, cx: &mut Context, new_run_id: &str) {
    let details = text_payloads(&format!("terminated by new runID: {new_run_id}"));
    terminate(run, cx, "TerminateIfRunning WorkflowIdReusePolicy".into(), Some(details), SERVER.into(), Vec::new());
}

/// The run or execution timeout has passed.
pub fn timed_out(run: &mut Run, cx: &mut Context) {
    let time = run.time(cx.now);
    let execution_over = run.head.execution_deadline_us > 0 && time >= run.head.execution_deadline_us;
    if !execution_over
        && let Some((schedule, scheduled)) = cron::schedule_of(run)
        && cx.waits_for_cron(&schedule, scheduled, || Waiting::Timeout(run.head.run_id.clone()))
    {
        run.dirty = true;
        return;
    }
    force_task_end(run, cx);
    let time = run.time(cx.now);
    // A run timeout may be retried; the execution's never.
    let failure = codec::bytes(&failure::timeout("workflow timeout", TimeoutType::StartToClose));
    let (mut next, retry_state) = if execution_over { (None, RetryState::Timeout) } else { retry(run, cx, Some(&failure)) };
    if next.is_none() && !execution_over {
        next = self::cron(run, cx, Some(&failure));
    }
    let new_execution_run_id = next.as_ref().map(|n| n.run_id.clone()).unwrap_or_default();
    let retry_state = retry_state as i32;
    run.append(time, &TimedOutAttrs { retry_state, new_execution_run_id });
    closed_with(run, cx, Closed::TimedOut, next, End { retry_state, ..End::default() });
}

/// A history that has grown over the hard limits ends its run, as on a server.
pub fn end_if_too_long(run: &mut Run, cx: &mut Context) {
    if !run.open() {
        return;
    }
    let reason = if run.last_event_id() >= cx.limits.history_events {
        "Workflow history count exceeds limit."
    } else if run.head.history_bytes >= cx.limits.history_bytes {
        "Workflow history size exceeds limit."
    } else {
        return;
    };
    terminate(run, cx, reason.into(), None, SERVER.into(), Vec::new());
}

/// Whether the workflow's own retry policy wants another run after this failure.
pub fn retry(run: &mut Run, cx: &mut Context, failure: Option<&[u8]>) -> (Option<Next>, RetryState) {
    let time = run.time(cx.now);
    let Some(p) = &run.head.retry_policy else { return (None, RetryState::RetryPolicyNotSet) };
    // The next attempt would know nothing of the request.
    if run.head.cancel_requested {
        return (None, RetryState::CancelRequested);
    }
    let view = codec::read::<Failure>(failure.unwrap_or_default()).unwrap_or_default();
    match policy::next(p, run.head.attempt, time, run.head.execution_deadline_us, &view) {
        Ok((_, backoff)) if run.started_attrs.is_some() => {
            (Some(next_run(cx, backoff, failure, ContinueAsNewInitiator::Retry)), RetryState::InProgress)
        }
        Ok(_) => (None, RetryState::InternalServerError),
        Err(state) => (None, state),
    }
}

/// The run that follows by the cron schedule, if there is one. The host was asked for its time before.
pub fn cron(run: &Run, cx: &mut Context, failure: Option<&[u8]>) -> Option<Next> {
    let (schedule, scheduled) = cron::schedule_of(run)?;
    let backoff = cx.crons.backoff(&schedule, scheduled)?;
    Some(next_run(cx, backoff, failure, ContinueAsNewInitiator::CronSchedule))
}

fn next_run(cx: &mut Context, backoff: Micros, failure: Option<&[u8]>, initiator: ContinueAsNewInitiator) -> Next {
    Next { run_id: cx.rng.uuid4(), backoff, failure: failure.map(<[u8]>::to_vec), result: None, initiator }
}

fn follow(run: &mut Run, cx: &mut Context, next: &Next, time: Micros) {
    let Some(mut attrs) = run.started_attrs.as_deref().and_then(|b| codec::read::<StartedAttrs>(b).ok()) else { return };
    attrs.continued_execution_run_id.clone_from(&run.head.run_id);
    attrs.original_execution_run_id.clone_from(&next.run_id);
    attrs.initiator = next.initiator as i32;
    attrs.continued_failure.clone_from(&next.failure);
    attrs.attempt = if next.initiator == ContinueAsNewInitiator::Retry { run.head.attempt + 1 } else { 1 };
    if let Some(result) = &next.result {
        attrs.last_completion_result.clone_from(result);
    }
    attrs.completion_callbacks = callbacks::carried(run);
    attrs.identity.clear();
    attrs.eager_execution_accepted = false;
    attrs.first_workflow_task_backoff = Some(duration(next.backoff));
    versioning::inherit_again(run, &mut attrs, next.initiator == ContinueAsNewInitiator::Retry);
    let new = NewRun {
        run_id: next.run_id.clone(),
        request_id: cx.rng.uuid4(),
        attrs,
        user_metadata: None,
        links: Vec::new(),
        first_start_us: run.head.first_start_us,
    };
    create(cx, new, time);
}
