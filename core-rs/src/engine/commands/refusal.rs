//! Why a workflow task's commands are refused: the causes and words are a server's.
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::boundary::RpcError;
use crate::engine::limits;

/// The task fails with this cause; an empty message means the cause alone.
#[derive(Debug)]
pub struct TaskFailure {
    pub cause: Cause,
    pub message: String,
}

impl TaskFailure {
    /// As a server words it for the worker and in the event.
    pub fn text(&self) -> String {
        if self.message.is_empty() { format!("{:?}", self.cause) } else { format!("{:?}: {}", self.cause, self.message) }
    }
}

pub enum Reject {
    Task(TaskFailure),
    /// The request itself is malformed; the task stays as it is.
    Request(Box<RpcError>),
    /// A required reducer failed with this failure, in a task that ends the run; the task fails.
    Reducer(Vec<u8>),
}

pub fn bad<T>(cause: Cause, message: impl Into<String>) -> Result<T, Reject> {
    Err(Reject::Task(TaskFailure { cause, message: message.into() }))
}

/// The id or name is too long, or has a character that not every store keeps.
pub fn over(id: &str) -> bool {
    limits::bad_id(id).is_some()
}

/// The name is not that of a task queue.
pub fn bad_queue(name: &str) -> Option<String> {
    limits::bad_queue(name).map(|why| format!("task queue name {why}"))
}
