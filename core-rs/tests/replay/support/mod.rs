//! What the conformance tests share: a fluent builder of histories, programs that answer activations, and a driver of the
//! public `Run`.
//!
//! Notation of histories (docs/dev/semantics/README.md#words): S = started, W = full workflow task
//! (scheduled, started, completed), w = scheduled and started only, wF / wT = scheduled, started,
//! failed / timed out.
#![allow(clippy::needless_update)] // which fields a generated message has is not for the tests to know

pub mod follow;
pub mod history;
mod history_children;
mod history_markers;
mod history_messages;
mod history_nexus;
pub mod lang;
pub mod random;
pub mod real;
pub mod run_test;
pub mod session;
pub mod show;
pub mod slim;
pub mod values;

pub use history::{HistoryBuilder, failure, json};
pub use lang::{Calls, Cmd, Lang, Reply, Script, act, timer};
pub use run_test::RunTest;
pub use session::Response;

use prost::Message;
use temporalex_core::api::common::v1::Payload;
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::boundary;

// The boundary's messages share names with the kinds of command, so they are made here.

fn boundary_timer(duration_ms: f64) -> boundary::StartTimer {
    boundary::StartTimer { duration_ms, summary: None, seq: 0 }
}

fn boundary_groups(id: &str) -> boundary::EventGroups {
    let label = boundary::EventGroupLabel { id: id.into(), label: Some(json("\"label\"")) };
    let variant = Some(boundary::event_group_marker::Variant::Label(label));
    boundary::EventGroups { event_group_markers: vec![boundary::EventGroupMarker { variant }] }
}

fn boundary_cancel_child(seq: u32, reason: &str) -> boundary::CancelChildWorkflow {
    boundary::CancelChildWorkflow { seq, reason: reason.into() }
}

fn boundary_cancel_signal(seq: u32) -> boundary::CancelSignalWorkflow {
    boundary::CancelSignalWorkflow { seq }
}

fn boundary_patch(patch_id: &str, deprecated: bool) -> boundary::SetPatchMarker {
    boundary::SetPatchMarker { patch_id: patch_id.into(), deprecated }
}

fn boundary_side_effect(id: u32, payload: &Payload) -> boundary::RecordSideEffect {
    boundary::RecordSideEffect { id, payload: Some(payload.clone()) }
}

fn boundary_transact(reducer: &str) -> boundary::Transact {
    boundary::Transact { reducer: reducer.into(), arguments: vec![json("7")], ..Default::default() }
}

fn boundary_await_transact(seq: u32) -> boundary::AwaitTransact {
    boundary::AwaitTransact { seq }
}

fn boundary_complete() -> boundary::CompleteWorkflow {
    boundary::CompleteWorkflow { result: Some(json("null")) }
}

fn boundary_fail(why: &Failure) -> boundary::FailWorkflow {
    boundary::FailWorkflow { failure: why.encode_to_vec() }
}
