//! PollWorkflowExecutionUpdate.
use super::shared::*;
use crate::api::enums::v1::UpdateWorkflowExecutionLifecycleStage as Wanted;
use crate::engine::context::Context;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::updates::*;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;
use crate::engine::state::update::{Stage, UpdateWait};
use crate::engine::updates;

message! {
    PollUpdateRequest: workflowservice::PollWorkflowExecutionUpdateRequest {
        namespace str, update_ref msg(UpdateRef), identity str, wait_policy msg(WaitPolicy),
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: PollUpdateRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let Some(update) = &req.update_ref else { return Err(rpc::invalid("UpdateRef is not set on request.")) };
    let stage = req.wait_policy.as_ref().map_or(0, |p| p.lifecycle_stage);
    let wanted = Wanted::try_from(stage).unwrap_or(Wanted::Unspecified);
    let (workflow_id, run_id) = target(&update.workflow_execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        poll(run, cx, &update.update_id, UpdateWait { request_id: id, wanted, poll: true, again: None })
    });
    Ok(())
}

fn poll(run: &mut Run, cx: &mut Context, id: &str, wait: UpdateWait) -> Rpc<()> {
    let open = run.open();
    let Some(u) = run.updates.get_mut(id) else { return Err(rpc::not_found(format!("update \"{id}\" not found"))) };
    if !open && u.stage == Stage::Accepted {
        updates::fail_accepted(u);
    }
    updates::attach(run, cx, id, wait);
    Ok(())
}
