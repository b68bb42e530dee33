//! Operations of Nexus services, in a history. Each is known by its operation's name, at endpoint "e" and service "s"; the token of
//! operation "o" is "o-token".
use temporalex_core::api::common::v1::Payload;
use temporalex_core::api::enums::v1::EventType;
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::*;

use super::history::HistoryBuilder;

impl HistoryBuilder {
    pub fn nexus_scheduled(self, operation: &str) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::NexusOperationScheduled,
            Attributes::NexusOperationScheduledEventAttributes(NexusOperationScheduledEventAttributes {
                endpoint: "e".into(),
                service: "s".into(),
                operation: operation.into(),
                workflow_task_completed_event_id,
                ..Default::default()
            }),
        )
        .remember("nexus", operation)
    }

    pub fn nexus_started(self, operation: &str) -> Self {
        let scheduled_event_id = self.recall("nexus", operation);
        self.add(
            EventType::NexusOperationStarted,
            Attributes::NexusOperationStartedEventAttributes(NexusOperationStartedEventAttributes {
                scheduled_event_id,
                operation_token: format!("{operation}-token"),
                ..Default::default()
            }),
        )
    }

    pub fn nexus_completed(self, operation: &str, result: Option<Payload>) -> Self {
        let scheduled_event_id = self.recall("nexus", operation);
        self.add(
            EventType::NexusOperationCompleted,
            Attributes::NexusOperationCompletedEventAttributes(NexusOperationCompletedEventAttributes {
                scheduled_event_id,
                result,
                ..Default::default()
            }),
        )
    }

    pub fn nexus_failed(self, operation: &str, failure: Option<Failure>) -> Self {
        let scheduled_event_id = self.recall("nexus", operation);
        self.add(
            EventType::NexusOperationFailed,
            Attributes::NexusOperationFailedEventAttributes(NexusOperationFailedEventAttributes {
                scheduled_event_id,
                failure,
                ..Default::default()
            }),
        )
    }

    pub fn nexus_timed_out(self, operation: &str, failure: Option<Failure>) -> Self {
        let scheduled_event_id = self.recall("nexus", operation);
        self.add(
            EventType::NexusOperationTimedOut,
            Attributes::NexusOperationTimedOutEventAttributes(NexusOperationTimedOutEventAttributes {
                scheduled_event_id,
                failure,
                ..Default::default()
            }),
        )
    }

    pub fn nexus_canceled(self, operation: &str, failure: Option<Failure>) -> Self {
        let scheduled_event_id = self.recall("nexus", operation);
        self.add(
            EventType::NexusOperationCanceled,
            Attributes::NexusOperationCanceledEventAttributes(NexusOperationCanceledEventAttributes {
                scheduled_event_id,
                failure,
                ..Default::default()
            }),
        )
    }

    pub fn nexus_cancel_requested(self, operation: &str) -> Self {
        let scheduled_event_id = self.recall("nexus", operation);
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::NexusOperationCancelRequested,
            Attributes::NexusOperationCancelRequestedEventAttributes(NexusOperationCancelRequestedEventAttributes {
                scheduled_event_id,
                workflow_task_completed_event_id,
            }),
        )
    }

    pub fn nexus_cancel_delivered(self, operation: &str) -> Self {
        let scheduled_event_id = self.recall("nexus", operation);
        self.add(
            EventType::NexusOperationCancelRequestCompleted,
            Attributes::NexusOperationCancelRequestCompletedEventAttributes(
                NexusOperationCancelRequestCompletedEventAttributes { scheduled_event_id, ..Default::default() },
            ),
        )
    }

    pub fn nexus_cancel_failed(self, operation: &str, failure: Option<Failure>) -> Self {
        let scheduled_event_id = self.recall("nexus", operation);
        self.add(
            EventType::NexusOperationCancelRequestFailed,
            Attributes::NexusOperationCancelRequestFailedEventAttributes(NexusOperationCancelRequestFailedEventAttributes {
                scheduled_event_id,
                failure,
                ..Default::default()
            }),
        )
    }
}
