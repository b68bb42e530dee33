//! Activities: dispatched to workers, retried and timed out by the engine. ActivityTaskStarted is
//! written only together with the event that ends the activity, so retries change only the attempt
//! number in history.
use super::codec;
use super::context::Context;
use super::event::About;
use super::message::message;
use super::messages::common::*;
use super::messages::events::*;
use super::messages::failure::{self, Failure};
use super::queues::Poll;
use super::retry;
use super::state::pending::{Activity, ActivityState};
use super::state::run::{Deadline, Run, kind};
use super::time::{Micros, micros_or_zero, timestamp, timestamp_opt, to_ms};
use super::tokens::TaskToken;
use crate::api::enums::v1::{RetryState, TimeoutType};
use crate::boundary::TimedOutAttempt;

message! {
    PollActivityResponse: workflowservice::PollActivityTaskQueueResponse {
        task_token bytes, workflow_namespace str, workflow_type msg(Named), workflow_execution msg(WorkflowExecution),
        activity_type msg(Named), activity_id str, header fields, input payloads, heartbeat_details payloads, scheduled_time ts,
        current_attempt_scheduled_time ts, started_time ts, attempt i32, schedule_to_close_timeout dur,
        start_to_close_timeout dur, heartbeat_timeout dur, retry_policy msg(RetryPolicy), priority raw(PRIORITY),
    }
}

/// Attributes bigger than this are stored once, apart from the state that changes.
const INLINE_ATTRS: usize = 2048;

/// A scheduled activity waits for its first attempt.
pub fn insert(run: &mut Run, attrs: ActivityScheduledAttrs, scheduled_id: i64, time: Micros) {
    let carried = [&attrs.input, &attrs.header];
    let big = carried.iter().map(|b| b.as_ref().map_or(0, Vec::len)).sum::<usize>() > INLINE_ATTRS;
    if big {
        run.mark(kind::ACTIVITY_INPUT, scheduled_id.to_string());
    }
    let expires = micros_or_zero(&attrs.schedule_to_close_timeout);
    run.activity_ids.insert(attrs.activity_id.clone(), scheduled_id);
    let state = ActivityState {
        scheduled_id,
        attempt: 1,
        scheduled_us: time,
        first_scheduled_us: time,
        expiration_us: if expires > 0 { time + expires } else { 0 },
        ..Default::default()
    };
    run.activities.insert(scheduled_id, Activity { state, attrs, deadline: None, queued: None, attrs_stored: big });
    run.to_queue.push(scheduled_id);
    touched(run, scheduled_id);
}

/// Updates the stored state and the deadline of the activity after a change.
pub fn touched(run: &mut Run, id: i64) {
    restore(run, id);
    run.mark(kind::ACTIVITY, id.to_string());
}

/// Updates only the deadline.
pub fn restore(run: &mut Run, id: i64) {
    let Some(a) = run.activities.get_mut(&id) else { return };
    let next = next_deadline(a).map(|(t, _)| t);
    let old = std::mem::replace(&mut a.deadline, next);
    run.set_deadline(Deadline::Activity(id), old, next);
}

/// The next action of the activity without a request: a retry becomes ready, or a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Ready,
    Timeout(TimeoutType),
}

fn next_deadline(a: &Activity) -> Option<(Micros, Due)> {
    let (s, attrs) = (&a.state, &a.attrs);
    let mut best: Option<(Micros, Due)> = None;
    let mut consider = |t: Micros, due: Due| {
        if best.is_none_or(|(b, _)| t < b) {
            best = Some((t, due));
        }
    };
    if a.started() {
        if s.expiration_us > 0 {
            consider(s.expiration_us, Due::Timeout(TimeoutType::ScheduleToClose));
        }
        let run = micros_or_zero(&attrs.start_to_close_timeout);
        if run > 0 {
            consider(s.started_us + run, Due::Timeout(TimeoutType::StartToClose));
        }
        let beat = micros_or_zero(&attrs.heartbeat_timeout);
        if beat > 0 {
            consider(s.started_us.max(s.heartbeat_us) + beat, Due::Timeout(TimeoutType::Heartbeat));
        }
    } else {
        if !a.is_first() && a.queued.is_none() && !a.paused() {
            consider(s.scheduled_us, Due::Ready);
        }
        let wait = micros_or_zero(&attrs.schedule_to_start_timeout);
        if wait > 0 && !a.paused() {
            consider(s.scheduled_us + wait, Due::Timeout(TimeoutType::ScheduleToStart));
        }
        // After the above: of two that are due at once a server names that one. Without a schedule-to-start timeout they are equal.
        if s.expiration_us > 0 {
            consider(s.expiration_us, Due::Timeout(TimeoutType::ScheduleToClose));
        }
    }
    best
}

/// Handles the activity's deadline.
pub fn due(run: &mut Run, cx: &mut Context, id: i64) {
    let Some((_, due)) = run.activities.get(&id).and_then(next_deadline) else { return };
    match due {
        Due::Ready => {
            if !run.to_queue.contains(&id) {
                run.to_queue.push(id);
            }
            // Its place in the queue replaces the deadline; that is set when the step ends.
            run.dirty = true;
        }
        Due::Timeout(kind) => timed_out(run, cx, id, kind),
    }
}

fn timed_out(run: &mut Run, cx: &mut Context, id: i64, kind: TimeoutType) {
    let failure = failure::timeout(format!("activity {kind:?} timeout"), kind);
    end_attempt_by_timeout(run, cx, id, kind, failure);
}

/// The worker of this attempt is gone: retries at once while attempts are left, else times out.
pub fn lost(run: &mut Run, cx: &mut Context, id: i64) {
    let message = "activity StartToClose timeout: the worker's process ended";
    let failure = failure::timeout(message, TimeoutType::StartToClose);
    let time = run.time(cx.now);
    let Some(a) = run.activities.get(&id) else { return };
    let maximum = a.attrs.retry_policy.as_ref().map_or(0, |p| p.maximum_attempts);
    let left = maximum == 0 || a.state.attempt < maximum;
    let expired = a.state.expiration_us > 0 && time >= a.state.expiration_us;
    if left && !expired && a.state.cancel_requested_id == 0 {
        next_attempt(run, cx, id, time, 0, codec::bytes(&failure));
        return;
    }
    let state = if left { RetryState::Timeout } else { RetryState::MaximumAttemptsReached };
    let state = if a.state.cancel_requested_id != 0 { RetryState::CancelRequested } else { state };
    time_out(run, cx, id, failure, state);
}

fn end_attempt_by_timeout(run: &mut Run, cx: &mut Context, id: i64, kind: TimeoutType, failure: Failure) {
    let time = run.time(cx.now);
    let Some(a) = run.activities.get(&id) else { return };
    let encoded = codec::bytes(&failure);
    let next = next_retry(a, time, &failure);
    cx.timed_out.push(TimedOutAttempt {
        workflow_id: run.head.workflow_id.clone(),
        run_id: run.head.run_id.clone(),
        workflow_type: run.head.workflow_type.clone(),
        activity_id: a.attrs.activity_id.clone(),
        activity_type: a.attrs.activity_type.as_ref().map(|t| t.name.clone()).unwrap_or_default(),
        attempt: a.state.attempt.max(0) as u32,
        timeout: kind as u32,
        started: a.started(),
        next_attempt_ms: next.as_ref().map_or(0.0, |(at, _)| to_ms(*at)),
    });
    match next {
        Ok((at, interval)) => next_attempt(run, cx, id, at, interval, encoded),
        Err(RetryState::Timeout) if kind != TimeoutType::ScheduleToStart => {
            let message = "Not enough time to schedule next retry before activity ScheduleToClose timeout, giving up retrying";
            time_out(run, cx, id, failure::timeout(message, TimeoutType::ScheduleToClose), RetryState::Timeout);
        }
        Err(state) => time_out(run, cx, id, failure, state),
    }
}

/// Returns time and interval of the next attempt after this failure, or why it is not retried.
pub fn next_retry(a: &Activity, now: Micros, failure: &Failure) -> Result<(Micros, Micros), RetryState> {
    let Some(policy) = &a.attrs.retry_policy else { return Err(RetryState::RetryPolicyNotSet) };
    if a.state.cancel_requested_id != 0 {
        return Err(RetryState::CancelRequested);
    }
    if a.paused() && retry::retryable(failure, &policy.non_retryable_error_types) {
        // Its attempts are not counted against the limit until it continues.
        return Ok((now, 0));
    }
    retry::next(policy, a.state.attempt, now, a.state.expiration_us, failure)
}

/// Back to waiting, as attempt + 1, ready at `at`.
pub fn next_attempt(run: &mut Run, cx: &mut Context, id: i64, at: Micros, interval: Micros, failure: Vec<u8>) {
    dequeue(run, cx, id);
    let time = run.time(cx.now);
    let Some(a) = run.activities.get_mut(&id) else { return };
    a.state.attempt += 1;
    a.state.scheduled_us = at;
    a.state.last_interval_us = interval;
    a.state.last_complete_us = time;
    a.state.last_failure = Some(failure);
    a.state.started_us = 0;
    a.state.nonce = 0;
    a.state.life = 0;
    a.state.request_id.clear();
    after_reset(a);
    let paused = a.paused();
    touched(run, id);
    if at <= time && !paused {
        run.to_queue.push(id);
    }
}

/// What a reset of the activity has asked for its next attempt.
fn after_reset(a: &mut Activity) {
    a.state.was_reset = false;
    if std::mem::take(&mut a.state.resets_heartbeat) {
        a.state.heartbeat_details = None;
        a.state.heartbeat_us = 0;
    }
}

/// An activity that no worker has waits for its attempt, ready at `at`.
pub fn reschedule(run: &mut Run, cx: &mut Context, id: i64, at: Micros) {
    dequeue(run, cx, id);
    let Some(a) = run.activities.get_mut(&id) else { return };
    a.state.scheduled_us = at;
    a.state.last_failure = None;
    after_reset(a);
    touched(run, id);
    if at <= run.time(cx.now) {
        run.to_queue.push(id);
    }
}

pub fn dequeue(run: &mut Run, cx: &mut Context, id: i64) {
    run.to_queue.retain(|q| *q != id);
    if let Some(key) = run.activities.get_mut(&id).and_then(|a| a.queued.take()) {
        cx.queues.remove(&key);
    }
}

/// Removes the activity from the run.
pub fn remove(run: &mut Run, cx: &mut Context, id: i64) -> Option<Activity> {
    dequeue(run, cx, id);
    let a = run.activities.remove(&id)?;
    run.set_deadline(Deadline::Activity(id), a.deadline, None);
    run.activity_ids.remove(&a.attrs.activity_id);
    run.mark(kind::ACTIVITY, id.to_string());
    if a.attrs_stored {
        run.mark(kind::ACTIVITY_INPUT, id.to_string());
    }
    Some(a)
}

/// Writes ActivityTaskStarted if the activity has started; returns its event id.
pub fn write_started(run: &mut Run, s: ActivityState) -> i64 {
    if s.started_us == 0 {
        return 0;
    }
    let attrs = ActivityStartedAttrs {
        scheduled_event_id: s.scheduled_id,
        identity: s.identity,
        request_id: s.request_id,
        attempt: s.attempt,
        last_failure: s.last_failure,
        worker_version: s.worker_version,
    };
    run.add(s.started_us, attrs, About::ActivityStarted(s.scheduled_id))
}

/// Writes the event that ends an activity and requests a workflow task. While a workflow task is
/// started both events are buffered, and the buffer links them.
pub fn write_end<A: Ending + 'static>(run: &mut Run, cx: &Context, id: i64, attrs: A) {
    let time = run.time(cx.now);
    run.add(time, attrs, About::ActivityEnded(id, A::STARTED));
    run.want_task = true;
}

fn time_out(run: &mut Run, cx: &mut Context, id: i64, mut failure: Failure, state: RetryState) {
    let Some(mut a) = remove(run, cx, id) else { return };
    if let Some(info) = &mut failure.timeout_info {
        info.last_heartbeat_details = a.state.heartbeat_details.take();
    }
    failure.cause = a.state.last_failure.clone();
    let failure = Some(codec::bytes(&failure));
    let started_event_id = write_started(run, a.state);
    let attrs = ActivityTimedOutAttrs { failure, scheduled_event_id: id, started_event_id, retry_state: state as i32 };
    write_end(run, cx, id, attrs);
}

/// Starts the activity for a worker; None if it is no longer waiting.
pub fn start(run: &mut Run, cx: &mut Context, id: i64, poll: &Poll) -> Option<PollActivityResponse> {
    let time = run.time(cx.now);
    let request_id = cx.rng.uuid4();
    let nonce = cx.rng.nonzero();
    let life = cx.life;
    let a = run.activities.get_mut(&id)?;
    a.queued = None;
    if a.started() {
        return None;
    }
    a.state.started_us = time;
    a.state.nonce = nonce;
    a.state.life = life;
    a.state.request_id = request_id;
    a.state.identity.clone_from(&poll.identity);
    a.state.worker_version.clone_from(&poll.worker_version);
    a.state.deployment_version.clone_from(&poll.version);
    let token = TaskToken {
        workflow_id: run.head.workflow_id.clone(),
        run_id: run.head.run_id.clone(),
        scheduled_id: id,
        attempt: a.state.attempt,
        nonce,
        query: 0,
    };
    let response = PollActivityResponse {
        task_token: codec::bytes(&token),
        workflow_namespace: cx.namespace.clone(),
        workflow_type: Some(Named { name: run.head.workflow_type.clone() }),
        workflow_execution: Some(WorkflowExecution {
            workflow_id: run.head.workflow_id.clone(),
            run_id: run.head.run_id.clone(),
        }),
        activity_type: a.attrs.activity_type.clone(),
        activity_id: a.attrs.activity_id.clone(),
        header: a.attrs.header.clone(),
        input: a.attrs.input.clone(),
        heartbeat_details: a.state.heartbeat_details.clone(),
        scheduled_time: timestamp_opt(a.state.first_scheduled_us),
        current_attempt_scheduled_time: timestamp_opt(a.state.scheduled_us),
        started_time: Some(timestamp(time)),
        attempt: a.state.attempt,
        schedule_to_close_timeout: a.attrs.schedule_to_close_timeout,
        start_to_close_timeout: a.attrs.start_to_close_timeout,
        heartbeat_timeout: a.attrs.heartbeat_timeout,
        retry_policy: a.attrs.retry_policy.clone(),
        priority: a.attrs.priority.clone(),
    };
    touched(run, id);
    Some(response)
}
