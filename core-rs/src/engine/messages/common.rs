//! Small messages that many others hold.
use crate::api::enums::v1::TaskQueueKind;
use crate::engine::message::message;

message! {
    WorkflowExecution: common::WorkflowExecution { workflow_id str, run_id str, }
    /// WorkflowType and ActivityType.
    Named: common::WorkflowType { name str, }
    TaskQueue: taskqueue::TaskQueue { name str, kind i32, normal_name str, }
    RetryPolicy: common::RetryPolicy {
        initial_interval dur, backoff_coefficient double, maximum_interval dur, maximum_attempts i32,
        non_retryable_error_types strs,
    }
    WorkerVersionStamp: common::WorkerVersionStamp { build_id str, use_versioning bool, }
}

/// A task queue as events and tasks show it.
pub fn normal_queue(name: &str) -> TaskQueue {
    TaskQueue { name: name.into(), kind: TaskQueueKind::Normal as i32, normal_name: String::new() }
}
