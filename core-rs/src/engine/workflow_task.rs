//! The workflow task of a run: scheduled, started, timed out, failed. (Completion is in `requests/workflow_task_completed.rs`.)
//!
//! Three kinds share one state. A normal task has its events in history. A transient one (attempt > 1, nothing new since the last
//! failure) has them outside until it completes. A speculative one (made for updates) likewise, and is in memory only; any other
//! event turns it into a normal one. Failing on a sticky queue clears the stickiness and does not count as an attempt.
use super::context::Context;
use super::messages::events::*;
use super::queues::Poll;
use super::state::run::{Recent, Run, TaskState};
use super::task_events::{encode_outside, make_normal, scheduled_attrs, started_attrs};
use super::time::{Micros, SECOND, duration};
use super::tokens::TaskToken;
use super::updates;
use crate::api::enums::v1::{SuggestContinueAsNewReason, TimeoutType, WorkflowTaskFailedCause};

/// Attempts after which a failing task gets more time, as a back-off (its worker leaves it to time out).
const BACKOFF_FROM_ATTEMPT: i32 = 3;
const BACKOFF_INITIAL: Micros = 5 * SECOND;
const BACKOFF_MAX: Micros = 600 * SECOND;

fn start_to_close(run: &Run, attempt: i32) -> Micros {
    let base = run.head.task_timeout_us;
    if attempt <= BACKOFF_FROM_ATTEMPT {
        return base;
    }
    let steps = (attempt - BACKOFF_FROM_ATTEMPT - 1).min(20) as u32;
    base + BACKOFF_INITIAL.saturating_mul(1 << steps).min(BACKOFF_MAX)
}

/// Whether the token is that of the started task.
pub fn holds(run: &Run, token: &TaskToken) -> bool {
    run.open() && run.head.task.as_ref().is_some_and(|t| is_held(t) && t.nonce == token.nonce)
}

/// Whether a worker has the task. A task without a nonce has failed and waits for its back-off.
pub fn is_held(task: &TaskState) -> bool {
    task.started_id != 0 && task.nonce != 0
}

/// Schedules a task; the caller has checked that none exists. `heartbeat_since` carries the first
/// scheduling of a chain of heartbeats.
pub fn schedule(run: &mut Run, now: Micros, speculative: bool, heartbeat_since: Option<Micros>) {
    let mut speculative = speculative;
    if run.flush_buffer() {
        run.reset_attempts();
        speculative = false;
    }
    let time = run.time(now);
    let attempt = run.head.task_attempt.max(1);
    let in_history = attempt == 1 && !speculative;
    let start_to_close = start_to_close(run, run.counted_attempts());
    let task_queue = run.current_queue();
    let sticky = run.sticky();
    let scheduled_id = run.head.next_event_id;
    if in_history {
        run.append(
            time,
            &TaskScheduledAttrs { task_queue: Some(task_queue), start_to_close_timeout: Some(duration(start_to_close)), attempt },
        );
    }
    run.head.task_attempt = attempt;
    run.head.task = Some(TaskState {
        scheduled_id,
        attempt,
        scheduled_us: time,
        original_scheduled_us: heartbeat_since.unwrap_or(time),
        start_to_close_us: start_to_close,
        sticky,
        in_history,
        speculative,
        ..Default::default()
    });
    run.dirty |= !speculative;
    let deadline = (sticky && run.head.sticky_timeout_us > 0).then(|| time + run.head.sticky_timeout_us);
    run.set_task_deadline(deadline);
}

/// Schedules the task that a step made necessary, unless there is one or the first one is still held back.
pub fn schedule_if_wanted(run: &mut Run, now: Micros) {
    if !run.want_task {
        return;
    }
    run.want_task = false;
    if run.open() && run.head.task.is_none() && run.head.first_task_at_us == 0 {
        schedule(run, now, false, None);
    }
}

/// Takes the pending task away; its place in a queue and its deadline go with it.
pub fn remove(run: &mut Run, cx: &mut Context) -> Option<TaskState> {
    if let Some(key) = run.task_queued.take() {
        cx.queues.remove(&key);
    }
    run.set_task_deadline(None);
    run.eager_task = None;
    let task = run.head.task.take();
    run.dirty |= task.as_ref().is_some_and(|t| !t.speculative);
    task
}

/// Gives the scheduled task to a worker. `request_id` is what the Started event shows. Returns the tail of history that a partial
/// task delivers, when it is in memory.
pub fn start(run: &mut Run, cx: &mut Context, poll: &Poll, request_id: String, partial: bool) -> Option<Recent> {
    if let Some(key) = run.task_queued.take() {
        cx.queues.remove(&key);
    }
    let now = run.time(cx.now);
    if run.sticky() && !poll.sticky && !partial {
        run.clear_sticky();
    }
    let next = run.head.next_event_id;
    let (suggest, reasons) = suggestion(run, cx);
    let mut task = run.head.task.take()?;
    if !task.in_history && task.scheduled_id != next {
        // Events came since it was scheduled outside of history: an ordinary task now.
        task.attempt = 1;
        run.reset_attempts();
        task.speculative = false;
        task.in_history = true;
        task.scheduled_us = now;
        task.sticky = run.sticky();
        task.scheduled_id = run.append(now, &scheduled_attrs(run, &task));
    }
    task.started_id = task.scheduled_id + 1;
    task.started_us = now;
    task.request_id = request_id;
    task.nonce = cx.rng.nonzero();
    task.life = cx.life;
    task.identity = poll.identity.clone();
    task.worker_version = poll.worker_version.clone();
    task.suggest_continue_as_new = suggest;
    task.suggest_reasons = reasons;
    task.history_bytes = run.head.history_bytes;
    task.inbox_delivered = run.head.inbox_signals;
    let deadline = now + task.start_to_close_us;
    let delivered = if task.in_history {
        task.started_id = run.append(now, &started_attrs(&task));
        run.cut_batch();
        run.take_recent()
    } else {
        run.recent.as_ref().map(|r| {
            let mut bytes = r.bytes.clone();
            encode_outside(run, &task, &mut bytes);
            Recent { first_id: r.first_id, bytes }
        })
    };
    run.dirty |= !task.speculative;
    run.head.task = Some(task);
    run.set_task_deadline(Some(deadline));
    delivered
}

fn suggestion(run: &Run, cx: &Context) -> (bool, Vec<u32>) {
    let mut reasons = Vec::new();
    if run.head.history_bytes >= cx.limits.suggest_bytes {
        reasons.push(SuggestContinueAsNewReason::HistorySizeTooLarge as u32);
    }
    if run.head.next_event_id >= cx.limits.suggest_events {
        reasons.push(SuggestContinueAsNewReason::TooManyHistoryEvents as u32);
    }
    if run.updates.len() >= cx.limits.suggest_updates {
        reasons.push(SuggestContinueAsNewReason::TooManyUpdates as u32);
    }
    (!reasons.is_empty(), reasons)
}

/// After a failure or timeout: the task is gone and the attempt counted, unless it was on a sticky queue.
fn count_failure(run: &mut Run, cx: &mut Context, count: bool) {
    remove(run, cx);
    let count = count && !run.sticky();
    run.clear_sticky();
    if count {
        abort_updates_if_failing(run, cx);
        run.head.task_attempt = run.head.task_attempt.max(1) + 1;
    } else {
        run.reset_attempts();
    }
    run.dirty = true;
    run.want_task = true;
}

/// Updates that the workflow has not accepted are aborted when its task has failed for the third time: one of them may be the cause.
fn abort_updates_if_failing(run: &mut Run, cx: &mut Context) {
    if run.is_failing() {
        updates::abort_undecided(run, cx);
    }
}

/// Fails the started task because its worker or its commands say so. After the second attempt the next one waits for the timeout
/// of this one, which is the back-off.
pub fn fail_with_backoff(
    run: &mut Run,
    cx: &mut Context,
    cause: WorkflowTaskFailedCause,
    failure: Option<Vec<u8>>,
    identity: &str,
    checksum: &str,
) {
    let attempt = run.head.task.as_ref().map_or(0, |t| t.attempt);
    if attempt <= 1 {
        return fail(run, cx, cause, failure, identity, checksum);
    }
    let time = run.time(cx.now);
    if let Some(task) = &mut run.head.task {
        task.nonce = 0;
        task.scheduled_us = time;
        task.original_scheduled_us = time;
        run.dirty = true;
    }
    abort_updates_if_failing(run, cx);
}

/// Fails the started task. Only a first attempt leaves an event.
pub fn fail(
    run: &mut Run,
    cx: &mut Context,
    cause: WorkflowTaskFailedCause,
    failure: Option<Vec<u8>>,
    identity: &str,
    checksum: &str,
) {
    make_normal(run);
    let time = run.time(cx.now);
    let Some(task) = run.head.task.clone() else { return };
    if task.in_history && task.attempt <= 1 {
        let attrs = TaskFailedAttrs {
            scheduled_event_id: task.scheduled_id,
            started_event_id: task.started_id,
            cause: cause as i32,
            failure,
            identity: identity.into(),
            binary_checksum: checksum.into(),
            ..Default::default()
        };
        run.append(time, &attrs);
    }
    count_failure(run, cx, true);
}

/// The process of its worker has ended: the task is given out again, and the attempt says nothing about the workflow's code.
pub fn lost(run: &mut Run, cx: &mut Context) {
    // A task that had failed is retried at once like the others, but its attempt counts.
    let was_held = run.head.task.as_ref().is_some_and(is_held);
    timed_out(run, cx);
    if was_held && run.head.task_attempt > 1 {
        run.head.task_lost += 1;
    }
}

/// The deadline of the task has passed.
pub fn timed_out(run: &mut Run, cx: &mut Context) {
    make_normal(run);
    let time = run.time(cx.now);
    let Some(task) = run.head.task.clone() else { return };
    let waiting = task.started_id == 0;
    let kind = if waiting { TimeoutType::ScheduleToStart } else { TimeoutType::StartToClose };
    if task.in_history && task.attempt <= 1 {
        let attrs = TaskTimedOutAttrs {
            scheduled_event_id: task.scheduled_id,
            started_event_id: task.started_id,
            timeout_type: kind as i32,
        };
        run.append(time, &attrs);
    }
    count_failure(run, cx, !waiting);
}
