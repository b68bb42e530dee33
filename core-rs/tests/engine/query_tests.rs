//! Queries: in separate tasks, on the pending workflow task, on closed runs, and without a response.
use temporalex_core::api::query::v1::{WorkflowQuery, WorkflowQueryResult};
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

fn query_request(id: &str) -> QueryWorkflowRequest {
    QueryWorkflowRequest {
        namespace: "default".into(),
        execution: Some(exec(id, "")),
        query: Some(WorkflowQuery { query_type: "state".into(), query_args: Some(json("1")), header: None }),
        ..Default::default()
    }
}

fn ask(t: &mut T) -> u32 {
    let id = t.send(M::QueryWorkflow, &query_request("w"));
    t.flush();
    id
}

fn respond(t: &mut T, task: &PollWorkflowTaskQueueResponse, result: &str) -> Answer<RespondQueryTaskCompletedResponse> {
    let r = RespondQueryTaskCompletedRequest {
        task_token: task.task_token.clone(),
        completed_type: 1,
        query_result: Some(json(result)),
        namespace: "default".into(),
        ..Default::default()
    };
    t.call(M::RespondQueryTaskCompleted, &r)
}

fn answer(t: &mut T, id: u32) -> String {
    let r: QueryWorkflowResponse = t.take(id).expect("a response").expect("no error");
    String::from_utf8(r.query_result.unwrap().payloads[0].data.clone()).unwrap()
}

fn running() -> T {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("1", 3_600_000)]);
    t
}

#[test]
fn with_no_task_pending_a_query_is_a_task_of_its_own() {
    let mut t = running();
    let q = ask(&mut t);
    let task = t.task();
    assert_eq!((task.started_event_id, task.previous_started_event_id), (0, 3));
    assert_eq!(task.query.as_ref().unwrap().query_type, "state");
    assert_eq!(shape(events(&task)), "Started WTScheduled WTStarted WTCompleted TimerStarted", "all of history");
    respond(&mut t, &task, "42").unwrap();
    assert_eq!(answer(&mut t, q), "42");
    assert_eq!(respond(&mut t, &task, "43").unwrap_err().code, 5, "a query completes once");
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted TimerStarted");
    t.check_memory();
}

#[test]
fn a_sticky_worker_gets_a_query_without_history() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let poll = t.poll_sticky_id(STICKY);
    t.flush();
    t.complete_sticky(&task, vec![timer("1", 3_600_000)]);
    let q = ask(&mut t);
    let task = t.finish_poll(poll).expect("the sticky poll gets the query");
    assert!(events(&task).is_empty() && task.history.is_some());
    respond(&mut t, &task, "1").unwrap();
    assert_eq!(answer(&mut t, q), "1");
    // The worker dies: after the sticky timeout the query goes to the normal queue.
    let q = ask(&mut t);
    assert!(t.try_task().is_none());
    t.advance(10_000.0);
    let task = t.task();
    assert_eq!(events(&task).len(), 5);
    respond(&mut t, &task, "2").unwrap();
    assert_eq!(answer(&mut t, q), "2");
    t.check_memory();
}

#[test]
fn a_query_waits_for_the_task_that_is_pending() {
    let mut t = running();
    t.signal("w", "a").unwrap();
    let q = ask(&mut t);
    let task = t.task();
    assert_eq!(task.query, None);
    let (id, body) = task.queries.iter().next().expect("the query goes with the task");
    assert_eq!(body.query_type, "state");
    let result = WorkflowQueryResult { result_type: 1, answer: Some(json("7")), ..Default::default() };
    let id = id.clone();
    t.complete_with(&task, vec![], |r| {
        r.query_results.insert(id, result);
    })
    .unwrap();
    assert_eq!(answer(&mut t, q), "7");
    assert!(t.try_task().is_none());
}

#[test]
fn a_query_during_a_started_task_is_given_out_after_it() {
    let mut t = running();
    t.signal("w", "a").unwrap();
    let task = t.task();
    let q = ask(&mut t);
    t.complete(&task, vec![]);
    let task = t.task();
    assert!(task.query.is_some() && events(&task).len() == 9, "it sees what the task has done: {}", shape(events(&task)));
    respond(&mut t, &task, "1").unwrap();
    assert_eq!(answer(&mut t, q), "1");
    // With another task following, it goes with that one.
    t.signal("w", "b").unwrap();
    let task = t.task();
    let q = ask(&mut t);
    t.signal("w", "c").unwrap();
    let next = t.complete_sticky(&task, vec![]).workflow_task.unwrap();
    assert_eq!(next.queries.len(), 1);
    let id = next.queries.keys().next().unwrap().clone();
    t.complete_with(&next, vec![], |r| {
        r.query_results.insert(
            id,
            WorkflowQueryResult {
                result_type: 2,
                error_message: "no such query".into(),
                failure: Some(failure("E", "why")),
                ..Default::default()
            },
        );
    })
    .unwrap();
    let e = t.take::<QueryWorkflowResponse>(q).unwrap().unwrap_err();
    assert_eq!((e.code, e.message.as_str(), e.reason.as_str()), (3, "no such query", "QueryFailed"));
    assert!(!e.detail.is_empty(), "the failure comes along");
}

#[test]
fn a_failed_query_task_is_an_error_to_the_caller() {
    let mut t = running();
    let q = ask(&mut t);
    let task = t.task();
    let r = RespondQueryTaskCompletedRequest {
        task_token: task.task_token.clone(),
        completed_type: 2,
        error_message: "Unknown query state".into(),
        ..Default::default()
    };
    t.call::<RespondQueryTaskCompletedResponse>(M::RespondQueryTaskCompleted, &r).unwrap();
    assert_eq!(t.take::<QueryWorkflowResponse>(q).unwrap().unwrap_err().message, "Unknown query state");
}

#[test]
fn closed_runs_answer_queries() {
    let mut t = running();
    t.signal("w", "a").unwrap();
    let task = t.task();
    t.complete(&task, vec![done()]);
    t.restart();
    let q = ask(&mut t);
    let task = t.task();
    assert_eq!(shape(&events(&task)[9..]), "Completed");
    respond(&mut t, &task, "1").unwrap();
    assert_eq!(answer(&mut t, q), "1");
    let mut r = query_request("w");
    r.query_reject_condition = 2;
    let rejected: QueryWorkflowResponse = t.call(M::QueryWorkflow, &r).unwrap();
    assert_eq!(rejected.query_rejected.unwrap().status, 2);
    r.query_reject_condition = 3;
    let id = t.send(M::QueryWorkflow, &r);
    t.flush();
    assert!(t.take::<QueryWorkflowResponse>(id).is_none(), "completed cleanly: the query is taken");
    // A run that never did anything has nothing to ask.
    t.start("never");
    t.terminate("never").unwrap();
    let e = t.call::<QueryWorkflowResponse>(M::QueryWorkflow, &query_request("never")).unwrap_err();
    assert_eq!((e.code, e.reason.as_str()), (9, "WorkflowNotReady"));
}

#[test]
fn a_query_that_waits_with_the_end_of_its_run_is_given_out_then() {
    let mut t = running();
    t.signal("w", "a").unwrap();
    let task = t.task();
    let q = ask(&mut t);
    t.complete(&task, vec![done()]);
    let task = t.task();
    assert!(task.query.is_some());
    respond(&mut t, &task, "1").unwrap();
    assert_eq!(answer(&mut t, q), "1");
}

#[test]
fn a_failing_workflow_refuses_queries_at_once() {
    let mut t = running();
    t.signal("w", "a").unwrap();
    for _ in 0..3 {
        t.task();
        t.advance(10_000.0);
    }
    let e = t.call::<QueryWorkflowResponse>(M::QueryWorkflow, &query_request("w")).unwrap_err();
    assert_eq!(e.reason, "WorkflowNotReady");
}

#[test]
fn a_query_without_a_response_ends_at_the_callers_deadline() {
    let mut t = running();
    let gone = ask(&mut t);
    t.engine.cancel_request(gone);
    assert!(t.try_task().is_none(), "no caller waits any more");
    let expired = ask(&mut t);
    let task = t.task();
    t.engine.expire_request(expired);
    t.flush();
    let e = t.take::<QueryWorkflowResponse>(expired).unwrap().unwrap_err();
    let advice = "the query timed out: check that a worker polls task queue \"q\" and is not overloaded";
    assert_eq!((e.code, e.message.as_str()), (4, advice));
    assert_eq!(respond(&mut t, &task, "1").unwrap_err().code, 5);
}
