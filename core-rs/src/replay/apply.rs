//! Applying one sequence of events: machines move, jobs arise
//! (docs/dev/semantics/activations.md#the-loop-of-a-task).
//!
//! Each event is looked at once and its payloads are moved, still encoded, into the job that it makes.
use crate::api::enums::v1::{EventType, WorkflowTaskFailedCause};
use crate::boundary::CommandKind;
use crate::error::{Result, codes, fatal, nondeterminism, unsupported};
use crate::history::event::{Event, Route, event_type, is_terminal_event, route};
use crate::replay::convert::duration_ms;
use crate::replay::event::{EventRef, Place, bad_event};
use crate::replay::jobs::{Variant, fire_timer, text};
use crate::replay::queue::{Queued, type_name_of};
use crate::replay::random::{Random, seed_of};
use crate::replay::terminal::Inherited;
use crate::replay::update::Incoming;
use crate::replay::workflow::{Initiator, Workflow};
use crate::replay::{activity, cancel_external, timer};
use crate::wire::{Message, Writer};

/// What the applied sequence means for replaying.
#[derive(Clone, Copy, Debug)]
pub struct Frontier {
    /// Nothing is known behind this sequence.
    pub is_last: bool,
    /// WorkflowTaskStarted of the last task that a worker completed.
    pub previous_started: i64,
}

impl Workflow {
    pub fn apply(&mut self, events: &[Event], frontier: Frontier) -> Result<()> {
        self.activation_index = 0;
        self.at_frontier = frontier.is_last;
        self.side_effects.known.clear();
        self.updates.admitted.clear();
        let mut behind_commands = None;
        let mut completed = false;
        let mut events = events.iter().peekable();
        while let Some(event) = events.next() {
            let at = EventRef::of(event);
            if self.ended {
                let text = format!("{at} came after the event that ended the run");
                return Err(fatal(codes::EVENT_AFTER_END, text).at_event(at));
            }
            self.last_event_id = at.id;
            let route = route(event);
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
            self.ended = is_terminal_event(event);
            match route {
                Route::Command => {
                    if self.match_command_event(event, at, events.peek().copied())?
                        && let Some(skipped) = events.next()
                    {
                        self.last_event_id = skipped.event_id;
                    }
                }
                Route::Initiated(id) => self.apply_initiated(id, event, at)?,
                Route::WorkflowTask => self.apply_workflow_task(event, at, events.peek().copied())?,
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

    fn apply_initiated(&mut self, id: i64, event: &Event, at: EventRef) -> Result<()> {
        let found = self.initiators.binary_search_by_key(&id, |(id, _)| *id).ok().and_then(|i| self.initiators.get(i));
        let Some((_, initiator)) = found else {
            let text = format!(
                "During event handling, this event had an initial command ID but we could not find a matching command for it: {at}"
            );
            return Err(nondeterminism(codes::UNKNOWN_INITIATOR, text).at_event(at));
        };
        let attributes = event.attributes().ok_or_else(|| bad_event(at, "attributes"))?;
        let kind = event_type(event).unwrap_or_default();
        match *initiator {
            Initiator::Timer(seq) => {
                if kind != EventType::TimerFired {
                    return Err(crate::replay::event::wrong_type(timer::NAME, at));
                }
                let timer = (seq as usize).checked_sub(1).and_then(|i| self.timers.get_mut(i));
                timer
                    .ok_or_else(|| bad_event(at, "timer"))?
                    .on_fired(seq, attributes.text(1), at)
                    .of_command(CommandKind::StartTimer, seq)?;
                self.jobs.of_event(at.id, Variant::FireTimer, fire_timer(seq));
            }
            Initiator::Activity(seq) => {
                let activity = (seq as usize).checked_sub(1).and_then(|i| self.activities.get_mut(i));
                let resolution = activity.ok_or_else(|| bad_event(at, activity::NAME))?.on_event(seq, kind, attributes, at);
                if let Some(resolution) = resolution.at_event(at).of_command(CommandKind::ScheduleActivity, seq)? {
                    self.jobs.of_event(at.id, Variant::ResolveActivity, resolution);
                }
            }
            Initiator::Child(seq) => {
                let job = self.child(seq, at)?.on_event(seq, kind, attributes, at);
                if let Some((variant, job)) = job.at_event(at).of_command(CommandKind::StartChildWorkflow, seq)? {
                    self.jobs.of_event(at.id, variant, job);
                }
            }
            Initiator::Signal(seq) => {
                let job = self.signal(seq, at)?.on_event(seq, kind, attributes, at);
                let job = job.at_event(at).of_command(CommandKind::SignalExternalWorkflow, seq)?;
                self.jobs.of_event(at.id, Variant::ResolveSignalExternalWorkflow, job);
            }
            Initiator::CancelExternal(seq) => {
                let job = self.cancel_external(seq, at)?.on_event(seq, kind, attributes, at);
                let job = job.at_event(at).of_command(CommandKind::CancelExternalWorkflow, seq)?;
                self.jobs.of_event(at.id, Variant::ResolveCancelExternalWorkflow, job);
            }
            Initiator::CancelChild(seq) => {
                cancel_external::check_answer(kind, at).of_command(CommandKind::CancelChildWorkflow, seq)?;
            }
        }
        Ok(())
    }

    fn apply_workflow_task(&mut self, event: &Event, at: EventRef, next: Option<&Event>) -> Result<()> {
        let Some(attributes) = event.attributes() else { return Ok(()) };
        match event_type(event) {
            Some(EventType::WorkflowTaskStarted) => {
                let outcome = next.and_then(event_type);
                if matches!(outcome, Some(EventType::WorkflowTaskFailed | EventType::WorkflowTaskTimedOut)) {
                    return Ok(());
                }
                self.advance_time(event.time_ms.ok_or_else(|| bad_event(at, "time"))?);
                self.started_event_id = at.id;
                self.continue_as_new_suggested = attributes.flag(4);
                self.history_size_bytes = attributes.int(5);
                Ok(())
            }
            Some(EventType::WorkflowTaskCompleted) => self.record_metadata(attributes).at_event(at),
            Some(EventType::WorkflowTaskFailed) => {
                self.reseed(attributes, at);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Flags and SDK of a WorkflowTaskCompletedEventAttributes.
    pub fn record_metadata(&mut self, completed: Message) -> Result<()> {
        match completed.get(6) {
            Some(metadata) => self.flags.record(metadata, &self.known_lang_flags),
            None => Ok(()),
        }
    }

    /// WorkflowTaskFailedEventAttributes. A reset starts the run's random numbers anew; every other failed task leaves no trace.
    fn reseed(&mut self, failed: Message, at: EventRef) {
        if failed.int32(3) == WorkflowTaskFailedCause::ResetWorkflow as i32 {
            let seed = seed_of(failed.text(7));
            self.random = Random::new(seed);
            self.jobs.of_event(at.id, Variant::UpdateRandomSeed, text(&seed.to_string()));
        }
    }

    fn apply_standalone(&mut self, event: &Event, at: EventRef) -> Result<()> {
        let Some(a) = event.attributes() else { return Ok(()) };
        match event_type(event) {
            Some(EventType::WorkflowExecutionStarted) => {
                if at.id != 1 {
                    return Err(fatal(codes::BAD_EVENT, format!("{at} does not stand at the beginning")).at_event(at));
                }
                self.initialize(a, event.time_ms.unwrap_or(0.0), at);
            }
            Some(EventType::WorkflowExecutionSignaled) => {
                let mut job = Writer::new();
                job.text(1, a.text(1)).each(2, a.sub(2).all(1)).text(3, a.text(3)).each(4, a.sub(4).all(1));
                self.jobs.of_event(at.id, Variant::SignalWorkflow, job.finish());
            }
            Some(EventType::WorkflowExecutionCancelRequested) => {
                self.jobs.of_event(at.id, Variant::CancelWorkflow, text(a.text(1)));
            }
            Some(EventType::WorkflowExecutionUpdateAdmitted) => {
                let request = a.get(1).ok_or_else(|| bad_event(at, "update request"))?;
                let id = request.sub(1).text(1).to_string();
                let incoming = Incoming {
                    protocol_instance_id: id.clone(),
                    message_id: format!("{id}/request"),
                    sequencing_id: at.id,
                    request: request.0.to_vec(),
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

    /// WorkflowExecutionStartedEventAttributes.
    fn initialize(&mut self, started: Message, time_ms: f64, at: EventRef) {
        self.time_ms = time_ms;
        let original_run_id = started.text(14);
        let seed = seed_of(original_run_id);
        self.random = Random::new(seed);
        if self.run_id.is_empty() {
            self.run_id = original_run_id.into();
        }
        let owned = |field: u32| started.bytes(field).map(<[u8]>::to_vec);
        self.inherited = Inherited {
            namespace: self.namespace.clone(),
            run_id: self.run_id.clone(),
            workflow_type: started.sub(1).text(1).into(),
            task_queue: started.sub(5).text(1).into(),
            memo: owned(22),
            retry_policy: owned(17),
            search_attributes: owned(23),
        };
        let mut job = Writer::new();
        job.text(1, &self.inherited.workflow_type).text(2, &self.workflow_id).text(3, &self.run_id);
        job.each(4, started.sub(6).all(1)).each(5, started.sub(25).all(1)).text(6, &seed.to_string()).double(7, time_ms);
        job.uint(8, started.int(18).clamp(0, i64::from(u32::MAX)) as u64).text(9, &self.inherited.task_queue);
        job.text(10, started.text(16)).text(11, started.text(10));
        for (to, from) in [(12, 9), (13, 8), (14, 7)] {
            job.double(to, duration_ms(started.get(from)));
        }
        let mut rest = Writer::new();
        for (field, value) in started.fields().filter(|(field, _)| *field != 6) {
            rest.value(field, value);
        }
        job.data(15, &rest.finish());
        self.jobs.of_event(at.id, Variant::InitializeWorkflow, job.finish());
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
            self.jobs.of_update(sequencing_id, job);
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
