//! RespondQueryTaskCompleted.
use super::shared::*;
use crate::engine::context::Context;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::queries::{QueryResult, finish, remove};
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::query::{How, Query};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;
use crate::engine::tokens::{self, TaskToken};

message! {
    QueryTaskCompletedRequest: workflowservice::RespondQueryTaskCompletedRequest {
        task_token bytes, completed_type i32, query_result payloads, error_message str, namespace str, failure failure,
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: QueryTaskCompletedRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let token = tokens::task(&req.task_token)?;
    engine.on_run(r, &token.workflow_id, &token.run_id, |run, cx| {
        completed(run, cx, &token, req)?;
        cx.reply_bytes(id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}

fn completed(run: &mut Run, cx: &mut Context, token: &TaskToken, req: QueryTaskCompletedRequest) -> Rpc<()> {
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
