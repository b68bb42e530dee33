//! Applying one sequence of events: machines move, jobs arise (core-spec 1.1, 2.3, 2.5).
//!
//! Each event is looked at once and its payloads are moved into the job that it makes.
use prost::Message;

use crate::api::enums::v1::{EventType, WorkflowTaskFailedCause};
use crate::api::history::v1::history_event::Attributes;
use crate::api::history::v1::{
    HistoryEvent, WorkflowExecutionStartedEventAttributes, WorkflowTaskFailedEventAttributes, WorkflowTaskStartedEventAttributes,
};
use crate::boundary::job::Variant;
use crate::boundary::{CancelWorkflow, CommandKind, FireTimer, InitializeWorkflow, SignalWorkflow, UpdateRandomSeed};
use crate::error::{Result, codes, fatal, nondeterminism, unsupported};
use crate::history::event::{Route, event_type, is_terminal_event, route};
use crate::replay::convert::{duration_ms, payload_vec, timestamp_ms};
use crate::replay::event::{EventRef, Place, bad_event};
use crate::replay::queue::{Queued, type_name_of};
use crate::replay::random::{Random, seed_of};
use crate::replay::terminal::Inherited;
use crate::replay::update::Incoming;
use crate::replay::workflow::{Initiator, Workflow};
use crate::replay::{activity, timer};

/// What the applied sequence means for replaying.
#[derive(Clone, Copy, Debug)]
pub struct Frontier {
    /// Nothing is known behind this sequence.
    pub is_last: bool,
    /// WorkflowTaskStarted of the last task that a worker completed.
    pub previous_started: i64,
}

impl Workflow {
    pub fn apply(&mut self, events: Vec<HistoryEvent>, frontier: Frontier) -> Result<()> {
        self.activation_index = 0;
        self.at_frontier = frontier.is_last;
        self.side_effects.known.clear();
        self.updates.admitted.clear();
        let mut behind_commands = None;
        let mut completed = false;
        let mut events = events.into_iter().peekable();
        while let Some(event) = events.next() {
            let at = EventRef::of(&event);
            if self.ended {
                let text = format!("{at} came after the event that ended the run");
                return Err(fatal(codes::EVENT_AFTER_END, text).at_event(at));
            }
            self.last_event_id = at.id;
            let route = route(&event);
            let is_command = route == Route::Command;
            let is_completed = event.event_type == EventType::WorkflowTaskCompleted as i32;
            completed |= is_completed;
            if !is_command && !is_completed {
                if completed && behind_commands.is_none() {
                    behind_commands = Some(at);
                }
                if frontier.is_last && at.id > frontier.previous_started {
                    self.replaying = false;
                }
            }
            self.ended = is_terminal_event(&event);
            match route {
                Route::Command => {
                    if self.match_command_event(event, at, events.peek())?
                        && let Some(skipped) = events.next()
                    {
                        self.last_event_id = skipped.event_id;
                    }
                }
                Route::Initiated(id) => self.apply_initiated(id, event, at)?,
                Route::WorkflowTask => self.apply_workflow_task(event, at, events.peek())?,
                Route::Standalone => self.apply_standalone(event, at)?,
                Route::Ignored => {}
                Route::Unknown => {
                    let text = format!("{at} is of a type that this version does not know, and may not be skipped");
                    return Err(unsupported(codes::UNKNOWN_EVENT, text).at_event(at));
                }
            }
        }
        if let Some(at) = behind_commands {
            self.check_extra_command(at)?;
        }
        self.deliver_messages();
        Ok(())
    }

    fn apply_initiated(&mut self, id: i64, event: HistoryEvent, at: EventRef) -> Result<()> {
        let found = self.initiators.binary_search_by_key(&id, |(id, _)| *id).ok().and_then(|i| self.initiators.get(i));
        let Some((_, initiator)) = found else {
            let text = format!(
                "During event handling, this event had an initial command ID but we could not find a matching command for it: {at}"
            );
            return Err(nondeterminism(codes::UNKNOWN_INITIATOR, text).at_event(at));
        };
        let attributes = event.attributes.ok_or_else(|| bad_event(at, "attributes"))?;
        match *initiator {
            Initiator::Timer(seq) => {
                let Attributes::TimerFiredEventAttributes(fired) = attributes else {
                    return Err(crate::replay::event::wrong_type(timer::NAME, at));
                };
                let timer = (seq as usize).checked_sub(1).and_then(|i| self.timers.get_mut(i));
                timer
                    .ok_or_else(|| bad_event(at, "timer"))?
                    .on_fired(seq, &fired.timer_id, at)
                    .of_command(CommandKind::StartTimer, seq)?;
                self.jobs.of_event(at.id, Variant::FireTimer(FireTimer { seq }));
            }
            Initiator::Activity(seq) => {
                let activity = (seq as usize).checked_sub(1).and_then(|i| self.activities.get_mut(i));
                let resolution = activity.ok_or_else(|| bad_event(at, activity::NAME))?.on_event(seq, attributes, at);
                if let Some(resolution) = resolution.at_event(at).of_command(CommandKind::ScheduleActivity, seq)? {
                    self.jobs.of_event(at.id, Variant::ResolveActivity(resolution));
                }
            }
        }
        Ok(())
    }

    fn apply_workflow_task(&mut self, event: HistoryEvent, at: EventRef, next: Option<&HistoryEvent>) -> Result<()> {
        match event.attributes {
            Some(Attributes::WorkflowTaskStartedEventAttributes(started)) => {
                let outcome = next.and_then(event_type);
                if matches!(outcome, Some(EventType::WorkflowTaskFailed | EventType::WorkflowTaskTimedOut)) {
                    return Ok(());
                }
                let time = event.event_time.ok_or_else(|| bad_event(at, "time"))?;
                self.begin_workflow_task(&started, timestamp_ms(&time), at);
                Ok(())
            }
            Some(Attributes::WorkflowTaskCompletedEventAttributes(completed)) => match completed.sdk_metadata {
                Some(metadata) => self.flags.record(&metadata, &self.known_lang_flags).at_event(at),
                None => Ok(()),
            },
            Some(Attributes::WorkflowTaskFailedEventAttributes(failed)) => {
                self.reseed(&failed, at);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin_workflow_task(&mut self, started: &WorkflowTaskStartedEventAttributes, time_ms: f64, at: EventRef) {
        self.advance_time(time_ms);
        self.started_event_id = at.id;
        self.history_size_bytes = started.history_size_bytes;
        self.continue_as_new_suggested = started.suggest_continue_as_new;
    }

    /// A reset starts the run's random numbers anew; every other failed task leaves no trace.
    fn reseed(&mut self, failed: &WorkflowTaskFailedEventAttributes, at: EventRef) {
        if failed.cause == WorkflowTaskFailedCause::ResetWorkflow as i32 {
            let seed = seed_of(&failed.new_run_id);
            self.random = Random::new(seed);
            let job = UpdateRandomSeed { randomness_seed: seed.to_string() };
            self.jobs.of_event(at.id, Variant::UpdateRandomSeed(job));
        }
    }

    fn apply_standalone(&mut self, event: HistoryEvent, at: EventRef) -> Result<()> {
        let time = event.event_time;
        match event.attributes {
            Some(Attributes::WorkflowExecutionStartedEventAttributes(started)) => {
                if at.id != 1 {
                    return Err(fatal(codes::BAD_EVENT, format!("{at} does not stand at the beginning")).at_event(at));
                }
                self.initialize(started, time.map_or(0.0, |t| timestamp_ms(&t)), at);
            }
            Some(Attributes::WorkflowExecutionSignaledEventAttributes(signaled)) => {
                let job = SignalWorkflow {
                    signal_name: signaled.signal_name,
                    input: payload_vec(signaled.input),
                    identity: signaled.identity,
                    headers: signaled.header.map(|h| h.fields).unwrap_or_default(),
                };
                self.jobs.of_event(at.id, Variant::SignalWorkflow(job));
            }
            Some(Attributes::WorkflowExecutionCancelRequestedEventAttributes(cancel)) => {
                self.jobs.of_event(at.id, Variant::CancelWorkflow(CancelWorkflow { reason: cancel.cause }));
            }
            Some(Attributes::WorkflowExecutionUpdateAdmittedEventAttributes(admitted)) => {
                let request = admitted.request.ok_or_else(|| bad_event(at, "update request"))?;
                let id = request.meta.as_ref().map(|m| m.update_id.clone()).unwrap_or_default();
                let incoming = Incoming {
                    protocol_instance_id: id.clone(),
                    message_id: format!("{id}/request"),
                    sequencing_id: at.id,
                    request: Box::new(request),
                };
                if self.replaying {
                    self.updates.admitted.insert(id, incoming);
                } else {
                    self.request_update(incoming);
                }
            }
            // Termination and timeout of the run: nothing follows, nothing is to be done.
            _ => {}
        }
        Ok(())
    }

    fn initialize(&mut self, mut started: Box<WorkflowExecutionStartedEventAttributes>, time_ms: f64, at: EventRef) {
        self.time_ms = time_ms;
        let seed = seed_of(&started.original_execution_run_id);
        self.random = Random::new(seed);
        if self.run_id.is_empty() {
            self.run_id.clone_from(&started.original_execution_run_id);
        }
        let arguments = payload_vec(started.input.take());
        let started_attributes = started.encode_to_vec();
        let workflow_type = started.workflow_type.map(|t| t.name).unwrap_or_default();
        let task_queue = started.task_queue.map(|q| q.name).unwrap_or_default();
        self.inherited = Inherited {
            workflow_type: workflow_type.clone(),
            task_queue: task_queue.clone(),
            memo: started.memo,
            retry_policy: started.retry_policy,
            search_attributes: started.search_attributes,
        };
        let job = InitializeWorkflow {
            workflow_type,
            workflow_id: self.workflow_id.clone(),
            run_id: self.run_id.clone(),
            arguments,
            headers: started.header.map(|h| h.fields).unwrap_or_default(),
            randomness_seed: seed.to_string(),
            start_time_ms: time_ms,
            attempt: u32::try_from(started.attempt).unwrap_or_default(),
            task_queue,
            first_execution_run_id: started.first_execution_run_id,
            continued_from_run_id: started.continued_execution_run_id,
            workflow_task_timeout_ms: duration_ms(started.workflow_task_timeout.as_ref()),
            workflow_run_timeout_ms: duration_ms(started.workflow_run_timeout.as_ref()),
            workflow_execution_timeout_ms: duration_ms(started.workflow_execution_timeout.as_ref()),
            started_attributes,
        };
        self.jobs.of_event(at.id, Variant::InitializeWorkflow(job));
    }

    /// Update requests that came with the task and whose place has been reached.
    fn deliver_messages(&mut self) {
        while self.incoming.front().is_some_and(|m| m.sequencing_id < self.last_event_id) {
            if let Some(incoming) = self.incoming.pop_front() {
                self.request_update(incoming);
            }
        }
    }

    /// An update request becomes a job, unless the update is known already.
    pub fn request_update(&mut self, incoming: Incoming) {
        let sequencing_id = incoming.sequencing_id;
        if let Some(job) = self.updates.request(incoming, self.replaying) {
            self.jobs.of_update(sequencing_id, Variant::DoUpdate(job));
        }
    }

    /// A command of an earlier activation that the events of its task do not hold. Core notices it only at the next command event
    /// of another type; this says where code and history part. Patches may stand without an event.
    fn check_extra_command(&mut self, at: EventRef) -> Result<()> {
        let held = |c: &&Queued| !matches!(c, Queued::Patch { .. } | Queued::ChangeVersions { .. }) && !self.is_withdrawn(c);
        let Some(extra) = self.queue.iter().find(held) else { return Ok(()) };
        if self.extra_reported {
            return Ok(());
        }
        self.extra_reported = true;
        let (kind, seq) = (extra.kind(), extra.seq());
        let name = type_name_of(extra.command_type());
        let text = format!("Extra command {name} not found in history before event {}", at.id);
        self.diagnose(codes::EXTRA_COMMAND, text, at).of_command(kind, seq)
    }
}
