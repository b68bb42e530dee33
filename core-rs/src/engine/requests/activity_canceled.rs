//! RespondActivityTaskCanceled, by token or by id.
use super::activity_tasks::*;
use super::shared::*;
use crate::engine::activity::{remove, write_end, write_started};
use crate::engine::context::Context;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::events::ActivityCanceledAttrs;
use crate::engine::messages::failure;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;

message! {
    ActivityCanceledRequest: workflowservice::RespondActivityTaskCanceledRequest {
        task_token bytes, details payloads, identity str, namespace str,
    }
    ActivityCanceledByIdRequest: workflowservice::RespondActivityTaskCanceledByIdRequest {
        namespace str, workflow_id str, run_id str, activity_id str, details payloads, identity str,
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: ActivityCanceledRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = Which::token(&req.task_token)?;
    respond(engine, r, &which, |run, cx| canceled(run, cx, &which, req.details, req.identity))
}

pub fn by_id(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: ActivityCanceledByIdRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let which = Which::Id { workflow_id: req.workflow_id, run_id: req.run_id, activity_id: req.activity_id };
    respond(engine, r, &which, |run, cx| canceled(run, cx, &which, req.details, req.identity))
}

fn canceled(run: &mut Run, cx: &mut Context, which: &Which, details: Option<Vec<u8>>, identity: String) -> Rpc<()> {
    let id = find(run, cx, which, &identity, false)?;
    let requested = run.activities.get(&id).map_or(0, |a| a.state.cancel_requested_id);
    if requested == 0 {
        return Err(rpc::invalid("unable to mark activity as canceled without activity being request canceled first"));
    }
    if size_of(&details) > cx.limits.payload_bytes {
        let failure = failure::server("Cancel details exceed size limit.");
        return end_by_failure(run, cx, id, failure, identity);
    }
    let Some(a) = remove(run, cx, id) else { return Err(rpc::activity_task_not_found()) };
    let started_event_id = write_started(run, a.state);
    let attrs = ActivityCanceledAttrs {
        details,
        latest_cancel_requested_event_id: requested,
        scheduled_event_id: id,
        started_event_id,
        identity,
    };
    write_end(run, cx, id, attrs);
    Ok(())
}
