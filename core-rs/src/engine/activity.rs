//! Activities: scheduled by a command, handed to workers, retried and timed out by the engine. ActivityTaskStarted is written only
//! together with the event that ends the activity, so retries leave no trace in history but the attempt number.
use super::apply::At;
use super::codec;
use super::cx::Cx;
use super::event::{About, Attributes};
use super::queues::Poll;
use super::retry;
use super::rpc::{self, Rpc};
use super::state::{Activity, ActivityState, Deadline, Run, kind};
use super::time::{Micros, micros_or_zero, timestamp, timestamp_opt, to_ms};
use super::tokens::TaskToken;
use super::wire::*;
use crate::api::enums::v1::{RetryState, TimeoutType};
use crate::boundary::TimedOutAttempt;

/// Attributes bigger than this are stored once, apart from the state that changes.
const INLINE_ATTRS: usize = 2048;

/// SCHEDULE_ACTIVITY_TASK.
pub fn scheduled(run: &mut Run, a: ScheduleActivity, at: &At) {
    let time = at.time;
    let expires = micros_or_zero(&a.schedule_to_close_timeout);
    let attrs = ActivityScheduledAttrs {
        activity_id: a.activity_id,
        activity_type: a.activity_type,
        task_queue: a.task_queue,
        header: a.header,
        input: a.input,
        schedule_to_close_timeout: a.schedule_to_close_timeout,
        schedule_to_start_timeout: a.schedule_to_start_timeout,
        start_to_close_timeout: a.start_to_close_timeout,
        heartbeat_timeout: a.heartbeat_timeout,
        workflow_task_completed_event_id: at.completed_id,
        retry_policy: a.retry_policy,
        use_workflow_build_id: a.use_workflow_build_id,
        priority: a.priority,
    };
    let scheduled_id = at.write(run, &attrs);
    let activity_id = attrs.activity_id.clone();
    let carried = [&attrs.input, &attrs.header];
    let big = carried.iter().map(|b| b.as_ref().map_or(0, Vec::len)).sum::<usize>() > INLINE_ATTRS;
    if big {
        run.mark(kind::ACTIVITY_INPUT, scheduled_id.to_string());
    }
    let activity = Activity {
        state: ActivityState {
            scheduled_id,
            attempt: 1,
            scheduled_us: time,
            first_scheduled_us: time,
            expiration_us: if expires > 0 { time + expires } else { 0 },
            ..Default::default()
        },
        attrs,
        deadline: None,
        queued: None,
        attrs_stored: big,
    };
    run.activity_ids.insert(activity_id, scheduled_id);
    run.activities.insert(scheduled_id, activity);
    run.to_queue.push(scheduled_id);
    touched(run, scheduled_id);
}

/// The stored state of the activity and its deadline follow a change.
pub fn touched(run: &mut Run, id: i64) {
    restore(run, id);
    run.mark(kind::ACTIVITY, id.to_string());
}

/// Only the deadline.
pub fn restore(run: &mut Run, id: i64) {
    let Some(a) = run.activities.get_mut(&id) else { return };
    let next = next_deadline(a).map(|(t, _)| t);
    let old = std::mem::replace(&mut a.deadline, next);
    run.set_deadline(Deadline::Activity(id), old, next);
}

/// What happens to the activity next if nobody does anything: a retry becoming ready, or a timeout.
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
        if s.attempt > 1 && a.queued.is_none() {
            consider(s.scheduled_us, Due::Ready);
        }
        let wait = micros_or_zero(&attrs.schedule_to_start_timeout);
        if wait > 0 {
            consider(s.scheduled_us + wait, Due::Timeout(TimeoutType::ScheduleToStart));
        }
        // After the above: of two that are due at once a server names that one. Without a schedule-to-start timeout they are equal.
        if s.expiration_us > 0 {
            consider(s.expiration_us, Due::Timeout(TimeoutType::ScheduleToClose));
        }
    }
    best
}

/// The activity's deadline has come.
pub fn due(run: &mut Run, cx: &mut Cx, id: i64) {
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

fn timeout_failure(message: String, kind: TimeoutType) -> Failure {
    Failure {
        message,
        source: "Server".into(),
        timeout_info: Some(TimeoutInfo { timeout_type: kind as i32, last_heartbeat_details: None }),
        ..Default::default()
    }
}

fn timed_out(run: &mut Run, cx: &mut Cx, id: i64, kind: TimeoutType) {
    let failure = timeout_failure(format!("activity {kind:?} timeout"), kind);
    end_attempt_by_timeout(run, cx, id, kind, failure);
}

/// The worker of this attempt is gone for good: retried at once while attempts are left, else timed out.
pub fn lost(run: &mut Run, cx: &mut Cx, id: i64) {
    let message = "activity StartToClose timeout: the worker's process ended";
    let failure = timeout_failure(message.into(), TimeoutType::StartToClose);
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

fn end_attempt_by_timeout(run: &mut Run, cx: &mut Cx, id: i64, kind: TimeoutType, failure: Failure) {
    let time = run.time(cx.now);
    let Some(a) = run.activities.get(&id) else { return };
    let encoded = codec::bytes(&failure);
    let next = retry::activity(a, time, &failure);
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
            let message =
                "Not enough time to schedule next retry before activity ScheduleToClose timeout, giving up retrying".to_string();
            time_out(run, cx, id, timeout_failure(message, TimeoutType::ScheduleToClose), RetryState::Timeout);
        }
        Err(state) => time_out(run, cx, id, failure, state),
    }
}

/// Back to waiting, as attempt + 1, ready at `at`.
fn next_attempt(run: &mut Run, cx: &mut Cx, id: i64, at: Micros, interval: Micros, failure: Vec<u8>) {
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
    touched(run, id);
    if at <= time {
        run.to_queue.push(id);
    }
}

pub fn dequeue(run: &mut Run, cx: &mut Cx, id: i64) {
    run.to_queue.retain(|q| *q != id);
    if let Some(key) = run.activities.get_mut(&id).and_then(|a| a.queued.take()) {
        cx.queues.remove(&key);
    }
}

/// Takes the activity out of the run.
pub fn remove(run: &mut Run, cx: &mut Cx, id: i64) -> Option<Activity> {
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

/// Writes ActivityTaskStarted (if the activity ever started), answering its id.
fn write_started(run: &mut Run, s: ActivityState) -> i64 {
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

/// Writes what ended an activity; the workflow must hear of it. While a workflow task is started this is buffered, like the Started
/// event before, and the buffer links the two.
fn write_end<A: Attributes + 'static>(run: &mut Run, cx: &Cx, id: i64, started_field: u32, attrs: A) {
    let time = run.time(cx.now);
    run.add(time, attrs, About::ActivityEnded(id, started_field));
    run.want_task = true;
}

fn time_out(run: &mut Run, cx: &mut Cx, id: i64, mut failure: Failure, state: RetryState) {
    let Some(mut a) = remove(run, cx, id) else { return };
    if let Some(info) = &mut failure.timeout_info {
        info.last_heartbeat_details = a.state.heartbeat_details.take();
    }
    failure.cause = a.state.last_failure.clone();
    let failure = Some(codec::bytes(&failure));
    let started_event_id = write_started(run, a.state);
    let attrs = ActivityTimedOutAttrs { failure, scheduled_event_id: id, started_event_id, retry_state: state as i32 };
    write_end(run, cx, id, 3, attrs);
}

/// REQUEST_CANCEL_ACTIVITY_TASK. An activity that no worker has is cancelled at once; true: the workflow must hear of that.
pub fn cancel_requested(run: &mut Run, cx: &mut Cx, id: i64, at: &At) -> bool {
    let attrs = ActivityCancelRequestedAttrs { scheduled_event_id: id, workflow_task_completed_event_id: at.completed_id };
    let requested_id = at.write(run, &attrs);
    let Some(a) = run.activities.get_mut(&id) else { return false };
    a.state.cancel_requested_id = requested_id;
    if a.started() {
        touched(run, id);
        return false;
    }
    remove(run, cx, id);
    let attrs = ActivityCanceledAttrs {
        details: Some(super::payload::text_payloads("ACTIVITY_ID_NOT_STARTED")),
        latest_cancel_requested_event_id: requested_id,
        scheduled_event_id: id,
        started_event_id: 0,
        identity: at.identity.into(),
    };
    // After the events of all commands, like everything that a server buffers.
    run.buffer_event(at.time, attrs, About::ActivityEnded(id, 4));
    true
}

/// Gives the activity to a worker; None if it is no longer there to be given.
pub fn start(run: &mut Run, cx: &mut Cx, id: i64, poll: &Poll) -> Option<PollActivityResponse> {
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

/// Which activity an answer is about: the holder's token, or an id named from outside.
pub enum Which {
    Token(TaskToken),
    Id(String),
}

/// The activity, if this caller may speak for it. By id, an attempt that nobody polled counts as started now.
fn find(run: &mut Run, cx: &mut Cx, which: &Which, identity: &str, may_fabricate: bool) -> Rpc<i64> {
    if !run.open() {
        return Err(rpc::workflow_completed());
    }
    match which {
        Which::Token(t) => match run.activities.get(&t.scheduled_id) {
            Some(a) if a.started() && a.state.nonce == t.nonce => Ok(t.scheduled_id),
            _ => Err(rpc::activity_task_not_found()),
        },
        Which::Id(id) => {
            let found = run.activity_ids.get(id).copied().ok_or_else(rpc::activity_not_found)?;
            let started = run.activities.get(&found).is_some_and(Activity::started);
            if !started && !may_fabricate {
                return Err(rpc::activity_task_not_found());
            }
            if !started {
                dequeue(run, cx, found);
                let time = run.time(cx.now);
                if let Some(a) = run.activities.get_mut(&found) {
                    a.state.started_us = time;
                    a.state.identity = identity.into();
                    a.state.request_id.clear();
                }
            }
            Ok(found)
        }
    }
}

fn size_of(value: &Option<Vec<u8>>) -> usize {
    value.as_ref().map_or(0, Vec::len)
}

fn server_failure(message: &str) -> Vec<u8> {
    let server_info = Some(FlagInfo { non_retryable: true });
    codec::bytes(&Failure { message: message.into(), server_info, ..Default::default() })
}

pub fn completed(run: &mut Run, cx: &mut Cx, which: &Which, result: Option<Vec<u8>>, identity: String) -> Rpc<()> {
    let id = find(run, cx, which, &identity, true)?;
    if size_of(&result) > cx.limits.payload_bytes {
        let failure = server_failure("Complete result exceeds size limit.");
        return end_by_failure(run, cx, id, failure, identity);
    }
    let Some(a) = remove(run, cx, id) else { return Err(rpc::activity_task_not_found()) };
    let started_event_id = write_started(run, a.state);
    write_end(run, cx, id, 3, ActivityCompletedAttrs { result, scheduled_event_id: id, started_event_id, identity });
    Ok(())
}

pub fn failed(
    run: &mut Run,
    cx: &mut Cx,
    which: &Which,
    failure: Option<Vec<u8>>,
    heartbeat: Option<Vec<u8>>,
    identity: String,
) -> Rpc<()> {
    let id = find(run, cx, which, &identity, true)?;
    if heartbeat.is_some()
        && size_of(&heartbeat) <= cx.limits.payload_bytes
        && let Some(a) = run.activities.get_mut(&id)
    {
        a.state.heartbeat_details = heartbeat;
    }
    let too_big = size_of(&failure) > cx.limits.payload_bytes;
    let failure = if too_big { server_failure("Failure exceeds size limit.") } else { failure.unwrap_or_default() };
    end_by_failure(run, cx, id, failure, identity)
}

fn end_by_failure(run: &mut Run, cx: &mut Cx, id: i64, failure: Vec<u8>, identity: String) -> Rpc<()> {
    let time = run.time(cx.now);
    let Some(a) = run.activities.get(&id) else { return Err(rpc::activity_task_not_found()) };
    let view = codec::read::<Failure>(&failure).unwrap_or_default();
    match retry::activity(a, time, &view) {
        Ok((at, interval)) => next_attempt(run, cx, id, at, interval, failure),
        Err(state) => {
            let Some(a) = remove(run, cx, id) else { return Err(rpc::activity_task_not_found()) };
            let started_event_id = write_started(run, a.state);
            let failure = Some(failure);
            let retry_state = state as i32;
            let attrs = ActivityFailedAttrs { failure, scheduled_event_id: id, started_event_id, identity, retry_state };
            write_end(run, cx, id, 3, attrs);
        }
    }
    Ok(())
}

pub fn canceled(run: &mut Run, cx: &mut Cx, which: &Which, details: Option<Vec<u8>>, identity: String) -> Rpc<()> {
    let id = find(run, cx, which, &identity, false)?;
    let requested = run.activities.get(&id).map_or(0, |a| a.state.cancel_requested_id);
    if requested == 0 {
        return Err(rpc::invalid("unable to mark activity as canceled without activity being request canceled first"));
    }
    if size_of(&details) > cx.limits.payload_bytes {
        let failure = server_failure("Cancel details exceed size limit.");
        return end_by_failure(run, cx, id, failure, identity);
    }
    let Some(a) = remove(run, cx, id) else { return Err(rpc::activity_task_not_found()) };
    let started_event_id = write_started(run, a.state);
    let attrs = ActivityCanceledAttrs {
        details,
        latest_cancel_requested_event_id: requested,
        scheduled_event_id: id,
        started_event_id,
        identity,
    };
    write_end(run, cx, id, 4, attrs);
    Ok(())
}

/// Answers whether the workflow wants the activity cancelled.
pub fn heartbeat(run: &mut Run, cx: &mut Cx, which: &Which, details: Option<Vec<u8>>, identity: &str) -> Rpc<bool> {
    let id = find(run, cx, which, identity, false)?;
    let time = run.time(cx.now);
    if size_of(&details) > cx.limits.payload_bytes {
        let failure = server_failure("Heartbeat details exceed size limit.");
        end_by_failure(run, cx, id, failure, identity.into())?;
        return Ok(true);
    }
    let Some(a) = run.activities.get_mut(&id) else { return Err(rpc::activity_task_not_found()) };
    a.state.heartbeat_us = time;
    a.state.heartbeat_details = details;
    let cancel = a.state.cancel_requested_id != 0;
    touched(run, id);
    Ok(cancel)
}
