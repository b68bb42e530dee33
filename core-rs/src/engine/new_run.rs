//! A run is created: its first event, and what follows from it.
use super::callbacks;
use super::codec;
use super::context::Context;
use super::event::{Event, Extras};
use super::limits;
use super::messages::events::StartedAttrs;
use super::state::run::{Head, Run, kind};
use super::time::{MILLI, Micros, SECOND, micros_or_zero};
use super::versioning;
use crate::api::enums::v1::WorkflowExecutionStatus as Status;

/// A run to be created: its started attributes are complete.
pub struct NewRun {
    pub run_id: String,
    pub request_id: String,
    pub attrs: StartedAttrs,
    pub user_metadata: Option<Vec<u8>>,
    /// encoded Links of its first event
    pub links: Vec<Vec<u8>>,
    /// Start of the first run of the chain; 0: this is it.
    pub first_start_us: Micros,
}

/// The state of the run before its first event.
pub fn begin(new: &NewRun, time: Micros) -> Run {
    let a = &new.attrs;
    let execution = micros_or_zero(&a.workflow_execution_timeout);
    let run_timeout = micros_or_zero(&a.workflow_run_timeout);
    let backoff = micros_or_zero(&a.first_workflow_task_backoff);
    let expires = a.workflow_execution_expiration_time.as_ref().map_or(0, |t| t.seconds * SECOND + i64::from(t.nanos) / MILLI);
    let mut run_deadline = if run_timeout > 0 { time + backoff + run_timeout } else { 0 };
    if expires > 0 && (run_deadline == 0 || expires < run_deadline) {
        run_deadline = expires;
    }
    let mut run = Run::new(Head {
        workflow_id: a.workflow_id.clone(),
        run_id: new.run_id.clone(),
        workflow_type: a.workflow_type.as_ref().map(|t| t.name.clone()).unwrap_or_default(),
        task_queue: a.task_queue.as_ref().map(|q| q.name.clone()).unwrap_or_default(),
        status: Status::Running as i32,
        start_us: time,
        next_event_id: 1,
        execution_timeout_us: execution,
        run_timeout_us: run_timeout,
        task_timeout_us: micros_or_zero(&a.workflow_task_timeout),
        execution_deadline_us: expires,
        run_deadline_us: run_deadline,
        first_run_id: a.first_execution_run_id.clone(),
        original_run_id: a.original_execution_run_id.clone(),
        continued_run_id: a.continued_execution_run_id.clone(),
        attempt: a.attempt,
        memo: a.memo.clone(),
        search_attributes: a.search_attributes.clone(),
        create_request_id: new.request_id.clone(),
        task_attempt: 1,
        last_time_us: time,
        retry_policy: a.retry_policy.clone(),
        execution_time_us: time + backoff,
        user_metadata: new.user_metadata.clone(),
        priority: a.priority.clone(),
        parent: a.parent_workflow_execution.clone(),
        parent_initiated_id: a.parent_initiated_event_id,
        root: a.root_workflow_execution.clone(),
        first_start_us: if new.first_start_us > 0 { new.first_start_us } else { time },
        ..Default::default()
    });
    run.create = true;
    versioning::begin(&mut run, a);
    callbacks::add(&mut run, &a.completion_callbacks, time, "");
    if a.retry_policy.is_some() || !a.cron_schedule.is_empty() {
        run.started_attrs = Some(codec::bytes(a));
        run.mark(kind::STARTED, "");
    }
    run.set_run_deadline((run_deadline > 0).then_some(run_deadline));
    run
}

/// Writes WorkflowExecutionStarted and what follows from it, and hands the run to the engine.
pub fn create(cx: &mut Context, new: NewRun, time: Micros) {
    let backoff = micros_or_zero(&new.attrs.first_workflow_task_backoff);
    let mut run = begin(&new, time);
    let extras = Extras { user_metadata: new.user_metadata, markers: Vec::new(), links: new.links };
    run.write(Event::new(time, &new.attrs).with(&extras));
    if backoff > 0 {
        run.head.first_task_at_us = time + backoff;
        run.set_first_task_deadline(Some(time + backoff));
    } else {
        run.want_task = true;
    }
    cx.open_runs += 1;
    cx.spawned.push(run);
}

/// Default and bounds of the workflow task timeout.
pub fn task_timeout(asked: Micros, run_timeout: Micros) -> Micros {
    let t = if asked == 0 { limits::DEFAULT_TASK_TIMEOUT } else { asked.min(limits::MAX_TASK_TIMEOUT) };
    if run_timeout > 0 { t.min(run_timeout) } else { t }
}

/// The first task of a run whose backoff is over.
pub fn first_task_due(run: &mut Run) {
    run.head.first_task_at_us = 0;
    run.want_task = true;
    run.dirty = true;
}
