//! The Scheduled and Started events of a workflow task. Those of a normal task are in history; those of a transient or speculative
//! one are outside until something else enters history, or the task completes.
use super::event::Event;
use super::messages::common::*;
use super::messages::events::*;
use super::state::run::{Run, TaskState};
use super::time::duration;

/// Writes the Scheduled (and Started) events of a speculative task: something else is about to enter history.
pub fn make_normal(run: &mut Run) {
    if run.head.task.as_ref().is_some_and(|t| t.speculative) {
        write_outside_events(run, None);
    }
}

/// Puts the events of a transient or speculative task into history, now that they count.
pub fn write_outside_events(run: &mut Run, identity: Option<&str>) {
    let Some(mut task) = run.head.task.take() else { return };
    if !task.in_history {
        task.scheduled_id = run.append(task.scheduled_us, &scheduled_attrs(run, &task));
        if task.started_id != 0 {
            if let Some(identity) = identity {
                task.identity = identity.into();
            }
            task.started_id = run.append(task.started_us, &started_attrs(&task));
            run.cut_batch();
            run.take_recent();
        }
        task.in_history = true;
        task.speculative = false;
    }
    run.head.task = Some(task);
    run.dirty = true;
}

pub fn scheduled_attrs(run: &Run, task: &TaskState) -> TaskScheduledAttrs {
    let task_queue = if task.sticky { run.current_queue() } else { normal_queue(&run.head.task_queue) };
    TaskScheduledAttrs {
        task_queue: Some(task_queue),
        start_to_close_timeout: Some(duration(task.start_to_close_us)),
        attempt: task.attempt,
    }
}

pub fn started_attrs(task: &TaskState) -> TaskStartedAttrs {
    TaskStartedAttrs {
        scheduled_event_id: task.scheduled_id,
        identity: task.identity.clone(),
        request_id: task.request_id.clone(),
        suggest_continue_as_new: task.suggest_continue_as_new,
        history_size_bytes: task.history_bytes,
        worker_version: task.worker_version.clone(),
        suggest_continue_as_new_reasons: task.suggest_reasons.clone(),
    }
}

/// Encodes the events of a task that are not in history.
pub fn encode_outside(run: &Run, task: &TaskState, bytes: &mut Vec<u8>) {
    bytes.extend(Event::new(task.scheduled_us, &scheduled_attrs(run, task)).to_bytes(task.scheduled_id));
    if task.started_id != 0 {
        bytes.extend(Event::new(task.started_us, &started_attrs(task)).to_bytes(task.started_id));
    }
}

/// The events of a task that are not in history, encoded as a History.
pub fn outside_events(run: &Run) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(task) = run.head.task.as_ref().filter(|t| !t.in_history) {
        encode_outside(run, task, &mut bytes);
    }
    bytes
}
