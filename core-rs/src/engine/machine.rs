//! The engine's parts: what every step needs, the runs in memory, and the batch that the host is committing.
use super::context::Context;
use super::runs::Runs;
use super::time::Micros;

/// What the host is committing.
pub struct Batch {
    pub slots: Vec<u32>,
}

/// All runs of one store, as a pure state machine.
pub struct Engine {
    pub(super) cx: Context,
    pub(super) runs: Runs,
    pub(super) batch: Option<Batch>,
    /// When queues were last looked over.
    pub(super) swept: Micros,
    /// Copies on which the messages of a transaction are tried.
    pub(super) trial: Option<Box<Engine>>,
}
