//! The state of one run as its events and commands have made it. What moves it on lies in `apply` (events), `matching` (command
//! events), `lookahead` (results of the task being replayed) and `commands` (workflow code).
use std::collections::VecDeque;

use crate::boundary::{CoreWarning, JobOrder, RunOptions};
use crate::error::{Result, nondeterminism};
use crate::replay::activity::Activity;
use crate::replay::cancel_external::CancelExternal;
use crate::replay::child::Child;
use crate::replay::convert::id32;
use crate::replay::event::EventRef;
use crate::replay::flags::Flags;
use crate::replay::given::Seqs;
use crate::replay::jobs::Jobs;
use crate::replay::local_activity::{LocalActivities, Released};
use crate::replay::patch::Patches;
use crate::replay::queue::Queued;
use crate::replay::random::Random;
use crate::replay::side_effect::SideEffects;
use crate::replay::signal::Signal;
use crate::replay::terminal::Inherited;
use crate::replay::timer::Timer;
use crate::replay::update::{Incoming, Updates};
use crate::wire::Writer;

/// Field of boundary.Activation.
pub const ACTIVATION_JOBS: u32 = 9;

/// Whose event started what later events go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initiator {
    Timer(u32),
    Activity(u32),
    Child(u32),
    Signal(u32),
    CancelExternal(u32),
    /// The core's own request to cancel the child of this seq.
    CancelChild(u32),
}

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
    pub seqs: Seqs,
    pub queue: VecDeque<Queued>,
    /// By event id, ascending: command events are applied in order.
    pub initiators: Vec<(i64, Initiator)>,
    /// By seq - 1.
    pub timers: Vec<Timer>,
    pub activities: Vec<Activity>,
    pub children: Vec<Child>,
    pub signals: Vec<Signal>,
    pub cancels: Vec<CancelExternal>,
    pub local_activities: LocalActivities,
    pub patches: Patches,
    pub side_effects: SideEffects,
    pub updates: Updates,
    /// Update requests of the current task that wait for their place.
    pub incoming: VecDeque<Incoming>,
    /// Messages for the next completion (protocol.v1.Message).
    pub outgoing: Vec<Vec<u8>>,
    pub jobs: Jobs,
    /// Position of the next activation within its workflow task.
    pub activation_index: u32,
    pub time_ms: f64,
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
            seqs: Seqs::default(),
            queue: VecDeque::new(),
            initiators: Vec::new(),
            timers: Vec::new(),
            activities: Vec::new(),
            children: Vec::new(),
            signals: Vec::new(),
            cancels: Vec::new(),
            local_activities: LocalActivities::default(),
            patches: Patches::default(),
            side_effects: SideEffects::default(),
            updates: Updates::default(),
            incoming: VecDeque::new(),
            outgoing: Vec::new(),
            jobs: Jobs::new(options.job_order()),
            activation_index: 0,
            time_ms: 0.0,
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

    /// boundary.Step with the next activation, or nothing when there is nothing to do. Workflow code that has ended is not woken.
    pub fn take_activation(&mut self) -> Option<Vec<u8>> {
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
        let mut jobs = Writer::new();
        self.jobs.write(&mut jobs, ACTIVATION_JOBS);
        Some(self.activation(self.replaying, false, &jobs.finish()))
    }

    /// boundary.Step with an activation of these jobs, which are encoded as they stand in it.
    pub fn activation(&self, is_replaying: bool, query_only: bool, jobs: &[u8]) -> Vec<u8> {
        let mut step = Writer::new();
        step.nested(1, |w| {
            w.double(1, self.time_ms).flag(2, is_replaying).uint(3, u64::from(id32(self.last_event_id)));
            w.double(4, self.history_size_bytes as f64).flag(5, self.continue_as_new_suggested).flag(6, query_only);
            w.uint(7, u64::from(id32(self.started_event_id))).numbers(8, &self.flags.lang()).extend(jobs);
        });
        step.finish()
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

    /// The command was taken back before it was sent.
    pub fn is_withdrawn(&self, command: &Queued) -> bool {
        use crate::replay::{activity, child};
        let index = |seq: u32| (seq as usize).wrapping_sub(1);
        match command {
            Queued::StartTimer { seq, .. } => self.timers.get(index(*seq)).is_some_and(|t| *t == Timer::CancelledBeforeSent),
            Queued::ScheduleActivity { seq, .. } => {
                self.activities.get(index(*seq)).is_some_and(|a| a.state == activity::State::CancelledBeforeSent)
            }
            Queued::StartChild { seq, .. } => {
                self.children.get(index(*seq)).is_some_and(|c| c.state == child::State::CancelledBeforeSent)
            }
            Queued::Signal { seq, .. } => self.signals.get(index(*seq)).is_some_and(|s| *s == Signal::CancelledBeforeSent),
            _ => false,
        }
    }

    /// A finding of the diagnosis: a warning, or a failure when strict.
    pub fn diagnose(&mut self, code: u32, message: String, event: EventRef) -> Result<()> {
        use crate::replay::event::Place;
        if self.strict {
            return Err(nondeterminism(code, message).at_event(event));
        }
        self.warnings.push(CoreWarning { code, message, event_id: id32(event.id) });
        Ok(())
    }
}
