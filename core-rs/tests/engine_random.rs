//! Random lives of the engine: clients, a worker, failing commits, crashes and clock jumps in any order. Whatever happens, what was
//! acknowledged is there once, what was not is nowhere, histories have a server's form, and memory equals the store.
//! ENGINE_CASES sets the number of lives (default 256).
#![allow(clippy::manual_is_multiple_of)]
#[path = "engine/invariants.rs"]
mod invariants;
#[path = "engine/support.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use prost::Message;
use support::*;
use temporalex_core::api::command::v1::Command;
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::{HistoryEvent, history_event::Attributes as A};
use temporalex_core::api::query::v1::{WorkflowQuery, WorkflowQueryResult};
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions};
use temporalex_core::engine::Engine;

/// What a request in flight stands for.
#[derive(Clone, Debug)]
enum Sent {
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

struct Sim {
    t: T,
    sent: BTreeMap<u32, Sent>,
    tasks: Vec<PollWorkflowTaskQueueResponse>,
    queries: Vec<PollWorkflowTaskQueueResponse>,
    activities: Vec<PollActivityTaskQueueResponse>,
    unique: u32,
    acked_signals: BTreeSet<String>,
    acked_markers: BTreeSet<String>,
    dead_markers: BTreeSet<String>,
    acked_results: BTreeSet<String>,
    dead_results: BTreeSet<String>,
    dead_signals: BTreeSet<String>,
    accepted: BTreeSet<(String, String)>,
    /// Messages that workers saw, for answering accepted updates later: run -> update ids.
    open_updates: BTreeMap<String, BTreeSet<String>>,
    /// What happened, for the test that the lives are not empty.
    seen: BTreeMap<String, u32>,
}

fn workflow(a: u16) -> String {
    format!("w{}", a % 3)
}

impl Sim {
    fn new() -> Sim {
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

    fn saw_in(&self, seen: &mut BTreeMap<String, u32>, what: &str) {
        *seen.entry(what.into()).or_default() += 1;
    }

    fn saw(&mut self, what: &str) {
        *self.seen.entry(what.into()).or_default() += 1;
    }

    fn next(&mut self) -> u32 {
        self.unique += 1;
        self.unique
    }

    fn send(&mut self, method: M, body: &impl Message, sent: Sent) {
        let id = self.t.send(method, body);
        self.sent.insert(id, sent);
    }

    fn step(&mut self, kind: u8, a: u16) {
        match kind % 32 {
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
        if a & 0x100 == 0 {
            self.flush();
        }
    }

    fn complete_task(&mut self, a: u16) {
        let Some(task) = take(&mut self.tasks, a) else { return };
        let n = self.next();
        let run = task.workflow_execution.clone().unwrap().run_id;
        let marker_name = format!("m{n}");
        let known = self.t.store.runs.get(&run).map(|s| s.events()).unwrap_or_default();
        // Some answers hold no command at all: an empty name stands for that.
        let silent = a % 5 == 4;
        let (commands, marker_name) = if silent {
            (vec![], String::new())
        } else {
            let mut commands = vec![marker(&marker_name)];
            commands.extend(self.commands(&known, n, a));
            (commands, marker_name)
        };
        let mut messages = vec![];
        let mut open = self.open_updates.get(&run).cloned().unwrap_or_default();
        for (i, m) in task.messages.iter().enumerate() {
            match (usize::from(a) / 5 + i) % if silent { 2 } else { 4 } {
                0 => messages.push(reject(m)),
                1 => {}
                _ => {
                    messages.push(accept(m));
                    open.insert(m.protocol_instance_id.clone());
                }
            }
        }
        if a % 3 == 0 && !silent {
            for id in &open {
                messages.push(answer(id, &n.to_string()));
            }
        }
        let mut r = self.t.completion(&task, commands);
        r.messages = messages;
        if a % 4 != 0 {
            r = sticky(r);
        }
        r.force_create_new_workflow_task = a % 13 == 0;
        for id in task.queries.keys() {
            r.query_results
                .insert(id.clone(), WorkflowQueryResult { result_type: 1, answer: Some(json("1")), ..Default::default() });
        }
        self.send(M::RespondWorkflowTaskCompleted, &r, Sent::Complete { marker: marker_name });
    }

    /// Mostly sensible commands for a run with this history; some are wrong.
    fn commands(&self, known: &[HistoryEvent], n: u32, a: u16) -> Vec<Command> {
        let mut out = vec![];
        let mut timers = BTreeSet::new();
        let mut activities = BTreeSet::new();
        for e in known {
            match attrs(e) {
                A::TimerStartedEventAttributes(x) => {
                    let _ = timers.insert(x.timer_id.clone());
                }
                A::TimerFiredEventAttributes(x) => {
                    let _ = timers.remove(&x.timer_id);
                }
                A::TimerCanceledEventAttributes(x) => {
                    let _ = timers.remove(&x.timer_id);
                }
                A::ActivityTaskScheduledEventAttributes(_) => {
                    let _ = activities.insert(e.event_id);
                }
                A::ActivityTaskCancelRequestedEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                A::ActivityTaskCompletedEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                A::ActivityTaskFailedEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                A::ActivityTaskTimedOutEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                A::ActivityTaskCanceledEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                _ => {}
            }
        }
        if a & 1 == 0 {
            out.push(timer(&format!("t{n}"), 1 + i64::from(a % 5_000)));
        }
        if a & 2 == 0 {
            out.push(activity_with(&format!("a{n}"), |x| {
                x.retry_policy = retry_policy(i32::from(a % 3));
                x.start_to_close_timeout = dur(30_000);
                if a & 4 == 0 {
                    x.heartbeat_timeout = dur(1_500);
                }
                if a & 8 == 0 {
                    x.schedule_to_close_timeout = dur(6_000);
                }
                if a & 16 == 0 {
                    x.input = Some(json(&format!("\"{}\"", "x".repeat(3_000))));
                }
            }));
        }
        if a & 12 == 12
            && let Some(id) = timers.first()
        {
            out.push(cancel_timer(id));
        }
        if a & 20 == 20
            && let Some(id) = activities.first()
        {
            out.push(cancel_activity(*id));
        }
        if n % 3 == 0 {
            // Children of children come by themselves: every run lives by the same rules.
            out.push(child_with(&format!("c{}", a % 4), |x| {
                x.task_queue = Some(queue(QUEUE));
                x.parent_close_policy = i32::from(a / 4 % 4);
                x.workflow_id_reuse_policy = i32::from(a / 16 % 5);
                if a % 5 == 0 {
                    x.retry_policy = retry_policy(2);
                }
                if a % 7 == 0 {
                    x.workflow_run_timeout = dur(20_000);
                }
            }));
        }
        let other = if a & 0x20 == 0 { workflow(a / 2) } else { format!("c{}", a / 8 % 4) };
        if n % 4 == 1 {
            out.push(signal_external(&other, &format!("x{n}"), a & 0x40 == 0));
        }
        if n % 11 == 5 {
            out.push(cancel_external(&other, a & 0x40 == 0));
        }
        match a % 17 {
            0 => out.push(done()),
            1 => out.push(continue_as_new(|c| {
                if a % 2 == 0 {
                    c.backoff_start_interval = dur(500);
                }
            })),
            2 => out.push(fail_workflow(failure("E", "x"))),
            3 => out.push(timer("", 1)),
            4 => out.push(cancel_timer("never")),
            _ => {}
        }
        out
    }

    fn end_activity(&mut self, a: u16) {
        let Some(task) = take(&mut self.activities, a) else { return };
        let execution = task.workflow_execution.clone().unwrap();
        let result = format!("\"result{}\"", self.next());
        match a % 5 {
            0 => {
                let r = RespondActivityTaskFailedRequest {
                    task_token: task.task_token,
                    failure: Some(failure("E", "x")),
                    ..Default::default()
                };
                self.send(M::RespondActivityTaskFailed, &r, Sent::Other);
            }
            1 => {
                let r = RespondActivityTaskCanceledRequest { task_token: task.task_token, ..Default::default() };
                self.send(M::RespondActivityTaskCanceled, &r, Sent::Other);
            }
            2 => {
                let r = RespondActivityTaskCompletedByIdRequest {
                    workflow_id: execution.workflow_id,
                    run_id: execution.run_id,
                    activity_id: task.activity_id,
                    result: Some(json(&result)),
                    ..Default::default()
                };
                self.send(M::RespondActivityTaskCompletedById, &r, Sent::ActivityResult { result });
            }
            _ => {
                let r = RespondActivityTaskCompletedRequest {
                    task_token: task.task_token.clone(),
                    result: Some(json(&result)),
                    ..Default::default()
                };
                self.send(M::RespondActivityTaskCompleted, &r, Sent::ActivityResult { result });
                if a % 7 == 0 {
                    // Sent twice: the second must not count.
                    self.send(M::RespondActivityTaskCompleted, &r, Sent::Other);
                }
            }
        }
    }

    fn flush(&mut self) {
        self.t.flush();
        self.collect();
        self.t.check_memory();
    }

    /// Takes in replies and what went down with failed commits.
    fn collect(&mut self) {
        for id in std::mem::take(&mut self.t.lost) {
            if let Some(sent) = self.sent.remove(&id) {
                self.saw("lost reply");
                self.buried(sent);
            }
        }
        for (id, reply) in std::mem::take(&mut self.t.replies) {
            let Some(sent) = self.sent.remove(&id) else { continue };
            match (sent, reply) {
                (Sent::Signal { name, .. }, Ok(_)) => {
                    let _ = self.acked_signals.insert(name);
                }
                (Sent::Update { workflow, id }, Ok(bytes)) => {
                    let r = UpdateWorkflowExecutionResponse::decode(bytes.as_slice()).unwrap();
                    let rejected = matches!(r.outcome.as_ref().and_then(|o| o.value.as_ref()), Some(temporalex_core::api::update::v1::outcome::Value::Failure(f)) if f.message == "no" || f.message.contains("wasn't processed"));
                    if r.stage >= 2 && !rejected {
                        let run = r.update_ref.unwrap().workflow_execution.unwrap();
                        assert_eq!(run.workflow_id, workflow);
                        self.accepted.insert((run.run_id, id));
                    }
                }
                (Sent::PollTask { sticky }, Ok(bytes)) => {
                    let task = PollWorkflowTaskQueueResponse::decode(bytes.as_slice()).unwrap();
                    if task.task_token.is_empty() {
                        continue;
                    }
                    self.check_task(&task, sticky);
                    self.tally(&task);
                    if task.query.is_some() { self.queries.push(task) } else { self.tasks.push(task) }
                }
                (Sent::PollActivity, Ok(bytes)) => {
                    let task = PollActivityTaskQueueResponse::decode(bytes.as_slice()).unwrap();
                    if !task.task_token.is_empty() {
                        self.activities.push(task);
                    }
                }
                (Sent::Complete { marker }, Ok(bytes)) => {
                    let r = RespondWorkflowTaskCompletedResponse::decode(bytes.as_slice()).unwrap();
                    if r.reset_history_event_id > 0 {
                        self.saw("discarded task");
                    } else if !marker.is_empty() {
                        self.acked_markers.insert(marker);
                    }
                    if let Some(next) = r.workflow_task {
                        self.check_task(&next, true);
                        self.tally(&next);
                        self.saw("inline task");
                        self.tasks.push(next);
                    }
                }
                (Sent::ActivityResult { result }, Ok(_)) => {
                    let _ = self.acked_results.insert(result);
                }
                // NotFound and the like: it had no effect.
                (sent, Err(_)) => self.buried(sent),
                (_, Ok(_)) => {}
            }
        }
        // What workers know of accepted updates comes from history.
        self.open_updates.clear();
        for (run, s) in &self.t.store.runs {
            let open = self.open_updates.entry(run.clone()).or_default();
            for e in s.events() {
                match attrs(&e) {
                    A::WorkflowExecutionUpdateAcceptedEventAttributes(x) => {
                        let _ = open.insert(x.protocol_instance_id.clone());
                    }
                    A::WorkflowExecutionUpdateCompletedEventAttributes(x) => {
                        let _ = open.remove(&x.meta.as_ref().unwrap().update_id);
                    }
                    _ => {}
                }
            }
        }
    }

    fn buried(&mut self, sent: Sent) {
        match sent {
            Sent::Complete { marker } if !marker.is_empty() => {
                let _ = self.dead_markers.insert(marker);
            }
            Sent::ActivityResult { result } => {
                let _ = self.dead_results.insert(result);
            }
            Sent::Signal { name } if !name.starts_with("again") => {
                let _ = self.dead_signals.insert(name);
            }
            _ => {}
        }
    }

    fn tally(&mut self, task: &PollWorkflowTaskQueueResponse) {
        if task.query.is_some() {
            return self.saw("query task");
        }
        let run = &task.workflow_execution.as_ref().unwrap().run_id;
        if task.started_event_id > i64::from(self.t.store.runs[run].row.history_length) {
            self.saw(if task.attempt > 1 { "transient task" } else { "speculative task" });
        }
        if events(task)[0].event_id > 1 {
            self.saw("partial task");
        }
        if !task.queries.is_empty() {
            self.saw("task with queries");
        }
        if !task.messages.is_empty() {
            self.saw("task with updates");
        }
    }

    /// A task's events are contiguous, end with its Started, and agree with the store.
    fn check_task(&self, task: &PollWorkflowTaskQueueResponse, sticky: bool) {
        let h = events(task);
        if task.query.is_some() {
            assert!(sticky && h.is_empty() || !h.is_empty() && h[0].event_id == 1);
            return;
        }
        assert!(h.windows(2).all(|w| w[1].event_id == w[0].event_id + 1), "{}", shape(h));
        let last = h.last().unwrap();
        assert_eq!((last.event_id, last.event_type), (task.started_event_id, E::WorkflowTaskStarted as i32), "{}", shape(h));
        assert!(h[0].event_id == 1 || h[0].event_id == task.previous_started_event_id + 1);
        let stored = self.t.store.runs[&task.workflow_execution.as_ref().unwrap().run_id].events();
        for e in h {
            if let Some(s) = stored.get(e.event_id as usize - 1) {
                // A task may be older than what the store has by now; a transient one may have been replaced.
                if e.event_id < task.started_event_id - 1 {
                    assert_eq!(e, s);
                }
            }
        }
    }

    fn crash(&mut self, losing: bool) {
        self.saw(if losing { "crash that loses" } else { "crash" });
        // What was not flushed dies with the process; its callers never hear.
        let open: Vec<(u32, Sent)> = std::mem::take(&mut self.sent).into_iter().collect();
        for (_, sent) in open {
            self.buried(sent);
        }
        self.t.replies.clear();
        self.t.fail_commits = 0;
        if losing {
            self.t.restart_losing();
        } else {
            self.t.options.in_flight_lost = false;
            self.t.restart();
        }
        self.collect();
        self.t.check_memory();
    }

    /// Any record can be read back to the very same bytes.
    fn check_codec(&self) {
        for (id, s) in &self.t.store.runs {
            let record = self.t.store.record(id);
            let options = EngineOptions { in_flight_lost: false, seed: seed(78), ..self.t.options.clone() };
            let mut engine = Engine::new(options).unwrap();
            engine.load(record.clone(), self.t.now);
            let mut back = engine.record_of(&s.row.workflow_id, id).expect("a loaded run");
            // A new engine has seen no sticky worker: it gives the task to the normal queue, with no deadline.
            let row = back.row.as_mut().unwrap();
            if row.wake_at_ms != s.row.wake_at_ms {
                assert!(row.ready && (row.wake_at_ms == 0.0 || row.wake_at_ms > s.row.wake_at_ms), "wake of {id}");
                row.wake_at_ms = s.row.wake_at_ms;
            }
            same_record(id, &back, &record);
        }
    }

    /// Between runs: what one says of another is true of it, once.
    fn check_between_runs(&self) {
        let store = &self.t.store;
        // Attributes of all events, those included that wait behind a started task.
        let all = |s: &Stored| {
            let buffered = s.items.iter().filter(|((kind, _), _)| *kind == 4).map(|(_, bytes)| {
                let b = Buffered::decode(bytes.as_slice()).unwrap();
                (0, buffered_attrs(b.kind, &b.attrs))
            });
            let written = s.events().into_iter().map(|e| (e.event_id, e.attributes));
            written.chain(buffered).filter_map(|(id, a)| a.map(|a| (id, a))).collect::<Vec<_>>()
        };
        let mut received: BTreeMap<String, u32> = BTreeMap::new();
        for s in store.runs.values() {
            assert!(s.items.keys().all(|(kind, _)| *kind != 9), "every order is carried out in the end");
            for (_, a) in all(s) {
                if let A::WorkflowExecutionSignaledEventAttributes(x) = a {
                    *received.entry(x.signal_name).or_default() += 1;
                }
            }
        }
        let closed = |s: &Stored| s.row.close_time_ms > 0.0;
        for (run_id, s) in &store.runs {
            let events = all(s);
            let mut names = BTreeMap::new();
            let mut children: BTreeMap<i64, Option<String>> = BTreeMap::new();
            for (id, a) in &events {
                match a {
                    A::SignalExternalWorkflowExecutionInitiatedEventAttributes(x) => {
                        names.insert(*id, x.signal_name.clone());
                    }
                    A::ExternalWorkflowExecutionSignaledEventAttributes(x) => {
                        assert_eq!(received.get(&names[&x.initiated_event_id]), Some(&1), "signalled once");
                    }
                    A::SignalExternalWorkflowExecutionFailedEventAttributes(x) => {
                        assert_eq!(received.get(&names[&x.initiated_event_id]), None, "a signal that failed is nowhere");
                    }
                    A::StartChildWorkflowExecutionInitiatedEventAttributes(_) => {
                        children.insert(*id, None);
                    }
                    A::StartChildWorkflowExecutionFailedEventAttributes(x) => {
                        children.remove(&x.initiated_event_id);
                    }
                    A::ChildWorkflowExecutionStartedEventAttributes(x) => {
                        let child = x.workflow_execution.as_ref().unwrap().run_id.clone();
                        let of = store.runs[&child].events();
                        let A::WorkflowExecutionStartedEventAttributes(first) = attrs(&of[0]) else { panic!() };
                        assert_eq!(first.parent_workflow_execution, Some(exec(&s.row.workflow_id, run_id)));
                        assert_eq!(first.parent_initiated_event_id, x.initiated_event_id);
                        children.insert(x.initiated_event_id, Some(child));
                    }
                    a => {
                        if let Some((initiated, child)) = child_end(a) {
                            assert!(children.remove(&initiated).is_some(), "a child ends once");
                            assert!(closed(&store.runs[&child]), "a child that is told to have ended is closed");
                        }
                    }
                }
            }
            // Children that nobody has told of are open, and known to the state of an open parent.
            if !closed(s) {
                let pending: BTreeSet<i64> =
                    s.items.keys().filter(|(kind, _)| *kind == 8).map(|(_, id)| id.parse().unwrap()).collect();
                assert_eq!(pending, children.keys().copied().collect(), "pending children of {run_id}");
                for child in children.values() {
                    let first = child.as_ref().expect("a child with no answer");
                    let open = store.runs.values().any(|c| c.row.first_run_id == *first && !closed(c));
                    assert!(open, "child {first} has ended and its parent does not know");
                }
            } else {
                assert!(s.items.keys().all(|(kind, _)| *kind != 8), "a closed run has no pending children");
            }
        }
        // Parents that closed have treated their children by the policy.
        for s in store.runs.values().filter(|s| !closed(s)) {
            let of = s.events();
            let A::WorkflowExecutionStartedEventAttributes(first) = attrs(&of[0]) else { panic!() };
            let Some(parent) = &first.parent_workflow_execution else { continue };
            let parent = &store.runs[&parent.run_id];
            if closed(parent) {
                let initiated = parent.events()[first.parent_initiated_event_id as usize - 1].clone();
                let A::StartChildWorkflowExecutionInitiatedEventAttributes(i) = attrs(&initiated) else { panic!() };
                assert_ne!(i.parent_close_policy, 1, "an open child whose parent has closed");
            }
        }
    }

    fn finish(&mut self) {
        self.flush();
        self.t.store.unreadable.clear();
        self.crash(false);
        self.flush();
        self.check_between_runs();
        self.flush();
        self.check_codec();
        self.t.check_histories();
        let mut signals: BTreeMap<String, u32> = BTreeMap::new();
        let mut markers: BTreeMap<String, u32> = BTreeMap::new();
        let mut results: BTreeMap<String, u32> = BTreeMap::new();
        let mut accepted: BTreeSet<(String, String)> = BTreeSet::new();
        for (run, s) in &self.t.store.runs {
            let mut again: BTreeSet<String> = BTreeSet::new();
            let buffered = s.items.iter().filter(|((kind, _), _)| *kind == 4).map(|(_, v)| v.clone());
            for bytes in buffered {
                // Signals that wait behind a started task are not in history yet.
                let text = String::from_utf8_lossy(&bytes).to_string();
                for name in self.acked_signals.iter().filter(|n| text.contains(n.as_str())) {
                    let exact = bytes
                        .windows(name.len() + 2)
                        .any(|w| w[0] == 10 && w[1] as usize == name.len() && &w[2..] == name.as_bytes());
                    if exact {
                        *signals.entry(name.clone()).or_default() += 1;
                    }
                }
                for result in self.acked_results.iter().filter(|n| text.contains(n.as_str())) {
                    *results.entry(result.clone()).or_default() += 1;
                }
            }
            for e in s.events() {
                match attrs(&e) {
                    A::WorkflowExecutionSignaledEventAttributes(x) => {
                        if x.signal_name.starts_with("again") {
                            assert!(again.insert(x.signal_name.clone()), "one request id, delivered twice to {run}");
                        }
                        *signals.entry(x.signal_name.clone()).or_default() += 1;
                    }
                    A::MarkerRecordedEventAttributes(x) => *markers.entry(x.marker_name.clone()).or_default() += 1,
                    A::ActivityTaskCompletedEventAttributes(x) => {
                        if let Some(p) = &x.result {
                            *results.entry(String::from_utf8_lossy(&p.payloads[0].data).into()).or_default() += 1;
                        }
                    }
                    A::WorkflowExecutionUpdateAcceptedEventAttributes(x) => {
                        accepted.insert((run.clone(), x.protocol_instance_id.clone()));
                    }
                    _ => {}
                }
            }
        }
        for name in &self.acked_signals {
            let n = signals.get(name).copied().unwrap_or(0);
            assert!(n >= 1, "acknowledged signal {name} is lost");
            assert!(n == 1 || name.starts_with("again"), "signal {name} is there {n} times");
        }
        for name in &self.dead_signals {
            assert!(!signals.contains_key(name) || self.acked_signals.contains(name), "signal {name} was never acknowledged");
        }
        for name in &self.acked_markers {
            assert_eq!(markers.get(name), Some(&1), "marker {name} of an acknowledged completion");
        }
        for name in &self.dead_markers {
            assert!(!markers.contains_key(name), "marker {name} of a completion that failed");
        }
        for (name, n) in &results {
            assert!(*n == 1, "result {name} is there {n} times");
            assert!(!self.dead_results.contains(name), "result {name} was refused");
        }
        for name in &self.acked_results {
            assert!(results.contains_key(name), "acknowledged result {name} is lost");
        }
        for pair in &self.accepted {
            assert!(accepted.contains(pair), "accepted update {pair:?} is lost");
        }
    }
}

/// A buffered event as the store has it.
#[derive(Clone, PartialEq, prost::Message)]
struct Buffered {
    #[prost(int32, tag = "2")]
    kind: i32,
    #[prost(bytes = "vec", tag = "3")]
    attrs: Vec<u8>,
}

fn buffered_attrs(kind: i32, bytes: &[u8]) -> Option<A> {
    macro_rules! read {
        ($($kind:ident => $attrs:ident),*) => {
            match E::try_from(kind).ok()? {
                $(E::$kind => Some(A::$attrs(Message::decode(bytes).unwrap())),)*
                _ => None,
            }
        };
    }
    read! {
        WorkflowExecutionSignaled => WorkflowExecutionSignaledEventAttributes,
        StartChildWorkflowExecutionFailed => StartChildWorkflowExecutionFailedEventAttributes,
        ChildWorkflowExecutionStarted => ChildWorkflowExecutionStartedEventAttributes,
        ChildWorkflowExecutionCompleted => ChildWorkflowExecutionCompletedEventAttributes,
        ChildWorkflowExecutionFailed => ChildWorkflowExecutionFailedEventAttributes,
        ChildWorkflowExecutionCanceled => ChildWorkflowExecutionCanceledEventAttributes,
        ChildWorkflowExecutionTimedOut => ChildWorkflowExecutionTimedOutEventAttributes,
        ChildWorkflowExecutionTerminated => ChildWorkflowExecutionTerminatedEventAttributes,
        ExternalWorkflowExecutionSignaled => ExternalWorkflowExecutionSignaledEventAttributes,
        SignalExternalWorkflowExecutionFailed => SignalExternalWorkflowExecutionFailedEventAttributes
    }
}

/// Of an event that ends a child: its Initiated event, and the run that ended.
fn child_end(a: &A) -> Option<(i64, String)> {
    let (initiated, execution) = match a {
        A::ChildWorkflowExecutionCompletedEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        A::ChildWorkflowExecutionFailedEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        A::ChildWorkflowExecutionCanceledEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        A::ChildWorkflowExecutionTimedOutEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        A::ChildWorkflowExecutionTerminatedEventAttributes(x) => (x.initiated_event_id, &x.workflow_execution),
        _ => return None,
    };
    Some((initiated, execution.as_ref().unwrap().run_id.clone()))
}

fn take<X>(list: &mut Vec<X>, a: u16) -> Option<X> {
    if list.is_empty() { None } else { Some(list.remove(a as usize % list.len())) }
}

#[test]
fn random_lives_are_rich() {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..240 {
        let mut sim = Sim::new();
        for _ in 0..200 {
            let r = random();
            sim.step((r >> 40) as u8, (r >> 16) as u16);
        }
        sim.finish();
        for s in sim.t.store.runs.values() {
            for e in s.events() {
                sim.saw_in(&mut seen, &name(&e));
            }
        }
        for (what, n) in &sim.seen {
            *seen.entry(what.clone()).or_default() += n;
        }
    }
    let wanted = "Started Completed Failed TimedOut Canceled? Terminated ContinuedAsNew CancelRequested Signaled WTScheduled WTStarted WTCompleted WTFailed WTTimedOut ActScheduled ActStarted ActCompleted ActFailed ActTimedOut ActCancelRequested ActCanceled TimerStarted TimerFired TimerCanceled MarkerRecorded StartChildInitiated StartChildFailed ChildStarted ChildCompleted ChildFailed ChildTerminated ChildTimedOut? ChildCanceled? SignalExternalInitiated SignalExternalFailed ExternalSignaled RequestCancelExternalInitiated RequestCancelExternalFailed ExternalCancelRequested UpdateAccepted UpdateCompleted";
    for kind in wanted.split(' ').filter(|k| !k.ends_with('?')) {
        assert!(seen.get(kind).copied().unwrap_or(0) > 5, "{kind} is rare: {seen:?}");
    }
    for what in [
        "inline task",
        "discarded task",
        "query task",
        "transient task",
        "speculative task",
        "partial task",
        "task with queries",
        "task with updates",
        "crash",
        "crash that loses",
        "lost reply",
    ] {
        assert!(seen.get(what).copied().unwrap_or(0) > 5, "{what} is rare: {seen:?}");
    }
    println!("{seen:?}");
}

fn live(steps: &[(u8, u16)]) -> Vec<u8> {
    let mut sim = Sim::new();
    for (kind, a) in steps {
        sim.step(*kind, *a);
    }
    sim.finish();
    // Everything that was stored, as one string of bytes.
    let mut trace = Vec::new();
    for (id, s) in &sim.t.store.runs {
        trace.extend(id.as_bytes());
        trace.extend(&s.head);
        s.batches.iter().for_each(|b| trace.extend(&b.events));
        s.items.values().for_each(|v| trace.extend(v));
    }
    trace
}

fn cases() -> u32 {
    std::env::var("ENGINE_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(256)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_lives_keep_every_promise(steps in proptest::collection::vec(any::<(u8, u16)>(), 1..160)) {
        live(&steps);
    }

    #[test]
    fn a_life_is_a_function_of_its_inputs(steps in proptest::collection::vec(any::<(u8, u16)>(), 1..80)) {
        prop_assert_eq!(live(&steps), live(&steps));
    }
}
