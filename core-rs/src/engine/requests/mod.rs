//! Requests in, one file per method or pair of methods: its messages, its check, what it does, its response. To add a method is to add
//! a file and a line in `handler`. Polls stay open; everything else gets its reply, or waits in its run.
mod activity_canceled;
mod activity_completed;
mod activity_failed;
mod activity_heartbeat;
mod activity_tasks;
mod describe;
mod get_history;
mod poll_task_queue;
mod poll_update;
mod query_task_completed;
mod query_workflow;
mod request_cancel;
mod shared;
mod signal_with_start;
mod signal_workflow;
mod start_decision;
mod start_workflow;
mod sticky_queue;
mod terminate;
mod update_workflow;
mod workflow_task_completed;
mod workflow_task_failed;

use super::machine::Engine;
use super::rpc::{self, Rpc};
use super::state::request::Again;
use crate::boundary::EngineMethod as Method;

type Handler = fn(&mut Engine, &Again) -> Rpc<()>;

fn handler(method: Method) -> Option<Handler> {
    Some(match method {
        Method::Unspecified => return None,
        Method::StartWorkflowExecution => start_workflow::handle,
        Method::SignalWithStartWorkflowExecution => signal_with_start::handle,
        Method::SignalWorkflowExecution => signal_workflow::handle,
        Method::RequestCancelWorkflowExecution => request_cancel::handle,
        Method::TerminateWorkflowExecution => terminate::handle,
        Method::DescribeWorkflowExecution => describe::handle,
        Method::GetWorkflowExecutionHistory => get_history::handle,
        Method::QueryWorkflow => query_workflow::handle,
        Method::UpdateWorkflowExecution => update_workflow::handle,
        Method::PollWorkflowExecutionUpdate => poll_update::handle,
        Method::PollWorkflowTaskQueue => poll_task_queue::workflow,
        Method::PollActivityTaskQueue => poll_task_queue::activity,
        Method::RespondWorkflowTaskCompleted => workflow_task_completed::handle,
        Method::RespondWorkflowTaskFailed => workflow_task_failed::handle,
        Method::RespondQueryTaskCompleted => query_task_completed::handle,
        Method::RecordActivityTaskHeartbeat => activity_heartbeat::handle,
        Method::RecordActivityTaskHeartbeatById => activity_heartbeat::by_id,
        Method::RespondActivityTaskCompleted => activity_completed::handle,
        Method::RespondActivityTaskCompletedById => activity_completed::by_id,
        Method::RespondActivityTaskFailed => activity_failed::handle,
        Method::RespondActivityTaskFailedById => activity_failed::by_id,
        Method::RespondActivityTaskCanceled => activity_canceled::handle,
        Method::RespondActivityTaskCanceledById => activity_canceled::by_id,
        Method::ResetStickyTaskQueue => sticky_queue::reset,
        Method::ShutdownWorker => sticky_queue::shut_down,
    })
}

/// Handles a request; what it has set off for other requests is done when this returns.
pub fn handle(engine: &mut Engine, request: Again) {
    let done = match handler(request.method) {
        Some(handler) => handler(engine, &request),
        None => Err(rpc::unimplemented("unknown method")),
    };
    if let Err(e) = done {
        engine.cx.fail(request.request_id, e);
    }
    handle_again(engine);
}

/// Requests that moved to another run, oldest first.
pub fn handle_again(engine: &mut Engine) {
    for again in std::mem::take(&mut engine.cx.again) {
        handle(engine, again);
    }
}
