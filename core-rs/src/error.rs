//! Errors as data: a stable number, a kind and what the caller can show. The wordings of
//! nondeterminism errors are Core's (docs/dev/semantics/errors.md#kinds-of-errors-of-the-core), so
//! that people find them in the docs they know.
use crate::boundary::{CommandKind, CoreError, ErrorKind};

/// Result of everything in the core.
pub type Result<T> = std::result::Result<T, Box<CoreError>>;

/// Stable codes. 1xxx input and misuse, 2xxx nondeterminism, 3xxx fatal, 4xxx unsupported, 5xxx engine, 6xxx workflow code.
pub mod codes {
    /// Bytes that do not decode as the message they should be.
    pub const BAD_BYTES: u32 = 1001;
    /// A call that the protocol between core and caller does not allow now.
    pub const OUT_OF_ORDER_CALL: u32 = 1002;
    /// A field of a command that no server would accept (a duration that is negative, an activity without a type, ...).
    pub const BAD_VALUE: u32 = 1003;
    /// A poll response that lacks what every task has.
    pub const BAD_TASK: u32 = 1004;
    /// A task of another run.
    pub const WRONG_RUN: u32 = 1005;

    /// A command event, and no command is left that could have made it.
    pub const NO_COMMAND: u32 = 2001;
    /// The next command is of another type than the event.
    pub const COMMAND_TYPE: u32 = 2002;
    /// Activity id of event and command differ.
    pub const ACTIVITY_ID: u32 = 2003;
    /// Activity type of event and command differ.
    pub const ACTIVITY_TYPE: u32 = 2004;
    /// TimerFired names another timer than its TimerStarted.
    pub const TIMER_ID: u32 = 2005;
    /// A cancel for a seq that was never given out, or a local-activity marker whose activity was never scheduled.
    pub const MISSING_MACHINE: u32 = 2006;
    /// The event resolves a command whose event is not in history.
    pub const UNKNOWN_INITIATOR: u32 = 2007;
    /// A patch marker that is not deprecated, and the code has no patch there.
    pub const PATCH_REMOVED: u32 = 2008;
    /// Patch id of marker and command differ.
    pub const PATCH_ID: u32 = 2009;
    /// Side-effect id of marker and command differ.
    pub const SIDE_EFFECT_ID: u32 = 2010;
    /// A side effect ran on replay that history does not hold.
    pub const SIDE_EFFECT_MISSING: u32 = 2011;
    /// A response to an update that its state does not allow (completed before accepted, ...).
    pub const UPDATE_STATE: u32 = 2012;
    /// Update id of event and command differ (diagnosis: a failure only when strict).
    pub const UPDATE_ID: u32 = 2013;
    /// A command that history does not hold (diagnosis: a failure only when strict).
    pub const EXTRA_COMMAND: u32 = 2014;
    /// Activity id of local-activity marker and command differ.
    pub const LOCAL_ACTIVITY_ID: u32 = 2015;
    /// Activity type of local-activity marker and command differ.
    pub const LOCAL_ACTIVITY_TYPE: u32 = 2016;
    /// An activity continued although its cancellation was final.
    pub const ACTIVITY_AFTER_CANCEL: u32 = 2017;
    /// Workflow code itself found that it does not match history (the cause it gave says so).
    pub const FOUND_BY_CODE: u32 = 2018;
    /// Workflow id of the initiated child and of the command differ.
    pub const CHILD_ID: u32 = 2019;
    /// Workflow type of the initiated child and of the command differ.
    pub const CHILD_TYPE: u32 = 2020;
    /// The marker of a local activity says something else than what it came to here.
    pub const LOCAL_ACTIVITY_RESULT: u32 = 2021;
    /// Number of transact marker and command differ.
    pub const TRANSACT_ID: u32 = 2022;
    /// Reducer of transact marker and command differ.
    pub const TRANSACT_REDUCER: u32 = 2023;

    /// Event ids have a gap or go back.
    pub const HISTORY_OUT_OF_ORDER: u32 = 3001;
    /// The pages end before the event that started the task.
    pub const HISTORY_INCOMPLETE: u32 = 3002;
    /// An event that its machine cannot take in the state it is in.
    pub const BAD_TRANSITION: u32 = 3003;
    /// An event without the attributes or the time that it must have.
    pub const BAD_EVENT: u32 = 3004;
    /// A result with no payload or with several.
    pub const PAYLOAD_COUNT: u32 = 3005;
    /// An event after the run had ended.
    pub const EVENT_AFTER_END: u32 = 3006;
    /// A marker of the core whose details do not decode.
    pub const BAD_MARKER: u32 = 3007;
    /// A protocol message that does not decode or has no place.
    pub const BAD_MESSAGE: u32 = 3008;
    /// A task with no history and no query, or with both kinds of queries.
    pub const NOTHING_TO_DO: u32 = 3009;
    /// A query task for a state that the cached run has left behind.
    pub const QUERY_EXPIRED: u32 = 3010;
    /// The caller could not fetch the history.
    pub const HISTORY_FETCH: u32 = 3011;
    /// A response to an unknown update.
    pub const UNKNOWN_UPDATE: u32 = 3012;

    /// A core flag in history that this build does not know.
    pub const UNKNOWN_CORE_FLAG: u32 = 4001;
    /// A language flag in history that the caller does not know.
    pub const UNKNOWN_LANG_FLAG: u32 = 4002;
    /// An event type that this build does not know and that may not be skipped.
    pub const UNKNOWN_EVENT: u32 = 4003;

    /// Workflow code failed the task.
    pub const LANG_FAILED: u32 = 6001;
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

/// The code does not match the history.
pub fn nondeterminism(code: u32, message: impl std::fmt::Display) -> Box<CoreError> {
    error(code, ErrorKind::Nondeterminism, format!("[TMPRL1100] Nondeterminism error: {message}"))
}

/// History or a machine is in a state that cannot be.
pub fn fatal(code: u32, message: impl std::fmt::Display) -> Box<CoreError> {
    error(code, ErrorKind::Fatal, format!("Fatal error in workflow machines: {message}"))
}

/// The history was written by something that this build does not know, or asks for something that it cannot do.
pub fn unsupported(code: u32, message: impl Into<String>) -> Box<CoreError> {
    error(code, ErrorKind::Unsupported, message)
}

/// Decodes a message or says which one was damaged.
pub fn decode<M: prost::Message + Default>(what: &str, bytes: &[u8]) -> Result<M> {
    M::decode(bytes).map_err(|e| misuse(codes::BAD_BYTES, format!("cannot decode {what}: {e}")))
}
