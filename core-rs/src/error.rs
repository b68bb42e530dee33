//! Errors as data: a stable number, a kind and what the caller can show. The wordings of nondeterminism errors are Core's
//! (core-spec 1.14), so that people find them in the docs they know.
use crate::boundary::{CommandKind, CoreError, ErrorKind};

/// Result of everything in the core.
pub type Result<T> = std::result::Result<T, Box<CoreError>>;

/// Stable codes. 1xxx input and misuse, 2xxx nondeterminism, 3xxx fatal, 4xxx unsupported, 5xxx engine.
pub mod codes {
    /// Bytes that do not decode as the message they should be.
    pub const BAD_BYTES: u32 = 1001;
    /// A call that the protocol between core and caller does not allow now.
    pub const OUT_OF_ORDER_CALL: u32 = 1002;
    /// Event ids have a gap or go back.
    pub const HISTORY_OUT_OF_ORDER: u32 = 3001;
    /// The pages end before the event that started the task.
    pub const HISTORY_INCOMPLETE: u32 = 3002;
}

/// An error with the given code, kind and text; the location fields are filled where it passes through a run.
pub fn error(code: u32, kind: ErrorKind, message: impl Into<String>) -> Box<CoreError> {
    Box::new(CoreError {
        code,
        kind: kind as i32,
        message: message.into(),
        command_kind: CommandKind::Unspecified as i32,
        ..Default::default()
    })
}

/// The caller broke the contract of the boundary.
pub fn misuse(code: u32, message: impl Into<String>) -> Box<CoreError> {
    error(code, ErrorKind::Misuse, message)
}

/// Decodes a message or says which one was damaged.
pub fn decode<M: prost::Message + Default>(what: &str, bytes: &[u8]) -> Result<M> {
    M::decode(bytes).map_err(|e| misuse(codes::BAD_BYTES, format!("{what} does not decode: {e}")))
}
