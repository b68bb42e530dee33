//! The state of the engine's runs, and of the requests that wait for them. Nothing here decides anything.
pub mod order;
pub mod pending;
pub mod query;
pub mod request;
pub mod run;
pub mod update;
