//! SignalWithStartWorkflowExecution.
use super::shared::*;
use super::signal_workflow::{SignalRequest, check_signal};
use super::start_workflow::{StartRequest, checked};
use crate::api::enums::v1::WorkflowIdConflictPolicy as Conflict;
use crate::engine::cron::Waiting;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;

message! {
    SignalWithStartRequest: workflowservice::SignalWithStartWorkflowExecutionRequest {
        namespace str, workflow_id str, workflow_type msg(Named), task_queue msg(TaskQueue), input payloads,
        workflow_execution_timeout dur, workflow_run_timeout dur, workflow_task_timeout dur, identity str, request_id str,
        workflow_id_reuse_policy i32, signal_name str, signal_input payloads, retry_policy msg(RetryPolicy), cron_schedule str,
        memo fields, search_attributes fields, header fields, workflow_start_delay dur, workflow_id_conflict_policy i32,
        user_metadata meta, links raws(LINK), versioning_override raw(ANY), priority raw(PRIORITY),
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let mut req: SignalWithStartRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    if req.workflow_id_conflict_policy == Conflict::Fail as i32 {
        let text = "WORKFLOW_ID_CONFLICT_POLICY_FAIL is not supported for this operation.";
        return Err(rpc::invalid(format!("Invalid WorkflowIDConflictPolicy: {text}")));
    }
    let input = req.signal_input.take();
    let signal = SignalRequest {
        signal_name: std::mem::take(&mut req.signal_name),
        input,
        identity: req.identity.clone(),
        request_id: req.request_id.clone(),
        header: req.header.clone(),
        links: req.links.clone(),
        ..Default::default()
    };
    check_signal(&engine.cx, &signal)?;
    if engine.cx.waits_for_cron(&req.cron_schedule, 0, || Waiting::Request(r.clone())) {
        return Ok(());
    }
    let start = checked(&engine.cx, req.into())?;
    engine.start(r, start, Some(signal))
}

impl From<SignalWithStartRequest> for StartRequest {
    fn from(r: SignalWithStartRequest) -> StartRequest {
        StartRequest {
            namespace: r.namespace,
            workflow_id: r.workflow_id,
            workflow_type: r.workflow_type,
            task_queue: r.task_queue,
            input: r.input,
            workflow_execution_timeout: r.workflow_execution_timeout,
            workflow_run_timeout: r.workflow_run_timeout,
            workflow_task_timeout: r.workflow_task_timeout,
            identity: r.identity,
            request_id: r.request_id,
            workflow_id_reuse_policy: r.workflow_id_reuse_policy,
            retry_policy: r.retry_policy,
            cron_schedule: r.cron_schedule,
            memo: r.memo,
            search_attributes: r.search_attributes,
            header: r.header,
            request_eager_execution: false,
            continued_failure: None,
            last_completion_result: None,
            workflow_start_delay: r.workflow_start_delay,
            completion_callbacks: Vec::new(),
            workflow_id_conflict_policy: r.workflow_id_conflict_policy,
            user_metadata: r.user_metadata,
            versioning_override: r.versioning_override,
            links: r.links,
            on_conflict_options: None,
            priority: r.priority,
            eager_worker_deployment_options: None,
        }
    }
}
