//! Updates: admitted in memory, sent with a workflow task, accepted and completed in history. An update that was not accepted is
//! not durable: its caller asks again with the same id and finds either the update or a fresh start.
use super::codec;
use super::context::Context;
use super::message::message;
use super::messages::common::WorkflowExecution;
use super::messages::failure;
use super::messages::tasks::*;
use super::messages::updates::*;
use super::rpc::{self, Rpc};
use super::state::request::Wait;
use super::state::run::{Run, kind};
use super::state::update::{Stage, Update, UpdateWait};
use crate::api::enums::v1::UpdateWorkflowExecutionLifecycleStage as Wanted;
use crate::boundary::RpcError;

message! {
    UpdateResponse: workflowservice::UpdateWorkflowExecutionResponse {
        update_ref msg(UpdateRef), outcome raw(OUTCOME), stage i32,
    }
    PollUpdateResponse: workflowservice::PollWorkflowExecutionUpdateResponse {
        outcome raw(OUTCOME), stage i32, update_ref msg(UpdateRef),
    }
}

fn outcome_failure(failure: Vec<u8>) -> Vec<u8> {
    codec::bytes(&Outcome { success: None, failure: Some(failure) })
}

fn unprocessed() -> Vec<u8> {
    failure::application(
        "UnprocessedUpdate",
        "Workflow Update is rejected because it wasn't processed by worker. Probably, Workflow Update is not supported by the worker.",
    )
}

fn accepted_but_completed() -> Vec<u8> {
    failure::application(
        "AcceptedUpdateCompletedWorkflow",
        "Workflow Update failed because the Workflow completed before the Update completed.",
    )
}

pub fn closing() -> Box<RpcError> {
    let text = "workflow operation can not be applied because workflow is closing";
    rpc::exhausted("WorkflowClosing", "busy_workflow", text)
}

/// The workflow closed after it accepted this update and before it completed it.
pub fn fail_accepted(update: &mut Update) {
    update.outcome = Some(outcome_failure(accepted_but_completed()));
}

/// Signals and undecided updates that the workflow has not seen yet.
pub fn check_inbox(run: &Run, cx: &Context) -> Rpc<()> {
    let undecided = run.updates.values().filter(|u| u.stage < Stage::Accepted).count() as u32;
    if cx.limits.inbox > 0 && run.head.inbox_signals + undecided >= cx.limits.inbox {
        let text = format!(
            "the inbox of workflow \"{}\" is full: {} signals and updates wait to be processed (option inbox); retry later",
            run.head.workflow_id, cx.limits.inbox
        );
        return Err(rpc::exhausted("MaxInbox", "max_inbox", text));
    }
    Ok(())
}

/// Replies at once if the wanted stage is reached, else waits.
pub fn attach(run: &mut Run, cx: &mut Context, id: &str, wait: UpdateWait) {
    let slot = run.slot;
    let Some(u) = run.updates.get_mut(id) else { return };
    let request_id = wait.request_id;
    u.waits.push(wait);
    cx.waiting.insert(request_id, Wait::Update { slot, update_id: id.into() });
    settle_one(run, cx, id);
}

/// Returns the stage to reply with, or None if `wanted` is not reached.
fn reached(u: &Update, wanted: Wanted) -> Option<Wanted> {
    if u.outcome.is_some() {
        return Some(Wanted::Completed);
    }
    match (u.stage, wanted) {
        (Stage::Accepted, Wanted::Unspecified | Wanted::Admitted | Wanted::Accepted) => Some(Wanted::Accepted),
        (_, Wanted::Unspecified | Wanted::Admitted) => Some(Wanted::Admitted),
        _ => None,
    }
}

fn settle_one(run: &mut Run, cx: &mut Context, id: &str) {
    let execution = run.execution();
    let Some(u) = run.updates.get_mut(id) else { return };
    let waits = std::mem::take(&mut u.waits);
    for wait in waits {
        match reached(u, wait.wanted) {
            Some(stage) => answer(cx, &execution, id, &wait, stage, u.outcome.clone()),
            None => u.waits.push(wait),
        }
    }
}

fn answer(cx: &mut Context, execution: &WorkflowExecution, id: &str, wait: &UpdateWait, stage: Wanted, outcome: Option<Vec<u8>>) {
    let update_ref = Some(UpdateRef { workflow_execution: Some(execution.clone()), update_id: id.into() });
    if wait.poll {
        cx.reply(wait.request_id, &PollUpdateResponse { outcome, stage: stage as i32, update_ref });
    } else {
        cx.reply(wait.request_id, &UpdateResponse { update_ref, outcome, stage: stage as i32 });
    }
}

/// Replies to every wait whose stage is reached. Called when a step has ended, so that an update
/// that one task both accepted and completed is replied to with its outcome.
pub fn settle(run: &mut Run, cx: &mut Context) {
    let waiting: Vec<String> = run.updates.iter().filter(|(_, u)| !u.waits.is_empty()).map(|(id, _)| id.clone()).collect();
    for id in waiting {
        settle_one(run, cx, &id);
    }
}

/// The wait ran out but its caller is still there: the stage that was reached, without outcome.
pub fn expire(run: &mut Run, cx: &mut Context, id: &str, request_id: u32) {
    let execution = run.execution();
    let Some(u) = run.updates.get_mut(id) else { return };
    let Some(at) = u.waits.iter().position(|w| w.request_id == request_id) else { return };
    let wait = u.waits.remove(at);
    let stage = if u.stage >= Stage::Accepted { Wanted::Accepted } else { Wanted::Admitted };
    answer(cx, &execution, id, &wait, stage, None);
}

/// There are updates that the workflow must still decide on.
pub fn undecided(run: &Run) -> bool {
    run.updates.values().any(|u| u.stage < Stage::Accepted && u.request.is_some())
}

/// The messages of a task that is being started: undecided updates in order of admission. A heartbeat's task brings new ones only.
pub fn send(run: &mut Run, started_id: i64, heartbeat: bool) -> Vec<ProtocolMessage> {
    let mut due: Vec<(u64, String)> = run
        .updates
        .iter()
        .filter(|(_, u)| !u.admitted && (u.stage == Stage::Admitted || u.stage == Stage::Sent && !heartbeat))
        .map(|(id, u)| (u.seq, id.clone()))
        .collect();
    due.sort_unstable();
    let mut messages = Vec::with_capacity(due.len());
    for (_, id) in due {
        let Some(u) = run.updates.get_mut(&id) else { continue };
        u.stage = Stage::Sent;
        if let Some(request) = &u.request {
            messages.push(ProtocolMessage {
                id: format!("{id}/request"),
                protocol_instance_id: id,
                event_id: started_id - 1,
                command_index: 0,
                body: Some(AnyMessage {
                    type_url: "type.googleapis.com/temporal.api.update.v1.Request".into(),
                    value: request.clone(),
                }),
            });
        }
    }
    messages
}

/// Rejected: its callers get the failure, and the run forgets it.
pub fn reject(run: &mut Run, cx: &mut Context, id: &str, failure: Vec<u8>) {
    let execution = run.execution();
    if let Some(u) = run.updates.remove(id) {
        forgotten(run, id, &u);
        let outcome = outcome_failure(failure);
        for wait in &u.waits {
            answer(cx, &execution, id, wait, Wanted::Completed, Some(outcome.clone()));
        }
    }
}

/// An update that history admitted is an item of the store.
fn forgotten(run: &mut Run, id: &str, u: &Update) {
    if u.admitted {
        run.mark(kind::UPDATE, id);
    }
}

/// Updates that were sent with the task and not decided on: the worker does not know updates.
pub fn reject_unprocessed(run: &mut Run, cx: &mut Context) {
    for id in ids_of(run, |u| u.stage == Stage::Sent) {
        reject(run, cx, &id, unprocessed());
    }
}

pub const TASK_IN_FAILED_STATE: &str = "Unable to perform workflow execution update due to Workflow Task in failed state.";
const UNEXPECTED_TASK_FAILURE: &str = "Unable to perform workflow execution update due to unexpected workflow task failure.";

/// Removes the updates that have been sent with the failed task, and rejects their calls.
pub fn abort_sent(run: &mut Run, cx: &mut Context) {
    let sent = ids_of(run, |u| u.stage == Stage::Sent);
    abort(run, cx, &sent, UNEXPECTED_TASK_FAILURE);
}

/// Removes every update that is not accepted, and rejects their calls.
pub fn abort_undecided(run: &mut Run, cx: &mut Context) {
    let undecided = ids_of(run, |u| u.stage < Stage::Accepted);
    abort(run, cx, &undecided, TASK_IN_FAILED_STATE);
}

fn ids_of(run: &Run, wanted: impl Fn(&Update) -> bool) -> Vec<String> {
    run.updates.iter().filter(|(_, u)| wanted(u)).map(|(id, _)| id.clone()).collect()
}

fn abort(run: &mut Run, cx: &mut Context, ids: &[String], why: &str) {
    for id in ids {
        let waits = match run.updates.get_mut(id) {
            // The next attempt of the task brings it again.
            Some(u) if u.admitted => std::mem::take(&mut u.waits),
            Some(_) => run.updates.remove(id).map(|u| u.waits).unwrap_or_default(),
            None => continue,
        };
        for wait in waits {
            cx.fail(wait.request_id, rpc::workflow_not_ready(why));
        }
    }
}

/// The run is closed: accepted updates fail, undecided ones are aborted or move to the run that follows.
pub fn run_closed(run: &mut Run, cx: &mut Context, continues: bool) {
    for id in ids_of(run, |u| u.stage < Stage::Completed) {
        let Some(u) = run.updates.get_mut(&id) else { continue };
        if u.stage == Stage::Accepted {
            fail_accepted(u);
            continue;
        }
        let waits = std::mem::take(&mut u.waits);
        if let Some(u) = run.updates.remove(&id) {
            forgotten(run, &id, &u);
        }
        for wait in waits {
            match wait.again {
                Some(again) if continues => {
                    cx.waiting.remove(&wait.request_id);
                    cx.again.push(again);
                }
                _ if continues => cx.fail(wait.request_id, closing()),
                _ => cx.fail(wait.request_id, rpc::not_found("workflow update was aborted by closing workflow")),
            }
        }
    }
    settle(run, cx);
}
