//! Messages that several steps of the engine read or write. A message of one step is in the file of
//! that step.
pub mod common;
pub mod events;
pub mod failure;
pub mod nexus;
pub mod orders;
pub mod tasks;
pub mod updates;
pub mod versioning;
