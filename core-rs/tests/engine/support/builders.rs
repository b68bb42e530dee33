//! Requests, commands and messages in few words, and what is read from tasks and events.
#![allow(dead_code)]

use super::{QUEUE, STICKY};
use prost::Message;
use temporalex_core::api::command::v1::{self as cmd, Command, command::Attributes as C};
use temporalex_core::api::common::v1::{
    ActivityType, Payload, Payloads, RetryPolicy, SearchAttributes, WorkflowExecution, WorkflowType,
};
use temporalex_core::api::enums::v1::{CommandType, EventType};
use temporalex_core::api::failure::v1::{ApplicationFailureInfo, Failure, failure::FailureInfo};
use temporalex_core::api::history::v1::{HistoryEvent, history_event::Attributes as A};
use temporalex_core::api::protocol::v1::{Message as ProtocolMessage, message::SequencingId};
use temporalex_core::api::taskqueue::v1::{StickyExecutionAttributes, TaskQueue};
use temporalex_core::api::update::v1::{self as up, outcome::Value};
use temporalex_core::api::workflowservice::v1::*;

pub fn queue(name: &str) -> TaskQueue {
    TaskQueue { name: name.into(), kind: 1, normal_name: String::new() }
}

pub fn exec(id: &str, run: &str) -> WorkflowExecution {
    WorkflowExecution { workflow_id: id.into(), run_id: run.into() }
}

pub fn payload(text: &str) -> Payload {
    let metadata = [("encoding".to_string(), b"json/plain".to_vec())].into();
    Payload { metadata, data: text.as_bytes().to_vec() }
}

/// Search attributes by name and JSON.
pub fn attributes(fields: &[(&str, &str)]) -> Option<SearchAttributes> {
    let indexed_fields = fields.iter().map(|(name, json)| (name.to_string(), payload(json))).collect();
    Some(SearchAttributes { indexed_fields })
}

pub fn json(text: &str) -> Payloads {
    Payloads { payloads: vec![payload(text)] }
}

pub fn failure(kind: &str, message: &str) -> Failure {
    Failure {
        message: message.into(),
        source: "test".into(),
        failure_info: Some(FailureInfo::ApplicationFailureInfo(ApplicationFailureInfo {
            r#type: kind.into(),
            ..Default::default()
        })),
        ..Default::default()
    }
}

pub fn dur(ms: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds: ms / 1000, nanos: (ms % 1000 * 1_000_000) as i32 })
}

pub fn command(kind: CommandType, attributes: C) -> Command {
    Command { command_type: kind as i32, attributes: Some(attributes), ..Default::default() }
}

pub fn timer(id: &str, ms: i64) -> Command {
    let a = cmd::StartTimerCommandAttributes { timer_id: id.into(), start_to_fire_timeout: dur(ms) };
    command(CommandType::StartTimer, C::StartTimerCommandAttributes(a))
}

pub fn cancel_timer(id: &str) -> Command {
    command(CommandType::CancelTimer, C::CancelTimerCommandAttributes(cmd::CancelTimerCommandAttributes { timer_id: id.into() }))
}

pub fn activity_attrs(id: &str) -> cmd::ScheduleActivityTaskCommandAttributes {
    cmd::ScheduleActivityTaskCommandAttributes {
        activity_id: id.into(),
        activity_type: Some(ActivityType { name: "act".into() }),
        task_queue: Some(queue(QUEUE)),
        input: Some(json("\"in\"")),
        start_to_close_timeout: dur(10_000),
        ..Default::default()
    }
}

pub fn activity(id: &str) -> Command {
    activity_with(id, |_| {})
}

pub fn activity_with(id: &str, change: impl FnOnce(&mut cmd::ScheduleActivityTaskCommandAttributes)) -> Command {
    let mut a = activity_attrs(id);
    change(&mut a);
    command(CommandType::ScheduleActivityTask, C::ScheduleActivityTaskCommandAttributes(a))
}

pub fn cancel_activity(scheduled_event_id: i64) -> Command {
    let a = cmd::RequestCancelActivityTaskCommandAttributes { scheduled_event_id };
    command(CommandType::RequestCancelActivityTask, C::RequestCancelActivityTaskCommandAttributes(a))
}

/// A child on a queue that is named as its workflow id.
pub fn child(id: &str) -> Command {
    child_with(id, |_| {})
}

pub fn child_with(id: &str, change: impl FnOnce(&mut cmd::StartChildWorkflowExecutionCommandAttributes)) -> Command {
    let mut a = cmd::StartChildWorkflowExecutionCommandAttributes {
        workflow_id: id.into(),
        workflow_type: Some(WorkflowType { name: "Child".into() }),
        task_queue: Some(queue(id)),
        input: Some(json("\"in\"")),
        ..Default::default()
    };
    change(&mut a);
    command(CommandType::StartChildWorkflowExecution, C::StartChildWorkflowExecutionCommandAttributes(a))
}

pub fn signal_external(id: &str, name: &str, child_only: bool) -> Command {
    let a = cmd::SignalExternalWorkflowExecutionCommandAttributes {
        execution: Some(exec(id, "")),
        signal_name: name.into(),
        input: Some(json("5")),
        child_workflow_only: child_only,
        ..Default::default()
    };
    command(CommandType::SignalExternalWorkflowExecution, C::SignalExternalWorkflowExecutionCommandAttributes(a))
}

pub fn cancel_external(id: &str, child_only: bool) -> Command {
    let a = cmd::RequestCancelExternalWorkflowExecutionCommandAttributes {
        workflow_id: id.into(),
        child_workflow_only: child_only,
        reason: "enough".into(),
        ..Default::default()
    };
    command(CommandType::RequestCancelExternalWorkflowExecution, C::RequestCancelExternalWorkflowExecutionCommandAttributes(a))
}

pub fn marker(name: &str) -> Command {
    let a = cmd::RecordMarkerCommandAttributes {
        marker_name: name.into(),
        details: [("data".to_string(), json("7"))].into(),
        ..Default::default()
    };
    command(CommandType::RecordMarker, C::RecordMarkerCommandAttributes(a))
}

pub fn done() -> Command {
    let a = cmd::CompleteWorkflowExecutionCommandAttributes { result: Some(json("\"done\"")) };
    command(CommandType::CompleteWorkflowExecution, C::CompleteWorkflowExecutionCommandAttributes(a))
}

pub fn fail_workflow(f: Failure) -> Command {
    let a = cmd::FailWorkflowExecutionCommandAttributes { failure: Some(f) };
    command(CommandType::FailWorkflowExecution, C::FailWorkflowExecutionCommandAttributes(a))
}

pub fn cancel_workflow() -> Command {
    let a = cmd::CancelWorkflowExecutionCommandAttributes::default();
    command(CommandType::CancelWorkflowExecution, C::CancelWorkflowExecutionCommandAttributes(a))
}

pub fn continue_as_new(change: impl FnOnce(&mut cmd::ContinueAsNewWorkflowExecutionCommandAttributes)) -> Command {
    let mut a = cmd::ContinueAsNewWorkflowExecutionCommandAttributes { input: Some(json("2")), ..Default::default() };
    change(&mut a);
    command(CommandType::ContinueAsNewWorkflowExecution, C::ContinueAsNewWorkflowExecutionCommandAttributes(a))
}

pub fn protocol(message_id: &str) -> Command {
    let a = cmd::ProtocolMessageCommandAttributes { message_id: message_id.into() };
    command(CommandType::ProtocolMessage, C::ProtocolMessageCommandAttributes(a))
}

pub fn sticky(mut r: RespondWorkflowTaskCompletedRequest) -> RespondWorkflowTaskCompletedRequest {
    let q = TaskQueue { name: STICKY.into(), kind: 2, normal_name: QUEUE.into() };
    r.sticky_attributes = Some(StickyExecutionAttributes { worker_task_queue: Some(q), schedule_to_start_timeout: dur(10_000) });
    r.return_new_workflow_task = true;
    r.capabilities =
        Some(respond_workflow_task_completed_request::Capabilities { discard_speculative_workflow_task_with_events: true });
    r
}

pub fn retry_policy(attempts: i32) -> Option<RetryPolicy> {
    Some(RetryPolicy { maximum_attempts: attempts, ..Default::default() })
}

pub fn events(task: &PollWorkflowTaskQueueResponse) -> &[HistoryEvent] {
    task.history.as_ref().map(|h| h.events.as_slice()).unwrap_or_default()
}

/// "WorkflowTaskScheduled" -> "WTScheduled" and so on.
pub fn name(e: &HistoryEvent) -> String {
    let full = format!("{:?}", EventType::try_from(e.event_type).expect("an event type"));
    full.replace("WorkflowExecution", "").replace("WorkflowTask", "WT").replace("ActivityTask", "Act")
}

pub fn shape(events: &[HistoryEvent]) -> String {
    events.iter().map(name).collect::<Vec<_>>().join(" ")
}

pub fn find(events: &[HistoryEvent], kind: EventType) -> &HistoryEvent {
    events.iter().rfind(|e| e.event_type == kind as i32).unwrap_or_else(|| panic!("no {kind:?} in {}", shape(events)))
}

pub fn messages(task: &PollWorkflowTaskQueueResponse) -> &[ProtocolMessage] {
    &task.messages
}

pub fn attrs(e: &HistoryEvent) -> &A {
    e.attributes.as_ref().expect("attributes")
}

// ------------------------------------------------------------------------------------------------------------- updates

pub fn update_request(id: &str, update: &str, stage: i32) -> UpdateWorkflowExecutionRequest {
    UpdateWorkflowExecutionRequest {
        namespace: "default".into(),
        workflow_execution: Some(exec(id, "")),
        wait_policy: Some(up::WaitPolicy { lifecycle_stage: stage }),
        request: Some(up::Request {
            meta: Some(up::Meta { update_id: update.into(), identity: "client".into() }),
            input: Some(up::Input { name: "set".into(), args: Some(json("5")), ..Default::default() }),
            ..Default::default()
        }),
        ..Default::default()
    }
}

pub fn request_of(m: &ProtocolMessage) -> up::Request {
    let body = m.body.as_ref().expect("a body");
    assert_eq!(body.type_url, "type.googleapis.com/temporal.api.update.v1.Request");
    up::Request::decode(body.value.as_slice()).expect("a request")
}

fn any_of(kind: &str, m: &impl Message) -> Option<prost_types::Any> {
    Some(prost_types::Any { type_url: format!("type.googleapis.com/temporal.api.update.v1.{kind}"), value: m.encode_to_vec() })
}

pub fn accept(m: &ProtocolMessage) -> ProtocolMessage {
    let Some(SequencingId::EventId(seq)) = m.sequencing_id else { panic!("a sequencing id") };
    let body = up::Acceptance {
        accepted_request_message_id: m.id.clone(),
        accepted_request_sequencing_event_id: seq,
        accepted_request: Some(request_of(m)),
    };
    ProtocolMessage {
        id: format!("{}/accept", m.id),
        protocol_instance_id: m.protocol_instance_id.clone(),
        body: any_of("Acceptance", &body),
        sequencing_id: None,
    }
}

pub fn answer(update: &str, result: &str) -> ProtocolMessage {
    let body = up::Response {
        meta: Some(up::Meta { update_id: update.into(), identity: "client".into() }),
        outcome: Some(up::Outcome { value: Some(Value::Success(json(result))) }),
    };
    ProtocolMessage {
        id: format!("{update}/complete"),
        protocol_instance_id: update.into(),
        body: any_of("Response", &body),
        sequencing_id: None,
    }
}

pub fn reject(m: &ProtocolMessage) -> ProtocolMessage {
    let Some(SequencingId::EventId(seq)) = m.sequencing_id else { panic!("a sequencing id") };
    let body = up::Rejection {
        rejected_request_message_id: m.id.clone(),
        rejected_request_sequencing_event_id: seq,
        rejected_request: Some(request_of(m)),
        failure: Some(failure("Invalid", "no")),
    };
    ProtocolMessage {
        id: format!("{}/reject", m.id),
        protocol_instance_id: m.protocol_instance_id.clone(),
        body: any_of("Rejection", &body),
        sequencing_id: None,
    }
}
