//! The worker's side: one [`Run`] per cached workflow run.
//!
//! - `run`: the protocol with the caller: tasks in, activations out, commands in, completions out.
//! - `open_task`: a task comes in; `task`: the one that is open; `completion`: the messages that answer it.
//! - `apply` and `lookahead` move the run by events, `queue` by workflow code and by the events of its commands.
//! - `workflow`: the state of the run, made of `run_state`, the machines of `commands` and what only the files above need.
//! - `commands`: one file per kind. A kind sees its own machines and the `run_state`; `commands` itself knows all kinds.
//! - `run_state`, `jobs`, `flags`, `random`, `event`, `convert`, `json`: what they share.
//!
//! None imports one that is listed before it.
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
mod queue;
mod random;
mod run;
mod run_state;
mod task;
mod workflow;

pub use random::MAX_BYTES as MAX_RANDOM_BYTES;
pub use run::Run;
