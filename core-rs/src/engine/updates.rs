//! Updates: admitted in memory, sent with a workflow task, accepted and completed in history. An update that was not accepted is
//! not durable: its caller asks again with the same id and finds either the update or a fresh start.
use super::codec;
use super::cx::{Again, Cx};
use super::limits;
use super::plan::{UpdateBody, UpdateMessage};
use super::rpc::{self, Rpc};
use super::state::{Run, kind};
use super::wire::*;
use super::workflow_task;
use crate::api::enums::v1::UpdateWorkflowExecutionLifecycleStage as Wanted;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Admitted,
    Sent,
    Accepted,
    Completed,
}

pub struct UpdateWait {
    pub request_id: u32,
    pub wanted: Wanted,
    /// PollWorkflowExecutionUpdate, whose answer is another message.
    pub poll: bool,
    /// The request, if it may move to the run that follows this one.
    pub again: Option<Again>,
}

pub struct Update {
    pub stage: Stage,
    /// Order of admission.
    pub seq: u64,
    /// encoded temporal update Request, until it is accepted
    pub request: Option<Vec<u8>>,
    pub accepted_id: i64,
    /// encoded temporal update Outcome
    pub outcome: Option<Vec<u8>>,
    pub waits: Vec<UpdateWait>,
}

wire! {
    /// An accepted or completed update at rest.
    UpdateState { 1 accepted_id i64, 2 outcome raw(OUTCOME), 3 completed bool, }
}

impl Update {
    /// All of it is in the store and nobody waits.
    pub fn at_rest(&self) -> bool {
        self.stage >= Stage::Accepted && self.waits.is_empty()
    }

    pub fn to_state(&self) -> Option<UpdateState> {
        // The failure of an accepted update whose run has ended is not stored: it follows from the end.
        let completed = self.stage == Stage::Completed;
        let outcome = if completed { self.outcome.clone() } else { None };
        (self.stage >= Stage::Accepted).then_some(UpdateState { accepted_id: self.accepted_id, outcome, completed })
    }

    pub fn from_state(s: UpdateState) -> Update {
        let stage = if s.completed { Stage::Completed } else { Stage::Accepted };
        Update { stage, seq: 0, request: None, accepted_id: s.accepted_id, outcome: s.outcome, waits: Vec::new() }
    }
}

fn outcome_failure(failure: Vec<u8>) -> Vec<u8> {
    codec::bytes(&Outcome { success: None, failure: Some(failure) })
}

fn server_failure(kind: &str, message: &str) -> Vec<u8> {
    codec::bytes(&Failure {
        message: message.into(),
        source: "Server".into(),
        application_info: Some(ApplicationInfo { r#type: kind.into(), non_retryable: true, next_retry_delay: None }),
        ..Default::default()
    })
}

fn unprocessed() -> Vec<u8> {
    server_failure(
        "UnprocessedUpdate",
        "Workflow Update is rejected because it wasn't processed by worker. Probably, Workflow Update is not supported by the worker.",
    )
}

fn accepted_but_completed() -> Vec<u8> {
    server_failure(
        "AcceptedUpdateCompletedWorkflow",
        "Workflow Update failed because the Workflow completed before the Update completed.",
    )
}

/// UpdateWorkflowExecution. The update id was made by the caller of this, if the request had none.
pub fn request(run: &mut Run, cx: &mut Cx, id: &str, body: Vec<u8>, wait: UpdateWait) -> Rpc<()> {
    if !run.updates.contains_key(id) {
        if !run.open() {
            return Err(rpc::workflow_completed());
        }
        if run.head.task_attempt >= limits::FAILING_TASK_ATTEMPTS {
            let text = "Unable to perform workflow execution update due to Workflow Task in failed state.";
            return Err(rpc::workflow_not_ready(text));
        }
        admit(run, cx, id, body)?;
    }
    let accepted = run.open() || run.updates.get(id).is_some_and(|u| u.stage == Stage::Completed);
    if !accepted {
        // Accepted, and then the workflow ended without answering it.
        if let Some(u) = run.updates.get_mut(id) {
            u.outcome = Some(outcome_failure(accepted_but_completed()));
        }
    }
    attach(run, cx, id, wait);
    Ok(())
}

pub fn closing() -> Box<crate::boundary::RpcError> {
    let text = "workflow operation can not be applied because workflow is closing";
    rpc::exhausted("WorkflowClosing", "busy_workflow", text)
}

fn admit(run: &mut Run, cx: &mut Cx, id: &str, body: Vec<u8>) -> Rpc<()> {
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
    check_inbox(run, cx)?;
    run.update_seq += 1;
    let update = Update {
        stage: Stage::Admitted,
        seq: run.update_seq,
        request: Some(body),
        accepted_id: 0,
        outcome: None,
        waits: Vec::new(),
    };
    run.updates.insert(id.into(), update);
    // A scheduled task will carry it; a started one is followed by another.
    if run.head.task.is_none() && run.head.first_task_at_us == 0 {
        workflow_task::schedule(run, cx.now, true, None);
    }
    Ok(())
}

/// Signals and undecided updates that the workflow has not seen yet.
pub fn check_inbox(run: &Run, cx: &Cx) -> Rpc<()> {
    let undecided = run.updates.values().filter(|u| u.stage < Stage::Accepted).count() as u32;
    if cx.limits.inbox > 0 && run.head.inbox_signals + undecided >= cx.limits.inbox {
        let text = format!("the inbox of the workflow is full: {} signals and updates wait to be processed", cx.limits.inbox);
        return Err(rpc::exhausted("MaxInbox", "max_inbox", text));
    }
    Ok(())
}

/// PollWorkflowExecutionUpdate.
pub fn poll(run: &mut Run, cx: &mut Cx, id: &str, wait: UpdateWait) -> Rpc<()> {
    let open = run.open();
    let Some(u) = run.updates.get_mut(id) else { return Err(rpc::not_found(format!("update \"{id}\" not found"))) };
    if !open && u.stage == Stage::Accepted {
        u.outcome = Some(outcome_failure(accepted_but_completed()));
    }
    attach(run, cx, id, wait);
    Ok(())
}

/// Answers at once if the wanted stage is reached, else waits.
fn attach(run: &mut Run, cx: &mut Cx, id: &str, wait: UpdateWait) {
    let slot = run.slot;
    let Some(u) = run.updates.get_mut(id) else { return };
    let request_id = wait.request_id;
    u.waits.push(wait);
    cx.waiting.insert(request_id, super::cx::Wait::Update { slot, update_id: id.into() });
    settle_one(run, cx, id);
}

/// Whether the answer is due, and with which stage.
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

fn execution(run: &Run) -> WorkflowExecution {
    WorkflowExecution { workflow_id: run.head.workflow_id.clone(), run_id: run.head.run_id.clone() }
}

fn settle_one(run: &mut Run, cx: &mut Cx, id: &str) {
    let execution = execution(run);
    let Some(u) = run.updates.get_mut(id) else { return };
    let waits = std::mem::take(&mut u.waits);
    for wait in waits {
        match reached(u, wait.wanted) {
            Some(stage) => answer(cx, &execution, id, &wait, stage, u.outcome.clone()),
            None => u.waits.push(wait),
        }
    }
}

fn answer(cx: &mut Cx, execution: &WorkflowExecution, id: &str, wait: &UpdateWait, stage: Wanted, outcome: Option<Vec<u8>>) {
    let update_ref = Some(UpdateRef { workflow_execution: Some(execution.clone()), update_id: id.into() });
    if wait.poll {
        cx.reply(wait.request_id, &PollUpdateResponse { outcome, stage: stage as i32, update_ref });
    } else {
        cx.reply(wait.request_id, &UpdateResponse { update_ref, outcome, stage: stage as i32 });
    }
}

/// Answers every wait whose stage is reached. Called when a step has ended, so that an update that was accepted and completed by
/// one task is answered with its outcome.
pub fn settle(run: &mut Run, cx: &mut Cx) {
    let waiting: Vec<String> = run.updates.iter().filter(|(_, u)| !u.waits.is_empty()).map(|(id, _)| id.clone()).collect();
    for id in waiting {
        settle_one(run, cx, &id);
    }
}

/// The wait ran out but its caller is still there: the stage that was reached, without outcome.
pub fn expire(run: &mut Run, cx: &mut Cx, id: &str, request_id: u32) {
    let execution = execution(run);
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
        .filter(|(_, u)| u.stage == Stage::Admitted || u.stage == Stage::Sent && !heartbeat)
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

/// A worker's decision or answer, already checked by the plan.
pub fn message(run: &mut Run, cx: &mut Cx, m: UpdateMessage) {
    let time = run.time(cx.now);
    let id = m.update_id;
    match m.body {
        UpdateBody::Accept(a) if run.open() => {
            run.update_seq += 1;
            let seq = run.update_seq;
            let known = run.updates.get_or_insert_with(id.clone(), || Update {
                stage: Stage::Sent,
                seq,
                request: None,
                accepted_id: 0,
                outcome: None,
                waits: Vec::new(),
            });
            let request = known.request.take().or(a.accepted_request);
            let attrs = UpdateAcceptedAttrs {
                protocol_instance_id: id.clone(),
                accepted_request_message_id: format!("{id}/request"),
                accepted_request_sequencing_event_id: a.accepted_request_sequencing_event_id,
                accepted_request: request,
            };
            let accepted_id = run.append(time, &attrs);
            if let Some(u) = run.updates.get_mut(&id) {
                u.stage = Stage::Accepted;
                u.accepted_id = accepted_id;
            }
            run.mark(kind::UPDATE, id);
        }
        UpdateBody::Answer(a) if run.open() => {
            let Some(u) = run.updates.get_mut(&id) else { return };
            u.stage = Stage::Completed;
            u.outcome.clone_from(&a.outcome);
            let accepted_event_id = u.accepted_id;
            let meta = a.meta.or_else(|| Some(UpdateMeta { update_id: id.clone(), identity: String::new() }));
            run.append(time, &UpdateCompletedAttrs { meta, outcome: a.outcome, accepted_event_id });
            run.mark(kind::UPDATE, id);
        }
        UpdateBody::Reject(r) => reject(run, cx, &id, r.failure.unwrap_or_default()),
        // The workflow ended before these: what closes the run settles them.
        UpdateBody::Accept(_) | UpdateBody::Answer(_) => {}
    }
}

/// Rejected: the callers hear of it and nothing stays.
fn reject(run: &mut Run, cx: &mut Cx, id: &str, failure: Vec<u8>) {
    let execution = execution(run);
    if let Some(u) = run.updates.remove(id) {
        let outcome = outcome_failure(failure);
        for wait in &u.waits {
            answer(cx, &execution, id, wait, Wanted::Completed, Some(outcome.clone()));
        }
    }
}

/// Updates that were sent with the task and not decided on: the worker does not know updates.
pub fn reject_unprocessed(run: &mut Run, cx: &mut Cx) {
    let sent: Vec<String> = run.updates.iter().filter(|(_, u)| u.stage == Stage::Sent).map(|(id, _)| id.clone()).collect();
    for id in sent {
        reject(run, cx, &id, unprocessed());
    }
}

/// The run is closed: accepted updates fail, undecided ones are aborted or move to the run that follows.
pub fn run_closed(run: &mut Run, cx: &mut Cx, continues: bool) {
    let open: Vec<String> = run.updates.iter().filter(|(_, u)| u.stage < Stage::Completed).map(|(id, _)| id.clone()).collect();
    for id in open {
        let Some(u) = run.updates.get_mut(&id) else { continue };
        if u.stage == Stage::Accepted {
            u.outcome = Some(outcome_failure(accepted_but_completed()));
            continue;
        }
        let waits = std::mem::take(&mut u.waits);
        run.updates.remove(&id);
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
