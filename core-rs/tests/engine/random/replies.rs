//! What comes back to clients and worker of a random life, and what a crash takes with it.
use prost::Message;
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;

use super::sim::{Sent, Sim};
use crate::support::*;

impl Sim {
    pub fn flush(&mut self) {
        self.t.flush();
        self.collect();
        self.t.check_memory();
    }

    /// Takes in replies and what went down with failed commits.
    pub fn collect(&mut self) {
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

    pub fn buried(&mut self, sent: Sent) {
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

    pub fn tally(&mut self, task: &PollWorkflowTaskQueueResponse) {
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
    pub fn check_task(&self, task: &PollWorkflowTaskQueueResponse, sticky: bool) {
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

    pub fn crash(&mut self, losing: bool) {
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
}
