//! Commands that reach beyond their run, and the orders that are stored of them.
use super::common::*;
use crate::engine::message::message;

message! {
    StartChild: command::StartChildWorkflowExecutionCommandAttributes {
        namespace str, workflow_id str, workflow_type msg(Named), task_queue msg(TaskQueue), input payloads,
        workflow_execution_timeout dur, workflow_run_timeout dur, workflow_task_timeout dur, parent_close_policy i32,
        control str, workflow_id_reuse_policy i32, retry_policy msg(RetryPolicy), cron_schedule str, header fields, memo fields,
        search_attributes fields, inherit_build_id bool, priority raw(PRIORITY),
    }
    SignalExternal: command::SignalExternalWorkflowExecutionCommandAttributes {
        namespace str, execution msg(WorkflowExecution), signal_name str, input payloads, control str, child_workflow_only bool,
        header fields,
    }
    CancelExternal: command::RequestCancelExternalWorkflowExecutionCommandAttributes {
        namespace str, workflow_id str, run_id str, control str, child_workflow_only bool, reason str,
    }
    /// `first_run_id` is that of the child, where a child is meant.
    Outgoing: engine::Order {
        what i32, workflow_id str, run_id str, first_run_id str, initiated_id i64, request_id str, start msg(StartChild),
        user_metadata meta, signal msg(SignalExternal), cancel msg(CancelExternal), status i32, result payloads, failure failure,
        retry_state i32, child_run_id str,
    }
}

/// Kinds of orders. Numbers are stored: never reuse one.
pub mod what {
    pub const START: i32 = 1;
    pub const SIGNAL: i32 = 2;
    pub const CANCEL: i32 = 3;
    pub const TERMINATE_CHILD: i32 = 4;
    pub const CANCEL_CHILD: i32 = 5;
    pub const REPORT: i32 = 6;
}
