//! A fluent driver for the engine: an in-memory store that obeys the host's contract, a virtual clock, and a worker scripted by the
//! test. Every history is checked against the invariants of a server's histories when the driver is dropped.
use std::collections::BTreeMap;

use prost::Message;
use temporalex_core::api::history::v1::History;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions, Flush, HistorySplice, Reply, RpcError, RunRecord};
use temporalex_core::engine::Engine;

use super::invariants;

mod clients;
mod cron;
mod store;
mod workers;
pub use store::*;

mod builders;
pub use builders::*;

pub const QUEUE: &str = "q";
pub const STICKY: &str = "sticky-1";
pub const START_MS: f64 = 1_750_000_000_000.0;

pub struct T {
    pub engine: Engine,
    pub store: Store,
    pub now: f64,
    pub options: EngineOptions,
    pub next_id: u32,
    pub replies: BTreeMap<u32, Result<Vec<u8>, RpcError>>,
    /// The next commits fail.
    pub fail_commits: u32,
    /// Requests whose replies went down with a failed commit.
    pub lost: Vec<u32>,
    lives: u8,
    pub check_on_drop: bool,
}

pub fn seed(n: u8) -> Vec<u8> {
    (0..32).map(|i| n.wrapping_mul(31).wrapping_add(i * 7 + 1)).collect()
}

pub type Answer<R> = Result<R, RpcError>;

impl T {
    pub fn new() -> T {
        T::with(EngineOptions::default())
    }

    pub fn with(options: EngineOptions) -> T {
        let options = EngineOptions { namespace: "default".into(), seed: seed(1), ..options };
        T {
            engine: Engine::new(options.clone()).expect("an engine"),
            store: Store::default(),
            now: START_MS,
            options,
            next_id: 0,
            replies: BTreeMap::new(),
            fail_commits: 0,
            lost: Vec::new(),
            lives: 1,
            check_on_drop: true,
        }
    }

    /// A new life of the engine on the same store, as after a crash.
    pub fn restart(&mut self) -> &mut T {
        self.lives += 1;
        let open_runs = self.store.runs.values().filter(|s| s.row.close_time_ms == 0.0).count() as u32;
        let options = EngineOptions { seed: seed(self.lives), open_runs, ..self.options.clone() };
        self.engine = Engine::new(options).expect("an engine");
        let mut ids = self.store.ready();
        ids.extend(self.store.due(self.now));
        ids.sort();
        ids.dedup();
        for id in ids {
            self.engine.load(self.store.record(&id), self.now);
        }
        self.flush();
        self
    }

    pub fn restart_losing(&mut self) -> &mut T {
        self.options.in_flight_lost = true;
        self.restart()
    }

    // ------------------------------------------------------------------------------------------------------ plumbing

    /// Sends a request without flushing.
    pub fn send<R: Message>(&mut self, method: M, request: &R) -> u32 {
        self.send_bytes(method, &request.encode_to_vec())
    }

    pub fn send_bytes(&mut self, method: M, body: &[u8]) -> u32 {
        self.next_id += 1;
        self.engine.request(self.next_id, method, body, self.now);
        self.next_id
    }

    pub fn flush(&mut self) -> Flush {
        loop {
            let flush = self.engine.flush();
            if !flush.loads.is_empty() {
                assert!(flush.writes.is_empty() && flush.replies.is_empty(), "a flush with loads holds nothing else");
                for l in &flush.loads {
                    if let Some(query) = &l.cron {
                        self.engine.load(cron::answer(query), self.now);
                        continue;
                    }
                    let mut record = self.store.load(&l.workflow_id, &l.run_id);
                    if l.history {
                        record.history = self.store.history(&l.run_id);
                    }
                    self.engine.load(record, self.now);
                }
                continue;
            }
            if self.fail_commits > 0 {
                self.fail_commits -= 1;
                self.lost.extend(flush.replies.iter().map(|r| r.request_id));
                self.engine.aborted();
                // Runs that must continue are requested with the next flush.
                return flush;
            }
            self.store.commit(flush.writes.clone());
            self.engine.committed();
            for r in &flush.replies {
                let result = self.resolve(r);
                let old = self.replies.insert(r.request_id, result);
                assert!(old.is_none(), "request {} was completed twice", r.request_id);
            }
            return flush;
        }
    }

    fn resolve(&self, r: &Reply) -> Result<Vec<u8>, RpcError> {
        if let Some(e) = &r.error {
            return Err(e.clone());
        }
        let mut body = r.body.clone();
        if let Some(s) = &r.history {
            body.extend(self.splice(s));
        }
        Ok(body)
    }

    fn splice(&self, s: &HistorySplice) -> Vec<u8> {
        let mut bytes = Vec::new();
        if s.from_event_id > 0 {
            let events = self.store.range(&s.run_id, i64::from(s.from_event_id), i64::from(s.to_event_id));
            assert_eq!(events.len() as u32, s.to_event_id - s.from_event_id + 1, "the range of a splice is stored");
            bytes = History { events }.encode_to_vec();
        }
        bytes.extend_from_slice(&s.tail);
        let mut field = Vec::new();
        prost::encoding::encode_key(s.field_number, prost::encoding::WireType::LengthDelimited, &mut field);
        prost::encoding::encode_varint(bytes.len() as u64, &mut field);
        field.extend(bytes);
        field
    }

    pub fn take<R: Message + Default>(&mut self, id: u32) -> Option<Answer<R>> {
        self.replies.remove(&id).map(|r| r.map(|b| R::decode(b.as_slice()).expect("a reply decodes")))
    }

    pub fn call<R: Message + Default>(&mut self, method: M, request: &impl Message) -> Answer<R> {
        let id = self.send(method, request);
        self.flush();
        self.take(id).unwrap_or_else(|| panic!("no reply to {method:?}"))
    }

    pub fn advance(&mut self, ms: f64) -> &mut T {
        self.now += ms;
        self.wake();
        self
    }

    /// What the host does on waking.
    pub fn wake(&mut self) {
        self.engine.tick(self.now);
        self.flush();
        loop {
            let due = self.store.due(self.now);
            if due.is_empty() {
                return;
            }
            for id in due {
                self.engine.load(self.store.record(&id), self.now);
            }
            self.engine.tick(self.now);
            self.flush();
        }
    }

    /// Jumps to the next moment that anything waits for.
    pub fn skip(&mut self) -> bool {
        let next = self.engine.flush();
        assert!(next.writes.is_empty() && next.replies.is_empty());
        self.engine.committed();
        let mut at = (next.next_wake_ms > 0.0).then_some(next.next_wake_ms);
        if let Some(w) = self.store.next_wake() {
            at = Some(at.map_or(w, |a| a.min(w)));
        }
        let Some(at) = at else { return false };
        self.now = self.now.max(at);
        self.wake();
        true
    }

    /// Memory and store agree about every run that is in memory.
    pub fn check_memory(&mut self) {
        for (id, s) in &self.store.runs {
            let Some(record) = self.engine.record_of(&s.row.workflow_id, id) else { continue };
            let mut stored = self.store.record(id);
            // An activity whose retry was due when its run was loaded waits in a queue, and is not written separately: the
            // store finds the run by its wake time. Another one (a timer) may have the same microsecond; else the row
            // changes and is written.
            if let (Some(row), Some(kept)) = (&record.row, &mut stored.row) {
                kept.ready |= row.ready && kept.wake_at_ms > 0.0 && kept.wake_at_ms <= self.now;
            }
            same_record(id, &record, &stored);
        }
    }

    pub fn check_histories(&self) {
        for s in self.store.runs.values() {
            invariants::check(&s.events(), &s.row);
        }
    }
}

impl Drop for T {
    fn drop(&mut self) {
        if self.check_on_drop && !std::thread::panicking() {
            self.check_histories();
        }
    }
}

/// Equal state, row and items; says what differs without printing payloads.
pub fn same_record(id: &str, a: &RunRecord, b: &RunRecord) {
    assert_eq!(a.row, b.row, "row of {id}");
    let keys = |r: &RunRecord| r.items.iter().map(|i| (i.kind, i.id.clone())).collect::<Vec<_>>();
    assert_eq!(keys(a), keys(b), "items of {id}");
    for (x, y) in a.items.iter().zip(&b.items) {
        assert!(x.value == y.value, "item {}/{} of {id} differs", x.kind, x.id);
    }
    assert!(a.head == b.head, "head of {id} differs:\n{:?}\n{:?}", a.head, b.head);
}
