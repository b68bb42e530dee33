//! Reducers in the transaction that commits a task, on the server's side (docs/dev/semantics/database.md#transact).
use temporalex_core::api::command::v1::Command;
use temporalex_core::api::command::v1::command::Attributes as C;
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, TransactOutcome, TransactResult, TransactTask};

use super::support::*;

/// Sends a completion and flushes as far as its reducers.
fn reduced(t: &mut T, task: &PollWorkflowTaskQueueResponse, commands: Vec<Command>) -> (u32, Vec<TransactTask>) {
    let request = t.completion(task, commands);
    let id = t.send(M::RespondWorkflowTaskCompleted, &request);
    let flush = t.engine.flush();
    assert!(flush.writes.is_empty() && flush.replies.is_empty(), "a flush with reducers holds nothing else");
    (id, flush.transacts)
}

fn result(payload: &str, awaited: bool) -> TransactResult {
    TransactResult { result: prost::Message::encode_to_vec(&json(payload).payloads[0]), failure: Vec::new(), awaited }
}

#[test]
fn the_host_runs_the_reducers_and_the_markers_hold_what_they_came_to() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let (id, transacts) = reduced(&mut t, &task, vec![marker("Transact"), timer("1", 1_000), marker("Transact")]);
    assert_eq!((transacts.len(), transacts[0].request_id, transacts[0].calls.len()), (1, id, 2));
    assert_eq!((transacts[0].workflow_id.as_str(), transacts[0].workflow_type.as_str()), ("w", "Flow"));
    let outcome = TransactOutcome { request_id: id, results: vec![result("1", true), result("2", false)], failure: Vec::new() };
    assert!(t.engine.transacted(outcome), "the task is completed with it");
    t.flush();
    assert_eq!(
        t.shape("w"),
        "Started WTScheduled WTStarted WTCompleted MarkerRecorded TimerStarted MarkerRecorded WTScheduled",
        "code waits for one of them, so a further task is due"
    );
    let h = t.history("w", "");
    let A::MarkerRecordedEventAttributes(m) = attrs(find(&h, E::MarkerRecorded)) else { panic!() };
    assert_eq!(m.details["result"], json("2"), "of the last one");
    assert_eq!(m.details["data"], json("7"), "what the command says stays");
}

#[test]
fn what_nothing_waits_for_asks_for_no_further_task() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let (id, _) = reduced(&mut t, &task, vec![marker("Transact"), timer("1", 1_000)]);
    assert!(t.engine.transacted(TransactOutcome { request_id: id, results: vec![result("1", false)], failure: Vec::new() }));
    t.flush();
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted MarkerRecorded TimerStarted");
}

#[test]
fn a_reducer_that_fails_the_task_leaves_nothing_of_it() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let (id, _) = reduced(&mut t, &task, vec![marker("Transact"), timer("1", 1_000)]);
    let failure = prost::Message::encode_to_vec(&failure("E", "not today"));
    assert!(!t.engine.transacted(TransactOutcome { request_id: id, results: vec![], failure }), "their writes are rolled back");
    t.flush();
    assert!(t.replies[&id].as_ref().unwrap_err().message.contains("not today"));
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed");
    let h = t.history("w", "");
    let A::WorkflowTaskFailedEventAttributes(f) = attrs(find(&h, E::WorkflowTaskFailed)) else { panic!() };
    assert_eq!(f.failure.as_ref().unwrap().message, "not today");
}

#[test]
fn a_task_that_is_lost_meanwhile_is_not_completed() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let request = t.completion(&task, vec![marker("Transact")]);
    let id = t.send(M::RespondWorkflowTaskCompleted, &request);
    t.send(
        M::TerminateWorkflowExecution,
        &TerminateWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_execution: Some(exec("w", "")),
            ..Default::default()
        },
    );
    let flush = t.engine.flush();
    assert_eq!(flush.transacts.len(), 1);
    assert!(!t.engine.transacted(TransactOutcome { request_id: id, results: vec![result("1", true)], failure: Vec::new() }));
    t.flush();
    assert_eq!(t.replies[&id].as_ref().unwrap_err().code, 5);
    assert!(!t.shape("w").contains("Marker"));
}

#[test]
fn a_failed_commit_forgets_the_reducers_and_the_task_is_given_again() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let (id, transacts) = reduced(&mut t, &task, vec![marker("Transact"), timer("1", 1_000)]);
    assert_eq!(transacts.len(), 1);
    t.engine.aborted();
    assert!(!t.engine.transacted(TransactOutcome { request_id: id, results: vec![result("1", true)], failure: Vec::new() }));
    t.flush();
    let (again, transacts) = reduced(&mut t, &task, vec![marker("Transact"), timer("1", 1_000)]);
    assert_eq!(transacts.len(), 1, "the worker reports again");
    assert!(t.engine.transacted(TransactOutcome { request_id: again, results: vec![result("1", true)], failure: Vec::new() }));
    t.flush();
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted MarkerRecorded TimerStarted WTScheduled");
}

#[test]
fn an_answer_with_too_few_results_fails_the_task() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let (id, _) = reduced(&mut t, &task, vec![marker("Transact"), marker("Transact")]);
    assert!(!t.engine.transacted(TransactOutcome { request_id: id, results: vec![result("1", true)], failure: Vec::new() }));
    t.flush();
    assert!(t.replies[&id].as_ref().unwrap_err().message.contains("has no result"));
}

fn failed(message: &str, awaited: bool) -> TransactResult {
    let failure = prost::Message::encode_to_vec(&failure("Broke", message));
    TransactResult { result: Vec::new(), failure, awaited }
}

/// A marker of transact with these details.
fn transact_marker(details: &[(&str, String)]) -> Command {
    let mut command = marker("Transact");
    let Some(C::RecordMarkerCommandAttributes(m)) = &mut command.attributes else { panic!() };
    m.details = details.iter().map(|(key, text)| (key.to_string(), json(text))).collect();
    command
}

#[test]
fn a_failed_required_reducer_is_recorded_unless_its_task_ends_the_run() {
    let mut t = T::new();
    t.start("w");
    let required = || transact_marker(&[("id", "1".into()), ("required", "true".into())]);
    let task = t.task();
    let (id, _) = reduced(&mut t, &task, vec![required(), done()]);
    let outcome = TransactOutcome { request_id: id, results: vec![failed("no gold", true)], failure: Vec::new() };
    assert!(!t.engine.transacted(outcome), "the run must not complete without it");
    t.flush();
    assert!(t.replies[&id].as_ref().unwrap_err().message.contains("no gold"));
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed");
    t.advance(60_000.0);
    let task = t.task();
    let (id, _) = reduced(&mut t, &task, vec![required()]);
    let outcome = TransactOutcome { request_id: id, results: vec![failed("no gold", true)], failure: Vec::new() };
    assert!(t.engine.transacted(outcome));
    t.flush();
    let h = t.history("w", "");
    let A::MarkerRecordedEventAttributes(m) = attrs(find(&h, E::MarkerRecorded)) else { panic!() };
    assert_eq!(m.failure.as_ref().unwrap().message, "no gold");
}

#[test]
fn arguments_over_the_limit_reach_the_host_and_are_left_out_with_the_failure() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let large = format!("\"{}\"", "x".repeat(3_000_000));
    let (id, transacts) = reduced(&mut t, &task, vec![transact_marker(&[("id", "1".into()), ("arguments", large)])]);
    assert!(transacts[0].calls[0].marker.len() > 3_000_000);
    assert!(t.engine.transacted(TransactOutcome {
        request_id: id,
        results: vec![failed("too large", true)],
        failure: Vec::new()
    }));
    t.flush();
    let h = t.history("w", "");
    let A::MarkerRecordedEventAttributes(m) = attrs(find(&h, E::MarkerRecorded)) else { panic!() };
    assert_eq!(m.details.keys().collect::<Vec<_>>(), ["id"]);
    assert_eq!(m.failure.as_ref().unwrap().message, "too large");
}
