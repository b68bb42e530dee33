//! Messages that more than one step of the engine reads or writes. A message that only one of them knows stands there.
pub mod common;
pub mod events;
pub mod failure;
pub mod orders;
pub mod tasks;
pub mod updates;
