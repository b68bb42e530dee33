//! The state of one run as its events and commands have made it. It is changed in `apply` (events),
//! `lookahead` (results of the task being replayed) and `commands` (workflow code and the events of
//! its commands).
use std::collections::VecDeque;

use crate::boundary::RunOptions;
use crate::proto::views::boundary::{Activation, Step};
use crate::replay::commands::local_activity::Resolved;
use crate::replay::commands::update::Incoming;
use crate::replay::commands::{AllMachines, Entry, Groups};
use crate::replay::convert::id32;
use crate::replay::random::Random;
use crate::replay::run_state::RunState;
use crate::wire::typed::{Encoded, Put, View, build};

pub struct Workflow {
    /// What commands see of the run.
    pub run: RunState,
    pub machines: AllMachines,
    /// Commands that wait for their event.
    pub queue: VecDeque<Entry>,
    pub known_lang_flags: Vec<u32>,
    pub workflow_id: String,
    pub run_id: String,
    pub random: Random,
    /// Update requests of the current task that wait for their place.
    pub incoming: VecDeque<Incoming>,
    /// Of the run, as its start says; 0: not known.
    pub task_timeout_ms: f64,
    pub last_event_id: i64,
    pub started_event_id: i64,
    pub history_size_bytes: i64,
    pub continue_as_new_suggested: bool,
    pub continue_as_new_reasons: Vec<u32>,
    pub target_version_changed: bool,
    /// History holds a terminal event.
    pub ended: bool,
    /// The first command without an event was reported; what follows it is a consequence.
    pub extra_reported: bool,
}

impl Workflow {
    pub fn new(options: &RunOptions) -> Workflow {
        Workflow {
            run: RunState::new(options),
            machines: AllMachines::default(),
            queue: VecDeque::new(),
            known_lang_flags: options.known_lang_flags.clone(),
            workflow_id: String::new(),
            run_id: String::new(),
            random: Random::new(0),
            incoming: VecDeque::new(),
            task_timeout_ms: 0.0,
            last_event_id: 0,
            started_event_id: 0,
            history_size_bytes: 0,
            continue_as_new_suggested: false,
            continue_as_new_reasons: Vec::new(),
            target_version_changed: false,
            ended: false,
            extra_reported: false,
        }
    }

    /// The next activation, or nothing when there is nothing to do. Workflow code that has ended is not woken.
    pub fn take_activation(&mut self) -> Option<Encoded<Step>> {
        self.release_local_activities();
        while self.run.closing && !self.run.jobs.is_empty() {
            // Results found ahead are still taken: their markers come.
            self.run.jobs.clear();
            self.release_local_activities();
        }
        if self.run.jobs.is_empty() {
            return None;
        }
        self.run.activation_index = self.run.activation_index.saturating_add(1);
        let jobs = self.run.jobs.take();
        Some(self.activation(self.run.replaying, false, jobs.view()))
    }

    /// An activation of these jobs.
    pub fn activation(&self, is_replaying: bool, query_only: bool, jobs: View<Activation>) -> Encoded<Step> {
        build(|w: Put<Step>| {
            w.activation(|w| {
                w.time_ms(self.run.time_ms)
                    .is_replaying(is_replaying)
                    .history_length(id32(self.last_event_id))
                    .history_size_bytes(self.history_size_bytes as f64)
                    .continue_as_new_suggested(self.continue_as_new_suggested)
                    .query_only(query_only)
                    .started_event_id(id32(self.started_event_id))
                    .lang_flags(&self.run.flags.lang())
                    .build_id(if self.run.is_compat() { self.run.flags.build_id() } else { "" })
                    .target_worker_deployment_version_changed(self.target_version_changed)
                    .suggest_continue_as_new_reasons(&self.continue_as_new_reasons)
                    .deployment_name(if self.run.is_compat() { self.run.flags.deployment_name() } else { "" })
                    .all_of(jobs)
            })
        })
    }

    /// The server dropped a speculative task: what came behind `last_event_id` never was.
    pub fn rewind(&mut self, last_event_id: i64, started_event_id: i64) {
        self.last_event_id = last_event_id;
        self.started_event_id = started_event_id;
        self.run.initiators.retain(|(id, _)| *id <= last_event_id);
    }

    fn release_local_activities(&mut self) {
        let run = &mut self.run;
        while let Some(r) = self.machines.local_activities.release(run.activation_index, !run.jobs.is_empty()) {
            r.resolve(run);
        }
    }

    /// A local activity was resolved in this process.
    pub fn record_local_activity(&mut self, r: Resolved) {
        let command = r.resolve(&mut self.run).into();
        // Its groups are written with it.
        self.queue.push_back(Entry { command, groups: Groups::default() });
    }
}
