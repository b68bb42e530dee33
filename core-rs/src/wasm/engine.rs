//! The engine's half: all runs of a store.
use prost::Message;
use wasm_bindgen::prelude::*;

use super::LastError;
use crate::boundary::{EngineMethod, EngineOptions, RunRecord, TransactOutcome};
use crate::engine;
use crate::error::{codes, decode, misuse};

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

    pub fn backlog(&mut self, queue: &str, now_ms: f64) -> Vec<f64> {
        self.inner.backlog(queue, now_ms)
    }

    pub fn take_activity_token(&mut self, queue: &str, fairness_key: &str, weight: f64, now_ms: f64) -> f64 {
        self.inner.take_activity_token(queue, fairness_key, weight, now_ms)
    }

    pub fn forget(&mut self, run_id: &str) {
        self.inner.forget(run_id);
    }

    /// Bytes of boundary.TransactOutcome.
    pub fn transacted(&mut self, outcome: &[u8]) -> std::result::Result<bool, JsError> {
        let r = decode::<TransactOutcome>("TransactOutcome", outcome).map(|outcome| self.inner.transacted(outcome));
        self.error.guard(r)
    }

    pub fn begin_trial(&mut self, now_ms: f64) {
        self.inner.begin_trial(now_ms);
    }

    /// Bytes of boundary.Flush.
    pub fn try_request(&mut self, request_id: u32, method: u32, body: &[u8]) -> std::result::Result<Vec<u8>, JsError> {
        let method = EngineMethod::try_from(method as i32)
            .map_err(|_| misuse(codes::BAD_BYTES, format!("unknown engine method {method}")));
        let r = method.map(|method| self.inner.try_request(request_id, method, body).encode_to_vec());
        self.error.guard(r)
    }

    /// From bytes of boundary.RunRecord to bytes of boundary.Flush.
    pub fn try_load(&mut self, record: &[u8]) -> std::result::Result<Vec<u8>, JsError> {
        let r = decode::<RunRecord>("RunRecord", record).map(|record| self.inner.try_load(record).encode_to_vec());
        self.error.guard(r)
    }

    pub fn end_trial(&mut self) {
        self.inner.end_trial();
    }

    /// Bytes of boundary.Flush.
    pub fn entered(&mut self, request_id: u32) -> Vec<u8> {
        self.inner.entered(request_id).encode_to_vec()
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
