//! An order of a run to another one, in memory.
use crate::engine::messages::orders::Outgoing;

/// An order in memory.
pub struct Order {
    pub message: Outgoing,
    pub stored: bool,
    /// Looked at since it was given or loaded.
    pub tried: bool,
}
