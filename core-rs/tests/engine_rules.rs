//! The engine's rules, one test per rule.
#[path = "engine/basics.rs"]
mod basics;
#[path = "engine/invariants.rs"]
mod invariants;
#[path = "engine/queued.rs"]
mod queued;
#[path = "engine/support.rs"]
mod support;
