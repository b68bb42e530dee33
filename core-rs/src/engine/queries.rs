//! Queries: buffered on the pending workflow task, or, without one, dispatched as separate tasks.
//! They are in memory only and never touch history.
use super::codec;
use super::context::Context;
use super::limits;
use super::message::message;
use super::messages::common::*;
use super::messages::tasks::*;
use super::queues::{Entry, Poll, Side, Task};
use super::rpc;
use super::state::query::{How, Query};
use super::state::run::{Deadline, Run};
use super::task_history::with_history;
use super::tokens::TaskToken;
use super::versioning;
use crate::api::enums::v1::QueryResultType;
use crate::boundary::HistorySplice;

message! {
    QueryRejected: query::QueryRejected { status i32, }
    QueryResponse: workflowservice::QueryWorkflowResponse { query_result payloads, query_rejected msg(QueryRejected), }
    QueryResultEntry: workflowservice::RespondWorkflowTaskCompletedRequestQueryResultsEntry { key str, value msg(QueryResult), }
    QueryResult: query::WorkflowQueryResult { result_type i32, answer payloads, error_message str, failure failure, }
}

/// Queues a query as a separate task: in the sticky queue while its worker polls, else in the
/// normal one.
pub fn enqueue(run: &mut Run, cx: &mut Context, id: u64, try_sticky: bool) {
    let time = run.time(cx.now);
    let sticky = try_sticky
        && run.sticky()
        && cx.queues.sticky_alive(&run.head.sticky_queue, cx.now)
        && !versioning::leaves_worker(run, cx);
    let name =
        if sticky { run.head.sticky_queue.clone() } else { versioning::place_of(run, cx, Side::Workflow, &run.head.task_queue) };
    let rank = limits::rank(run.head.priority.as_deref(), None);
    let key = cx.queues.push(Side::Workflow, &name, Entry { rank, ready: time, slot: run.slot, task: Task::Query(id) }, cx.now);
    let deadline = (sticky && run.head.sticky_timeout_us > 0).then(|| time + run.head.sticky_timeout_us);
    run.set_deadline(Deadline::Query(id), None, deadline);
    if let Some(q) = run.queries.get_mut(&id) {
        q.how = How::Queued { key, deadline };
    }
}

/// The sticky worker did not poll the query: it goes to the normal queue, and the run leaves the sticky one.
pub fn due(run: &mut Run, cx: &mut Context, id: u64) {
    if leave_queue(run, cx, id) {
        if run.head.task.is_none() {
            run.clear_sticky();
        }
        enqueue(run, cx, id, false);
    }
}

/// Queries that wait by themselves are queued again.
pub fn requeue(run: &mut Run, cx: &mut Context) {
    for id in run.queries.keys().copied().collect::<Vec<_>>() {
        if leave_queue(run, cx, id) {
            enqueue(run, cx, id, true);
        }
    }
}

fn leave_queue(run: &mut Run, cx: &mut Context, id: u64) -> bool {
    let Some(q) = run.queries.get_mut(&id) else { return false };
    let How::Queued { key, deadline } = std::mem::replace(&mut q.how, How::Buffered) else { return false };
    cx.queues.remove(&key);
    run.set_deadline(Deadline::Query(id), deadline, None);
    true
}

/// Removes the query and its place in a queue.
pub fn remove(run: &mut Run, cx: &mut Context, id: u64) -> Option<Query> {
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

/// Replies to the caller of the query.
pub fn finish(cx: &mut Context, request_id: u32, result: QueryResult) {
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

/// Results that came with a completed workflow task.
pub fn answer(run: &mut Run, cx: &mut Context, results: Vec<QueryResultEntry>) {
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

/// Without a workflow task the buffered queries become separate tasks.
pub fn unblock(run: &mut Run, cx: &mut Context) {
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
pub fn give(run: &mut Run, cx: &mut Context, id: u64, poll: &Poll) -> Option<(PollResponse, Option<HistorySplice>)> {
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
    Some(with_history(run, response, 0))
}
