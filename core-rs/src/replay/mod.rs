//! The worker's side: one [`Run`] per cached workflow run.
//!
//! - `run`: the protocol with the caller: tasks in, activations out, commands in, completions out.
//! - `intake`: a task comes in; `task`: the one that is open; `completion`: the bytes that answer it.
//! - `workflow`: the state of the run; `apply`, `matching`, `lookahead` move it by events, `given` and `commands` by workflow code.
//! - One file per machine: `timer`, `activity`, `local_activity`, `child`, `signal`, `cancel_external`, `properties`, `patch`,
//!   `side_effect`, `update`, `terminal`.
//! - `queue`, `jobs`, `flags`, `random`, `event`, `marker`, `convert`, `json`: what they share.
mod activity;
mod apply;
mod cancel_external;
mod child;
mod commands;
mod completion;
mod convert;
mod event;
mod flags;
mod given;
mod intake;
mod jobs;
mod json;
mod local_activity;
mod lookahead;
mod marker;
mod matching;
mod patch;
mod properties;
mod queue;
mod random;
mod run;
mod side_effect;
mod signal;
mod task;
mod terminal;
mod timer;
mod update;
mod workflow;

pub use random::MAX_BYTES as MAX_RANDOM_BYTES;
pub use run::Run;
