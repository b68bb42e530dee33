//! Requests without a reply so far.
use crate::boundary::EngineMethod;
use crate::engine::queues::Side;

/// A request in its original form.
#[derive(Debug, Clone)]
pub struct Again {
    pub request_id: u32,
    pub method: EngineMethod,
    pub body: Vec<u8>,
}

/// Where a request that has no answer yet waits.
#[derive(Debug, Clone, PartialEq)]
pub enum Wait {
    Poll { side: Side, queue: String, seq: u64 },
    Parked { workflow_id: String, run_id: String },
    History { slot: u32 },
    Update { slot: u32, update_id: String },
    Query { slot: u32, query: u64 },
}

/// The second half of an update-with-start.
pub struct Pair {
    /// The UpdateWorkflowExecutionRequest, which is handled once there is a run.
    pub update: Vec<u8>,
    /// The StartWorkflowExecutionResponse, once there is one.
    pub started: Option<Vec<u8>>,
}
