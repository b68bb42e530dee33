//! Requests that need a run which is not in memory: parked until the host has loaded it.
use std::collections::VecDeque;

use super::limits::is_run_id;
use super::machine::Engine;
use super::rpc;
use super::runs::Found;
use super::state::request::{Again, Wait};
use crate::boundary::LoadRequest;

impl Engine {
    /// The slot of the run that a request names; otherwise parks the request, or fails it, and returns `None`.
    pub(super) fn resolve(&mut self, workflow_id: &str, run_id: &str, request: &Again) -> Option<u32> {
        if workflow_id.is_empty() {
            self.cx.fail(request.request_id, rpc::invalid("WorkflowId is not set on request."));
            return None;
        }
        if workflow_id.contains('\0') || run_id.contains('\0') {
            self.cx.fail(request.request_id, rpc::invalid("WorkflowId or RunId contains a NUL character."));
            return None;
        }
        match self.runs.find(workflow_id, run_id) {
            Found::Slot(slot) => Some(slot),
            Found::Missing => {
                // Imported runs keep their ids, whatever form they have.
                let malformed = !run_id.is_empty() && !is_run_id(run_id);
                let error = if malformed { rpc::invalid("Invalid RunId.") } else { rpc::workflow_not_found(workflow_id) };
                self.cx.fail(request.request_id, error);
                None
            }
            Found::Unknown => {
                self.park(workflow_id, run_id, request.clone());
                None
            }
        }
    }

    pub(super) fn park(&mut self, workflow_id: &str, run_id: &str, request: Again) {
        let key = (workflow_id.to_string(), run_id.to_string());
        let wait = Wait::Parked { workflow_id: key.0.clone(), run_id: key.1.clone() };
        self.cx.waiting.insert(request.request_id, wait);
        if !self.runs.parked.contains_key(&key) {
            self.runs.want_load(&key.0, &key.1);
        }
        self.runs.parked.get_or_insert_with(key, VecDeque::new).push_back(request);
    }

    /// Parks the request until the host has read the stored history of a run, which is in memory.
    pub(super) fn park_for_history(&mut self, workflow_id: &str, run_id: &str, request: &Again) {
        let load = LoadRequest { workflow_id: workflow_id.into(), run_id: run_id.into(), history: true, cron: None };
        let wait = Wait::Parked { workflow_id: workflow_id.into(), run_id: run_id.into() };
        self.runs.histories.entry(request.request_id).or_default();
        self.cx.waiting.insert(request.request_id, wait);
        self.runs.loads.push(load);
        let key = (workflow_id.to_string(), run_id.to_string());
        self.runs.parked.get_or_insert_with(key, VecDeque::new).push_back(request.clone());
    }

    pub(super) fn unpark(&mut self, workflow_id: &str, run_id: &str, request_id: u32) {
        let key = (workflow_id.to_string(), run_id.to_string());
        self.runs.histories.remove(&request_id);
        if let Some(queue) = self.runs.parked.get_mut(&key) {
            queue.retain(|r| r.request_id != request_id);
            if queue.is_empty() {
                self.runs.parked.remove(&key);
            }
        }
    }
}
