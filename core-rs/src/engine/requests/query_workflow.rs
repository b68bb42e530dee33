//! QueryWorkflow.
use super::shared::*;
use crate::api::enums::v1::{QueryRejectCondition as Condition, WorkflowExecutionStatus as Status};
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::queries::{QueryRejected, QueryResponse, enqueue};
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::query::{How, Query};
use crate::engine::state::request::Again;
use crate::engine::state::request::Wait;
use crate::engine::state::run::Run;

message! {
    QueryRequest: workflowservice::QueryWorkflowRequest {
        namespace str, execution msg(WorkflowExecution), query raw(QUERY), query_reject_condition i32,
    }
    WorkflowQuery: query::WorkflowQuery { query_type str, }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: QueryRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let Some(query) = &req.query else { return Err(rpc::invalid("WorkflowQuery is not set on request.")) };
    if decode::<WorkflowQuery>(query)?.query_type.is_empty() {
        return Err(rpc::invalid("QueryType is not set on request."));
    }
    check_size(&engine.cx, "Query", req.query.as_ref().map_or(0, Vec::len))?;
    let execution = req.execution.clone();
    let (workflow_id, run_id) = target(&execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| request(run, cx, id, req));
    Ok(())
}

fn request(run: &mut Run, cx: &mut Context, request_id: u32, req: QueryRequest) -> Rpc<()> {
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
    if run.open() && run.is_failing() {
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
