//! The world of a random life: the engine with its store, the requests in flight, and what was acknowledged; a step of it is drawn from two
//! numbers.
use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use temporalex_core::api::query::v1::WorkflowQuery;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions};

use crate::support::*;

/// The purpose of a request in flight.
#[derive(Clone, Debug)]
pub enum Sent {
    Other,
    /// A signal with this name; repeated requests carry the same request id.
    Signal {
        name: String,
    },
    Update {
        workflow: String,
        id: String,
    },
    Query,
    PollTask {
        sticky: bool,
    },
    PollActivity,
    /// Its marker.
    Complete {
        marker: String,
    },
    ActivityResult {
        result: String,
    },
}

pub struct Sim {
    pub t: T,
    pub sent: BTreeMap<u32, Sent>,
    pub tasks: Vec<PollWorkflowTaskQueueResponse>,
    pub queries: Vec<PollWorkflowTaskQueueResponse>,
    pub activities: Vec<PollActivityTaskQueueResponse>,
    pub unique: u32,
    pub acked_signals: BTreeSet<String>,
    pub acked_markers: BTreeSet<String>,
    pub dead_markers: BTreeSet<String>,
    pub acked_results: BTreeSet<String>,
    pub dead_results: BTreeSet<String>,
    pub dead_signals: BTreeSet<String>,
    pub accepted: BTreeSet<(String, String)>,
    /// Messages that workers saw, for answering accepted updates later: run -> update ids.
    pub open_updates: BTreeMap<String, BTreeSet<String>>,
    /// What happened, for the test that the lives are not empty.
    pub seen: BTreeMap<String, u32>,
}

pub fn workflow(a: u16) -> String {
    format!("w{}", a % 3)
}

impl Sim {
    pub fn new() -> Sim {
        let t = T::with(EngineOptions { max_cached_runs: 4, max_inbox: 12, ..Default::default() });
        Sim {
            t,
            sent: BTreeMap::new(),
            tasks: vec![],
            queries: vec![],
            activities: vec![],
            unique: 0,
            acked_signals: BTreeSet::new(),
            acked_markers: BTreeSet::new(),
            dead_markers: BTreeSet::new(),
            acked_results: BTreeSet::new(),
            dead_results: BTreeSet::new(),
            dead_signals: BTreeSet::new(),
            accepted: BTreeSet::new(),
            open_updates: BTreeMap::new(),
            seen: BTreeMap::new(),
        }
    }

    pub fn saw_in(&self, seen: &mut BTreeMap<String, u32>, what: &str) {
        *seen.entry(what.into()).or_default() += 1;
    }

    pub fn saw(&mut self, what: &str) {
        *self.seen.entry(what.into()).or_default() += 1;
    }

    pub fn next(&mut self) -> u32 {
        self.unique += 1;
        self.unique
    }

    pub fn send(&mut self, method: M, body: &impl Message, sent: Sent) {
        let id = self.t.send(method, body);
        self.sent.insert(id, sent);
    }

    pub fn step(&mut self, kind: u8, a: u16) {
        match kind % 32 {
            kind @ 0..=9 => self.client_step(kind, a),
            kind @ 10..=25 => self.worker_step(kind, a),
            kind => self.world_step(kind, a),
        }
        if a & 0x100 == 0 {
            self.flush();
        }
    }

    /// A client starts, signals, cancels, updates, queries.
    fn client_step(&mut self, kind: u8, a: u16) {
        match kind {
            0 | 1 => {
                let mut r = self.t.start_request(&workflow(a));
                r.request_id = format!("r{}", a % 7);
                r.workflow_id_conflict_policy = i32::from(a / 7 % 3) + i32::from(a % 40 == 0);
                if a % 5 == 0 {
                    r.workflow_run_timeout = dur(30_000);
                }
                if a % 11 == 0 {
                    r.retry_policy = retry_policy(3);
                }
                self.send(M::StartWorkflowExecution, &r, Sent::Other);
            }
            2..=4 => {
                let name = if a % 4 == 0 { format!("again{}", a % 3) } else { format!("s{}", self.next()) };
                let mut r = self.t.signal_request(&workflow(a), &name);
                if a % 4 == 0 {
                    r.request_id = name.clone();
                }
                self.send(M::SignalWorkflowExecution, &r, Sent::Signal { name });
            }
            5 => {
                let name = format!("s{}", self.next());
                let r = SignalWithStartWorkflowExecutionRequest {
                    workflow_id: workflow(a),
                    workflow_type: Some(temporalex_core::api::common::v1::WorkflowType { name: "Flow".into() }),
                    task_queue: Some(queue(QUEUE)),
                    request_id: name.clone(),
                    signal_name: name.clone(),
                    identity: "client".into(),
                    ..Default::default()
                };
                self.send(M::SignalWithStartWorkflowExecution, &r, Sent::Signal { name });
            }
            6 => match a % 12 {
                0 => {
                    let r = TerminateWorkflowExecutionRequest {
                        workflow_execution: Some(exec(&workflow(a), "")),
                        ..Default::default()
                    };
                    self.send(M::TerminateWorkflowExecution, &r, Sent::Other);
                }
                _ => {
                    let r = RequestCancelWorkflowExecutionRequest {
                        workflow_execution: Some(exec(&workflow(a), "")),
                        ..Default::default()
                    };
                    self.send(M::RequestCancelWorkflowExecution, &r, Sent::Other);
                }
            },
            7 | 8 => {
                let (workflow, id) = (workflow(a), format!("u{}", a / 3 % 5));
                let r = update_request(&workflow, &id, 2 + i32::from(a % 2));
                self.send(M::UpdateWorkflowExecution, &r, Sent::Update { workflow, id });
            }
            9 => {
                let r = QueryWorkflowRequest {
                    execution: Some(exec(&workflow(a), "")),
                    query: Some(WorkflowQuery { query_type: "q".into(), ..Default::default() }),
                    ..Default::default()
                };
                self.send(M::QueryWorkflow, &r, Sent::Query);
            }
            _ => self.flush(),
        }
    }

    /// A worker polls, or reports what it has in hand.
    fn worker_step(&mut self, kind: u8, a: u16) {
        match kind {
            10 | 11 => {
                let id = self.t.poll_id(QUEUE);
                self.sent.insert(id, Sent::PollTask { sticky: false });
            }
            12 | 13 => {
                let id = self.t.poll_sticky_id(STICKY);
                self.sent.insert(id, Sent::PollTask { sticky: true });
            }
            14 | 15 => {
                let id = self.t.poll_activity_id(QUEUE);
                self.sent.insert(id, Sent::PollActivity);
            }
            16..=20 => self.complete_task(a),
            21 => {
                if let Some(task) = take(&mut self.tasks, a) {
                    let r = RespondWorkflowTaskFailedRequest { task_token: task.task_token, cause: 14, ..Default::default() };
                    self.send(M::RespondWorkflowTaskFailed, &r, Sent::Other);
                }
            }
            22 => {
                if let Some(task) = take(&mut self.queries, a) {
                    let r = RespondQueryTaskCompletedRequest {
                        task_token: task.task_token,
                        completed_type: 1,
                        query_result: Some(json("1")),
                        ..Default::default()
                    };
                    self.send(M::RespondQueryTaskCompleted, &r, Sent::Other);
                }
            }
            23 | 24 => self.end_activity(a),
            25 => {
                if let Some(task) = self.activities.get(a as usize % self.activities.len().max(1)).cloned() {
                    let r = RecordActivityTaskHeartbeatRequest {
                        task_token: task.task_token,
                        details: Some(json("1")),
                        ..Default::default()
                    };
                    self.send(M::RecordActivityTaskHeartbeat, &r, Sent::Other);
                }
            }
            _ => self.flush(),
        }
    }

    /// Time passes, calls end, commits fail, the engine dies, runs cannot be read.
    fn world_step(&mut self, kind: u8, a: u16) {
        match kind {
            26 => {
                self.t.now += f64::from(a % 4_000);
                self.t.engine.tick(self.t.now);
            }
            27 => {
                self.t.now += f64::from(a % 4096) * if a % 7 == 0 { 10.0 } else { 1.0 };
                self.flush();
                self.t.wake();
                self.collect();
            }
            28 => {
                let open: Vec<u32> = self.sent.keys().copied().collect();
                if let Some(id) = open.get(a as usize % open.len().max(1)) {
                    let poll =
                        matches!(self.sent[id], Sent::PollTask { .. } | Sent::PollActivity | Sent::Query | Sent::Update { .. });
                    if poll && a % 2 == 0 {
                        self.t.engine.cancel_request(*id);
                        self.sent.remove(id);
                    } else if poll {
                        self.t.engine.expire_request(*id);
                    }
                }
            }
            29 if a % 3 == 0 => {
                self.t.fail_commits = 1;
                self.flush();
            }
            30 if a % 6 == 0 => self.crash(a % 12 == 0),
            31 if a % 5 == 0 => {
                let id = if a % 2 == 0 { workflow(a / 8) } else { format!("c{}", a / 8 % 4) };
                self.saw("unreadable");
                self.t.store.unreadable.insert(id);
            }
            31 => self.t.store.unreadable.clear(),
            _ => self.flush(),
        }
    }
}

pub fn take<X>(list: &mut Vec<X>, a: u16) -> Option<X> {
    if list.is_empty() { None } else { Some(list.remove(a as usize % list.len())) }
}
