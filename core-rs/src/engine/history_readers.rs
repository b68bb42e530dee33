//! Readers of a run's history: pages of it, and waits for what is not written yet. Events come from the store; the reply names the
//! range.
use super::codec;
use super::context::Context;
use super::limits;
use super::message::message;
use super::state::request::Wait;
use super::state::run::{HistoryWait, Run};
use super::task_events::outside_events;
use super::tokens::HistoryToken;
use crate::boundary::HistorySplice;
use crate::proto::fields::workflowservice::GetWorkflowExecutionHistoryResponse;

message! {
    GetHistoryResponse: workflowservice::GetWorkflowExecutionHistoryResponse { history raw(ANY), next_page_token bytes, }
}

/// The reader waits for events after `after_id`, or for the close.
pub fn wait(run: &mut Run, cx: &mut Context, request_id: u32, after_id: i64, close_only: bool, page_size: i64) {
    run.history_waits.push(HistoryWait { request_id, after_id, close_only, page_size });
    cx.waiting.insert(request_id, Wait::History { slot: run.slot });
}

/// The closing event, or a wait for it.
pub fn close_event(run: &mut Run, cx: &mut Context, request_id: u32, follow: bool, size: i64) {
    if !run.open() {
        return answer(run, cx, request_id, run.head.close_event_id, run.head.close_event_id, Vec::new(), Vec::new());
    }
    if follow {
        return wait(run, cx, request_id, run.last_event_id(), true, size);
    }
    answer(run, cx, request_id, 1, 0, Vec::new(), Vec::new());
}

/// Replies with one page; it has a token if there is more to read, or the run is open and followed.
pub fn page(run: &Run, cx: &mut Context, request_id: u32, token: HistoryToken, size: i64) {
    let last = token.last_id.min(run.last_event_id());
    // A history that fits into one answer is not cut, unless a page size was asked for that is smaller than the default.
    let whole = size >= limits::PAGE_EVENTS && run.head.history_bytes <= limits::WHOLE_HISTORY_BYTES;
    let to = if whole { last } else { last.min(token.next_id.saturating_add(size - 1)) };
    let at_end = to >= last;
    let mut tail = Vec::new();
    if at_end && token.task_nonce != 0 && run.head.task.as_ref().is_some_and(|t| t.nonce == token.task_nonce) {
        tail = outside_events(run);
    }
    let more = !at_end || token.following && run.open();
    let next =
        if more { codec::bytes(&HistoryToken { next_id: to.max(token.next_id - 1) + 1, ..token.clone() }) } else { Vec::new() };
    answer(run, cx, request_id, token.next_id, to, tail, next);
}

fn answer(run: &Run, cx: &mut Context, request_id: u32, from: i64, to: i64, tail: Vec<u8>, next_page_token: Vec<u8>) {
    let body = GetHistoryResponse { history: Some(Vec::new()), next_page_token };
    let stored = to >= from && from > 0;
    let splice = HistorySplice {
        workflow_id: run.head.workflow_id.clone(),
        run_id: run.head.run_id.clone(),
        from_event_id: if stored { from as u32 } else { 0 },
        to_event_id: if stored { to as u32 } else { 0 },
        tail,
        field_number: GetWorkflowExecutionHistoryResponse::history,
    };
    let splice = (stored || !splice.tail.is_empty()).then_some(splice);
    cx.reply_bytes(request_id, codec::bytes(&body), splice);
}

/// After a step: readers that waited for what it wrote.
pub fn notify(run: &mut Run, cx: &mut Context) {
    if run.history_waits.is_empty() {
        return;
    }
    let (last, open) = (run.last_event_id(), run.open());
    let waits = std::mem::take(&mut run.history_waits);
    for w in waits {
        if open && (w.close_only || last <= w.after_id) {
            run.history_waits.push(w);
        } else if w.close_only {
            close_event(run, cx, w.request_id, false, w.page_size);
        } else {
            page(run, cx, w.request_id, following(run, w.after_id + 1, last, false), w.page_size);
        }
    }
}

fn following(run: &Run, next_id: i64, last_id: i64, close_only: bool) -> HistoryToken {
    HistoryToken { run_id: run.head.run_id.clone(), next_id, last_id, following: true, close_only, task_nonce: 0 }
}

/// The wait ran out but its caller is still there: nothing new, and the token to ask again with.
pub fn expire(run: &mut Run, cx: &mut Context, request_id: u32) {
    let Some(at) = run.history_waits.iter().position(|w| w.request_id == request_id) else { return };
    let w = run.history_waits.remove(at);
    let token = following(run, w.after_id + 1, w.after_id, w.close_only);
    answer(run, cx, request_id, 1, 0, Vec::new(), codec::bytes(&token));
}
