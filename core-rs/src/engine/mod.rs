//! The server's side: the embedded engine's state machine.
use crate::boundary::{EngineMethod, EngineOptions, Flush, RunRecord};
use crate::error::Result;

/// All runs of one store, as a pure state machine. Requests go in; writes and replies come out of [`Engine::flush`].
pub struct Engine {
    #[allow(dead_code)]
    options: EngineOptions,
}

impl Engine {
    pub fn new(options: EngineOptions) -> Result<Engine> {
        Ok(Engine { options })
    }

    /// A request of a client or worker; its reply carries `request_id`. A poll stays open until a task comes or it is cancelled.
    pub fn request(&mut self, _request_id: u32, _method: EngineMethod, _body: &[u8], _now_ms: f64) {}

    /// The host's answer to a `LoadRequest`.
    pub fn load(&mut self, _record: RunRecord, _now_ms: f64) {}

    /// Fires what is due.
    pub fn tick(&mut self, _now_ms: f64) {}

    /// The caller of a waiting request is gone (deadline, closed connection): it gets no reply.
    pub fn cancel_request(&mut self, _request_id: u32) {}

    /// What changed since the last flush. The host commits the writes, then calls `committed` or `aborted`.
    pub fn flush(&mut self) -> Flush {
        Flush::default()
    }

    pub fn committed(&mut self) {}

    /// The commit failed: every run that it touched is dropped from memory and its replies are never sent.
    pub fn aborted(&mut self) {}
}
