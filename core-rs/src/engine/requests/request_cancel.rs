//! RequestCancelWorkflowExecution.
use super::links;
use super::shared::*;
use crate::engine::externals;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::CancelRequestedAttrs;
use crate::engine::rpc::Rpc;
use crate::engine::state::request::Again;

message! {
    CancelRequest: workflowservice::RequestCancelWorkflowExecutionRequest {
        namespace str, workflow_execution msg(WorkflowExecution), identity str, request_id str, first_execution_run_id str,
        reason str, links raws(LINK),
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: CancelRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    links::check(&req.links)?;
    let (workflow_id, run_id) = target(&req.workflow_execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        check_first_run(run, &req.first_execution_run_id)?;
        // What has ended need not be cancelled any more: the server calls that a success.
        let attrs = CancelRequestedAttrs { cause: req.reason.clone(), identity: req.identity.clone(), ..Default::default() };
        externals::request_cancel(run, cx, &req.request_id, attrs, req.links);
        cx.reply_bytes(id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}
