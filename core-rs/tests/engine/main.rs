//! Tests of the engine through its public boundary, in one program: each program links the crate again.
#![allow(clippy::manual_is_multiple_of)]
mod activities;
mod activity_timeouts;
mod basics;
mod bytes;
mod children;
mod crons;
mod externals;
mod forget;
mod invariants;
mod limit_tests;
mod pairs;
mod query_tests;
mod queued;
mod random;
mod random_lives;
mod recovery;
mod rejections;
mod resets;
mod runs;
mod speed;
mod support;
mod tasks;
mod transacts;
mod unavailable;
mod updates;
mod updates_of_failed_tasks;
