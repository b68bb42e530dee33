//! What the conformance tests share: a fluent builder of histories and, in `run_test`, a driver of the public `Run`.
//!
//! Notation of the case names (core-spec 6): S = started, W = full workflow task (scheduled, started, completed), w = scheduled
//! and started only, wF / wT = scheduled, started, failed / timed out.
#![allow(dead_code, unused_imports)] // every test binary uses its own part

pub mod history;

pub use history::{HistoryBuilder, failure, json, payloads};
