//! Signals, updates and ends of a workflow, in a history.
use temporalex_core::api::common::v1::WorkflowType;
use temporalex_core::api::enums::v1::{EventType, RetryState};
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::*;
use temporalex_core::api::update::v1::{Meta, Outcome, Request, outcome};

use super::history::*;

impl HistoryBuilder {
    /// A signal with one argument, its own name as a JSON string.
    pub fn signal(self, name: &str) -> Self {
        self.add(
            EventType::WorkflowExecutionSignaled,
            Attributes::WorkflowExecutionSignaledEventAttributes(WorkflowExecutionSignaledEventAttributes {
                signal_name: name.into(),
                input: Some(payloads([json(&format!("\"{name}\""))])),
                identity: "client".into(),
                ..Default::default()
            }),
        )
    }

    pub fn cancel_requested(self, cause: &str) -> Self {
        self.add(
            EventType::WorkflowExecutionCancelRequested,
            Attributes::WorkflowExecutionCancelRequestedEventAttributes(WorkflowExecutionCancelRequestedEventAttributes {
                cause: cause.into(),
                identity: "client".into(),
                ..Default::default()
            }),
        )
    }

    pub fn update_admitted(self, update_id: &str, name: &str) -> Self {
        self.add(
            EventType::WorkflowExecutionUpdateAdmitted,
            Attributes::WorkflowExecutionUpdateAdmittedEventAttributes(WorkflowExecutionUpdateAdmittedEventAttributes {
                request: Some(update_request(update_id, name)),
                ..Default::default()
            }),
        )
    }

    /// Accepted on the task that is the last one: sequenced right before its start.
    pub fn update_accepted(self, update_id: &str, name: &str) -> Self {
        let sequencing = self.task_started - 1;
        self.update_accepted_at(update_id, name, sequencing)
    }

    pub fn update_accepted_at(self, update_id: &str, name: &str, sequencing: i64) -> Self {
        self.update_accepted_with(update_id, sequencing, Some(update_request(update_id, name)))
    }

    pub fn update_accepted_with(self, update_id: &str, sequencing: i64, request: Option<Request>) -> Self {
        self.add(
            EventType::WorkflowExecutionUpdateAccepted,
            Attributes::WorkflowExecutionUpdateAcceptedEventAttributes(WorkflowExecutionUpdateAcceptedEventAttributes {
                protocol_instance_id: update_id.into(),
                accepted_request_message_id: format!("{update_id}/request"),
                accepted_request_sequencing_event_id: sequencing,
                accepted_request: request,
            }),
        )
        .remember("update", update_id)
    }

    pub fn update_completed(self, update_id: &str) -> Self {
        self.update_completed_with(update_id, outcome::Value::Success(payloads([json("\"done\"")])))
    }

    pub fn update_completed_with(self, update_id: &str, value: outcome::Value) -> Self {
        let accepted_event_id = self.recall("update", update_id);
        self.add(
            EventType::WorkflowExecutionUpdateCompleted,
            Attributes::WorkflowExecutionUpdateCompletedEventAttributes(WorkflowExecutionUpdateCompletedEventAttributes {
                meta: Some(Meta { update_id: update_id.into(), identity: "client".into() }),
                accepted_event_id,
                outcome: Some(Outcome { value: Some(value) }),
            }),
        )
    }

    // ----------------------------------------------------------------------------------------------- end of the run

    pub fn wf_completed(self) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::WorkflowExecutionCompleted,
            Attributes::WorkflowExecutionCompletedEventAttributes(WorkflowExecutionCompletedEventAttributes {
                result: Some(payloads([json("null")])),
                workflow_task_completed_event_id,
                ..Default::default()
            }),
        )
    }

    pub fn wf_failed(self, why: Failure) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::WorkflowExecutionFailed,
            Attributes::WorkflowExecutionFailedEventAttributes(WorkflowExecutionFailedEventAttributes {
                failure: Some(why),
                workflow_task_completed_event_id,
                ..Default::default()
            }),
        )
    }

    pub fn wf_canceled(self) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::WorkflowExecutionCanceled,
            Attributes::WorkflowExecutionCanceledEventAttributes(WorkflowExecutionCanceledEventAttributes {
                workflow_task_completed_event_id,
                details: None,
            }),
        )
    }

    pub fn wf_continued_as_new(self) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::WorkflowExecutionContinuedAsNew,
            Attributes::WorkflowExecutionContinuedAsNewEventAttributes(Box::new(
                WorkflowExecutionContinuedAsNewEventAttributes {
                    new_execution_run_id: "next-run".into(),
                    workflow_type: Some(WorkflowType { name: WORKFLOW_TYPE.into() }),
                    workflow_task_completed_event_id,
                    ..Default::default()
                },
            )),
        )
    }

    pub fn wf_terminated(self) -> Self {
        self.add(
            EventType::WorkflowExecutionTerminated,
            Attributes::WorkflowExecutionTerminatedEventAttributes(WorkflowExecutionTerminatedEventAttributes {
                reason: "enough".into(),
                ..Default::default()
            }),
        )
    }

    pub fn wf_timed_out(self) -> Self {
        self.add(
            EventType::WorkflowExecutionTimedOut,
            Attributes::WorkflowExecutionTimedOutEventAttributes(WorkflowExecutionTimedOutEventAttributes {
                retry_state: RetryState::Timeout as i32,
                ..Default::default()
            }),
        )
    }
}
