//! A workflow task, or a query, as its worker receives it.
use super::common::*;
use crate::engine::message::message;

message! {
    PollResponse: workflowservice::PollWorkflowTaskQueueResponse {
        task_token bytes, workflow_execution msg(WorkflowExecution), workflow_type msg(Named), previous_started_event_id i64,
        started_event_id i64, attempt i32, history raw(ANY), next_page_token bytes, query raw(QUERY),
        workflow_execution_task_queue msg(TaskQueue), scheduled_time ts, started_time ts, queries reps(QueryEntry),
        messages reps(ProtocolMessage),
    }
    QueryEntry: workflowservice::PollWorkflowTaskQueueResponseQueriesEntry { key str, value encoded, }
    ProtocolMessage: protocol::Message {
        id str, protocol_instance_id str, event_id i64, command_index i64, body msg(AnyMessage),
    }
    AnyMessage: google::Any { type_url str, value bytes, }
}
