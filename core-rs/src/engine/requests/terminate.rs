//! TerminateWorkflowExecution.
use super::links;
use super::shared::*;
use crate::engine::close;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;

message! {
    TerminateRequest: workflowservice::TerminateWorkflowExecutionRequest {
        namespace str, workflow_execution msg(WorkflowExecution), reason str, details payloads, identity str,
        first_execution_run_id str, links raws(LINK),
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: TerminateRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    links::check(&req.links)?;
    let execution = req.workflow_execution.clone();
    let (workflow_id, run_id) = target(&execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        check_first_run(run, &req.first_execution_run_id)?;
        if !run.open() {
            return Err(rpc::workflow_completed());
        }
        // A server's words, which tools show: of the reason and of the identity.
        let own = || "terminated by user via frontend".to_string();
        let reason = Some(req.reason).filter(|r| !r.is_empty()).unwrap_or_else(own);
        let identity = Some(req.identity).filter(|i| !i.is_empty()).unwrap_or_else(|| "frontend-service".into());
        close::terminate(run, cx, reason, req.details, identity, req.links);
        cx.reply_bytes(id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}
