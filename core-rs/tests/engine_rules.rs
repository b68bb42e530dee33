//! The engine's rules, one test per rule.
#[path = "engine/activities.rs"]
mod activities;
#[path = "engine/activity_timeouts.rs"]
mod activity_timeouts;
#[path = "engine/basics.rs"]
mod basics;
#[path = "engine/children.rs"]
mod children;
#[path = "engine/externals.rs"]
mod externals;
#[path = "engine/invariants.rs"]
mod invariants;
#[path = "engine/limit_tests.rs"]
mod limit_tests;
#[path = "engine/pairs.rs"]
mod pairs;
#[path = "engine/query_tests.rs"]
mod query_tests;
#[path = "engine/queued.rs"]
mod queued;
#[path = "engine/recovery.rs"]
mod recovery;
#[path = "engine/rejections.rs"]
mod rejections;
#[path = "engine/runs.rs"]
mod runs;
#[path = "engine/support.rs"]
mod support;
#[path = "engine/tasks.rs"]
mod tasks;
#[path = "engine/transacts.rs"]
mod transacts;
#[path = "engine/updates.rs"]
mod updates;
#[path = "engine/updates_of_failed_tasks.rs"]
mod updates_of_failed_tasks;
