//! Starts that attach to a running workflow: the event, repeated requests, and what is known of them afterwards.
use prost::Message;
use temporalex_core::api::enums::v1::{EventType, WorkflowIdConflictPolicy as Conflict};
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::workflow::v1::RequestIdInfo;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

/// Fields of a start that the other tests have no use for.
#[derive(Clone, PartialEq, Message)]
struct Extra {
    #[prost(message, optional, tag = "26")]
    on_conflict: Option<OnConflict>,
}

#[derive(Clone, PartialEq, Message)]
struct OnConflict {
    #[prost(bool, tag = "1")]
    request_id: bool,
    #[prost(bool, tag = "2")]
    callbacks: bool,
    #[prost(bool, tag = "3")]
    links: bool,
}

fn attach_with(t: &mut T, request_id: &str, on_conflict: OnConflict) -> Answer<StartWorkflowExecutionResponse> {
    let mut request = t.start_request("w");
    request.request_id = request_id.into();
    request.workflow_id_conflict_policy = Conflict::UseExisting as i32;
    let mut body = request.encode_to_vec();
    body.extend(Extra { on_conflict: Some(on_conflict) }.encode_to_vec());
    let id = t.send_bytes(M::StartWorkflowExecution, &body);
    t.flush();
    t.take(id).expect("a reply")
}

fn attach(t: &mut T, request_id: &str) -> StartWorkflowExecutionResponse {
    attach_with(t, request_id, OnConflict { request_id: true, ..Default::default() }).expect("an attached start")
}

fn info(t: &mut T, request_id: &str) -> Option<RequestIdInfo> {
    let described = t.describe("w", "").expect("a description");
    described.workflow_extended_info.expect("info").request_id_infos.get(request_id).copied()
}

fn expected(kind: EventType, event_id: i64) -> Option<RequestIdInfo> {
    Some(RequestIdInfo { event_type: kind as i32, event_id, buffered: event_id == 0 })
}

#[test]
fn a_start_attaches_its_request_without_a_workflow_task() {
    let mut t = T::new();
    let run_id = t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    let response = attach(&mut t, "again");
    assert_eq!((response.run_id, response.started), (run_id.clone(), false));
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted OptionsUpdated");
    let events = t.history("w", "");
    let Attributes::WorkflowExecutionOptionsUpdatedEventAttributes(a) = attrs(&events[4]) else { panic!("other attributes") };
    assert_eq!(a.attached_request_id, "again");
    assert!(events[4].worker_may_ignore);
    assert_eq!(info(&mut t, "start-w"), expected(EventType::WorkflowExecutionStarted, 1));
    assert_eq!(info(&mut t, "again"), expected(EventType::WorkflowExecutionOptionsUpdated, 5));
    assert!(t.try_task().is_none());

    t.check_memory();
    t.restart();
    assert_eq!(attach(&mut t, "again").run_id, run_id);
    t.terminate("w").expect("an end");
    t.restart();
    let repeated = attach(&mut t, "again");
    assert_eq!((repeated.run_id, repeated.started), (run_id, false), "a closed run has its attached requests");
    assert_eq!(t.history("w", "").len(), 6);
    assert_eq!(info(&mut t, "again"), expected(EventType::WorkflowExecutionOptionsUpdated, 5));
}

#[test]
fn a_request_that_meets_a_started_task_is_buffered() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    attach(&mut t, "again");
    assert_eq!(info(&mut t, "again"), expected(EventType::WorkflowExecutionOptionsUpdated, 0));
    t.check_memory();
    t.restart();
    assert_eq!(info(&mut t, "again"), expected(EventType::WorkflowExecutionOptionsUpdated, 0));
    t.complete(&task, vec![timer("t", 1_000)]);
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted TimerStarted OptionsUpdated WTScheduled");
    assert_eq!(info(&mut t, "again"), expected(EventType::WorkflowExecutionOptionsUpdated, 6));
    t.check_memory();
}

#[test]
fn only_what_the_options_name_is_attached() {
    let mut t = T::new();
    t.start("w");
    let error = attach_with(&mut t, "a", OnConflict { callbacks: true, ..Default::default() }).expect_err("no request id");
    assert_eq!(error.message, "attaching request ID is required for attaching completion callbacks");
    attach_with(&mut t, "a", OnConflict { links: true, ..Default::default() }).expect("an attached start");
    assert_eq!(t.shape("w"), "Started WTScheduled OptionsUpdated");
    assert_eq!(info(&mut t, "a"), None);
    attach_with(&mut t, "a", OnConflict { request_id: true, ..Default::default() }).expect("an attached start");
    assert_eq!(info(&mut t, "a"), expected(EventType::WorkflowExecutionOptionsUpdated, 4));
}

#[test]
fn a_reset_keeps_attached_requests() {
    let mut t = T::new();
    t.start("w");
    attach(&mut t, "before");
    let task = t.task();
    t.complete(&task, vec![]);
    attach(&mut t, "after");
    let request = ResetWorkflowExecutionRequest {
        namespace: "default".into(),
        workflow_execution: Some(exec("w", "")),
        reason: "again".into(),
        workflow_task_finish_event_id: 5,
        request_id: "reset".into(),
        ..Default::default()
    };
    let _: ResetWorkflowExecutionResponse = t.call(M::ResetWorkflowExecution, &request).expect("a reset");
    assert_eq!(info(&mut t, "before"), expected(EventType::WorkflowExecutionOptionsUpdated, 3));
    assert!(info(&mut t, "after").is_some_and(|i| i.event_id > 5));
    assert_eq!(info(&mut t, "reset"), expected(EventType::WorkflowExecutionStarted, 1));
    t.check_memory();
}
