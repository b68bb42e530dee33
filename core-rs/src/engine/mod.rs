//! The server's side: the embedded engine's state machine. Requests, ticks and loads go in; writes, replies and loads come out of
//! [`Engine::flush`]. Pure and synchronous: time is an argument, randomness comes from the seed, storage is the host's.
//!
//! # What the host does
//! 1. Feed any number of `request`, `tick`, `cancel_request`, `expire_request`.
//! 2. `flush()`. If it has `loads`, answer each with `load(record)` (`found: false` where the store has nothing) and flush again; a
//!    flush with loads holds nothing else.
//! 3. Commit `writes` in one transaction. On success call `committed()`, then act on `replies`. On failure call `aborted()`: the
//!    runs of the batch are forgotten, its replies are never sent (the host gives those callers an error), and the next flush asks
//!    to load what must go on. A flush with nothing to write is committed all the same.
//! 4. Splices name stored events; a range may begin and end inside a stored batch (pages), so the host cuts at event borders.
//! 5. Sleep until `next_wake_ms` or the store's own earliest `wake_at_ms`, whichever is earlier; then `tick(now)`.
//!
//! # Runs that are not in memory
//! The store keeps for each run `row.ready` and `row.wake_at_ms`. At start the host loads every open row that is ready or due. Later,
//! on waking: `tick`, flush and commit, then `load` every open row whose `wake_at_ms` has passed (a row in memory is never among
//! them, because its commit moved the moment), `tick` again, flush and commit. Idle runs beyond `max_cached_runs` are forgotten
//! after a commit; requests and due moments bring them back in the same way.
//!
//! # Promises
//! Nothing is observable before its commit. Within a run time never moves back, and no deadline is early. A task token is good for
//! one hand-out. Bytes from outside never panic and never enter a history undecodable.
mod activity;
mod apply;
mod children;
mod close;
mod codec;
mod complete;
mod cx;
mod describe;
mod dispatch;
mod event;
mod fields;
mod flush;
mod history;
mod limits;
mod outgoing;
mod payload;
mod persist;
mod plan;
mod plan_external;
mod queries;
mod queues;
mod read_history;
mod requests;
mod retry;
mod rng;
mod rpc;
mod runs;
mod search_attributes;
mod start;
mod state;
mod time;
mod timers;
mod tokens;
mod updates;
mod wire;
mod workflow_task;

use std::collections::HashMap;

use crate::boundary::{EngineMethod, EngineOptions, Flush, RunRecord};
use crate::error::{Result, codes, misuse};

/// All runs of one store, as a pure state machine.
pub struct Engine {
    cx: cx::Cx,
    runs: runs::Runs,
    batch: Option<flush::Batch>,
    /// When queues were last looked over.
    swept: time::Micros,
}

impl Engine {
    /// Refuses a seed that is not 32 bytes of entropy.
    pub fn new(options: EngineOptions) -> Result<Engine> {
        let Some(mut rng) = rng::Rng::new(&options.seed) else {
            return Err(misuse(codes::BAD_BYTES, "EngineOptions.seed must be 32 random bytes"));
        };
        let life = rng.nonzero();
        let cx = cx::Cx {
            limits: limits::Limits::new(&options),
            in_flight_lost: options.in_flight_lost,
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
            namespace: options.namespace,
        };
        Ok(Engine { cx, runs: Default::default(), batch: None, swept: 0 })
    }

    /// A request of a client or worker; its reply carries `request_id`. A poll stays open until a task comes or it is cancelled.
    pub fn request(&mut self, request_id: u32, method: EngineMethod, body: &[u8], now_ms: f64) {
        self.tick(now_ms);
        self.handle(cx::Again { request_id, method, body: body.to_vec() });
    }

    /// Starts a workflow, or takes the open one that the start's policies allow, and updates it, in one step: no task goes out between
    /// the two. `start` and `update` are the two requests; the reply is a PairResponse (both responses, in fields 1 and 2), and an error
    /// names in its metadata under "operation" which of them was refused: 0 or 1. Nothing is started for an update that is malformed.
    pub fn request_pair(&mut self, request_id: u32, start: &[u8], update: &[u8], now_ms: f64) {
        self.tick(now_ms);
        self.cx.pairs.insert(request_id, cx::Pair { update: update.to_vec(), started: None });
        self.handle(cx::Again { request_id, method: EngineMethod::StartWorkflowExecution, body: start.to_vec() });
    }

    /// The host's answer to a `LoadRequest`, or a row that is ready or due.
    pub fn load(&mut self, record: RunRecord, now_ms: f64) {
        self.tick(now_ms);
        self.take_record(record);
        self.handle_again();
    }

    /// Fires what is due, in the order of the deadlines.
    pub fn tick(&mut self, now_ms: f64) {
        self.cx.now = self.cx.now.max(time::from_ms(now_ms));
        while let Some((t, slot)) = self.runs.next_wake() {
            if t > self.cx.now {
                break;
            }
            self.fire(slot);
        }
        self.handle_again();
    }

    /// The caller of a waiting request is gone (deadline, closed connection): it gets no reply.
    pub fn cancel_request(&mut self, request_id: u32) {
        self.drop_wait(request_id, false);
    }

    /// A long poll has lasted long enough but its caller is still there: it is answered as a server answers then (an empty poll, a
    /// page without events and the token to go on with, the stage that an update has reached).
    pub fn expire_request(&mut self, request_id: u32) {
        self.drop_wait(request_id, true);
    }

    /// The store has purged a closed run: memory must not answer for it any longer.
    pub fn forget(&mut self, run_id: &str) {
        self.forget_run(run_id);
    }

    /// What waits in a task queue: workflow tasks (queries among them) and how many milliseconds the oldest has waited, and the same for
    /// activity tasks.
    pub fn backlog(&self, queue: &str, now_ms: f64) -> [f64; 4] {
        let now = self.cx.now.max(time::from_ms(now_ms));
        let [workflow, activity] =
            [queues::Side::Workflow, queues::Side::Activity].map(|side| self.cx.queues.backlog(side, queue, now));
        [workflow.0, workflow.1, activity.0, activity.1]
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
            runs::Found::Slot(slot) => self.runs.get_mut(slot).map(|run| run.record()),
            _ => None,
        }
    }
}
