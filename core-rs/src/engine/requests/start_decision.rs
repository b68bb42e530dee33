//! A start, with or without a signal: the latest run of the workflow id decides.
use super::signal_workflow::{SignalRequest, new_signal, signal};
use crate::api::enums::v1::{WorkflowExecutionStatus as Status, WorkflowIdConflictPolicy as Conflict};
use crate::engine::attach;
use crate::engine::close;
use crate::engine::codec;
use crate::engine::eager;
use crate::engine::links::{self, Link};
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::rpc::Rpc;
use crate::engine::runs::Found;
use crate::engine::start::{self, Start};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;

message! {
    StartResponse: workflowservice::StartWorkflowExecutionResponse {
        run_id str, eager_workflow_task raw(ANY), started bool, link msg(Link), status i32, first_execution_run_id str,
    }
    SignalWithStartResponse: workflowservice::SignalWithStartWorkflowExecutionResponse {
        run_id str, started bool, first_execution_run_id str,
    }
}

impl Engine {
    /// Start and SignalWithStart: the latest run of the workflow id decides.
    pub(super) fn start(&mut self, r: &Again, s: Start, with_signal: Option<SignalRequest>) -> Rpc<()> {
        let id = r.request_id;
        let workflow_id = s.attrs.workflow_id.clone();
        let latest = match self.runs.find(&workflow_id, "") {
            Found::Unknown => {
                self.park(&workflow_id, "", r.clone());
                return Ok(());
            }
            Found::Missing => None,
            Found::Slot(slot) => Some(slot),
        };
        let found = match latest.and_then(|slot| self.runs.get(slot)) {
            None => start::Found::Free,
            // With a signal an open run is used, whatever the conflict policy says but for termination.
            Some(run) if with_signal.is_some() && run.open() && s.conflict != Conflict::TerminateExisting => {
                start::Found::Existing
            }
            Some(run) => start::resolve(&s, run)?,
        };
        match (found, latest) {
            (start::Found::Same, Some(slot)) => {
                let Some(run) = self.runs.get(slot) else { return Ok(()) };
                let eager_workflow_task = if s.eager.is_some() { run.eager_task.clone() } else { None };
                let response = StartResponse { eager_workflow_task, ..response_of(run, true, &self.cx.namespace) };
                self.started(id, response, with_signal.is_some());
            }
            (start::Found::Existing, Some(slot)) => {
                let signals = with_signal.is_some();
                let done = self.with_run(slot, |run, cx| match with_signal {
                    Some(request) => signal(run, cx, request).map(|()| String::new()),
                    None => attach::attach(run, cx, s),
                });
                let attached = match done {
                    Some(result) => result?,
                    None => return Ok(()),
                };
                self.use_run(id, slot, &attached, signals);
            }
            (start::Found::Attached, Some(slot)) => self.use_run(id, slot, &s.request_id, with_signal.is_some()),
            (how, latest) => {
                let run_id = self.cx.rng.uuid7(self.cx.now);
                if !matches!(how, start::Found::Terminate) {
                    start::check_open_runs(&self.cx)?;
                } else if let Some(slot) = latest {
                    self.with_run(slot, |run, cx| close::terminate_for(run, cx, &run_id));
                }
                let mut s = s;
                let eager = s.eager.take();
                start::fresh(&mut self.cx, s, &run_id);
                let signals = with_signal.is_some();
                let mut eager_workflow_task = None;
                if let Some(worker) = eager
                    && let Some(mut run) = self.cx.spawned.pop()
                {
                    eager_workflow_task = Some(eager::first_task(&mut run, &mut self.cx, &worker));
                    self.cx.spawned.push(run);
                }
                if let Some(request) = with_signal
                    && let Some(run) = self.cx.spawned.last_mut()
                {
                    new_signal(run, self.cx.now, request);
                }
                self.take_spawned();
                let status = Status::Running as i32;
                let first_execution_run_id = run_id.clone();
                let link = Some(links::to_start(&self.cx.namespace, &workflow_id, &run_id));
                let response = StartResponse { run_id, eager_workflow_task, started: true, link, status, first_execution_run_id };
                self.started(id, response, signals);
            }
        }
        Ok(())
    }

    /// Uses a run that is there, open or closed, as the result of a start.
    pub(super) fn use_existing(&mut self, r: &Again, slot: u32) {
        self.use_run(r.request_id, slot, "", false);
    }

    /// `attached`: the id of the request, if it is attached to the run.
    fn use_run(&mut self, id: u32, slot: u32, attached: &str, signals: bool) {
        let Some(run) = self.runs.get(slot) else { return };
        let namespace = &self.cx.namespace;
        let mut response = response_of(run, false, namespace);
        if !attached.is_empty() {
            response.link = Some(links::to_attached(namespace, &run.head.workflow_id, &run.head.run_id, attached));
        }
        self.started(id, response, signals);
    }

    /// Replies to the caller, or keeps the response until the update of the same call has one.
    fn started(&mut self, request_id: u32, response: StartResponse, with_signal: bool) {
        if let Some(pair) = self.cx.pairs.get_mut(&request_id) {
            pair.started = Some(codec::bytes(&response));
        } else if with_signal {
            let StartResponse { run_id, started, first_execution_run_id, .. } = response;
            self.cx.reply(request_id, &SignalWithStartResponse { run_id, started, first_execution_run_id });
        } else {
            self.cx.reply(request_id, &response);
        }
    }
}

fn response_of(run: &Run, started: bool, namespace: &str) -> StartResponse {
    StartResponse {
        link: Some(links::to_start(namespace, &run.head.workflow_id, &run.head.run_id)),
        run_id: run.head.run_id.clone(),
        started,
        status: run.head.status,
        first_execution_run_id: run.head.first_run_id.clone(),
        ..Default::default()
    }
}
