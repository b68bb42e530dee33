//! RecordActivityTaskHeartbeat, by token or by id.
use super::activity_tasks::*;
use super::shared::*;
use crate::engine::activity::touched;
use crate::engine::context::Context;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::failure;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;

message! {
    HeartbeatRequest: workflowservice::RecordActivityTaskHeartbeatRequest {
        task_token bytes, details payloads, identity str, namespace str,
    }
    HeartbeatByIdRequest: workflowservice::RecordActivityTaskHeartbeatByIdRequest {
        namespace str, workflow_id str, run_id str, activity_id str, details payloads, identity str,
    }
    HeartbeatResponse: workflowservice::RecordActivityTaskHeartbeatResponse {
        cancel_requested bool, activity_paused bool, activity_reset bool,
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: HeartbeatRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = Which::token(&req.task_token)?;
    beat(engine, r, which, req.details, req.identity)
}

pub fn by_id(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: HeartbeatByIdRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = Which::Id { workflow_id: req.workflow_id, run_id: req.run_id, activity_id: req.activity_id };
    beat(engine, r, which, req.details, req.identity)
}

fn beat(engine: &mut Engine, r: &Again, which: Which, details: Option<Vec<u8>>, identity: String) -> Rpc<()> {
    let (workflow_id, run_id) = which.run();
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        let response = heartbeat(run, cx, &which, details, &identity)?;
        cx.reply(r.request_id, &response);
        Ok(())
    });
    Ok(())
}

/// The response has what the workflow and operators want of the activity.
fn heartbeat(run: &mut Run, cx: &mut Context, which: &Which, details: Option<Vec<u8>>, identity: &str) -> Rpc<HeartbeatResponse> {
    let id = find(run, cx, which, identity, false)?;
    let time = run.time(cx.now);
    if size_of(&details) > cx.limits.payload_bytes {
        let failure = failure::server("Heartbeat details exceed size limit.");
        end_by_failure(run, cx, id, failure, identity.into())?;
        return Ok(HeartbeatResponse { cancel_requested: true, ..Default::default() });
    }
    let Some(a) = run.activities.get_mut(&id) else { return Err(rpc::activity_task_not_found()) };
    a.state.heartbeat_us = time;
    a.state.heartbeat_details = details;
    let response = HeartbeatResponse {
        cancel_requested: a.state.cancel_requested_id != 0,
        activity_paused: a.paused(),
        activity_reset: a.state.was_reset,
    };
    touched(run, id);
    Ok(response)
}
