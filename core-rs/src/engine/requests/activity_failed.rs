//! RespondActivityTaskFailed, by token or by id.
use super::activity_tasks::*;
use super::shared::*;
use crate::engine::context::Context;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::failure;
use crate::engine::rpc::Rpc;
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;

message! {
    ActivityFailedRequest: workflowservice::RespondActivityTaskFailedRequest {
        task_token bytes, failure failure, identity str, namespace str, last_heartbeat_details payloads,
    }
    ActivityFailedByIdRequest: workflowservice::RespondActivityTaskFailedByIdRequest {
        namespace str, workflow_id str, run_id str, activity_id str, failure failure, identity str,
        last_heartbeat_details payloads,
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: ActivityFailedRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = Which::token(&req.task_token)?;
    respond(engine, r, &which, |run, cx| failed(run, cx, &which, req.failure, req.last_heartbeat_details, req.identity))
}

pub fn by_id(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: ActivityFailedByIdRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = Which::Id { workflow_id: req.workflow_id, run_id: req.run_id, activity_id: req.activity_id };
    respond(engine, r, &which, |run, cx| failed(run, cx, &which, req.failure, req.last_heartbeat_details, req.identity))
}

fn failed(
    run: &mut Run,
    cx: &mut Context,
    which: &Which,
    failure: Option<Vec<u8>>,
    heartbeat: Option<Vec<u8>>,
    identity: String,
) -> Rpc<()> {
    let id = find(run, cx, which, &identity, true)?;
    if heartbeat.is_some()
        && size_of(&heartbeat) <= cx.limits.payload_bytes
        && let Some(a) = run.activities.get_mut(&id)
    {
        a.state.heartbeat_details = heartbeat;
    }
    let too_big = size_of(&failure) > cx.limits.payload_bytes;
    let failure = if too_big { failure::server("Failure exceeds size limit.") } else { failure.unwrap_or_default() };
    end_by_failure(run, cx, id, failure, identity)
}
