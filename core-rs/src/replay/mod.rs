//! The worker's side: one [`Run`] per cached workflow run.
//!
//! - `run`: the protocol with the caller: tasks in, activations out, commands in, completions out.
//! - `open_task`: a task comes in; `task`: the one that is open; `completion`: the messages that answer it.
//! - `workflow`: the state of the run; `apply` and `lookahead` move it by events, `commands` by workflow code and by the events of
//!   its commands: one file per kind.
//! - `jobs`, `flags`, `random`, `event`, `convert`, `json`: what they share.
mod apply;
mod commands;
mod completion;
mod convert;
mod event;
mod flags;
mod jobs;
mod json;
mod lookahead;
mod open_task;
mod random;
mod run;
mod task;
mod workflow;

pub use random::MAX_BYTES as MAX_RANDOM_BYTES;
pub use run::Run;
