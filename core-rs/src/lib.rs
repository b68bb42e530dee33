//! The core of Temporalex for TypeScript: pure, synchronous state machines with no clock, no entropy, no I/O and no callbacks.
//!
//! - [`history`]: events, workflow-task boundaries, pages and look-ahead.
//! - [`replay`]: the worker's side. One [`replay::Run`] per cached run turns workflow tasks into activations and commands into
//!   completions, matching them against history while it replays.
//! - [`engine`]: the server's side. One [`engine::Engine`] per store turns requests and completions into events, tasks and replies.
//! - `wire`: protobuf without building messages.
//! - `wasm`: the only room that knows wasm-bindgen.
//!
//! The features `replay` and `engine` are the two halves. Neither uses the other; each is built
//! into a separate WebAssembly module.

// What only the other half uses is unused in this one.
#![cfg_attr(not(all(feature = "replay", feature = "engine")), allow(dead_code, unused_imports))]

#[cfg(feature = "engine")]
pub mod engine;
pub mod error;
#[cfg(feature = "replay")]
pub mod history;
#[cfg(feature = "replay")]
pub mod replay;
mod sorted;
#[cfg(target_arch = "wasm32")]
mod wasm;
mod wire;

/// Generated from `core-rs/proto`.
#[rustfmt::skip]
#[allow(clippy::all, rustdoc::all)]
pub mod proto;

pub use proto::temporal::api;
pub use proto::temporalex::boundary::v1 as boundary;

/// Version of the crate, and with it of the module.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Hash of the sources that this build was made from; "unknown" outside `tools/build_core`.
pub const SOURCE_HASH: &str = match option_env!("TEMPORALEX_SOURCE_HASH") {
    Some(hash) => hash,
    None => "unknown",
};
