//! A run that the store has purged is gone for every caller, and an open run cannot be forgotten.
use crate::support::*;
use temporalex_core::api::enums::v1::WorkflowIdReusePolicy;
use temporalex_core::api::query::v1::WorkflowQuery;
use temporalex_core::api::workflowservice::v1::{QueryWorkflowRequest, QueryWorkflowResponse};

#[test]
fn a_purged_run_is_not_found_in_memory() {
    let mut t = T::new();
    let closed = t.start("closed");
    t.start("open");
    t.terminate("closed").expect("a termination");
    assert_eq!(t.status("closed"), 5);
    let reject = |r: &mut temporalex_core::api::workflowservice::v1::StartWorkflowExecutionRequest| {
        r.workflow_id_reuse_policy = WorkflowIdReusePolicy::RejectDuplicate as i32;
    };
    assert_eq!(t.start_with("closed", reject).expect_err("the id was used").code, 6);
    t.store.runs.remove(&closed).expect("the run is stored");
    t.engine.forget(&closed);
    assert_eq!(t.describe("closed", "").expect_err("gone").code, 5);
    assert_eq!(t.describe("closed", &closed).expect_err("gone").code, 5);
    assert_ne!(t.start_with("closed", reject).expect("the id is free again").run_id, closed);
    let open = t.describe("open", "").expect("open").workflow_execution_info.expect("info").execution.expect("ids").run_id;
    t.engine.forget(&open);
    t.engine.forget("unknown");
    t.signal("open", "s").expect("still there");
    assert_eq!(t.status("open"), 1);
}

#[test]
fn a_caller_that_waits_for_a_purged_run_gets_an_error() {
    let mut t = T::new();
    let closed = t.start("closed");
    let task = t.task();
    t.complete(&task, vec![]);
    t.terminate("closed").expect("a termination");
    let request = QueryWorkflowRequest {
        execution: Some(temporalex_core::api::common::v1::WorkflowExecution {
            workflow_id: "closed".into(),
            run_id: closed.clone(),
        }),
        query: Some(WorkflowQuery { query_type: "status".into(), ..Default::default() }),
        ..Default::default()
    };
    let query = t.send(temporalex_core::boundary::EngineMethod::QueryWorkflow, &request);
    t.flush();
    assert!(t.take::<QueryWorkflowResponse>(query).is_none(), "it waits for a worker");
    t.store.runs.remove(&closed).expect("the run is stored");
    t.engine.forget(&closed);
    t.flush();
    let error = t.take::<QueryWorkflowResponse>(query).expect("a response").expect_err("gone");
    assert_eq!(error.code, 14, "a retry does not find the run");
    assert_eq!(error.message, "the state of workflow \"closed\" was reloaded from the store; retry the call");
    assert_eq!(t.describe("closed", "").expect_err("gone").code, 5);
}

#[test]
fn the_backlog_of_a_queue() {
    let mut t = T::new();
    assert!(t.engine.backlog("absent", t.now).is_empty());
    t.start("a");
    t.flush();
    t.advance(1500.0);
    t.start("b");
    t.flush();
    assert_eq!(t.engine.backlog(QUEUE, t.now), [0.0, 3.0, 2.0, 1500.0, 2.0 / 1.5, 0.0]);
}
