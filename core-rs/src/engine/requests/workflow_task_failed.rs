//! RespondWorkflowTaskFailed.
use super::shared::*;
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;
use crate::engine::tokens::{self, TaskToken};
use crate::engine::workflow_task;

message! {
    TaskFailedRequest: workflowservice::RespondWorkflowTaskFailedRequest {
        task_token bytes, cause i32, failure failure, identity str, binary_checksum str, namespace str,
        worker_version msg(WorkerVersionStamp),
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: TaskFailedRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let token = tokens::task(&req.task_token)?;
    engine.on_run(r, &token.workflow_id, &token.run_id, |run, cx| {
        failed(run, cx, &token, req)?;
        cx.reply_bytes(id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}

fn failed(run: &mut Run, cx: &mut Context, token: &TaskToken, req: TaskFailedRequest) -> Rpc<()> {
    if !run.open() {
        return Err(rpc::workflow_completed());
    }
    if !workflow_task::holds(run, token) {
        return Err(rpc::task_not_found());
    }
    let cause = Cause::try_from(req.cause).unwrap_or(Cause::Unspecified);
    workflow_task::fail_with_backoff(run, cx, cause, req.failure, &req.identity, &req.binary_checksum);
    Ok(())
}
