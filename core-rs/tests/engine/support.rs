//! A fluent driver for the engine: an in-memory store that obeys the host's contract, a virtual clock, and a worker scripted by the
//! test. Every history is checked against the invariants of a server's histories when the driver is dropped.
#![allow(dead_code)]
use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use temporalex_core::api::command::v1::Command;
use temporalex_core::api::common::v1::WorkflowType;
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::api::history::v1::{History, HistoryEvent};
use temporalex_core::api::taskqueue::v1::TaskQueue;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{
    EngineMethod as M, EngineOptions, Flush, HistoryBatch, HistorySplice, Reply, RpcError, RunRecord, RunRow, RunWrite, StateItem,
};
use temporalex_core::engine::Engine;

use super::invariants;

#[path = "builders.rs"]
mod builders;
pub use builders::*;

pub const QUEUE: &str = "q";
pub const STICKY: &str = "sticky-1";
pub const START_MS: f64 = 1_750_000_000_000.0;

#[derive(Clone, Default)]
pub struct Stored {
    pub row: RunRow,
    pub head: Vec<u8>,
    pub items: BTreeMap<(u32, String), Vec<u8>>,
    pub batches: Vec<HistoryBatch>,
    pub order: u64,
}

impl Stored {
    pub fn events(&self) -> Vec<HistoryEvent> {
        let mut events = Vec::new();
        for b in &self.batches {
            let h = History::decode(b.events.as_slice()).expect("a stored batch decodes");
            assert_eq!(h.events.first().map(|e| e.event_id), Some(i64::from(b.first_event_id)), "first id of a batch");
            assert_eq!(h.events.last().map(|e| e.event_id), Some(i64::from(b.last_event_id)), "last id of a batch");
            events.extend(h.events);
        }
        events
    }
}

/// The store's side of the contract.
#[derive(Clone, Default)]
pub struct Store {
    pub runs: BTreeMap<String, Stored>,
    /// Workflow ids that it fails to read now.
    pub unreadable: BTreeSet<String>,
    order: u64,
}

impl Store {
    pub fn commit(&mut self, writes: Vec<RunWrite>) {
        for w in writes {
            let row = w.row.expect("a write has a row");
            self.order += 1;
            let order = self.order;
            if w.create {
                assert!(!self.runs.contains_key(&row.run_id), "created twice");
                self.runs.insert(row.run_id.clone(), Stored { order, ..Default::default() });
            }
            let s = self.runs.get_mut(&row.run_id).expect("a write to a run that was created");
            for b in w.append {
                let next = s.batches.last().map_or(1, |b| b.last_event_id + 1);
                assert_eq!(b.first_event_id, next, "batches are contiguous");
                assert!(b.last_event_id >= b.first_event_id);
                s.batches.push(b);
            }
            for i in w.put {
                s.items.insert((i.kind, i.id), i.value);
            }
            for i in w.remove {
                assert!(i.value.is_empty());
                s.items.remove(&(i.kind, i.id));
            }
            assert_eq!(row.history_length, s.batches.last().map_or(0, |b| b.last_event_id));
            s.row = row;
            s.head = w.head;
        }
    }

    pub fn record(&self, run_id: &str) -> RunRecord {
        let Some(s) = self.runs.get(run_id) else { return RunRecord::default() };
        RunRecord {
            found: true,
            row: Some(s.row.clone()),
            head: s.head.clone(),
            items: s
                .items
                .iter()
                .map(|((kind, id), value)| StateItem { kind: *kind, id: id.clone(), value: value.clone() })
                .collect(),
            ..Default::default()
        }
    }

    pub fn load(&self, workflow_id: &str, run_id: &str) -> RunRecord {
        if self.unreadable.contains(workflow_id) {
            let (asked_workflow_id, asked_run_id) = (workflow_id.into(), run_id.into());
            return RunRecord { asked_workflow_id, asked_run_id, unavailable: "disk".into(), ..Default::default() };
        }
        let id = if run_id.is_empty() {
            let of_id = self.runs.iter().filter(|(_, s)| s.row.workflow_id == workflow_id);
            of_id.max_by_key(|(_, s)| s.order).map(|(id, _)| id.clone()).unwrap_or_default()
        } else {
            run_id.to_string()
        };
        RunRecord { asked_workflow_id: workflow_id.into(), asked_run_id: run_id.into(), ..self.record(&id) }
    }

    pub fn range(&self, run_id: &str, from: i64, to: i64) -> Vec<HistoryEvent> {
        let events = self.runs.get(run_id).map(Stored::events).unwrap_or_default();
        events.into_iter().filter(|e| e.event_id >= from && e.event_id <= to).collect()
    }

    /// Open rows whose moment has come.
    pub fn due(&self, now_ms: f64) -> Vec<String> {
        let due =
            self.runs.iter().filter(|(_, s)| s.row.close_time_ms == 0.0 && s.row.wake_at_ms > 0.0 && s.row.wake_at_ms <= now_ms);
        due.map(|(id, _)| id.clone()).collect()
    }

    pub fn ready(&self) -> Vec<String> {
        self.runs.iter().filter(|(_, s)| s.row.ready).map(|(id, _)| id.clone()).collect()
    }

    pub fn next_wake(&self) -> Option<f64> {
        let wakes = self.runs.values().filter(|s| s.row.close_time_ms == 0.0 && s.row.wake_at_ms > 0.0).map(|s| s.row.wake_at_ms);
        wakes.min_by(f64::total_cmp)
    }
}

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
                    let record = self.store.load(&l.workflow_id, &l.run_id);
                    self.engine.load(record, self.now);
                }
                continue;
            }
            if self.fail_commits > 0 {
                self.fail_commits -= 1;
                self.lost.extend(flush.replies.iter().map(|r| r.request_id));
                self.engine.aborted();
                // What must go on is asked for with the next flush.
                return flush;
            }
            self.store.commit(flush.writes.clone());
            self.engine.committed();
            for r in &flush.replies {
                let result = self.resolve(r);
                let old = self.replies.insert(r.request_id, result);
                assert!(old.is_none(), "request {} was answered twice", r.request_id);
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

    // ------------------------------------------------------------------------------------------------------- clients

    pub fn start_request(&self, id: &str) -> StartWorkflowExecutionRequest {
        StartWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_id: id.into(),
            workflow_type: Some(WorkflowType { name: "Flow".into() }),
            task_queue: Some(queue(QUEUE)),
            identity: "client".into(),
            request_id: format!("start-{id}"),
            input: Some(json("1")),
            ..Default::default()
        }
    }

    pub fn start(&mut self, id: &str) -> String {
        let request = self.start_request(id);
        let r: StartWorkflowExecutionResponse = self.call(M::StartWorkflowExecution, &request).expect("a start");
        r.run_id
    }

    pub fn start_with(
        &mut self,
        id: &str,
        change: impl FnOnce(&mut StartWorkflowExecutionRequest),
    ) -> Answer<StartWorkflowExecutionResponse> {
        let mut request = self.start_request(id);
        request.request_id = format!("start-{id}-{}", self.next_id);
        change(&mut request);
        self.call(M::StartWorkflowExecution, &request)
    }

    pub fn signal(&mut self, id: &str, name: &str) -> Answer<SignalWorkflowExecutionResponse> {
        let request = self.signal_request(id, name);
        self.call(M::SignalWorkflowExecution, &request)
    }

    pub fn signal_request(&self, id: &str, name: &str) -> SignalWorkflowExecutionRequest {
        SignalWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_execution: Some(exec(id, "")),
            signal_name: name.into(),
            identity: "client".into(),
            ..Default::default()
        }
    }

    pub fn cancel(&mut self, id: &str) -> Answer<RequestCancelWorkflowExecutionResponse> {
        let request = RequestCancelWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_execution: Some(exec(id, "")),
            reason: "enough".into(),
            identity: "client".into(),
            ..Default::default()
        };
        self.call(M::RequestCancelWorkflowExecution, &request)
    }

    pub fn terminate(&mut self, id: &str) -> Answer<TerminateWorkflowExecutionResponse> {
        let request = TerminateWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_execution: Some(exec(id, "")),
            reason: "no more".into(),
            identity: "client".into(),
            ..Default::default()
        };
        self.call(M::TerminateWorkflowExecution, &request)
    }

    pub fn describe(&mut self, id: &str, run: &str) -> Answer<DescribeWorkflowExecutionResponse> {
        let request = DescribeWorkflowExecutionRequest { namespace: "default".into(), execution: Some(exec(id, run)) };
        self.call(M::DescribeWorkflowExecution, &request)
    }

    pub fn status(&mut self, id: &str) -> i32 {
        self.describe(id, "").expect("a description").workflow_execution_info.expect("info").status
    }

    pub fn history_request(&self, id: &str, run: &str) -> GetWorkflowExecutionHistoryRequest {
        GetWorkflowExecutionHistoryRequest { namespace: "default".into(), execution: Some(exec(id, run)), ..Default::default() }
    }

    pub fn history(&mut self, id: &str, run: &str) -> Vec<HistoryEvent> {
        let mut request = self.history_request(id, run);
        let mut events = Vec::new();
        loop {
            let r: GetWorkflowExecutionHistoryResponse = self.call(M::GetWorkflowExecutionHistory, &request).expect("a history");
            events.extend(r.history.expect("history is set").events);
            if r.next_page_token.is_empty() {
                return events;
            }
            request.next_page_token = r.next_page_token;
        }
    }

    /// Short names of the events of the latest run: "Started WTScheduled ...".
    pub fn shape(&mut self, id: &str) -> String {
        shape(&self.history(id, ""))
    }

    // ------------------------------------------------------------------------------------------------------- workers

    pub fn poll_id(&mut self, queue_name: &str) -> u32 {
        self.send(
            M::PollWorkflowTaskQueue,
            &PollWorkflowTaskQueueRequest {
                namespace: "default".into(),
                task_queue: Some(queue(queue_name)),
                identity: "worker".into(),
                ..Default::default()
            },
        )
    }

    pub fn poll_sticky_id(&mut self, name: &str) -> u32 {
        let q = TaskQueue { name: name.into(), kind: 2, normal_name: QUEUE.into() };
        self.send(
            M::PollWorkflowTaskQueue,
            &PollWorkflowTaskQueueRequest {
                namespace: "default".into(),
                task_queue: Some(q),
                identity: "worker".into(),
                ..Default::default()
            },
        )
    }

    pub fn try_task(&mut self) -> Option<PollWorkflowTaskQueueResponse> {
        let id = self.poll_id(QUEUE);
        self.finish_poll(id)
    }

    /// The workflow task of a run that lives on a queue of its own.
    pub fn task_on(&mut self, queue: &str) -> PollWorkflowTaskQueueResponse {
        let id = self.poll_id(queue);
        self.finish_poll(id).unwrap_or_else(|| panic!("a workflow task on {queue}"))
    }

    pub fn try_sticky_task(&mut self) -> Option<PollWorkflowTaskQueueResponse> {
        let id = self.poll_sticky_id(STICKY);
        self.finish_poll(id)
    }

    pub fn finish_poll(&mut self, id: u32) -> Option<PollWorkflowTaskQueueResponse> {
        self.flush();
        match self.take(id) {
            Some(r) => Some(r.expect("a poll succeeds")),
            None => {
                self.engine.cancel_request(id);
                None
            }
        }
    }

    pub fn task(&mut self) -> PollWorkflowTaskQueueResponse {
        self.try_task().expect("a workflow task")
    }

    pub fn sticky_task(&mut self) -> PollWorkflowTaskQueueResponse {
        self.try_sticky_task().expect("a sticky workflow task")
    }

    pub fn completion(
        &self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
    ) -> RespondWorkflowTaskCompletedRequest {
        RespondWorkflowTaskCompletedRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            identity: "worker".into(),
            commands,
            ..Default::default()
        }
    }

    pub fn complete(
        &mut self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
    ) -> RespondWorkflowTaskCompletedResponse {
        self.try_complete(task, commands).expect("a completion")
    }

    pub fn try_complete(
        &mut self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
    ) -> Answer<RespondWorkflowTaskCompletedResponse> {
        let request = self.completion(task, commands);
        self.call(M::RespondWorkflowTaskCompleted, &request)
    }

    /// Completes as SDKs do: sticky, and asking for the next task.
    pub fn complete_sticky(
        &mut self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
    ) -> RespondWorkflowTaskCompletedResponse {
        let request = sticky(self.completion(task, commands));
        self.call(M::RespondWorkflowTaskCompleted, &request).expect("a completion")
    }

    pub fn complete_with(
        &mut self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
        change: impl FnOnce(&mut RespondWorkflowTaskCompletedRequest),
    ) -> Answer<RespondWorkflowTaskCompletedResponse> {
        let mut request = self.completion(task, commands);
        change(&mut request);
        self.call(M::RespondWorkflowTaskCompleted, &request)
    }

    pub fn fail_task(&mut self, task: &PollWorkflowTaskQueueResponse) -> Answer<RespondWorkflowTaskFailedResponse> {
        let request = RespondWorkflowTaskFailedRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            cause: 14,
            failure: Some(failure("Bug", "a bug")),
            identity: "worker".into(),
            ..Default::default()
        };
        self.call(M::RespondWorkflowTaskFailed, &request)
    }

    pub fn poll_activity_id(&mut self, name: &str) -> u32 {
        self.send(
            M::PollActivityTaskQueue,
            &PollActivityTaskQueueRequest {
                namespace: "default".into(),
                task_queue: Some(queue(name)),
                identity: "worker".into(),
                ..Default::default()
            },
        )
    }

    pub fn try_activity(&mut self) -> Option<PollActivityTaskQueueResponse> {
        let id = self.poll_activity_id(QUEUE);
        self.flush();
        match self.take(id) {
            Some(r) => Some(r.expect("a poll succeeds")),
            None => {
                self.engine.cancel_request(id);
                None
            }
        }
    }

    pub fn activity(&mut self) -> PollActivityTaskQueueResponse {
        self.try_activity().expect("an activity task")
    }

    pub fn complete_activity(
        &mut self,
        task: &PollActivityTaskQueueResponse,
        result: &str,
    ) -> Answer<RespondActivityTaskCompletedResponse> {
        let request = RespondActivityTaskCompletedRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            result: Some(json(result)),
            identity: "worker".into(),
            ..Default::default()
        };
        self.call(M::RespondActivityTaskCompleted, &request)
    }

    pub fn fail_activity(
        &mut self,
        task: &PollActivityTaskQueueResponse,
        f: Failure,
    ) -> Answer<RespondActivityTaskFailedResponse> {
        let request = RespondActivityTaskFailedRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            failure: Some(f),
            identity: "worker".into(),
            ..Default::default()
        };
        self.call(M::RespondActivityTaskFailed, &request)
    }

    pub fn heartbeat(
        &mut self,
        task: &PollActivityTaskQueueResponse,
        details: &str,
    ) -> Answer<RecordActivityTaskHeartbeatResponse> {
        let request = RecordActivityTaskHeartbeatRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            details: Some(json(details)),
            identity: "worker".into(),
            ..Default::default()
        };
        self.call(M::RecordActivityTaskHeartbeat, &request)
    }

    /// Memory and store agree about every run that is in memory.
    pub fn check_memory(&mut self) {
        for (id, s) in &self.store.runs {
            let Some(record) = self.engine.record_of(&s.row.workflow_id, id) else { continue };
            let mut stored = self.store.record(id);
            // An activity whose retry was due when its run was loaded waits in a queue, and is no write of its own: the store finds the run by
            // its wake. That is another one's (a timer's) where both were due in the same microsecond; else the row changes and is written.
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
