//! The wasm-bindgen surface: bytes and scalars only, synchronous, never calls back. Names and order equal `ts/core/raw.ts`.
//!
//! Methods throw a plain `JsError` with the text; the same error as data lies in `take_error` until the next call.
use prost::Message;
use wasm_bindgen::prelude::*;

use crate::boundary::{CommandKind, CoreError, CoreInfo, EngineMethod, EngineOptions, RunOptions, RunRecord};
use crate::error::{Result, codes, decode, misuse};
use crate::{engine, replay};

/// Keeps the last error as data and turns it into an exception.
#[derive(Default)]
struct LastError(Option<Box<CoreError>>);

impl LastError {
    fn guard<T>(&mut self, result: Result<T>) -> std::result::Result<T, JsError> {
        result.map_err(|e| {
            let js = JsError::new(&e.message);
            self.0 = Some(e);
            js
        })
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        self.0.take().map(|e| e.encode_to_vec())
    }
}

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

#[wasm_bindgen]
pub struct Engine {
    inner: engine::Engine,
    error: LastError,
}

#[wasm_bindgen]
impl Engine {
    #[wasm_bindgen(constructor)]
    pub fn new(options: &[u8]) -> std::result::Result<Engine, JsError> {
        let made = decode::<EngineOptions>("EngineOptions", options).and_then(engine::Engine::new);
        made.map(|inner| Engine { inner, error: LastError::default() }).map_err(|e| JsError::new(&e.message))
    }

    pub fn request(&mut self, request_id: u32, method: u32, body: &[u8], now_ms: f64) -> std::result::Result<(), JsError> {
        let method = EngineMethod::try_from(method as i32)
            .map_err(|_| misuse(codes::BAD_BYTES, format!("unknown engine method {method}")));
        let r = method.map(|method| self.inner.request(request_id, method, body, now_ms));
        self.error.guard(r)
    }

    /// Bytes of boundary.RunRecord.
    pub fn load(&mut self, record: &[u8], now_ms: f64) -> std::result::Result<(), JsError> {
        let r = decode::<RunRecord>("RunRecord", record).map(|record| self.inner.load(record, now_ms));
        self.error.guard(r)
    }

    pub fn tick(&mut self, now_ms: f64) {
        self.inner.tick(now_ms);
    }

    pub fn cancel_request(&mut self, request_id: u32) {
        self.inner.cancel_request(request_id);
    }

    pub fn expire_request(&mut self, request_id: u32) {
        self.inner.expire_request(request_id);
    }

    pub fn request_pair(&mut self, request_id: u32, start: &[u8], update: &[u8], now_ms: f64) {
        self.inner.request_pair(request_id, start, update, now_ms);
    }

    pub fn backlog(&self, queue: &str, now_ms: f64) -> Vec<f64> {
        self.inner.backlog(queue, now_ms).to_vec()
    }

    pub fn forget(&mut self, run_id: &str) {
        self.inner.forget(run_id);
    }

    /// Bytes of boundary.Flush.
    pub fn flush(&mut self) -> Vec<u8> {
        self.inner.flush().encode_to_vec()
    }

    pub fn committed(&mut self) {
        self.inner.committed();
    }

    pub fn aborted(&mut self) {
        self.inner.aborted();
    }

    /// Bytes of boundary.CoreError of the last throw, once.
    pub fn take_error(&mut self) -> Option<Vec<u8>> {
        self.error.take()
    }
}

thread_local! {
    static PANIC: std::cell::RefCell<Option<String>> = const { std::cell::RefCell::new(None) };
}

/// A panic aborts (unwinding would make the module a third larger); its words are kept for the caller, who sees only a trap.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| PANIC.with(|p| *p.borrow_mut() = Some(info.to_string()))));
}

/// What the last panic said, once.
#[wasm_bindgen]
pub fn take_panic() -> Option<String> {
    PANIC.with(|p| p.borrow_mut().take())
}

/// Bytes of boundary.CoreInfo.
#[wasm_bindgen]
pub fn core_info() -> Vec<u8> {
    CoreInfo { version: crate::VERSION.into(), source_hash: crate::SOURCE_HASH.into() }.encode_to_vec()
}
