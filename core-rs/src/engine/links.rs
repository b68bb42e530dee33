//! Links of responses and outcomes to the event that started a run, or that attached a request to it.
use super::message::message;
use crate::api::enums::v1::EventType;

message! {
    Link: common::Link { workflow_event msg(WorkflowEvent), }
    WorkflowEvent: common::LinkWorkflowEvent {
        namespace str, workflow_id str, run_id str, event_ref msg(EventReference), request_id_ref msg(RequestReference),
    }
    RequestReference: common::LinkWorkflowEventRequestIdReference { request_id str, event_type i32, }
    EventReference: common::LinkWorkflowEventEventReference { event_id i64, event_type i32, }
}

/// To the WorkflowExecutionStarted event of a run.
pub fn to_start(namespace: &str, workflow_id: &str, run_id: &str) -> Link {
    let started = EventReference { event_id: 1, event_type: EventType::WorkflowExecutionStarted as i32 };
    Link {
        workflow_event: Some(WorkflowEvent {
            namespace: namespace.into(),
            workflow_id: workflow_id.into(),
            run_id: run_id.into(),
            event_ref: Some(started),
            request_id_ref: None,
        }),
    }
}

/// To the WorkflowExecutionOptionsUpdated event that attached the request to a run.
pub fn to_attached(namespace: &str, workflow_id: &str, run_id: &str, request_id: &str) -> Link {
    let event_type = EventType::WorkflowExecutionOptionsUpdated as i32;
    let request_id_ref = Some(RequestReference { request_id: request_id.into(), event_type });
    let mut link = to_start(namespace, workflow_id, run_id);
    if let Some(event) = &mut link.workflow_event {
        *event = WorkflowEvent { event_ref: None, request_id_ref, ..std::mem::take(event) };
    }
    link
}
