//! Applying one sequence of events: machines move, jobs arise
//! (docs/dev/semantics/activations.md#the-loop-of-a-task).
//!
//! Each event is looked at once and its payloads are moved, still encoded, into the job that it makes.
use crate::api::enums::v1::{EventType, WorkflowTaskFailedCause};
use crate::error::{Result, codes, fatal, nondeterminism, unsupported};
use crate::history::event::{Event, Route, event_type, is_terminal_event, route};
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{CancelWorkflow, InitializeWorkflow, SignalWorkflow, UpdateRandomSeed};
use crate::proto::views::history::{
    WorkflowExecutionStartedEventAttributes, WorkflowTaskCompletedEventAttributes, WorkflowTaskFailedEventAttributes,
    workflow_execution_started_event_attributes as started_fields,
};
use crate::replay::commands::update::Incoming;
use crate::replay::event::{EventRef, Place, bad_event};
use crate::replay::random::{Random, seed_of};
use crate::replay::run_state::Inherited;
use crate::replay::workflow::Workflow;
use crate::wire::typed::{Put, View, build};

/// What the applied sequence means for replaying.
#[derive(Clone, Copy, Debug)]
pub struct Frontier {
    /// Nothing is known behind this sequence.
    pub is_last: bool,
    /// The history of a replay ends with this sequence. (A worker's history ends with its own task.)
    pub ends_replay: bool,
    /// WorkflowTaskStarted of the last task that a worker completed.
    pub previous_started: i64,
}

impl Workflow {
    pub fn apply(&mut self, events: &[Event], frontier: Frontier) -> Result<()> {
        self.run.activation_index = 0;
        self.run.at_frontier = frontier.is_last;
        self.machines.side_effects.known.clear();
        self.machines.updates.admitted.clear();
        let mut behind_commands = None;
        let mut completed = false;
        let events_end = events.last().map(EventRef::of);
        let mut events = events.iter().peekable();
        while let Some(event) = events.next() {
            let at = EventRef::of(event);
            if self.ended {
                let text = format!("{at} follows the event that closed the run");
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
                    self.run.replaying = false;
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
                    let text = format!(
                        "{at} has a type that this version does not support and that cannot be skipped: upgrade temporalex"
                    );
                    return Err(unsupported(codes::UNKNOWN_EVENT, text).at_event(at));
                }
            }
        }
        if let Some(at) = behind_commands {
            self.check_extra_command(at, "before")?;
        } else if completed
            && frontier.ends_replay
            && let Some(last) = events_end
        {
            self.check_extra_command(last, "up to")?;
        }
        self.deliver_messages();
        Ok(())
    }

    fn apply_initiated(&mut self, id: i64, event: &Event, at: EventRef) -> Result<()> {
        let found = self.run.initiators.binary_search_by_key(&id, |(id, _)| *id).ok().and_then(|i| self.run.initiators.get(i));
        let Some((_, initiator)) = found else {
            let text = format!(
                "During event handling, this event had an initial command ID but we could not find a matching command for it: {at}"
            );
            return Err(nondeterminism(codes::UNKNOWN_INITIATOR, text).at_event(at));
        };
        let initiator = *initiator;
        let attributes = event.attributes().ok_or_else(|| bad_event(at, "attributes"))?;
        initiator
            .answered(attributes, at, &mut self.machines, &mut self.run)
            .at_event(at)
            .of_command(initiator.kind(), initiator.seq())
    }

    fn apply_workflow_task(&mut self, event: &Event, at: EventRef, next: Option<&Event>) -> Result<()> {
        match event.attributes() {
            Some(Attributes::WorkflowTaskStarted(a)) => {
                let outcome = next.and_then(event_type);
                if matches!(outcome, Some(EventType::WorkflowTaskFailed | EventType::WorkflowTaskTimedOut)) {
                    return Ok(());
                }
                self.run.advance_time(event.time_ms.ok_or_else(|| bad_event(at, "time"))?);
                self.started_event_id = at.id;
                self.continue_as_new_suggested = a.suggest_continue_as_new();
                self.continue_as_new_reasons = a.suggest_continue_as_new_reasons();
                self.target_version_changed = a.target_worker_deployment_version_changed();
                self.history_size_bytes = a.history_size_bytes();
                Ok(())
            }
            Some(Attributes::WorkflowTaskCompleted(a)) => self.record_metadata(a).at_event(at),
            Some(Attributes::WorkflowTaskFailed(a)) => {
                self.reseed(a, at);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Flags and SDK of a completed task.
    pub fn record_metadata(&mut self, completed: View<WorkflowTaskCompletedEventAttributes>) -> Result<()> {
        match completed.opt_sdk_metadata() {
            Some(metadata) => self.run.flags.record(metadata, &self.known_lang_flags),
            None => Ok(()),
        }
    }

    /// A reset starts the run's random numbers again; every other failed task leaves no trace.
    fn reseed(&mut self, failed: View<WorkflowTaskFailedEventAttributes>, at: EventRef) {
        if failed.cause().known() == Some(WorkflowTaskFailedCause::ResetWorkflow) {
            let seed = seed_of(failed.new_run_id());
            self.random = Random::new(seed);
            self.run.jobs.of_event(at.id, build(|w: Put<UpdateRandomSeed>| w.randomness_seed(&seed.to_string())));
        }
    }

    fn apply_standalone(&mut self, event: &Event, at: EventRef) -> Result<()> {
        match event.attributes() {
            Some(Attributes::WorkflowExecutionStarted(a)) => {
                if at.id != 1 {
                    return Err(fatal(codes::BAD_EVENT, format!("{at} must be the first event of the history")).at_event(at));
                }
                self.initialize(a, event.time_ms.unwrap_or(0.0), at);
            }
            Some(Attributes::WorkflowExecutionSignaled(a)) => {
                let job = build(|w: Put<SignalWorkflow>| {
                    w.signal_name(a.signal_name())
                        .copy_input(a.input().payloads())
                        .identity(a.identity())
                        .copy_headers(a.header().fields())
                });
                self.run.jobs.of_event(at.id, job);
            }
            Some(Attributes::WorkflowExecutionCancelRequested(a)) => {
                self.run.jobs.of_event(at.id, build(|w: Put<CancelWorkflow>| w.reason(a.cause())));
            }
            Some(Attributes::WorkflowExecutionUpdateAdmitted(a)) => {
                let request = a.opt_request().ok_or_else(|| bad_event(at, "update request"))?;
                let id = request.meta().update_id().to_string();
                let incoming = Incoming {
                    protocol_instance_id: id.clone(),
                    message_id: format!("{id}/request"),
                    sequencing_id: at.id,
                    request: request.to_owned(),
                };
                if self.run.replaying {
                    self.machines.updates.admitted.insert(id, incoming);
                } else {
                    self.request_update(incoming);
                }
            }
            // Termination and timeout of the run: nothing follows, nothing is to be done.
            _ => {}
        }
        Ok(())
    }

    fn initialize(&mut self, started: View<WorkflowExecutionStartedEventAttributes>, time_ms: f64, at: EventRef) {
        self.run.time_ms = time_ms;
        self.task_timeout_ms = started.workflow_task_timeout_ms();
        let original_run_id = started.original_execution_run_id();
        let seed = seed_of(original_run_id);
        self.random = Random::new(seed);
        if self.run_id.is_empty() {
            self.run_id = original_run_id.into();
        }
        self.run.inherited = Inherited {
            namespace: std::mem::take(&mut self.run.inherited.namespace),
            run_id: self.run_id.clone(),
            workflow_type: started.workflow_type().name().into(),
            task_queue: started.task_queue().name().into(),
            memo: started.opt_memo().map(View::to_owned),
            retry_policy: started.opt_retry_policy().map(View::to_owned),
            search_attributes: started.opt_search_attributes().map(View::to_owned),
        };
        let rest = started.without(started_fields::INPUT);
        let job = build(|w: Put<InitializeWorkflow>| {
            w.workflow_type(&self.run.inherited.workflow_type)
                .workflow_id(&self.workflow_id)
                .run_id(&self.run_id)
                .copy_arguments(started.input().payloads())
                .copy_headers(started.header().fields())
                .randomness_seed(&seed.to_string())
                .start_time_ms(time_ms)
                .attempt(u32::try_from(started.attempt()).unwrap_or(0))
                .task_queue(&self.run.inherited.task_queue)
                .first_execution_run_id(started.first_execution_run_id())
                .continued_from_run_id(started.continued_execution_run_id())
                .workflow_task_timeout_ms(started.workflow_task_timeout_ms())
                .workflow_run_timeout_ms(started.workflow_run_timeout_ms())
                .workflow_execution_timeout_ms(started.workflow_execution_timeout_ms())
                .started_attributes(rest.view())
        });
        self.run.jobs.of_event(at.id, job);
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
        if let Some(job) = self.machines.updates.request(incoming, self.run.replaying) {
            self.run.jobs.of_update(sequencing_id, job);
        }
    }
}
