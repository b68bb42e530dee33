//! Children, signals to other workflows and requests to cancel them: the part of the builder that is about more than one workflow.
//! Each is known by the workflow id that it is for; children are of type "child", and the run of child "c" is "c-run".
use temporalex_core::api::common::v1::{Payloads, WorkflowExecution, WorkflowType};
use temporalex_core::api::enums::v1::{
    CancelExternalWorkflowExecutionFailedCause, EventType, RetryState, SignalExternalWorkflowExecutionFailedCause,
    StartChildWorkflowExecutionFailedCause,
};
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::*;

use super::history::{HistoryBuilder, json, payloads};

fn execution(id: &str) -> Option<WorkflowExecution> {
    Some(WorkflowExecution { workflow_id: id.into(), run_id: format!("{id}-run") })
}

fn kind() -> Option<WorkflowType> {
    Some(WorkflowType { name: "child".into() })
}

impl HistoryBuilder {
    pub fn child_initiated(self, id: &str) -> Self {
        self.child_initiated_as(id, "child")
    }

    pub fn child_initiated_as(self, id: &str, workflow_type: &str) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::StartChildWorkflowExecutionInitiated,
            Attributes::StartChildWorkflowExecutionInitiatedEventAttributes(Box::new(
                StartChildWorkflowExecutionInitiatedEventAttributes {
                    namespace: "ns".into(),
                    workflow_id: id.into(),
                    workflow_type: Some(WorkflowType { name: workflow_type.into() }),
                    workflow_task_completed_event_id,
                    ..Default::default()
                },
            )),
        )
        .remember("child", id)
    }

    pub fn child_started(self, id: &str) -> Self {
        let initiated_event_id = self.recall("child", id);
        self.add(
            EventType::ChildWorkflowExecutionStarted,
            Attributes::ChildWorkflowExecutionStartedEventAttributes(ChildWorkflowExecutionStartedEventAttributes {
                namespace: "ns".into(),
                initiated_event_id,
                workflow_execution: execution(id),
                workflow_type: kind(),
                ..Default::default()
            }),
        )
        .remember("child started", id)
    }

    pub fn child_start_failed(self, id: &str, cause: StartChildWorkflowExecutionFailedCause) -> Self {
        let initiated_event_id = self.recall("child", id);
        self.add(
            EventType::StartChildWorkflowExecutionFailed,
            Attributes::StartChildWorkflowExecutionFailedEventAttributes(StartChildWorkflowExecutionFailedEventAttributes {
                namespace: "ns".into(),
                workflow_id: id.into(),
                workflow_type: kind(),
                cause: cause as i32,
                initiated_event_id,
                ..Default::default()
            }),
        )
    }

    /// With `"ok"`.
    pub fn child_completed(self, id: &str) -> Self {
        self.child_completed_with(id, Some(payloads([json("\"ok\"")])))
    }

    pub fn child_completed_with(self, id: &str, result: Option<Payloads>) -> Self {
        let (initiated_event_id, started_event_id) = self.ids_of_child(id);
        self.add(
            EventType::ChildWorkflowExecutionCompleted,
            Attributes::ChildWorkflowExecutionCompletedEventAttributes(ChildWorkflowExecutionCompletedEventAttributes {
                result,
                workflow_execution: execution(id),
                initiated_event_id,
                started_event_id,
                ..Default::default()
            }),
        )
    }

    pub fn child_failed(self, id: &str, why: Failure, retry_state: RetryState) -> Self {
        let (initiated_event_id, started_event_id) = self.ids_of_child(id);
        self.add(
            EventType::ChildWorkflowExecutionFailed,
            Attributes::ChildWorkflowExecutionFailedEventAttributes(Box::new(ChildWorkflowExecutionFailedEventAttributes {
                failure: Some(why),
                workflow_execution: execution(id),
                initiated_event_id,
                started_event_id,
                retry_state: retry_state as i32,
                ..Default::default()
            })),
        )
    }

    pub fn child_canceled(self, id: &str) -> Self {
        let (initiated_event_id, started_event_id) = self.ids_of_child(id);
        self.add(
            EventType::ChildWorkflowExecutionCanceled,
            Attributes::ChildWorkflowExecutionCanceledEventAttributes(ChildWorkflowExecutionCanceledEventAttributes {
                workflow_execution: execution(id),
                initiated_event_id,
                started_event_id,
                ..Default::default()
            }),
        )
    }

    pub fn child_timed_out(self, id: &str, retry_state: RetryState) -> Self {
        let (initiated_event_id, started_event_id) = self.ids_of_child(id);
        self.add(
            EventType::ChildWorkflowExecutionTimedOut,
            Attributes::ChildWorkflowExecutionTimedOutEventAttributes(ChildWorkflowExecutionTimedOutEventAttributes {
                workflow_execution: execution(id),
                initiated_event_id,
                started_event_id,
                retry_state: retry_state as i32,
                ..Default::default()
            }),
        )
    }

    pub fn child_terminated(self, id: &str) -> Self {
        let (initiated_event_id, started_event_id) = self.ids_of_child(id);
        self.add(
            EventType::ChildWorkflowExecutionTerminated,
            Attributes::ChildWorkflowExecutionTerminatedEventAttributes(ChildWorkflowExecutionTerminatedEventAttributes {
                workflow_execution: execution(id),
                initiated_event_id,
                started_event_id,
                ..Default::default()
            }),
        )
    }

    fn ids_of_child(&self, id: &str) -> (i64, i64) {
        (self.recall("child", id), self.recall("child started", id))
    }

    pub fn signal_initiated(self, id: &str) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::SignalExternalWorkflowExecutionInitiated,
            Attributes::SignalExternalWorkflowExecutionInitiatedEventAttributes(
                SignalExternalWorkflowExecutionInitiatedEventAttributes {
                    workflow_task_completed_event_id,
                    workflow_execution: execution(id),
                    signal_name: "hello".into(),
                    ..Default::default()
                },
            ),
        )
        .remember("signal", id)
    }

    pub fn signal_delivered(self, id: &str) -> Self {
        let initiated_event_id = self.recall("signal", id);
        self.add(
            EventType::ExternalWorkflowExecutionSignaled,
            Attributes::ExternalWorkflowExecutionSignaledEventAttributes(ExternalWorkflowExecutionSignaledEventAttributes {
                initiated_event_id,
                workflow_execution: execution(id),
                ..Default::default()
            }),
        )
    }

    pub fn signal_failed(self, id: &str, cause: SignalExternalWorkflowExecutionFailedCause) -> Self {
        let initiated_event_id = self.recall("signal", id);
        self.add(
            EventType::SignalExternalWorkflowExecutionFailed,
            Attributes::SignalExternalWorkflowExecutionFailedEventAttributes(
                SignalExternalWorkflowExecutionFailedEventAttributes {
                    cause: cause as i32,
                    workflow_execution: execution(id),
                    initiated_event_id,
                    ..Default::default()
                },
            ),
        )
    }

    pub fn cancel_initiated(self, id: &str, child_workflow_only: bool) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::RequestCancelExternalWorkflowExecutionInitiated,
            Attributes::RequestCancelExternalWorkflowExecutionInitiatedEventAttributes(
                RequestCancelExternalWorkflowExecutionInitiatedEventAttributes {
                    workflow_task_completed_event_id,
                    workflow_execution: execution(id),
                    child_workflow_only,
                    ..Default::default()
                },
            ),
        )
        .remember("cancel", id)
    }

    pub fn cancel_delivered(self, id: &str) -> Self {
        let initiated_event_id = self.recall("cancel", id);
        self.add(
            EventType::ExternalWorkflowExecutionCancelRequested,
            Attributes::ExternalWorkflowExecutionCancelRequestedEventAttributes(
                ExternalWorkflowExecutionCancelRequestedEventAttributes {
                    initiated_event_id,
                    workflow_execution: execution(id),
                    ..Default::default()
                },
            ),
        )
    }

    pub fn cancel_failed(self, id: &str, cause: CancelExternalWorkflowExecutionFailedCause) -> Self {
        let initiated_event_id = self.recall("cancel", id);
        self.add(
            EventType::RequestCancelExternalWorkflowExecutionFailed,
            Attributes::RequestCancelExternalWorkflowExecutionFailedEventAttributes(
                RequestCancelExternalWorkflowExecutionFailedEventAttributes {
                    cause: cause as i32,
                    workflow_execution: execution(id),
                    initiated_event_id,
                    ..Default::default()
                },
            ),
        )
    }
}
