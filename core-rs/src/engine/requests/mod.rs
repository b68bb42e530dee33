//! Requests in, one file per method or pair of methods: its messages, its check, what it does, its response. To add a method is to add
//! a file and a line in `route`. Polls stay open; everything else gets its reply, or waits in its run.
mod activity_canceled;
mod activity_completed;
mod activity_failed;
mod activity_heartbeat;
mod activity_options;
mod activity_tasks;
mod completion_callbacks;
mod describe;
mod describe_nexus;
mod execution_options;
mod fire_timer;
mod get_history;
mod links;
mod nexus;
mod poll_task_queue;
mod poll_update;
mod query_task_completed;
mod query_workflow;
mod request_cancel;
mod reset_workflow;
mod set_attributes;
mod set_queue_configs;
mod set_routing;
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

fn route(engine: &mut Engine, r: &Again) -> Rpc<()> {
    match r.method {
        Method::Unspecified => Err(rpc::unimplemented("unknown method")),
        Method::StartWorkflowExecution => start_workflow::handle(engine, r),
        Method::SignalWithStartWorkflowExecution => signal_with_start::handle(engine, r),
        Method::SignalWorkflowExecution => signal_workflow::handle(engine, r),
        Method::RequestCancelWorkflowExecution => request_cancel::handle(engine, r),
        Method::TerminateWorkflowExecution => terminate::handle(engine, r),
        Method::DescribeWorkflowExecution => describe::handle(engine, r),
        Method::GetWorkflowExecutionHistory => get_history::handle(engine, r),
        Method::QueryWorkflow => query_workflow::handle(engine, r),
        Method::UpdateWorkflowExecution => update_workflow::handle(engine, r),
        Method::PollWorkflowExecutionUpdate => poll_update::handle(engine, r),
        Method::PollWorkflowTaskQueue => poll_task_queue::workflow(engine, r),
        Method::PollActivityTaskQueue => poll_task_queue::activity(engine, r),
        Method::RespondWorkflowTaskCompleted => workflow_task_completed::handle(engine, r),
        Method::RespondWorkflowTaskFailed => workflow_task_failed::handle(engine, r),
        Method::RespondQueryTaskCompleted => query_task_completed::handle(engine, r),
        Method::RecordActivityTaskHeartbeat => activity_heartbeat::handle(engine, r),
        Method::RecordActivityTaskHeartbeatById => activity_heartbeat::by_id(engine, r),
        Method::RespondActivityTaskCompleted => activity_completed::handle(engine, r),
        Method::RespondActivityTaskCompletedById => activity_completed::by_id(engine, r),
        Method::RespondActivityTaskFailed => activity_failed::handle(engine, r),
        Method::RespondActivityTaskFailedById => activity_failed::by_id(engine, r),
        Method::RespondActivityTaskCanceled => activity_canceled::handle(engine, r),
        Method::RespondActivityTaskCanceledById => activity_canceled::by_id(engine, r),
        Method::ResetStickyTaskQueue => sticky_queue::reset(engine, r),
        Method::ShutdownWorker => sticky_queue::shut_down(engine, r),
        Method::ResetWorkflowExecution => reset_workflow::handle(engine, r),
        Method::PauseActivity => activity_options::pause(engine, r),
        Method::UnpauseActivity => activity_options::unpause(engine, r),
        Method::ResetActivity => activity_options::reset(engine, r),
        Method::UpdateActivityOptions => activity_options::update(engine, r),
        Method::SetSearchAttributes => set_attributes::handle(engine, r),
        Method::SetNexusEndpoints => nexus::set_endpoints(engine, r),
        Method::NexusCallEnded => nexus::call_ended(engine, r),
        Method::NexusOperationEnded => nexus::operation_ended(engine, r),
        Method::SetTaskQueueConfigs => set_queue_configs::handle(engine, r),
        Method::FireTimer => fire_timer::handle(engine, r),
        Method::UpdateWorkflowExecutionOptions => execution_options::handle(engine, r),
        Method::SetRouting => set_routing::handle(engine, r),
    }
}

/// Handles a request; what it has set off for other requests is done when this returns.
pub fn handle(engine: &mut Engine, request: Again) {
    if let Err(e) = route(engine, &request) {
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
