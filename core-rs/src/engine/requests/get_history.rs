//! GetWorkflowExecutionHistory: pages, following a run with a long poll, and waiting for its
//! closing event. Events come from the store; the reply names the range.
use super::shared::*;
use crate::api::enums::v1::HistoryEventFilterType;
use crate::engine::context::Context;
use crate::engine::history_readers::{close_event, page, wait};
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;
use crate::engine::tokens::{self, HistoryToken};

message! {
    GetHistoryRequest: workflowservice::GetWorkflowExecutionHistoryRequest {
        namespace str, execution msg(WorkflowExecution), maximum_page_size i32, next_page_token bytes, wait_new_event bool,
        history_event_filter_type i32,
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: GetHistoryRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let (workflow_id, run_id) = target(&req.execution);
    let run_id = if req.next_page_token.is_empty() {
        run_id.to_string()
    } else {
        let token = tokens::history(&req.next_page_token)?;
        if !run_id.is_empty() && run_id != token.run_id {
            return Err(rpc::invalid("RunId in the request does not match the NextPageToken."));
        }
        token.run_id
    };
    let workflow_id = workflow_id.to_string();
    engine.on_run(r, &workflow_id, &run_id, |run, cx| request(run, cx, id, req));
    Ok(())
}

fn page_size(asked: i32) -> i64 {
    match i64::from(asked) {
        n if n <= 0 => limits::PAGE_EVENTS,
        n => n.min(limits::MAX_PAGE_EVENTS),
    }
}

fn request(run: &mut Run, cx: &mut Context, request_id: u32, req: GetHistoryRequest) -> Rpc<()> {
    let close_only = req.history_event_filter_type == HistoryEventFilterType::CloseEvent as i32;
    let size = page_size(req.maximum_page_size);
    let token = if req.next_page_token.is_empty() {
        let last = run.last_event_id();
        HistoryToken {
            run_id: run.head.run_id.clone(),
            next_id: 1,
            last_id: last,
            following: req.wait_new_event,
            close_only,
            task_nonce: 0,
        }
    } else {
        tokens::history(&req.next_page_token)?
    };
    if token.run_id != run.head.run_id {
        return Err(rpc::invalid("RunId in the request does not match the NextPageToken."));
    }
    if close_only {
        close_event(run, cx, request_id, req.wait_new_event, size);
        return Ok(());
    }
    let mut token = token;
    if token.following && token.next_id > token.last_id {
        // The reader is at the end: what is new, or a wait for it.
        token.last_id = run.last_event_id();
        if token.next_id > token.last_id && run.open() {
            wait(run, cx, request_id, token.next_id - 1, false, size);
            return Ok(());
        }
    }
    page(run, cx, request_id, token, size);
    Ok(())
}
