//! What the host calls. The contract is at the head of `mod.rs`.
use std::collections::HashMap;

use super::context::Context;
use super::limits::Limits;
use super::machine::Engine;
use super::queues::Side;
use super::requests::{handle, handle_again};
use super::rng::Rng;
use super::runs::Found;
use super::state::request::{Again, Pair};
use super::time::{from_ms, to_ms};
use crate::boundary::{EngineMethod, EngineOptions, Flush, RunRecord, TransactOutcome};
use crate::error::{Result, codes, misuse};

impl Engine {
    /// Rejects a seed that is not 32 bytes.
    pub fn new(options: EngineOptions) -> Result<Engine> {
        let Some(mut rng) = Rng::new(&options.seed) else {
            return Err(misuse(codes::BAD_BYTES, "EngineOptions.seed must be 32 random bytes"));
        };
        let life = rng.nonzero();
        let cx = Context {
            limits: Limits::new(&options),
            in_flight_lost: options.in_flight_lost,
            manual_timers: options.manual_timers,
            now: 0,
            rng,
            life,
            queues: Default::default(),
            replies: Vec::new(),
            timed_out: Vec::new(),
            waiting: HashMap::new(),
            spawned: Vec::new(),
            orders: Default::default(),
            open_runs: i64::from(options.open_runs),
            again: Vec::new(),
            pairs: HashMap::new(),
            reducing: Default::default(),
            crons: Default::default(),
            attributes: None,
            endpoints: None,
            nexus_calls: Vec::new(),
            routing: None,
            namespace: options.namespace,
        };
        Ok(Engine { cx, runs: Default::default(), batch: None, swept: 0, trial: None })
    }

    /// A request of a client or worker; its reply carries `request_id`. A poll stays open until a task comes or it is cancelled.
    pub fn request(&mut self, request_id: u32, method: EngineMethod, body: &[u8], now_ms: f64) {
        self.tick(now_ms);
        handle(self, Again { request_id, method, body: body.to_vec() });
    }

    /// Starts a workflow, or uses the open one if the start's policies allow, and updates it, in
    /// one step without a task in between. The reply is a PairResponse; an error has the index of
    /// the rejected request (0 or 1) in its metadata under "operation". A malformed update starts
    /// nothing.
    pub fn request_pair(&mut self, request_id: u32, start: &[u8], update: &[u8], now_ms: f64) {
        self.tick(now_ms);
        self.cx.pairs.insert(request_id, Pair { update: update.to_vec(), started: None });
        handle(self, Again { request_id, method: EngineMethod::StartWorkflowExecution, body: start.to_vec() });
    }

    /// Enters the host's response to a `LoadRequest`, or a row that is ready or due.
    pub fn load(&mut self, record: RunRecord, now_ms: f64) {
        self.tick(now_ms);
        self.take_record(record);
        handle_again(self);
    }

    /// Enters the results of a task's reducers (`Flush.transacts`). Returns whether the completion
    /// was accepted; if not, the host rolls back their writes.
    pub fn transacted(&mut self, outcome: TransactOutcome) -> bool {
        let Some(request) = self.cx.reducing.requests.remove(&outcome.request_id) else { return false };
        self.cx.reducing.outcome = Some(outcome);
        self.cx.reducing.taken = false;
        handle(self, request);
        self.cx.reducing.outcome = None;
        self.cx.reducing.taken
    }

    /// Fires what is due, in the order of the deadlines.
    pub fn tick(&mut self, now_ms: f64) {
        self.cx.now = self.cx.now.max(from_ms(now_ms));
        while let Some((t, slot)) = self.runs.next_wake() {
            if t > self.cx.now {
                break;
            }
            self.fire(slot);
        }
        let now = self.cx.now;
        self.cx.queues.wake(now);
        handle_again(self);
    }

    /// The caller of a waiting request is gone (deadline, closed connection): it gets no reply.
    pub fn cancel_request(&mut self, request_id: u32) {
        self.drop_wait(request_id, false);
    }

    /// A long poll has reached its limit: its reply is that of a server (an empty poll, a page
    /// without events and a token, the reached stage of an update).
    pub fn expire_request(&mut self, request_id: u32) {
        self.drop_wait(request_id, true);
    }

    /// Removes a purged run from memory.
    pub fn forget(&mut self, run_id: &str) {
        self.forget_run(run_id);
    }

    /// The tasks of a queue, in rows of six numbers: 0 for workflow tasks (queries among them) or 1 for activity tasks, the priority
    /// key, how many wait, how many milliseconds the oldest of them has waited, and how many came and went a second.
    pub fn backlog(&mut self, queue: &str, now_ms: f64) -> Vec<f64> {
        let now = self.cx.now.max(from_ms(now_ms));
        let mut rows = Vec::new();
        for (number, side) in [(0.0, Side::Workflow), (1.0, Side::Activity)] {
            for stats in self.cx.queues.stats(side, queue, now) {
                let waited = stats.oldest.map_or(0, |oldest| (now - oldest).max(0)) as f64 / 1000.0;
                rows.extend([number, f64::from(stats.priority), stats.tasks as f64, waited, stats.added, stats.taken]);
            }
        }
        rows
    }

    /// Takes one task of the limits of an activity queue, for an activity that the host gives out. Returns 0, or the time at which it
    /// may leave in ms (infinite: not before the limits change).
    pub fn take_activity_token(&mut self, queue: &str, fairness_key: &str, weight: f64, now_ms: f64) -> f64 {
        let now = self.cx.now.max(from_ms(now_ms));
        match self.cx.queues.take_token(queue, fairness_key, weight as f32, now) {
            Ok(()) => 0.0,
            Err(due) => due.map_or(f64::INFINITY, to_ms),
        }
    }

    /// What changed since the last flush. The host commits the writes, then calls `committed` or `aborted`.
    pub fn flush(&mut self) -> Flush {
        self.close_batch()
    }

    pub fn committed(&mut self) {
        self.batch_committed();
    }

    /// The commit failed: every run that it touched is dropped from memory and its replies are never sent.
    pub fn aborted(&mut self) {
        self.batch_aborted();
    }

    /// What the store should hold of a run that is in memory; for tests and diagnosis.
    #[doc(hidden)]
    pub fn record_of(&mut self, workflow_id: &str, run_id: &str) -> Option<RunRecord> {
        match self.runs.find(workflow_id, run_id) {
            Found::Slot(slot) => self.runs.get_mut(slot).map(|run| run.record()),
            _ => None,
        }
    }
}
