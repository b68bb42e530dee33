//! Errors of requests as data: gRPC code, text and the name of Temporal's error detail. Texts are the server's where clients or SDKs
//! compare them.
use crate::boundary::RpcError;

pub type Rpc<T> = Result<T, Box<RpcError>>;

/// Who acts where no client does, as a server names it.
pub const SERVER: &str = "history-service";

/// And where it resets a run.
pub const RESETTER: &str = "history-resetter";

/// gRPC status codes that the engine uses.
pub mod code {
    pub const INVALID_ARGUMENT: u32 = 3;
    pub const DEADLINE_EXCEEDED: u32 = 4;
    pub const NOT_FOUND: u32 = 5;
    pub const ALREADY_EXISTS: u32 = 6;
    pub const RESOURCE_EXHAUSTED: u32 = 8;
    pub const FAILED_PRECONDITION: u32 = 9;
    pub const UNIMPLEMENTED: u32 = 12;
    pub const UNAVAILABLE: u32 = 14;
    pub const DATA_LOSS: u32 = 15;
}

fn make(code: u32, reason: &str, message: impl Into<String>) -> Box<RpcError> {
    Box::new(RpcError {
        code,
        message: message.into(),
        reason: reason.into(),
        metadata: Default::default(),
        ..Default::default()
    })
}

pub fn invalid(message: impl Into<String>) -> Box<RpcError> {
    make(code::INVALID_ARGUMENT, "InvalidArgument", message)
}

pub fn not_found(message: impl Into<String>) -> Box<RpcError> {
    make(code::NOT_FOUND, "NotFound", message)
}

pub fn unavailable(message: impl Into<String>) -> Box<RpcError> {
    make(code::UNAVAILABLE, "Unavailable", message)
}

pub fn unimplemented(message: impl Into<String>) -> Box<RpcError> {
    make(code::UNIMPLEMENTED, "Unimplemented", message)
}

pub fn failed_precondition(reason: &str, message: impl Into<String>) -> Box<RpcError> {
    make(code::FAILED_PRECONDITION, reason, message)
}

/// `limit` names the limit that was reached (metadata key "limit"), for programs.
pub fn exhausted(reason: &str, limit: &str, message: impl Into<String>) -> Box<RpcError> {
    with(make(code::RESOURCE_EXHAUSTED, reason, message), "limit", limit)
}

/// As `exhausted`, for a limit on concurrency, which clears without action. Clients recognize it by
/// the server's cause CONCURRENT_LIMIT.
pub fn busy(limit: &str, message: impl Into<String>) -> Box<RpcError> {
    with(exhausted("ResourceExhausted", limit, message), "cause", "2")
}

pub fn data_loss(message: impl Into<String>) -> Box<RpcError> {
    make(code::DATA_LOSS, "DataLoss", message)
}

pub fn already_started(message: impl Into<String>, run_id: &str, request_id: &str, first_run_id: &str) -> Box<RpcError> {
    let e = make(code::ALREADY_EXISTS, "WorkflowExecutionAlreadyStarted", message);
    with(with(with(e, "run_id", run_id), "start_request_id", request_id), "first_execution_run_id", first_run_id)
}

pub fn namespace_not_found(name: &str) -> Box<RpcError> {
    let e = make(code::NOT_FOUND, "NamespaceNotFound", format!("Namespace {name} is not found."));
    with(e, "namespace", name)
}

/// A failure of a query's handler; `failure` is an encoded temporal Failure.
pub fn query_failed(message: impl Into<String>, failure: Option<Vec<u8>>) -> Box<RpcError> {
    let mut e = make(code::INVALID_ARGUMENT, "QueryFailed", message);
    e.detail = failure.unwrap_or_default();
    e
}

pub fn workflow_not_ready(message: impl Into<String>) -> Box<RpcError> {
    make(code::FAILED_PRECONDITION, "WorkflowNotReady", message)
}

pub fn with(mut e: Box<RpcError>, key: &str, value: &str) -> Box<RpcError> {
    e.metadata.insert(key.into(), value.into());
    e
}

/// No run of this workflow id, as far as the request is concerned.
pub fn workflow_not_found(workflow_id: &str) -> Box<RpcError> {
    not_found(format!("workflow not found for ID: {workflow_id}"))
}

/// The request names another chain of runs than the one that is there.
pub fn execution_not_found() -> Box<RpcError> {
    not_found("workflow execution not found")
}

pub fn workflow_completed() -> Box<RpcError> {
    not_found("workflow execution already completed")
}

pub fn task_not_found() -> Box<RpcError> {
    not_found("Workflow task not found.")
}

pub fn activity_task_not_found() -> Box<RpcError> {
    not_found("invalid activityID or activity already timed out or invoking workflow is completed")
}

pub fn activity_not_found() -> Box<RpcError> {
    not_found("Can't find pending activity with such ID. Invalid activityID or activity already completed")
}

pub fn bad_token() -> Box<RpcError> {
    invalid("error deserializing task token")
}

/// No worker returned a query result before the caller's deadline.
pub fn query_timed_out(task_queue: &str) -> Box<RpcError> {
    let text = format!("the query timed out: check that a worker polls task queue \"{task_queue}\" and is not overloaded");
    make(code::DEADLINE_EXCEEDED, "DeadlineExceeded", text)
}
