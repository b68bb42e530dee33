//! The response that hands a workflow task to its worker.
use super::codec;
use super::context::Context;
use super::messages::common::*;
use super::messages::tasks::PollResponse;
use super::state::run::{Recent, Run};
use super::task_events::outside_events;
use super::task_history::{splice, with_history};
use super::time::timestamp_opt;
use super::tokens::TaskToken;
use super::{queries, updates};
use crate::boundary::HistorySplice;

/// The task as its worker sees it. With `partial` the history starts after the last completed task.
pub fn task_response(
    run: &mut Run,
    cx: &Context,
    delivered: Option<Recent>,
    partial: bool,
    heartbeat: bool,
) -> (PollResponse, Option<HistorySplice>) {
    let Some(task) = run.head.task.clone() else { return (PollResponse::default(), None) };
    let messages = updates::send(run, task.started_id, heartbeat);
    let h = &run.head;
    let token = TaskToken {
        workflow_id: h.workflow_id.clone(),
        run_id: h.run_id.clone(),
        scheduled_id: task.scheduled_id,
        attempt: task.attempt,
        nonce: task.nonce,
        query: 0,
    };
    let response = PollResponse {
        task_token: codec::bytes(&token),
        workflow_execution: Some(WorkflowExecution { workflow_id: h.workflow_id.clone(), run_id: h.run_id.clone() }),
        workflow_type: Some(Named { name: h.workflow_type.clone() }),
        previous_started_event_id: h.last_completed_started_id,
        started_event_id: task.started_id,
        attempt: task.attempt,
        workflow_execution_task_queue: Some(normal_queue(&h.task_queue)),
        scheduled_time: timestamp_opt(task.scheduled_us),
        started_time: timestamp_opt(task.started_us),
        queries: queries::buffered(run),
        messages,
        ..Default::default()
    };
    debug_assert_eq!(cx.life, task.life);
    if !partial {
        return with_history(run, response, task.nonce);
    }
    let first = h.last_completed_started_id + 1;
    match delivered {
        Some(recent) if recent.first_id == first => (PollResponse { history: Some(recent.bytes), ..response }, None),
        _ => {
            let splice = splice(run, first, run.last_event_id(), outside_events(run));
            (response, Some(splice))
        }
    }
}
