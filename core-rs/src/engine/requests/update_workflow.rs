//! UpdateWorkflowExecution, by itself or as the second half of an update-with-start.
use super::shared::*;
use crate::api::enums::v1::UpdateWorkflowExecutionLifecycleStage as Wanted;
use crate::boundary::EngineMethod as Method;
use crate::engine::codec;
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::updates::*;
use crate::engine::rpc::{self, Rpc};
use crate::engine::runs::Found;
use crate::engine::start::Start;
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;
use crate::engine::state::update::{Stage, Update, UpdateWait};
use crate::engine::updates;
use crate::engine::workflow_task;

message! {
    UpdateRequest: workflowservice::UpdateWorkflowExecutionRequest {
        namespace str, workflow_execution msg(WorkflowExecution), first_execution_run_id str, wait_policy msg(WaitPolicy),
        request raw(UPDATE_REQUEST),
    }
}

/// An update that is well-formed.
pub struct Checked {
    /// The request, with an update id.
    again: Again,
    wanted: Wanted,
    body: Vec<u8>,
    id: String,
    execution: Option<WorkflowExecution>,
    first_run_id: String,
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let update = check_update(engine, r)?;
    self::update(engine, update);
    Ok(())
}

/// The update of a pair, before its workflow is started: it must be for that workflow, and for no run that is there already.
pub fn check_pair(engine: &mut Engine, request_id: u32, start: &Start, body: Vec<u8>) -> Rpc<Checked> {
    let checked = check_update(engine, &Again { request_id, method: Method::UpdateWorkflowExecution, body });
    let of_update = |e| rpc::with(e, "operation", "1");
    let update = checked.map_err(of_update)?;
    let (workflow_id, run_id) = target(&update.execution);
    if workflow_id != start.attrs.workflow_id || !run_id.is_empty() || !update.first_run_id.is_empty() {
        return Err(of_update(rpc::invalid(
            "update-with-start: the update needs the workflow ID of the start and an empty run ID",
        )));
    }
    Ok(update)
}

/// The latest run of the workflow, if it has an update of this id that a new call can attach to.
pub fn run_with(engine: &Engine, update: &Checked) -> Option<u32> {
    let Found::Slot(slot) = engine.runs.find(target(&update.execution).0, "") else { return None };
    let run = engine.runs.get(slot)?;
    let found = run.updates.get(&update.id)?;
    (run.open() || found.stage == Stage::Completed).then_some(slot)
}

/// Decodes and checks an update without looking at its run.
fn check_update(engine: &mut Engine, r: &Again) -> Rpc<Checked> {
    let req: UpdateRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let body = req.request.unwrap_or_default();
    let view: UpdateRequestView = decode(&body)?;
    let mut meta = view.meta.unwrap_or_default();
    if view.input.as_ref().is_none_or(|i| i.name.is_empty()) {
        return Err(rpc::invalid("Update name is not set on request."));
    }
    check_size(&engine.cx, "Update", body.len())?;
    if let Some(why) = limits::bad_id(&meta.update_id) {
        return Err(rpc::invalid(format!("UpdateID {why}")));
    }
    let mut again = r.clone();
    let mut body = body;
    if meta.update_id.is_empty() {
        meta.update_id = engine.cx.rng.uuid4();
        // Protobuf merges: the id is appended to the request, and to what is parked.
        let patch = codec::bytes(&UpdateRequestView { meta: Some(meta.clone()), ..Default::default() });
        body.extend_from_slice(&patch);
        let patched = UpdateRequest { request: Some(body.clone()), ..decode(&r.body)? };
        again.body = codec::bytes(&patched);
    }
    let stage = req.wait_policy.as_ref().map_or(0, |p| p.lifecycle_stage);
    let wanted = match Wanted::try_from(stage).unwrap_or(Wanted::Unspecified) {
        Wanted::Unspecified => Wanted::Accepted,
        Wanted::Admitted => {
            return Err(rpc::unimplemented("UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED is not supported"));
        }
        stage => stage,
    };
    Ok(Checked {
        again,
        wanted,
        body,
        id: meta.update_id,
        execution: req.workflow_execution,
        first_run_id: req.first_execution_run_id,
    })
}

/// Leads a checked update to its run.
pub fn update(engine: &mut Engine, update: Checked) {
    let Checked { again, wanted, body, id, execution, first_run_id } = update;
    let (workflow_id, run_id) = target(&execution);
    let moves = run_id.is_empty();
    let retry = again.clone();
    engine.on_run(&again, workflow_id, run_id, |run, cx| {
        check_first_run(run, &first_run_id)?;
        let wait = UpdateWait { request_id: retry.request_id, wanted, poll: false, again: moves.then_some(retry) };
        admit_or_find(run, cx, &id, body, wait)
    });
}

/// A new update is admitted; the same one again finds what became of it.
fn admit_or_find(run: &mut Run, cx: &mut Context, id: &str, body: Vec<u8>, wait: UpdateWait) -> Rpc<()> {
    if !run.updates.contains_key(id) {
        if !run.open() {
            return Err(rpc::workflow_completed());
        }
        if run.is_failing() {
            return Err(rpc::workflow_not_ready(updates::TASK_IN_FAILED_STATE));
        }
        admit(run, cx, id, body)?;
    }
    let accepted = run.open() || run.updates.get(id).is_some_and(|u| u.stage == Stage::Completed);
    if !accepted {
        // Accepted, and then the workflow ended without answering it.
        if let Some(u) = run.updates.get_mut(id) {
            updates::fail_accepted(u);
        }
    }
    updates::attach(run, cx, id, wait);
    Ok(())
}

fn admit(run: &mut Run, cx: &mut Context, id: &str, body: Vec<u8>) -> Rpc<()> {
    let in_flight = run.updates.values().filter(|u| u.stage < Stage::Completed).count();
    let limit = cx.limits.updates_in_flight;
    if in_flight >= limit {
        let text = format!("limit on number of concurrent in-flight updates has been reached ({limit})");
        return Err(rpc::busy("updates_in_flight", text));
    }
    let limit = cx.limits.updates_total;
    if run.updates.len() >= limit {
        let text = format!(
            "The limit on the total number of distinct updates in this workflow has been reached ({limit}). \
             Continue the workflow as new before that; a workflow task says when that is suggested."
        );
        let e = rpc::failed_precondition("FailedPrecondition", text);
        return Err(rpc::with(e, "limit", "updates_total"));
    }
    updates::check_inbox(run, cx)?;
    run.update_seq += 1;
    let update = Update {
        stage: Stage::Admitted,
        seq: run.update_seq,
        request: Some(body),
        accepted_id: 0,
        outcome: None,
        waits: Vec::new(),
        admitted: false,
    };
    run.updates.insert(id.into(), update);
    // A scheduled task will carry it; a started one is followed by another.
    if run.head.task.is_none() && run.head.first_task_at_us == 0 {
        workflow_task::schedule(run, cx.now, true, None);
    }
    Ok(())
}
