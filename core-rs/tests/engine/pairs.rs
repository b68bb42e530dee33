//! Update-with-start: both or neither, and no task between the two.
use prost::Message;
use temporalex_core::api::enums::v1::{WorkflowIdConflictPolicy as Conflict, WorkflowIdReusePolicy as Reuse};
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::RpcError;

use super::support::*;

#[derive(Clone, PartialEq, Message)]
struct Pair {
    #[prost(bytes, tag = "1")]
    start: Vec<u8>,
    #[prost(bytes, tag = "2")]
    update: Vec<u8>,
}

fn send(t: &mut T, conflict: Conflict, update: &UpdateWorkflowExecutionRequest) -> u32 {
    let mut start = t.start_request("w");
    start.workflow_id_conflict_policy = conflict as i32;
    start.request_id = format!("start-{}", t.next_id);
    t.next_id += 1;
    t.engine.request_pair(t.next_id, &start.encode_to_vec(), &update.encode_to_vec(), t.now);
    t.flush();
    t.next_id
}

fn taken(t: &mut T, id: u32) -> Result<(StartWorkflowExecutionResponse, UpdateWorkflowExecutionResponse), RpcError> {
    t.take::<Pair>(id).expect("a response").map(|pair| {
        let start = StartWorkflowExecutionResponse::decode(pair.start.as_slice()).expect("a start");
        (start, UpdateWorkflowExecutionResponse::decode(pair.update.as_slice()).expect("an update"))
    })
}

#[test]
fn the_first_task_has_the_update() {
    let mut t = T::new();
    let id = send(&mut t, Conflict::UseExisting, &update_request("w", "u", 2));
    let task = t.task();
    assert_eq!((task.started_event_id, task.messages.len()), (3, 1));
    // A second caller with another update takes the run that is there.
    let second = send(&mut t, Conflict::UseExisting, &update_request("w", "v", 2));
    for (id, started) in [(id, true), (second, false)] {
        assert!(t.take::<Pair>(id).is_none(), "it waits for the worker");
        t.engine.expire_request(id);
        t.flush();
        let (start, update) = taken(&mut t, id).expect("no error");
        assert_eq!((start.started, update.stage), (started, 1));
        assert_eq!(start.run_id, update.update_ref.expect("a reference").workflow_execution.expect("an execution").run_id);
    }
}

#[test]
fn a_repeated_call_attaches_to_the_update_that_exists() {
    let mut t = T::new();
    let first = send(&mut t, Conflict::Fail, &update_request("w", "u", 3));
    let again = send(&mut t, Conflict::Fail, &update_request("w", "u", 3));
    let other = send(&mut t, Conflict::Fail, &update_request("w", "v", 3));
    assert_eq!(taken(&mut t, other).expect_err("another update").reason, "WorkflowExecutionAlreadyStarted");
    let task = t.task();
    assert_eq!(task.messages.len(), 1, "one update");
    let accepted = accept(&task.messages[0]);
    t.complete_with(&task, vec![protocol("u/request/accept")], |r| r.messages = vec![accepted]).unwrap();
    t.restart();
    let accepted = send(&mut t, Conflict::Fail, &update_request("w", "u", 2));
    assert_eq!(taken(&mut t, accepted).expect("it is accepted").1.stage, 2);
    let waiting = send(&mut t, Conflict::Fail, &update_request("w", "u", 3));
    t.signal("w", "go").unwrap();
    let task = t.task();
    let messages = vec![answer("u", "7")];
    t.complete_with(&task, vec![protocol("u/complete"), done()], |r| r.messages = messages).unwrap();
    let (start, update) = taken(&mut t, waiting).expect("an outcome");
    assert_eq!((start.started, update.stage), (false, 3));
    let run_id = start.run_id;
    // The run is closed and the update completed: whatever the policies say, nothing new is started.
    t.restart();
    for conflict in [Conflict::Fail, Conflict::UseExisting] {
        let id = send(&mut t, conflict, &update_request("w", "u", 3));
        let (start, update) = taken(&mut t, id).expect("the same outcome");
        assert_eq!((start.started, start.run_id.as_str(), start.status, update.stage), (false, run_id.as_str(), 2, 3));
    }
    // The first two calls went down with the restart.
    for id in [first, again] {
        assert!(t.take::<Pair>(id).is_none());
    }
    // Another update starts another run.
    let id = send(&mut t, Conflict::Fail, &update_request("w", "v", 3));
    t.engine.expire_request(id);
    t.flush();
    assert!(taken(&mut t, id).expect("no error").0.started);
}

#[test]
fn an_update_that_ended_with_its_run_does_not_keep_a_start_away() {
    let mut t = T::new();
    send(&mut t, Conflict::Fail, &update_request("w", "u", 3));
    let task = t.task();
    let accepted = accept(&task.messages[0]);
    t.complete_with(&task, vec![protocol("u/request/accept"), done()], |r| r.messages = vec![accepted]).unwrap();
    let id = send(&mut t, Conflict::Fail, &update_request("w", "u", 3));
    t.engine.expire_request(id);
    t.flush();
    assert!(taken(&mut t, id).expect("no error").0.started);
}

#[test]
fn a_refused_start_takes_the_update_with_it() {
    let mut t = T::new();
    t.start("w");
    let id = send(&mut t, Conflict::Fail, &update_request("w", "u", 2));
    let error = taken(&mut t, id).expect_err("it is running");
    assert_eq!(
        (error.code, error.metadata["operation"].as_str(), error.reason.as_str()),
        (6, "0", "WorkflowExecutionAlreadyStarted")
    );
    assert!(t.task().messages.is_empty());
}

#[test]
fn nothing_is_started_for_an_update_that_cannot_be() {
    let mut t = T::new();
    let mut nameless = update_request("w", "u", 2);
    nameless.request.as_mut().expect("a request").input = None;
    let mut of_a_run = update_request("w", "u", 2);
    of_a_run.workflow_execution.as_mut().expect("an execution").run_id = "some".into();
    for bad in [nameless, of_a_run, update_request("other", "u", 2)] {
        let id = send(&mut t, Conflict::UseExisting, &bad);
        let error = taken(&mut t, id).expect_err("malformed");
        assert_eq!((error.code, error.metadata["operation"].as_str()), (3, "1"));
    }
    assert!(t.store.runs.is_empty());
}

#[test]
fn it_waits_for_the_store_and_can_be_given_up() {
    let mut t = T::new();
    t.start("w");
    t.restart();
    let id = send(&mut t, Conflict::UseExisting, &update_request("w", "u", 2));
    let gone = send(&mut t, Conflict::UseExisting, &update_request("w", "v", 2));
    t.engine.cancel_request(gone);
    t.engine.expire_request(id);
    t.flush();
    assert!(!taken(&mut t, id).expect("no error").0.started);
    assert!(t.take::<Pair>(gone).is_none());
    // A closed workflow: a new run, or a refusal that names the start.
    t.terminate("w").expect("a termination");
    let id = send(&mut t, Conflict::UseExisting, &update_request("w", "x", 2));
    t.engine.expire_request(id);
    t.flush();
    assert!(taken(&mut t, id).expect("no error").0.started);
    t.terminate("w").expect("a termination");
    let mut start = t.start_request("w");
    start.workflow_id_reuse_policy = Reuse::RejectDuplicate as i32;
    start.request_id = "another".into();
    t.next_id += 1;
    let update = update_request("w", "y", 2).encode_to_vec();
    t.engine.request_pair(t.next_id, &start.encode_to_vec(), &update, t.now);
    t.flush();
    let id = t.next_id;
    assert_eq!(taken(&mut t, id).expect_err("rejected").metadata["operation"], "0");
}
