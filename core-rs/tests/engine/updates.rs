//! Updates: messages on tasks, stages, speculative tasks, rejection, deduplication, the end of a run.
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::failure::v1::failure::FailureInfo;
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::protocol::v1::{Message as ProtocolMessage, message::SequencingId};
use temporalex_core::api::update::v1::{self as up, outcome::Value};
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

const ACCEPTED: i32 = 2;
pub const COMPLETED: i32 = 3;

pub fn send(t: &mut T, update: &str, stage: i32) -> u32 {
    let id = t.send(M::UpdateWorkflowExecution, &update_request("w", update, stage));
    t.flush();
    id
}

pub fn complete(
    t: &mut T,
    task: &PollWorkflowTaskQueueResponse,
    commands: Vec<temporalex_core::api::command::v1::Command>,
    messages: Vec<ProtocolMessage>,
) -> Answer<RespondWorkflowTaskCompletedResponse> {
    t.complete_with(task, commands, |r| {
        *r = sticky(r.clone());
        r.messages = messages;
    })
}

/// A run whose first task is done, with a sticky worker.
pub fn running() -> T {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let poll = t.poll_sticky_id(STICKY);
    t.flush();
    t.complete_sticky(&task, vec![]);
    t.engine.cancel_request(poll);
    t
}

pub fn result(t: &mut T, id: u32) -> UpdateWorkflowExecutionResponse {
    t.take(id).expect("a response").expect("no error")
}

pub fn success(o: &Option<up::Outcome>) -> String {
    match o.as_ref().and_then(|o| o.value.as_ref()) {
        Some(Value::Success(p)) => String::from_utf8(p.payloads[0].data.clone()).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn failed(o: &Option<up::Outcome>) -> (String, String) {
    match o.as_ref().and_then(|o| o.value.as_ref()) {
        Some(Value::Failure(f)) => match &f.failure_info {
            Some(FailureInfo::ApplicationFailureInfo(i)) => (i.r#type.clone(), f.message.clone()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_update_is_accepted_and_completed_by_one_task() {
    let mut t = running();
    let u = send(&mut t, "u1", COMPLETED);
    assert!(t.take::<UpdateWorkflowExecutionResponse>(u).is_none());
    let task = t.sticky_task();
    assert_eq!(shape(events(&task)), "WTCompleted WTScheduled WTStarted", "a speculative task: its events are here only");
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted");
    let m = &task.messages[0];
    assert_eq!((m.id.as_str(), m.protocol_instance_id.as_str()), ("u1/request", "u1"));
    assert_eq!(m.sequencing_id, Some(SequencingId::EventId(task.started_event_id - 1)));
    assert_eq!(request_of(m).input.unwrap().name, "set");
    complete(
        &mut t,
        &task,
        vec![protocol("u1/request/accept"), timer("1", 1_000), protocol("u1/complete")],
        vec![accept(m), answer("u1", "\"ok\"")],
    )
    .unwrap();
    assert_eq!(
        t.shape("w"),
        "Started WTScheduled WTStarted WTCompleted WTScheduled WTStarted WTCompleted UpdateAccepted TimerStarted UpdateCompleted"
    );
    let h = t.history("w", "");
    let A::WorkflowExecutionUpdateAcceptedEventAttributes(a) = attrs(&h[7]) else { panic!() };
    assert_eq!((a.accepted_request_message_id.as_str(), a.accepted_request_sequencing_event_id), ("u1/request", 5));
    assert_eq!(a.accepted_request, Some(request_of(m)));
    let A::WorkflowExecutionUpdateCompletedEventAttributes(c) = attrs(&h[9]) else { panic!() };
    assert_eq!((c.accepted_event_id, c.meta.as_ref().unwrap().identity.as_str()), (8, "client"));
    let r = result(&mut t, u);
    assert_eq!((r.stage, success(&r.outcome).as_str()), (COMPLETED, "\"ok\""));
    assert_eq!(r.update_ref.unwrap().update_id, "u1");
    // The same id again: the same answer, and no second effect.
    let again = send(&mut t, "u1", COMPLETED);
    let r = result(&mut t, again);
    assert_eq!(success(&r.outcome), "\"ok\"");
    assert!(t.try_sticky_task().is_none());
    t.check_memory();
    t.restart();
    t.check_memory();
    let again = send(&mut t, "u1", ACCEPTED);
    let r = result(&mut t, again);
    assert_eq!((r.stage, success(&r.outcome).as_str()), (COMPLETED, "\"ok\""));
}

#[test]
fn stages_are_answered_as_they_are_reached() {
    let mut t = running();
    let first = send(&mut t, "u1", ACCEPTED);
    let second = send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    assert_eq!(task.messages.len(), 1, "one id, one message");
    complete(&mut t, &task, vec![protocol("u1/request/accept"), timer("1", 1_000)], vec![accept(&task.messages[0])]).unwrap();
    let r = result(&mut t, first);
    assert_eq!((r.stage, r.outcome.is_none()), (ACCEPTED, true));
    assert!(t.take::<UpdateWorkflowExecutionResponse>(second).is_none());
    let poll = PollWorkflowExecutionUpdateRequest {
        namespace: "default".into(),
        update_ref: Some(up::UpdateRef { workflow_execution: Some(exec("w", "")), update_id: "u1".into() }),
        wait_policy: Some(up::WaitPolicy { lifecycle_stage: COMPLETED }),
        ..Default::default()
    };
    let waiting = t.send(M::PollWorkflowExecutionUpdate, &poll);
    let gone = t.send(M::PollWorkflowExecutionUpdate, &poll);
    let expired = t.send(M::PollWorkflowExecutionUpdate, &poll);
    t.flush();
    t.engine.cancel_request(gone);
    t.engine.expire_request(expired);
    t.flush();
    let r: PollWorkflowExecutionUpdateResponse = t.take(expired).unwrap().unwrap();
    assert_eq!((r.stage, r.outcome.is_none()), (ACCEPTED, true));
    t.advance(1_000.0);
    let task = t.sticky_task();
    complete(&mut t, &task, vec![protocol("u1/complete"), done()], vec![answer("u1", "7")]).unwrap();
    assert_eq!(success(&result(&mut t, second).outcome), "7");
    let r: PollWorkflowExecutionUpdateResponse = t.take(waiting).unwrap().unwrap();
    assert_eq!((r.stage, success(&r.outcome).as_str()), (COMPLETED, "7"));
    assert!(t.take::<PollWorkflowExecutionUpdateResponse>(gone).is_none());
    // After the end, and after a restart, the outcome is still there.
    t.restart();
    let r: PollWorkflowExecutionUpdateResponse = t.call(M::PollWorkflowExecutionUpdate, &poll).unwrap();
    assert_eq!(success(&r.outcome), "7");
    let mut unknown = poll;
    unknown.update_ref.as_mut().unwrap().update_id = "nope".into();
    assert_eq!(t.call::<PollWorkflowExecutionUpdateResponse>(M::PollWorkflowExecutionUpdate, &unknown).unwrap_err().code, 5);
}

#[test]
fn a_rejection_leaves_nothing() {
    let mut t = running();
    let before = t.store.clone();
    let u = send(&mut t, "u1", ACCEPTED);
    let task = t.sticky_task();
    let r = complete(&mut t, &task, vec![], vec![reject(&task.messages[0])]).unwrap();
    assert_eq!(r.reset_history_event_id, 3, "the worker goes back to the last completed task");
    let r = result(&mut t, u);
    assert_eq!((r.stage, failed(&r.outcome)), (COMPLETED, ("Invalid".into(), "no".into())));
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted");
    let run = t.store.runs.keys().next().unwrap().clone();
    assert_eq!(t.store.runs[&run].items, before.runs[&run].items);
    assert_eq!(t.store.runs[&run].batches, before.runs[&run].batches);
    // The id is free again.
    let u = send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    assert_eq!((task.started_event_id, shape(events(&task)).as_str()), (6, "WTCompleted WTScheduled WTStarted"));
    complete(
        &mut t,
        &task,
        vec![protocol("u1/request/accept"), protocol("u1/complete")],
        vec![accept(&task.messages[0]), answer("u1", "1")],
    )
    .unwrap();
    assert_eq!(success(&result(&mut t, u).outcome), "1");
}

#[test]
fn an_update_with_the_first_task_is_no_speculative_one() {
    let mut t = T::new();
    t.start("w");
    let u = send(&mut t, "u1", ACCEPTED);
    let task = t.task();
    assert_eq!(task.messages[0].sequencing_id, Some(SequencingId::EventId(2)));
    complete(&mut t, &task, vec![], vec![reject(&task.messages[0])]).unwrap();
    assert_eq!(failed(&result(&mut t, u).outcome).0, "Invalid");
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted");
}

#[test]
fn an_update_while_a_task_is_started_goes_with_the_next() {
    let mut t = running();
    t.signal("w", "a").unwrap();
    let task = t.sticky_task();
    let u = send(&mut t, "u1", COMPLETED);
    let r = complete(&mut t, &task, vec![], vec![]).unwrap();
    let next = r.workflow_task.expect("a task for the update comes with the response");
    assert_eq!(next.messages.len(), 1);
    assert_eq!(shape(events(&next)), "WTCompleted WTScheduled WTStarted");
    assert_eq!(
        t.shape("w"),
        "Started WTScheduled WTStarted WTCompleted Signaled WTScheduled WTStarted WTCompleted",
        "speculative"
    );
    complete(
        &mut t,
        &next,
        vec![protocol("u1/request/accept"), protocol("u1/complete"), done()],
        vec![accept(&next.messages[0]), answer("u1", "1")],
    )
    .unwrap();
    assert_eq!(success(&result(&mut t, u).outcome), "1");
}

#[test]
fn an_event_turns_a_speculative_task_into_an_ordinary_one() {
    for started in [false, true] {
        let mut t = running();
        let u = send(&mut t, "u1", COMPLETED);
        let task = if started { Some(t.sticky_task()) } else { None };
        t.signal("w", "a").unwrap();
        let task = task.unwrap_or_else(|| t.sticky_task());
        let m = accept(&task.messages[0]);
        t.check_memory();
        complete(&mut t, &task, vec![protocol("u1/request/accept"), protocol("u1/complete")], vec![m, answer("u1", "1")])
            .unwrap();
        let tail = if started {
            "WTCompleted WTScheduled WTStarted WTCompleted UpdateAccepted UpdateCompleted Signaled WTScheduled WTStarted"
        } else {
            "WTCompleted WTScheduled Signaled WTStarted WTCompleted UpdateAccepted UpdateCompleted"
        };
        assert_eq!(shape(&t.history("w", "")[3..]), tail);
        assert_eq!(success(&result(&mut t, u).outcome), "1");
        t.check_memory();
    }
}

#[test]
fn an_update_that_the_worker_ignores_is_rejected_for_it() {
    let mut t = running();
    let u = send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    let r = complete(&mut t, &task, vec![], vec![]).unwrap();
    assert_eq!(r.reset_history_event_id, 3);
    let (kind, text) = failed(&result(&mut t, u).outcome);
    assert_eq!(kind, "UnprocessedUpdate");
    assert!(text.starts_with("Workflow Update is rejected because it wasn't processed by worker."), "{text}");
    // Not so by a heartbeat: it may answer later.
    let u = send(&mut t, "u2", COMPLETED);
    let task = t.sticky_task();
    let next = t
        .complete_with(&task, vec![], |r| {
            *r = sticky(r.clone());
            r.force_create_new_workflow_task = true;
        })
        .unwrap()
        .workflow_task
        .unwrap();
    assert!(next.messages.is_empty(), "a heartbeat's task brings new updates only");
    assert!(t.take::<UpdateWorkflowExecutionResponse>(u).is_none());
    complete(
        &mut t,
        &next,
        vec![protocol("u2/request/accept"), protocol("u2/complete")],
        vec![accept(&task.messages[0]), answer("u2", "1")],
    )
    .unwrap();
    assert_eq!(success(&result(&mut t, u).outcome), "1");
}

#[test]
fn a_failed_task_delivers_its_updates_again() {
    let mut t = running();
    let u = send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    t.fail_task(&task).unwrap();
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted WTScheduled WTStarted WTFailed WTScheduled");
    let task = t.task();
    assert_eq!(task.messages.len(), 1);
    assert_eq!(task.messages[0].sequencing_id, Some(SequencingId::EventId(8)));
    t.advance(10_000.0);
    let task = t.task();
    assert_eq!((task.attempt, task.messages.len()), (2, 1));
    complete(
        &mut t,
        &task,
        vec![protocol("u1/request/accept"), protocol("u1/complete")],
        vec![accept(&task.messages[0]), answer("u1", "1")],
    )
    .unwrap();
    assert_eq!(success(&result(&mut t, u).outcome), "1");
}

#[test]
fn messages_without_their_command_come_after_all_commands() {
    let mut t = running();
    send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    complete(&mut t, &task, vec![timer("1", 1_000)], vec![accept(&task.messages[0]), answer("u1", "1")]).unwrap();
    assert_eq!(shape(&t.history("w", "")[7..]), "TimerStarted UpdateAccepted UpdateCompleted");
}

#[test]
fn wrong_orders_of_answers_fail_the_task() {
    let mut t = running();
    send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    let e = complete(&mut t, &task, vec![protocol("u1/complete")], vec![answer("u1", "1")]).unwrap_err();
    assert!(
        e.message.contains("BadUpdateWorkflowExecutionMessage") && e.message.contains("Admitted") || e.message.contains("Sent"),
        "{}",
        e.message
    );
    let h = t.history("w", "");
    let A::WorkflowTaskFailedEventAttributes(f) = attrs(&h[6]) else { panic!() };
    assert_eq!(f.cause, 30);
    let mut t = running();
    send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    let m = &task.messages[0];
    let e = complete(&mut t, &task, vec![], vec![accept(m), accept(m)]).unwrap_err();
    assert!(e.message.contains("invalid state transition"), "{}", e.message);
    let task = t.task();
    let e = complete(&mut t, &task, vec![], vec![answer("unknown", "1")]).unwrap_err();
    assert!(e.message.contains("wasn't found"), "{}", e.message);
}

#[test]
fn an_accepted_update_of_an_earlier_life_comes_back_with_its_request() {
    let mut t = running();
    send(&mut t, "u1", COMPLETED);
    let task = t.sticky_task();
    t.signal("w", "makes the task durable").unwrap();
    t.restart();
    complete(
        &mut t,
        &task,
        vec![protocol("u1/request/accept"), protocol("u1/complete")],
        vec![accept(&task.messages[0]), answer("u1", "1")],
    )
    .unwrap();
    let h = t.history("w", "");
    let A::WorkflowExecutionUpdateAcceptedEventAttributes(a) = attrs(find(&h, E::WorkflowExecutionUpdateAccepted)) else {
        panic!()
    };
    assert_eq!(a.accepted_request, Some(request_of(&task.messages[0])));
    let again = send(&mut t, "u1", COMPLETED);
    assert_eq!(success(&result(&mut t, again).outcome), "1");
}

#[test]
fn the_end_of_the_run_settles_every_update() {
    let mut t = running();
    let accepted = send(&mut t, "accepted", COMPLETED);
    let task = t.sticky_task();
    complete(&mut t, &task, vec![protocol("accepted/request/accept"), timer("1", 1_000)], vec![accept(&task.messages[0])])
        .unwrap();
    t.advance(1_000.0);
    let task = t.sticky_task();
    let admitted = send(&mut t, "admitted", COMPLETED);
    complete(&mut t, &task, vec![done()], vec![]).unwrap();
    let r = result(&mut t, accepted);
    assert_eq!((r.stage, failed(&r.outcome).0.as_str()), (COMPLETED, "AcceptedUpdateCompletedWorkflow"));
    let e = t.take::<UpdateWorkflowExecutionResponse>(admitted).unwrap().unwrap_err();
    assert_eq!((e.code, e.message.as_str()), (5, "workflow update was aborted by closing workflow"));
    // Repeated after a restart: the same responses.
    t.restart();
    let again = send(&mut t, "accepted", COMPLETED);
    assert_eq!(failed(&result(&mut t, again).outcome).0, "AcceptedUpdateCompletedWorkflow");
    let again = send(&mut t, "admitted", COMPLETED);
    assert_eq!(
        t.take::<UpdateWorkflowExecutionResponse>(again).unwrap().unwrap_err().message,
        "workflow execution already completed"
    );
}

#[test]
fn accepted_together_with_the_end_is_answered_with_the_failure() {
    let mut t = running();
    let u = send(&mut t, "u1", ACCEPTED);
    let task = t.sticky_task();
    complete(&mut t, &task, vec![protocol("u1/request/accept"), done()], vec![accept(&task.messages[0])]).unwrap();
    assert_eq!(failed(&result(&mut t, u).outcome).0, "AcceptedUpdateCompletedWorkflow");
}

#[test]
fn an_undecided_update_moves_to_the_run_that_follows() {
    let mut t = running();
    t.signal("w", "a").unwrap();
    let task = t.sticky_task();
    let u = send(&mut t, "u1", COMPLETED);
    let mut pinned = update_request("w", "u2", COMPLETED);
    pinned.workflow_execution = task.workflow_execution.clone();
    let pinned = t.send(M::UpdateWorkflowExecution, &pinned);
    t.flush();
    complete(&mut t, &task, vec![continue_as_new(|_| {})], vec![]).unwrap();
    let e = t.take::<UpdateWorkflowExecutionResponse>(pinned).unwrap().unwrap_err();
    assert_eq!(e.code, 8, "an update of that run gets an error that it closes: {}", e.message);
    let next = t.task();
    assert_ne!(next.workflow_execution, task.workflow_execution);
    assert_eq!(next.messages.len(), 1);
    complete(
        &mut t,
        &next,
        vec![protocol("u1/request/accept"), protocol("u1/complete"), done()],
        vec![accept(&next.messages[0]), answer("u1", "1")],
    )
    .unwrap();
    let r = result(&mut t, u);
    assert_eq!(success(&r.outcome), "1");
    assert_eq!(r.update_ref.unwrap().workflow_execution, next.workflow_execution);
}

#[test]
fn requests_are_checked() {
    let mut t = running();
    let mut r = update_request("w", "u", 1);
    assert_eq!(
        t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &r).unwrap_err().code,
        12,
        "ADMITTED is not offered"
    );
    r = update_request("w", "u", ACCEPTED);
    r.request.as_mut().unwrap().input = None;
    assert_eq!(t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &r).unwrap_err().code, 3);
    r = update_request("w", "u", ACCEPTED);
    r.first_execution_run_id = "another".into();
    assert_eq!(t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &r).unwrap_err().code, 5);
    r = update_request("absent", "u", ACCEPTED);
    assert_eq!(t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &r).unwrap_err().code, 5);
    // A missing id is generated.
    let u = send(&mut t, "", COMPLETED);
    let task = t.sticky_task();
    let id = task.messages[0].protocol_instance_id.clone();
    assert_eq!((id.len(), request_of(&task.messages[0]).meta.unwrap().update_id), (36, id.clone()));
    complete(&mut t, &task, vec![], vec![accept(&task.messages[0]), answer(&id, "1")]).unwrap();
    assert_eq!(result(&mut t, u).update_ref.unwrap().update_id, id);
}

#[test]
fn too_many_updates_are_refused_by_name() {
    let mut t = running();
    for i in 0..10 {
        send(&mut t, &format!("u{i}"), COMPLETED);
    }
    let over = send(&mut t, "one more", COMPLETED);
    let e = t.take::<UpdateWorkflowExecutionResponse>(over).unwrap().unwrap_err();
    assert_eq!((e.code, e.reason.as_str()), (8, "ResourceExhausted"));
    assert_eq!((e.metadata["limit"].as_str(), e.metadata["cause"].as_str()), ("updates_in_flight", "2"), "it passes by itself");
    assert_eq!(e.message, "limit on number of concurrent in-flight updates has been reached (10)");
    let task = t.sticky_task();
    let ids: Vec<&str> = task.messages.iter().map(|m| m.protocol_instance_id.as_str()).collect();
    assert_eq!(ids, (0..10).map(|i| format!("u{i}")).collect::<Vec<_>>(), "in the order of admission");
}

#[test]
fn a_caller_that_leaves_does_not_take_the_update_away() {
    let mut t = running();
    let u = send(&mut t, "u1", COMPLETED);
    t.engine.cancel_request(u);
    let task = t.sticky_task();
    complete(&mut t, &task, vec![], vec![accept(&task.messages[0]), answer("u1", "1")]).unwrap();
    assert!(t.take::<UpdateWorkflowExecutionResponse>(u).is_none());
    let again = send(&mut t, "u1", COMPLETED);
    assert_eq!(success(&result(&mut t, again).outcome), "1");
}
