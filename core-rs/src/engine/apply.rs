//! Applies the planned steps of a completion: one event per command, and the state that goes with it.
use super::cx::Cx;
use super::event::{Attrs, Event};
use super::plan::Step;
use super::state::{Run, TimerState, kind};
use super::time::{Micros, duration, micros_or_zero};
use super::wire::*;
use super::{activity, close, fields, updates};
use crate::api::enums::v1::{CommandType, RetryState};

/// Answers whether the step by itself asks for another workflow task.
pub fn step(run: &mut Run, cx: &mut Cx, step: Step, completed_id: i64, identity: &str) -> bool {
    match step {
        Step::Message(m) => {
            updates::message(run, cx, m);
            false
        }
        Step::Command(command) => self::command(run, cx, *command, completed_id, identity),
    }
}

fn command(run: &mut Run, cx: &mut Cx, c: Command, completed_id: i64, identity: &str) -> bool {
    let time = run.time(cx.now);
    let (user_metadata, markers) = (c.user_metadata, c.event_group_markers);
    let event = |attrs: Attrs| Event { time, attrs, user_metadata, markers };
    match CommandType::try_from(c.command_type).unwrap_or(CommandType::Unspecified) {
        CommandType::ScheduleActivityTask => {
            if let Some(a) = c.schedule_activity {
                activity::scheduled(run, cx, a, completed_id, time, event);
            }
        }
        CommandType::RequestCancelActivityTask => {
            if let Some(a) = c.cancel_activity {
                return activity::cancel_requested(run, cx, a.scheduled_event_id, completed_id, identity, event);
            }
        }
        CommandType::StartTimer => {
            if let Some(a) = c.start_timer {
                start_timer(run, a, completed_id, time, event);
            }
        }
        CommandType::CancelTimer => {
            if let Some(a) = c.cancel_timer {
                let started_event_id = match remove_timer(run, &a.timer_id) {
                    Some(timer) => timer.started_id,
                    None => run.unfire(&a.timer_id).unwrap_or_default(),
                };
                let attrs = TimerCanceledAttrs {
                    timer_id: a.timer_id,
                    started_event_id,
                    workflow_task_completed_event_id: completed_id,
                    identity: identity.into(),
                };
                run.append(event(attrs.into()));
            }
        }
        CommandType::RecordMarker => {
            if let Some(a) = c.marker {
                let attrs = MarkerAttrs {
                    marker_name: a.marker_name,
                    details: a.details,
                    workflow_task_completed_event_id: completed_id,
                    header: a.header,
                    failure: a.failure,
                };
                run.append(event(attrs.into()));
            }
        }
        CommandType::UpsertWorkflowSearchAttributes => {
            if let Some(a) = c.upsert_search_attributes {
                run.head.search_attributes = fields::merge(run.head.search_attributes.take(), a.search_attributes.as_deref());
                let attrs =
                    UpsertAttrs { workflow_task_completed_event_id: completed_id, search_attributes: a.search_attributes };
                run.append(event(attrs.into()));
            }
        }
        CommandType::ModifyWorkflowProperties => {
            if let Some(a) = c.modify_properties {
                run.head.memo = fields::merge(run.head.memo.take(), a.upserted_memo.as_deref());
                let attrs =
                    PropertiesModifiedAttrs { workflow_task_completed_event_id: completed_id, upserted_memo: a.upserted_memo };
                run.append(event(attrs.into()));
            }
        }
        CommandType::CompleteWorkflowExecution => {
            let result = c.complete.and_then(|a| a.result);
            let attrs =
                CompletedAttrs { result, workflow_task_completed_event_id: completed_id, new_execution_run_id: String::new() };
            run.append(event(attrs.into()));
            close::closed(run, cx, close::Closed::Completed);
        }
        CommandType::CancelWorkflowExecution => {
            let details = c.cancel.and_then(|a| a.details);
            run.append(event(CanceledAttrs { workflow_task_completed_event_id: completed_id, details }.into()));
            close::closed(run, cx, close::Closed::Canceled);
        }
        CommandType::FailWorkflowExecution => {
            let failure = c.fail.and_then(|a| a.failure);
            let (next, retry_state) = close::retry(run, cx, failure.as_deref());
            let attrs = FailedAttrs {
                failure,
                retry_state: retry_state as i32,
                workflow_task_completed_event_id: completed_id,
                new_execution_run_id: next.as_ref().map(|n| n.run_id.clone()).unwrap_or_default(),
            };
            run.append(event(attrs.into()));
            debug_assert!(next.is_some() == (retry_state == RetryState::InProgress));
            close::closed_with(run, cx, close::Closed::Failed, next);
        }
        CommandType::ContinueAsNewWorkflowExecution => {
            if let Some(a) = c.continue_as_new {
                close::continue_as_new(run, cx, a, completed_id, event);
            }
        }
        // The plan lets nothing else through.
        _ => {}
    }
    false
}

fn start_timer(run: &mut Run, a: StartTimer, completed_id: i64, time: Micros, event: impl FnOnce(Attrs) -> Event) {
    let length = micros_or_zero(&a.start_to_fire_timeout);
    let attrs = TimerStartedAttrs {
        timer_id: a.timer_id.clone(),
        start_to_fire_timeout: Some(a.start_to_fire_timeout.unwrap_or_else(|| duration(0))),
        workflow_task_completed_event_id: completed_id,
    };
    let started_id = run.append(event(attrs.into()));
    let fire_us = time + length;
    run.set_deadline(super::state::Deadline::Timer(started_id), None, Some(fire_us));
    run.timer_ids.insert(started_id, a.timer_id.clone());
    run.mark(kind::TIMER, a.timer_id.clone());
    run.timers.insert(a.timer_id.clone(), TimerState { timer_id: a.timer_id, started_id, fire_us });
}

/// Takes an open timer out of the run.
pub fn remove_timer(run: &mut Run, timer_id: &str) -> Option<TimerState> {
    let timer = run.timers.remove(timer_id)?;
    run.timer_ids.remove(&timer.started_id);
    run.set_deadline(super::state::Deadline::Timer(timer.started_id), Some(timer.fire_us), None);
    run.mark(kind::TIMER, timer_id);
    Some(timer)
}
