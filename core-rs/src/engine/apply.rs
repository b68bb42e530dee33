//! Applies the planned steps of a completion: one event per command, and the state that goes with it.
use super::children::{self, End};
use super::cx::Cx;
use super::event::{Attributes, Event, Extras};
use super::plan::Step;
use super::state::{Deadline, Run, TimerState, kind};
use super::time::{Micros, duration, micros_or_zero};
use super::wire::*;
use super::{activity, close, fields, outgoing, search_attributes, updates};
use crate::api::enums::v1::CommandType;

/// The completion that a command belongs to.
pub struct At<'a> {
    pub time: Micros,
    pub completed_id: i64,
    pub identity: &'a str,
    pub extras: Extras,
}

impl At<'_> {
    /// Writes the event of the command.
    pub fn write<A: Attributes>(&self, run: &mut Run, attrs: &A) -> i64 {
        run.write(Event::new(self.time, attrs).with(&self.extras))
    }
}

/// Answers whether the step by itself asks for another workflow task.
pub fn step(run: &mut Run, cx: &mut Cx, step: Step, completed_id: i64, identity: &str) -> bool {
    match step {
        Step::Message(m) => {
            updates::message(run, cx, m);
            false
        }
        Step::Command(mut c) => {
            let extras = Extras { user_metadata: c.user_metadata.take(), markers: std::mem::take(&mut c.event_group_markers) };
            let at = At { time: run.time(cx.now), completed_id, identity, extras };
            command(run, cx, *c, &at)
        }
    }
}

fn command(run: &mut Run, cx: &mut Cx, c: Command, at: &At) -> bool {
    let workflow_task_completed_event_id = at.completed_id;
    match CommandType::try_from(c.command_type).unwrap_or(CommandType::Unspecified) {
        CommandType::ScheduleActivityTask => {
            if let Some(a) = c.schedule_activity {
                activity::scheduled(run, a, at);
            }
        }
        CommandType::RequestCancelActivityTask => {
            if let Some(a) = c.cancel_activity {
                return activity::cancel_requested(run, cx, a.scheduled_event_id, at);
            }
        }
        CommandType::StartTimer => {
            if let Some(a) = c.start_timer {
                start_timer(run, a, at);
            }
        }
        CommandType::CancelTimer => {
            if let Some(a) = c.cancel_timer {
                let started_event_id = match remove_timer(run, &a.timer_id) {
                    Some(timer) => timer.started_id,
                    None => run.unfire(&a.timer_id).unwrap_or_default(),
                };
                let identity = at.identity.into();
                let attrs =
                    TimerCanceledAttrs { timer_id: a.timer_id, started_event_id, workflow_task_completed_event_id, identity };
                at.write(run, &attrs);
            }
        }
        CommandType::StartChildWorkflowExecution => {
            if let Some(a) = c.start_child {
                children::initiated(run, cx, a, at);
            }
        }
        CommandType::SignalExternalWorkflowExecution => {
            if let Some(a) = c.signal_external {
                outgoing::signal_initiated(run, cx, a, at);
            }
        }
        CommandType::RequestCancelExternalWorkflowExecution => {
            if let Some(a) = c.cancel_external {
                outgoing::cancel_initiated(run, cx, a, at);
            }
        }
        CommandType::RecordMarker => {
            if let Some(Marker { marker_name, details, header, failure }) = c.marker {
                at.write(run, &MarkerAttrs { marker_name, details, workflow_task_completed_event_id, header, failure });
            }
        }
        CommandType::UpsertWorkflowSearchAttributes => {
            if let Some(UpsertSearchAttributes { search_attributes }) = c.upsert_search_attributes {
                let search_attributes = search_attributes::typed(search_attributes, run.head.search_attributes.as_deref());
                run.head.search_attributes = fields::merge(run.head.search_attributes.take(), search_attributes.as_deref());
                at.write(run, &UpsertAttrs { workflow_task_completed_event_id, search_attributes });
            }
        }
        CommandType::ModifyWorkflowProperties => {
            if let Some(ModifyProperties { upserted_memo }) = c.modify_properties {
                run.head.memo = fields::merge(run.head.memo.take(), upserted_memo.as_deref());
                at.write(run, &PropertiesModifiedAttrs { workflow_task_completed_event_id, upserted_memo });
            }
        }
        CommandType::CompleteWorkflowExecution => {
            let result = c.complete.and_then(|a| a.result);
            let attrs = CompletedAttrs { result, workflow_task_completed_event_id, new_execution_run_id: String::new() };
            at.write(run, &attrs);
            close::closed(run, cx, close::Closed::Completed, End { payloads: attrs.result, ..End::default() });
        }
        CommandType::CancelWorkflowExecution => {
            let details = c.cancel.and_then(|a| a.details);
            let attrs = CanceledAttrs { workflow_task_completed_event_id, details };
            at.write(run, &attrs);
            close::closed(run, cx, close::Closed::Canceled, End { payloads: attrs.details, ..End::default() });
        }
        CommandType::FailWorkflowExecution => {
            let failure = c.fail.and_then(|a| a.failure);
            let (next, retry_state) = close::retry(run, cx, failure.as_deref());
            let new_execution_run_id = next.as_ref().map(|n| n.run_id.clone()).unwrap_or_default();
            let retry_state = retry_state as i32;
            let attrs = FailedAttrs { failure, retry_state, workflow_task_completed_event_id, new_execution_run_id };
            at.write(run, &attrs);
            let end = End { failure: attrs.failure, retry_state, ..End::default() };
            close::closed_with(run, cx, close::Closed::Failed, next, end);
        }
        CommandType::ContinueAsNewWorkflowExecution => {
            if let Some(a) = c.continue_as_new {
                close::continue_as_new(run, cx, a, at);
            }
        }
        // The plan lets nothing else through.
        _ => {}
    }
    false
}

fn start_timer(run: &mut Run, a: StartTimer, at: &At) {
    let length = micros_or_zero(&a.start_to_fire_timeout);
    let attrs = TimerStartedAttrs {
        timer_id: a.timer_id,
        start_to_fire_timeout: Some(a.start_to_fire_timeout.unwrap_or_else(|| duration(0))),
        workflow_task_completed_event_id: at.completed_id,
    };
    let started_id = at.write(run, &attrs);
    let timer_id = attrs.timer_id;
    let fire_us = at.time + length;
    run.set_deadline(Deadline::Timer(started_id), None, Some(fire_us));
    run.timer_ids.insert(started_id, timer_id.clone());
    run.mark(kind::TIMER, timer_id.clone());
    run.timers.insert(timer_id.clone(), TimerState { timer_id, started_id, fire_us });
}

/// Takes an open timer out of the run.
pub fn remove_timer(run: &mut Run, timer_id: &str) -> Option<TimerState> {
    let timer = run.timers.remove(timer_id)?;
    run.timer_ids.remove(&timer.started_id);
    run.set_deadline(Deadline::Timer(timer.started_id), Some(timer.fire_us), None);
    run.mark(kind::TIMER, timer_id);
    Some(timer)
}
