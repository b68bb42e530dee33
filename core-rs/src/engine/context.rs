//! What steps on a run need of the engine besides the run: clock, randomness, queues, and the outputs of the open batch.
use std::collections::HashMap;

use super::codec::{self, Wire};
use super::cron::{Crons, Waiting};
use super::limits::Limits;
use super::message::message;
use super::queues::Queues;
use super::rng::Rng;
use super::routing::Routing;
use super::rpc;
use super::search_attributes::Register;
use super::state::request::{Again, Pair, Wait};
use super::state::run::Run;
use super::time::Micros;
use crate::boundary::{HistorySplice, NexusCall, Reply, RpcError, TimedOutAttempt, TransactOutcome, TransactTask};
use crate::sorted::SortedMap;

pub struct Context {
    pub namespace: String,
    pub limits: Limits,
    pub in_flight_lost: bool,
    /// Timers fire when a request says so, not when they are due.
    pub manual_timers: bool,
    pub now: Micros,
    pub rng: Rng,
    /// Names this life of the engine: a task handed out under another one has lost its holder (if `in_flight_lost`).
    pub life: u64,
    pub queues: Queues,
    pub replies: Vec<Reply>,
    /// Attempts of activities that timed out in the open batch.
    pub timed_out: Vec<TimedOutAttempt>,
    pub waiting: HashMap<u32, Wait>,
    /// Runs that the current step made; the engine takes them in when the step ends.
    pub spawned: Vec<Run>,
    /// Open runs, uncommitted ones included.
    pub open_runs: i64,
    /// Runs that have ordered something of others.
    pub orders: std::collections::VecDeque<u32>,
    /// Requests to be handled again once the step has ended (they moved to another run).
    pub again: Vec<Again>,
    /// Requests that start a workflow and update it, by request id.
    pub pairs: HashMap<u32, Pair>,
    pub reducing: Reducing,
    pub crons: Crons,
    /// The register of search attributes, if the namespace has one.
    pub attributes: Option<Register>,
    /// The ids of the endpoints of Nexus by name, if the host makes calls.
    pub endpoints: Option<SortedMap<String, String>>,
    /// Calls for the host, in the open batch.
    pub nexus_calls: Vec<NexusCall>,
    /// The task queues of worker deployments, if the host keeps them.
    pub routing: Option<Routing>,
}

/// Completed tasks whose reducers the host runs.
#[derive(Default)]
pub struct Reducing {
    /// For the next flush.
    pub tasks: Vec<TransactTask>,
    /// By request id.
    pub requests: HashMap<u32, Again>,
    /// The host's outcome, for the request that is handled again.
    pub outcome: Option<TransactOutcome>,
    /// The task was completed with it.
    pub taken: bool,
}

message! {
    /// Of an update-with-start: both responses.
    PairResponse: engine::PairResponse { start bytes, update bytes, }
}

impl Context {
    /// Whether a step must wait for the time of a cron schedule (`Crons::wait`).
    pub fn waits_for_cron(&mut self, schedule: &str, scheduled: Micros, waiting: impl FnOnce() -> Waiting) -> bool {
        self.crons.wait(schedule, scheduled, self.now, waiting)
    }

    pub fn reply(&mut self, request_id: u32, body: &dyn Wire) {
        self.reply_bytes(request_id, codec::bytes(body), None);
    }

    pub fn reply_bytes(&mut self, request_id: u32, body: Vec<u8>, history: Option<HistorySplice>) {
        self.waiting.remove(&request_id);
        let body = match self.pairs.remove(&request_id) {
            Some(pair) => codec::bytes(&PairResponse { start: pair.started.unwrap_or_default(), update: body }),
            None => body,
        };
        self.replies.push(Reply { request_id, body, error: None, history });
    }

    #[allow(clippy::boxed_local)]
    pub fn fail(&mut self, request_id: u32, mut error: Box<RpcError>) {
        self.waiting.remove(&request_id);
        if let Some(pair) = self.pairs.remove(&request_id)
            && !error.metadata.contains_key("operation")
        {
            // Which of the two operations it was.
            let at = if pair.started.is_some() { "1" } else { "0" };
            error = rpc::with(error, "operation", at);
        }
        self.replies.push(Reply { request_id, body: Vec::new(), error: Some(*error), history: None });
    }
}
