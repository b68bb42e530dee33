//! A query of a run. It is in memory only.
use crate::engine::queues::QueueKey;
use crate::engine::time::Micros;

pub struct Query {
    pub request_id: u32,
    /// encoded temporal WorkflowQuery
    pub body: Vec<u8>,
    pub how: How,
}

pub enum How {
    /// Goes with the workflow task that is pending.
    Buffered,
    /// Waits for a worker by itself; on a sticky queue only until the deadline.
    Queued { key: QueueKey, deadline: Option<Micros> },
    /// In a worker's hands.
    Given { nonce: u64 },
}
