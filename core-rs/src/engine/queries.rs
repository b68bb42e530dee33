//! Queries: buffered on the pending workflow task, or, when there is none, given to a worker as a task of their own. They live in
//! memory only and never touch history.
use super::codec;
use super::cx::{Cx, Wait};
use super::limits;
use super::queues::{Poll, QueueKey, Side, Task};
use super::rpc::{self, Rpc};
use super::state::{Deadline, Run};
use super::time::Micros;
use super::tokens::TaskToken;
use super::wire::*;
use super::workflow_task::normal_queue;
use crate::api::enums::v1::{QueryRejectCondition as Condition, QueryResultType, WorkflowExecutionStatus as Status};
use crate::boundary::HistorySplice;

pub struct Query {
    pub request_id: u32,
    /// encoded temporal WorkflowQuery
    pub body: Vec<u8>,
    pub how: How,
}

pub enum How {
    /// Goes with the workflow task that is pending.
    Buffered,
    /// Waits for a worker by itself; on a sticky queue only until the deadline.
    Queued { key: QueueKey, deadline: Option<Micros> },
    /// In a worker's hands.
    Given { nonce: u64 },
}

/// QueryWorkflow.
pub fn request(run: &mut Run, cx: &mut Cx, request_id: u32, req: QueryRequest) -> Rpc<()> {
    let condition = Condition::try_from(req.query_reject_condition).unwrap_or(Condition::Unspecified);
    let completed = run.head.status == Status::Completed as i32;
    if !run.open() && (condition == Condition::NotOpen || condition == Condition::NotCompletedCleanly && !completed) {
        let rejected = QueryRejected { status: run.head.status };
        cx.reply(request_id, &QueryResponse { query_result: None, query_rejected: Some(rejected) });
        return Ok(());
    }
    let ran = run.head.last_completed_started_id > 0;
    if !run.open() && !ran {
        return Err(rpc::workflow_not_ready("Workflow execution closed before WorkflowTaskStarted event"));
    }
    if run.open() && run.head.task_attempt >= limits::FAILING_TASK_ATTEMPTS {
        return Err(rpc::workflow_not_ready("Unable to query workflow due to Workflow Task in failed state."));
    }
    if run.queries.len() >= limits::BUFFERED_QUERIES {
        let text = "consistent query buffer is full, this may be caused by too many queries and workflow not able to process query fast enough";
        return Err(rpc::exhausted("BufferedQueries", "buffered_queries", text));
    }
    let id = cx.rng.nonzero();
    run.queries.insert(id, Query { request_id, body: req.query.unwrap_or_default(), how: How::Buffered });
    cx.waiting.insert(request_id, Wait::Query { slot: run.slot, query: id });
    if ran && (!run.open() || run.head.task.is_none()) {
        enqueue(run, cx, id, true);
    }
    Ok(())
}

/// Puts a query into a queue of its own: the sticky one while its worker is there, else the normal one.
fn enqueue(run: &mut Run, cx: &mut Cx, id: u64, try_sticky: bool) {
    let time = run.time(cx.now);
    let sticky = try_sticky && run.sticky() && cx.queues.sticky_alive(&run.head.sticky_queue, cx.now);
    let name = if sticky { &run.head.sticky_queue } else { &run.head.task_queue };
    let key = cx.queues.push(Side::Workflow, name, time, run.slot, Task::Query(id));
    let deadline = (sticky && run.head.sticky_timeout_us > 0).then(|| time + run.head.sticky_timeout_us);
    run.set_deadline(Deadline::Query(id), None, deadline);
    if let Some(q) = run.queries.get_mut(&id) {
        q.how = How::Queued { key, deadline };
    }
}

/// The sticky worker did not come for the query: it goes to the normal queue, and the run leaves the sticky one.
pub fn due(run: &mut Run, cx: &mut Cx, id: u64) {
    if leave_queue(run, cx, id) {
        if run.head.task.is_none() {
            run.clear_sticky();
        }
        enqueue(run, cx, id, false);
    }
}

fn leave_queue(run: &mut Run, cx: &mut Cx, id: u64) -> bool {
    let Some(q) = run.queries.get_mut(&id) else { return false };
    let How::Queued { key, deadline } = std::mem::replace(&mut q.how, How::Buffered) else { return false };
    cx.queues.remove(&key);
    run.set_deadline(Deadline::Query(id), deadline, None);
    true
}

/// Takes the query away for good, with whatever holds it.
pub fn remove(run: &mut Run, cx: &mut Cx, id: u64) -> Option<Query> {
    leave_queue(run, cx, id);
    let q = run.queries.remove(&id)?;
    cx.waiting.remove(&q.request_id);
    Some(q)
}

/// The queries that go with a task that is being started.
pub fn buffered(run: &Run) -> Vec<QueryEntry> {
    let buffered = run.queries.iter().filter(|(_, q)| matches!(q.how, How::Buffered));
    buffered.map(|(id, q)| QueryEntry { key: id.to_string(), value: q.body.clone() }).collect()
}

fn finish(cx: &mut Cx, request_id: u32, result: QueryResult) {
    let size = result.answer.as_ref().map_or(0, Vec::len);
    if result.result_type == QueryResultType::Answered as i32 {
        if size > cx.limits.payload_bytes {
            return cx.fail(request_id, rpc::query_failed("query result exceeds size limit", None));
        }
        cx.reply(request_id, &QueryResponse { query_result: result.answer, query_rejected: None });
    } else {
        cx.fail(request_id, rpc::query_failed(result.error_message, result.failure));
    }
}

/// Answers that came with a completed workflow task.
pub fn answer(run: &mut Run, cx: &mut Cx, results: Vec<QueryResultEntry>) {
    for entry in results {
        let Ok(id) = entry.key.parse::<u64>() else { continue };
        if !run.queries.get(&id).is_some_and(|q| matches!(q.how, How::Buffered)) {
            continue;
        }
        if let Some(q) = remove(run, cx, id) {
            finish(cx, q.request_id, entry.value.unwrap_or_default());
        }
    }
}

/// There is no workflow task for the buffered queries to go with: they become tasks of their own.
pub fn unblock(run: &mut Run, cx: &mut Cx) {
    let buffered: Vec<u64> = run.queries.iter().filter(|(_, q)| matches!(q.how, How::Buffered)).map(|(id, _)| *id).collect();
    for id in buffered {
        if run.head.last_completed_started_id > 0 {
            enqueue(run, cx, id, true);
        } else if let Some(q) = remove(run, cx, id) {
            let text = "Workflow execution closed before WorkflowTaskStarted event";
            cx.fail(q.request_id, rpc::workflow_not_ready(text));
        }
    }
}

/// Gives a query to a worker: with no history on the sticky queue, with all of it on the normal one.
pub fn give(run: &mut Run, cx: &mut Cx, id: u64, poll: &Poll) -> Option<(PollResponse, Option<HistorySplice>)> {
    if !leave_queue(run, cx, id) {
        return None;
    }
    let nonce = cx.rng.nonzero();
    let q = run.queries.get_mut(&id)?;
    q.how = How::Given { nonce };
    let h = &run.head;
    let token =
        TaskToken { workflow_id: h.workflow_id.clone(), run_id: h.run_id.clone(), scheduled_id: 0, attempt: 1, nonce, query: id };
    let response = PollResponse {
        task_token: codec::bytes(&token),
        workflow_execution: Some(WorkflowExecution { workflow_id: h.workflow_id.clone(), run_id: h.run_id.clone() }),
        workflow_type: Some(Named { name: h.workflow_type.clone() }),
        previous_started_event_id: h.last_completed_started_id,
        attempt: 1,
        query: Some(q.body.clone()),
        workflow_execution_task_queue: Some(normal_queue(&h.task_queue)),
        ..Default::default()
    };
    if poll.sticky {
        return Some((PollResponse { history: Some(Vec::new()), ..response }, None));
    }
    Some(super::dispatch::with_history(run, response, 0))
}

/// RespondQueryTaskCompleted.
pub fn completed(run: &mut Run, cx: &mut Cx, token: &TaskToken, req: QueryTaskCompletedRequest) -> Rpc<()> {
    match run.queries.get(&token.query) {
        Some(Query { how: How::Given { nonce }, .. }) if *nonce == token.nonce => {}
        _ => return Err(rpc::not_found("query task not found, or already expired")),
    }
    if let Some(q) = remove(run, cx, token.query) {
        let result = QueryResult {
            result_type: req.completed_type,
            answer: req.query_result,
            error_message: req.error_message,
            failure: req.failure,
        };
        finish(cx, q.request_id, result);
    }
    Ok(())
}
