//! Links of a request to events of other workflows. Those of a start are kept; malformed ones are rejected as on a server. The response
//! to a start links to the first event of its run.
use crate::api::enums::v1::EventType;
use crate::engine::message::message;
use crate::engine::rpc::{self, Rpc};

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

pub fn check(links: &[Link]) -> Rpc<()> {
    for event in links.iter().filter_map(|link| link.workflow_event.as_ref()) {
        for (what, value) in [("namespace", &event.namespace), ("workflow ID", &event.workflow_id), ("run ID", &event.run_id)] {
            if value.is_empty() {
                return Err(rpc::invalid(format!("workflow event link must not have an empty {what} field")));
            }
        }
        if event.event_ref.as_ref().is_some_and(|r| r.event_id != 0 && r.event_type == 0) {
            let text = "workflow event link ref cannot have an unspecified event type and a non-zero event ID";
            return Err(rpc::invalid(text));
        }
    }
    Ok(())
}
