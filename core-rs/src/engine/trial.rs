//! Transactions of the host. Their messages are tried on copies of the runs that they name, so that each has its result while the
//! transaction can still be rolled back. They enter afterwards, in their order, with nothing in between, and come to the same.
//!
//! A trial is a separate engine that never flushes: its runs come from this engine's memory (uncommitted changes included) or from
//! the store, and dropping it undoes everything.
use std::collections::HashMap;

use super::context::Context;
use super::machine::Engine;
use super::requests::{handle, handle_again};
use super::runs::Found;
use super::state::request::Again;
use crate::boundary::{EngineMethod, Flush, LoadRequest, RunRecord};

impl Engine {
    /// Begins a trial at this moment; one that is open is dropped.
    pub fn begin_trial(&mut self, now_ms: f64) {
        self.tick(now_ms);
        let cx = Context {
            namespace: self.cx.namespace.clone(),
            limits: self.cx.limits.clone(),
            in_flight_lost: self.cx.in_flight_lost,
            manual_timers: self.cx.manual_timers,
            now: self.cx.now,
            rng: self.cx.rng.clone(),
            life: self.cx.life,
            queues: Default::default(),
            replies: Vec::new(),
            timed_out: Vec::new(),
            waiting: HashMap::new(),
            spawned: Vec::new(),
            orders: Default::default(),
            open_runs: self.cx.open_runs,
            again: Vec::new(),
            pairs: HashMap::new(),
            reducing: Default::default(),
            crons: Default::default(),
            attributes: self.cx.attributes.clone(),
            routing: None,
            endpoints: self.cx.endpoints.clone(),
            nexus_calls: Vec::new(),
        };
        self.trial = Some(Box::new(Engine { cx, runs: Default::default(), batch: None, swept: 0, trial: None }));
    }

    /// Tries a request. The result has its reply, or loads that the host answers with `try_load`.
    pub fn try_request(&mut self, request_id: u32, method: EngineMethod, body: &[u8]) -> Flush {
        if let Some(trial) = self.trial.as_mut() {
            handle(trial, Again { request_id, method, body: body.to_vec() });
        }
        self.trial_news()
    }

    /// Enters the host's response to a load of the trial, into this engine as well.
    pub fn try_load(&mut self, record: RunRecord) -> Flush {
        let (workflow_id, run_id) = (record.asked_workflow_id.clone(), record.asked_run_id.clone());
        let asked = LoadRequest { workflow_id, run_id, ..Default::default() };
        self.take_record(record.clone());
        handle_again(self);
        let record = self.copy_of(&asked).unwrap_or(record);
        self.give_trial(record);
        self.trial_news()
    }

    /// Drops the trial.
    pub fn end_trial(&mut self) {
        self.trial = None;
    }

    /// The reply to a request that has just entered, or the loads that it waits for. With request id 0: carries out the orders of runs.
    pub fn entered(&mut self, request_id: u32) -> Flush {
        if request_id == 0 && self.batch.is_none() {
            self.carry_out();
        }
        let loads = self.take_loads();
        let replies = match self.cx.replies.iter().rposition(|reply| reply.request_id == request_id) {
            Some(at) => vec![self.cx.replies.remove(at)],
            None => Vec::new(),
        };
        Flush { loads, replies, ..Default::default() }
    }

    fn copy_of(&mut self, asked: &LoadRequest) -> Option<RunRecord> {
        let Found::Slot(slot) = self.runs.find(&asked.workflow_id, &asked.run_id) else { return None };
        let mut record = self.runs.get_mut(slot)?.record();
        record.asked_workflow_id.clone_from(&asked.workflow_id);
        record.asked_run_id.clone_from(&asked.run_id);
        Some(record)
    }

    fn give_trial(&mut self, record: RunRecord) {
        if let Some(trial) = self.trial.as_mut() {
            trial.take_record(record);
            handle_again(trial);
        }
    }

    /// Answers loads from memory as far as possible; the rest and the replies go to the host.
    fn trial_news(&mut self) -> Flush {
        let mut flush = Flush::default();
        loop {
            let Some(trial) = self.trial.as_mut() else { return flush };
            let loads = trial.take_loads();
            if loads.is_empty() {
                break;
            }
            for load in loads {
                match self.copy_of(&load) {
                    Some(record) => self.give_trial(record),
                    None => flush.loads.push(load),
                }
            }
            if !flush.loads.is_empty() {
                return flush;
            }
        }
        if let Some(trial) = self.trial.as_mut() {
            flush.replies = std::mem::take(&mut trial.cx.replies);
        }
        flush
    }
}
