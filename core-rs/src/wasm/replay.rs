//! The worker's half: one run, from its history to its commands.
use wasm_bindgen::prelude::*;

use super::LastError;
use crate::boundary::{CommandKind, RunOptions};
use crate::error::{Result, codes, decode, misuse};
use crate::replay;

fn command_kind(kind: u32) -> Result<CommandKind> {
    CommandKind::try_from(kind as i32).map_err(|_| misuse(codes::BAD_BYTES, format!("unknown command kind {kind}")))
}

#[wasm_bindgen]
pub struct Run {
    inner: replay::Run,
    error: LastError,
}

#[wasm_bindgen]
impl Run {
    #[wasm_bindgen(constructor)]
    pub fn new(options: &[u8]) -> std::result::Result<Run, JsError> {
        let made = decode::<RunOptions>("RunOptions", options).and_then(replay::Run::new);
        made.map(|inner| Run { inner, error: LastError::default() }).map_err(|e| JsError::new(&e.message))
    }

    pub fn start_task(&mut self, poll_response: &[u8]) -> std::result::Result<(), JsError> {
        let r = self.inner.start_task(poll_response);
        self.error.guard(r)
    }

    pub fn start_replay(&mut self, workflow_id: &str, history: &[u8]) -> std::result::Result<(), JsError> {
        let r = self.inner.start_replay(workflow_id, history);
        self.error.guard(r)
    }

    pub fn feed_history(&mut self, history: &[u8], next_page_token: &[u8]) -> std::result::Result<(), JsError> {
        let r = self.inner.feed_history(history, next_page_token);
        self.error.guard(r)
    }

    /// Bytes of boundary.Step.
    pub fn next(&mut self) -> std::result::Result<Vec<u8>, JsError> {
        let r = self.inner.next_bytes();
        self.error.guard(r)
    }

    pub fn event_groups(&mut self, groups: &[u8]) -> std::result::Result<(), JsError> {
        let r = self.inner.event_groups(groups);
        self.error.guard(r)
    }

    pub fn command(&mut self, kind: u32, attributes: &[u8]) -> std::result::Result<u32, JsError> {
        let r = command_kind(kind).and_then(|kind| self.inner.command(kind, attributes));
        self.error.guard(r)
    }

    pub fn cancel(&mut self, kind: u32, seq: u32) -> std::result::Result<(), JsError> {
        let r = command_kind(kind).and_then(|kind| self.inner.cancel(kind, seq));
        self.error.guard(r)
    }

    pub fn finish_activation(&mut self) -> std::result::Result<(), JsError> {
        let r = self.inner.finish_activation();
        self.error.guard(r)
    }

    pub fn resolve_local_activity(&mut self, resolution: &[u8]) -> std::result::Result<(), JsError> {
        let r = self.inner.resolve_local_activity(resolution);
        self.error.guard(r)
    }

    pub fn heartbeat(&mut self) -> std::result::Result<(), JsError> {
        let r = self.inner.heartbeat();
        self.error.guard(r)
    }

    pub fn fail_activation(&mut self, failure: &[u8], cause: i32) -> std::result::Result<(), JsError> {
        let r = self.inner.fail_activation(failure, cause);
        self.error.guard(r)
    }

    pub fn task_reported(&mut self, response: &[u8]) -> std::result::Result<(), JsError> {
        let r = self.inner.task_reported(response);
        self.error.guard(r)
    }

    pub fn random(&mut self) -> f64 {
        self.inner.random()
    }

    pub fn random_bytes(&mut self, len: u32) -> Vec<u8> {
        self.inner.random_bytes(len as usize)
    }

    /// Bytes of boundary.CoreError of the last throw, once.
    pub fn take_error(&mut self) -> Option<Vec<u8>> {
        self.error.take()
    }
}
