//! RespondActivityTaskCompleted, by token or by id.
use super::activity_tasks::*;
use super::shared::*;
use crate::engine::activity::{remove, write_end, write_started};
use crate::engine::context::Context;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::events::ActivityCompletedAttrs;
use crate::engine::messages::failure;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;

message! {
    ActivityCompletedRequest: workflowservice::RespondActivityTaskCompletedRequest {
        task_token bytes, result payloads, identity str, namespace str,
    }
    ActivityCompletedByIdRequest: workflowservice::RespondActivityTaskCompletedByIdRequest {
        namespace str, workflow_id str, run_id str, activity_id str, result payloads, identity str,
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: ActivityCompletedRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = Which::token(&req.task_token)?;
    respond(engine, r, &which, |run, cx| completed(run, cx, &which, req.result, req.identity))
}

pub fn by_id(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: ActivityCompletedByIdRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = Which::Id { workflow_id: req.workflow_id, run_id: req.run_id, activity_id: req.activity_id };
    respond(engine, r, &which, |run, cx| completed(run, cx, &which, req.result, req.identity))
}

fn completed(run: &mut Run, cx: &mut Context, which: &Which, result: Option<Vec<u8>>, identity: String) -> Rpc<()> {
    let id = find(run, cx, which, &identity, true)?;
    if size_of(&result) > cx.limits.payload_bytes {
        let failure = failure::server("Complete result exceeds size limit.");
        return end_by_failure(run, cx, id, failure, identity);
    }
    let Some(a) = remove(run, cx, id) else { return Err(rpc::activity_task_not_found()) };
    let started_event_id = write_started(run, a.state);
    write_end(run, cx, id, ActivityCompletedAttrs { result, scheduled_event_id: id, started_event_id, identity });
    Ok(())
}
