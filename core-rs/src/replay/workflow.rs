//! The state of one run as its events and commands have made it. What moves it on lies in `apply` (events), `lookahead` (results
//! of the task being replayed) and `commands` (workflow code and the events of its commands).
use std::collections::VecDeque;

use crate::boundary::{CoreWarning, JobOrder, RunOptions};
use crate::error::{Result, nondeterminism};
use crate::proto::views::boundary::{Activation, Step};
use crate::proto::views::protocol;
use crate::replay::commands::activity::Activity;
use crate::replay::commands::cancel_external::CancelExternal;
use crate::replay::commands::child::Child;
use crate::replay::commands::local_activity::{LocalActivities, Released, Resolved};
use crate::replay::commands::machines::Machines;
use crate::replay::commands::patch::Patches;
use crate::replay::commands::side_effect::SideEffects;
use crate::replay::commands::signal_external::Signal;
use crate::replay::commands::terminal::Inherited;
use crate::replay::commands::timer::Timer;
use crate::replay::commands::update::{Incoming, Updates};
use crate::replay::commands::{Initiator, Queued};
use crate::replay::convert::id32;
use crate::replay::event::{EventRef, Place};
use crate::replay::flags::Flags;
use crate::replay::jobs::Jobs;
use crate::replay::random::Random;
use crate::wire::typed::{Encoded, Put, View, build};

pub struct Workflow {
    pub order: JobOrder,
    pub strict: bool,
    pub known_lang_flags: Vec<u32>,
    pub namespace: String,
    pub workflow_id: String,
    pub run_id: String,
    pub inherited: Inherited,
    pub random: Random,
    pub flags: Flags,
    /// What history does not show yet is new: false from the first event that only a live task can bring.
    pub replaying: bool,
    /// The sequence being applied is the last that is known.
    pub at_frontier: bool,
    pub queue: VecDeque<Queued>,
    /// By event id, ascending: command events are applied in order.
    pub initiators: Vec<(i64, Initiator)>,
    pub timers: Machines<Timer>,
    pub activities: Machines<Activity>,
    pub children: Machines<Child>,
    pub signals: Machines<Signal>,
    pub cancels: Machines<CancelExternal>,
    pub local_activities: LocalActivities,
    pub patches: Patches,
    pub side_effects: SideEffects,
    pub updates: Updates,
    /// Update requests of the current task that wait for their place.
    pub incoming: VecDeque<Incoming>,
    /// Messages for the next completion.
    pub outgoing: Vec<Encoded<protocol::Message>>,
    pub jobs: Jobs,
    /// Position of the next activation within its workflow task.
    pub activation_index: u32,
    pub time_ms: f64,
    /// Of the run, as its start says; 0: not known.
    pub task_timeout_ms: f64,
    pub last_event_id: i64,
    pub started_event_id: i64,
    pub history_size_bytes: i64,
    pub continue_as_new_suggested: bool,
    /// Workflow code gave a terminal command.
    pub closing: bool,
    /// History holds a terminal event.
    pub ended: bool,
    /// The first command without an event was reported; what follows it is a consequence.
    pub extra_reported: bool,
    pub warnings: Vec<CoreWarning>,
}

impl Workflow {
    pub fn new(options: &RunOptions) -> Workflow {
        Workflow {
            order: options.job_order(),
            strict: options.strict,
            known_lang_flags: options.known_lang_flags.clone(),
            namespace: options.namespace.clone(),
            workflow_id: String::new(),
            run_id: String::new(),
            inherited: Inherited::default(),
            random: Random::new(0),
            flags: Flags::default(),
            replaying: false,
            at_frontier: false,
            queue: VecDeque::new(),
            initiators: Vec::new(),
            timers: Machines::default(),
            activities: Machines::default(),
            children: Machines::default(),
            signals: Machines::default(),
            cancels: Machines::default(),
            local_activities: LocalActivities::default(),
            patches: Patches::default(),
            side_effects: SideEffects::default(),
            updates: Updates::default(),
            incoming: VecDeque::new(),
            outgoing: Vec::new(),
            jobs: Jobs::new(options.job_order()),
            activation_index: 0,
            time_ms: 0.0,
            task_timeout_ms: 0.0,
            last_event_id: 0,
            started_event_id: 0,
            history_size_bytes: 0,
            continue_as_new_suggested: false,
            closing: false,
            ended: false,
            extra_reported: false,
            warnings: Vec::new(),
        }
    }

    pub fn is_compat(&self) -> bool {
        self.order == JobOrder::Compat
    }

    /// Workflow time never moves back.
    pub fn advance_time(&mut self, ms: f64) {
        self.time_ms = self.time_ms.max(ms);
    }

    /// The next activation, or nothing when there is nothing to do. Workflow code that has ended is not woken.
    pub fn take_activation(&mut self) -> Option<Encoded<Step>> {
        self.release_local_activities();
        while self.closing && !self.jobs.is_empty() {
            // Results found ahead are still taken: their markers come.
            self.jobs.clear();
            self.release_local_activities();
        }
        if self.jobs.is_empty() {
            return None;
        }
        self.activation_index = self.activation_index.saturating_add(1);
        let jobs = self.jobs.take();
        Some(self.activation(self.replaying, false, jobs.view()))
    }

    /// An activation of these jobs.
    pub fn activation(&self, is_replaying: bool, query_only: bool, jobs: View<Activation>) -> Encoded<Step> {
        build(|w: Put<Step>| {
            w.activation(|w| {
                w.time_ms(self.time_ms)
                    .is_replaying(is_replaying)
                    .history_length(id32(self.last_event_id))
                    .history_size_bytes(self.history_size_bytes as f64)
                    .continue_as_new_suggested(self.continue_as_new_suggested)
                    .query_only(query_only)
                    .started_event_id(id32(self.started_event_id))
                    .lang_flags(&self.flags.lang())
                    .build_id(if self.is_compat() { self.flags.build_id() } else { "" })
                    .all_of(jobs)
            })
        })
    }

    /// The server dropped a speculative task: what came behind `last_event_id` never was.
    pub fn rewind(&mut self, last_event_id: i64, started_event_id: i64) {
        self.last_event_id = last_event_id;
        self.started_event_id = started_event_id;
        self.initiators.retain(|(id, _)| *id <= last_event_id);
    }

    fn release_local_activities(&mut self) {
        while let Some(r) = self.local_activities.release(self.activation_index, !self.jobs.is_empty()) {
            self.resolve_local_activity(r);
        }
    }

    pub fn resolve_local_activity(&mut self, r: Released) {
        if let Some(ms) = r.complete_ms {
            self.advance_time(ms);
        }
        self.jobs.of_local_activity(r.event_id, r.resolution);
    }

    /// A local activity was resolved in this process: workflow code hears of it, and a marker will record it.
    pub fn record_local_activity(&mut self, r: Resolved) {
        self.enqueue(r.record);
        self.resolve_local_activity(r.released);
    }

    /// A finding of the diagnosis: a warning, or a failure when strict.
    pub fn diagnose(&mut self, code: u32, message: String, event: EventRef) -> Result<()> {
        if self.strict {
            return Err(nondeterminism(code, message).at_event(event));
        }
        self.warnings.push(CoreWarning { code, message, event_id: id32(event.id) });
        Ok(())
    }
}
