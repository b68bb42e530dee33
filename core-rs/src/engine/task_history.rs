//! The history that goes with a task: a range of stored events that the host splices in, and events that are not stored.
use super::codec;
use super::limits;
use super::messages::tasks::PollResponse;
use super::state::run::Run;
use super::task_events::outside_events;
use super::tokens::HistoryToken;
use crate::boundary::HistorySplice;
use crate::proto::fields::workflowservice::PollWorkflowTaskQueueResponse;

/// The whole history, or its first page with a token for the rest.
pub fn with_history(run: &Run, mut response: PollResponse, task_nonce: u64) -> (PollResponse, Option<HistorySplice>) {
    let last = run.last_event_id();
    let tail = if task_nonce != 0 { outside_events(run) } else { Vec::new() };
    if run.head.history_bytes <= limits::WHOLE_HISTORY_BYTES || last <= limits::PAGE_EVENTS {
        return (response, Some(splice(run, 1, last, tail)));
    }
    let token = HistoryToken {
        run_id: run.head.run_id.clone(),
        next_id: limits::PAGE_EVENTS + 1,
        last_id: last,
        task_nonce: if tail.is_empty() { 0 } else { task_nonce },
        ..Default::default()
    };
    response.next_page_token = codec::bytes(&token);
    (response, Some(splice(run, 1, limits::PAGE_EVENTS, Vec::new())))
}

/// Events from `from` to `to`, and then `tail`, as the history of the response.
pub fn splice(run: &Run, from: i64, to: i64, tail: Vec<u8>) -> HistorySplice {
    let stored = to >= from;
    HistorySplice {
        workflow_id: run.head.workflow_id.clone(),
        run_id: run.head.run_id.clone(),
        from_event_id: if stored { from as u32 } else { 0 },
        to_event_id: if stored { to as u32 } else { 0 },
        tail,
        field_number: PollWorkflowTaskQueueResponse::history,
    }
}
