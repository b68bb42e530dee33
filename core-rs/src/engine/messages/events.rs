//! Attributes of history events, each with its type of event.
use super::common::*;
use super::updates::*;
use super::versioning::{AutoUpgradeInfo, Version};
use crate::api::enums::v1::EventType;
use crate::engine::codec::Wire;
use crate::engine::message::message;
use crate::proto::fields::history as fields;

/// Attributes of one type of event.
pub trait Attributes: Wire {
    const KIND: EventType;
    /// Their field in HistoryEvent.
    const FIELD: u32;
}

/// Attributes of the event that ends an activity or a child: they name its Started event, whose id is not known while both are
/// buffered.
pub trait Ending: Attributes {
    /// Their field `started_event_id`.
    const STARTED: u32;
}

/// As `message!`, for messages of temporal.api.history.v1.
macro_rules! events {
    ($($name:ident: $message:ident { $($fields:tt)* })*) => {
        message! { $($name: history::$message { $($fields)* })* }
        $(impl Attributes for $name {
            const KIND: EventType = fields::$message::EVENT.0;
            const FIELD: u32 = fields::$message::EVENT.1;
        })*
    };
}

macro_rules! ends {
    ($($name:ident: $message:ident,)*) => {
        $(impl Ending for $name {
            const STARTED: u32 = fields::$message::started_event_id;
        })*
    };
}

events! {
    StartedAttrs: WorkflowExecutionStartedEventAttributes {
        workflow_type msg(Named), parent_workflow_namespace str, parent_workflow_execution msg(WorkflowExecution),
        parent_initiated_event_id i64, task_queue msg(TaskQueue), input payloads, workflow_execution_timeout dur,
        workflow_run_timeout dur, workflow_task_timeout dur, continued_execution_run_id str, initiator i32,
        continued_failure failure, last_completion_result payloads, original_execution_run_id str, identity str,
        first_execution_run_id str, retry_policy msg(RetryPolicy), attempt i32, workflow_execution_expiration_time ts,
        cron_schedule str, first_workflow_task_backoff dur, memo fields, search_attributes fields,
        prev_auto_reset_points raw(ANY), header fields, parent_workflow_namespace_id str, workflow_id str,
        completion_callbacks raws(CALLBACK), root_workflow_execution msg(WorkflowExecution), versioning_override raw(ANY),
        priority raw(PRIORITY), inherited_pinned_version msg(Version), eager_execution_accepted bool,
        inherited_auto_upgrade_info msg(AutoUpgradeInfo),
    }
    CompletedAttrs: WorkflowExecutionCompletedEventAttributes {
        result payloads, workflow_task_completed_event_id i64, new_execution_run_id str,
    }
    FailedAttrs: WorkflowExecutionFailedEventAttributes {
        failure failure, retry_state i32, workflow_task_completed_event_id i64, new_execution_run_id str,
    }
    TimedOutAttrs: WorkflowExecutionTimedOutEventAttributes { retry_state i32, new_execution_run_id str, }
    ContinuedAsNewAttrs: WorkflowExecutionContinuedAsNewEventAttributes {
        new_execution_run_id str, workflow_type msg(Named), task_queue msg(TaskQueue), input payloads, workflow_run_timeout dur,
        workflow_task_timeout dur, workflow_task_completed_event_id i64, backoff_start_interval dur, initiator i32,
        failure failure, last_completion_result payloads, header fields, memo fields, search_attributes fields,
        inherit_build_id bool, initial_versioning_behavior i32,
    }
    TaskScheduledAttrs: WorkflowTaskScheduledEventAttributes {
        task_queue msg(TaskQueue), start_to_close_timeout dur, attempt i32,
    }
    TaskStartedAttrs: WorkflowTaskStartedEventAttributes {
        scheduled_event_id i64, identity str, request_id str, suggest_continue_as_new bool, history_size_bytes i64,
        worker_version msg(WorkerVersionStamp), suggest_continue_as_new_reasons u32s,
    }
    TaskCompletedAttrs: WorkflowTaskCompletedEventAttributes {
        scheduled_event_id i64, started_event_id i64, identity str, binary_checksum str, worker_version msg(WorkerVersionStamp),
        sdk_metadata raw(SDK_METADATA), versioning_behavior i32, worker_deployment_version str, worker_deployment_name str,
        deployment_version msg(Version), metering_metadata raw(METERING),
    }
    TaskTimedOutAttrs: WorkflowTaskTimedOutEventAttributes {
        scheduled_event_id i64, started_event_id i64, timeout_type i32,
    }
    TaskFailedAttrs: WorkflowTaskFailedEventAttributes {
        scheduled_event_id i64, started_event_id i64, cause i32, failure failure, identity str, base_run_id str, new_run_id str,
        fork_event_version i64, binary_checksum str,
    }
    ActivityScheduledAttrs: ActivityTaskScheduledEventAttributes {
        activity_id str, activity_type msg(Named), task_queue msg(TaskQueue), header fields, input payloads,
        schedule_to_close_timeout dur, schedule_to_start_timeout dur, start_to_close_timeout dur, heartbeat_timeout dur,
        workflow_task_completed_event_id i64, retry_policy msg(RetryPolicy), use_workflow_build_id bool, priority raw(PRIORITY),
    }
    ActivityStartedAttrs: ActivityTaskStartedEventAttributes {
        scheduled_event_id i64, identity str, request_id str, attempt i32, last_failure failure,
        worker_version msg(WorkerVersionStamp),
    }
    ActivityCompletedAttrs: ActivityTaskCompletedEventAttributes {
        result payloads, scheduled_event_id i64, started_event_id i64, identity str,
    }
    ActivityFailedAttrs: ActivityTaskFailedEventAttributes {
        failure failure, scheduled_event_id i64, started_event_id i64, identity str, retry_state i32,
    }
    ActivityTimedOutAttrs: ActivityTaskTimedOutEventAttributes {
        failure failure, scheduled_event_id i64, started_event_id i64, retry_state i32,
    }
    ActivityCancelRequestedAttrs: ActivityTaskCancelRequestedEventAttributes {
        scheduled_event_id i64, workflow_task_completed_event_id i64,
    }
    ActivityCanceledAttrs: ActivityTaskCanceledEventAttributes {
        details payloads, latest_cancel_requested_event_id i64, scheduled_event_id i64, started_event_id i64, identity str,
    }
    TimerStartedAttrs: TimerStartedEventAttributes {
        timer_id str, start_to_fire_timeout dur, workflow_task_completed_event_id i64,
    }
    TimerFiredAttrs: TimerFiredEventAttributes { timer_id str, started_event_id i64, }
    TimerCanceledAttrs: TimerCanceledEventAttributes {
        timer_id str, started_event_id i64, workflow_task_completed_event_id i64, identity str,
    }
    CancelRequestedAttrs: WorkflowExecutionCancelRequestedEventAttributes {
        cause str, external_initiated_event_id i64, external_workflow_execution msg(WorkflowExecution), identity str,
    }
    CanceledAttrs: WorkflowExecutionCanceledEventAttributes { workflow_task_completed_event_id i64, details payloads, }
    TerminatedAttrs: WorkflowExecutionTerminatedEventAttributes { reason str, details payloads, identity str, }
    MarkerAttrs: MarkerRecordedEventAttributes {
        marker_name str, details raws(PAYLOADS_ENTRY), workflow_task_completed_event_id i64, header fields, failure failure,
    }
    SignaledAttrs: WorkflowExecutionSignaledEventAttributes {
        signal_name str, input payloads, identity str, header fields, external_workflow_execution msg(WorkflowExecution),
    }
    UpsertAttrs: UpsertWorkflowSearchAttributesEventAttributes {
        workflow_task_completed_event_id i64, search_attributes fields,
    }
    PropertiesModifiedAttrs: WorkflowPropertiesModifiedEventAttributes {
        workflow_task_completed_event_id i64, upserted_memo fields,
    }
    OptionsUpdatedAttrs: WorkflowExecutionOptionsUpdatedEventAttributes {
        versioning_override raw(ANY), unset_versioning_override bool, attached_request_id str,
        attached_completion_callbacks raws(CALLBACK), identity str, priority raw(PRIORITY),
    }
    UpdateAdmittedAttrs: WorkflowExecutionUpdateAdmittedEventAttributes { request raw(UPDATE_REQUEST), origin i32, }
    UpdateAcceptedAttrs: WorkflowExecutionUpdateAcceptedEventAttributes {
        protocol_instance_id str, accepted_request_message_id str, accepted_request_sequencing_event_id i64,
        accepted_request raw(UPDATE_REQUEST),
    }
    ChildInitiatedAttrs: StartChildWorkflowExecutionInitiatedEventAttributes {
        namespace str, workflow_id str, workflow_type msg(Named), task_queue msg(TaskQueue), input payloads,
        workflow_execution_timeout dur, workflow_run_timeout dur, workflow_task_timeout dur, parent_close_policy i32,
        control str, workflow_task_completed_event_id i64, workflow_id_reuse_policy i32, retry_policy msg(RetryPolicy),
        cron_schedule str, header fields, memo fields, search_attributes fields, namespace_id str, inherit_build_id bool,
        priority raw(PRIORITY),
    }
    ChildStartFailedAttrs: StartChildWorkflowExecutionFailedEventAttributes {
        namespace str, workflow_id str, workflow_type msg(Named), cause i32, control str, initiated_event_id i64,
        workflow_task_completed_event_id i64, namespace_id str,
    }
    ChildStartedAttrs: ChildWorkflowExecutionStartedEventAttributes {
        namespace str, initiated_event_id i64, workflow_execution msg(WorkflowExecution), workflow_type msg(Named),
        header fields, namespace_id str,
    }
    ChildCompletedAttrs: ChildWorkflowExecutionCompletedEventAttributes {
        result payloads, namespace str, workflow_execution msg(WorkflowExecution), workflow_type msg(Named),
        initiated_event_id i64, started_event_id i64, namespace_id str,
    }
    ChildFailedAttrs: ChildWorkflowExecutionFailedEventAttributes {
        failure failure, namespace str, workflow_execution msg(WorkflowExecution), workflow_type msg(Named),
        initiated_event_id i64, started_event_id i64, retry_state i32, namespace_id str,
    }
    ChildCanceledAttrs: ChildWorkflowExecutionCanceledEventAttributes {
        details payloads, namespace str, workflow_execution msg(WorkflowExecution), workflow_type msg(Named),
        initiated_event_id i64, started_event_id i64, namespace_id str,
    }
    ChildTimedOutAttrs: ChildWorkflowExecutionTimedOutEventAttributes {
        namespace str, workflow_execution msg(WorkflowExecution), workflow_type msg(Named), initiated_event_id i64,
        started_event_id i64, retry_state i32, namespace_id str,
    }
    ChildTerminatedAttrs: ChildWorkflowExecutionTerminatedEventAttributes {
        namespace str, workflow_execution msg(WorkflowExecution), workflow_type msg(Named), initiated_event_id i64,
        started_event_id i64, namespace_id str,
    }
    CancelInitiatedAttrs: RequestCancelExternalWorkflowExecutionInitiatedEventAttributes {
        workflow_task_completed_event_id i64, namespace str, workflow_execution msg(WorkflowExecution), control str,
        child_workflow_only bool, reason str, namespace_id str,
    }
    CancelFailedAttrs: RequestCancelExternalWorkflowExecutionFailedEventAttributes {
        cause i32, workflow_task_completed_event_id i64, namespace str, workflow_execution msg(WorkflowExecution),
        initiated_event_id i64, control str, namespace_id str,
    }
    SignalFailedAttrs: SignalExternalWorkflowExecutionFailedEventAttributes {
        cause i32, workflow_task_completed_event_id i64, namespace str, workflow_execution msg(WorkflowExecution),
        initiated_event_id i64, control str, namespace_id str,
    }
    ExternalCancelRequestedAttrs: ExternalWorkflowExecutionCancelRequestedEventAttributes {
        initiated_event_id i64, namespace str, workflow_execution msg(WorkflowExecution), namespace_id str,
    }
    SignalInitiatedAttrs: SignalExternalWorkflowExecutionInitiatedEventAttributes {
        workflow_task_completed_event_id i64, namespace str, workflow_execution msg(WorkflowExecution), signal_name str,
        input payloads, control str, child_workflow_only bool, header fields, namespace_id str,
    }
    ExternalSignaledAttrs: ExternalWorkflowExecutionSignaledEventAttributes {
        initiated_event_id i64, namespace str, workflow_execution msg(WorkflowExecution), control str, namespace_id str,
    }
    UpdateCompletedAttrs: WorkflowExecutionUpdateCompletedEventAttributes {
        meta msg(UpdateMeta), outcome raw(OUTCOME), accepted_event_id i64,
    }
    NexusScheduledAttrs: NexusOperationScheduledEventAttributes {
        endpoint str, service str, operation str, input raw(PAYLOAD), schedule_to_close_timeout dur, nexus_header raws(TEXT_ENTRY),
        workflow_task_completed_event_id i64, request_id str, endpoint_id str, schedule_to_start_timeout dur,
        start_to_close_timeout dur,
    }
    NexusStartedAttrs: NexusOperationStartedEventAttributes {
        scheduled_event_id i64, operation_id str, request_id str, operation_token str,
    }
    NexusCompletedAttrs: NexusOperationCompletedEventAttributes { scheduled_event_id i64, result raw(PAYLOAD), request_id str, }
    NexusFailedAttrs: NexusOperationFailedEventAttributes { scheduled_event_id i64, failure failure, request_id str, }
    NexusTimedOutAttrs: NexusOperationTimedOutEventAttributes { scheduled_event_id i64, failure failure, request_id str, }
    NexusCanceledAttrs: NexusOperationCanceledEventAttributes { scheduled_event_id i64, failure failure, request_id str, }
    NexusCancelRequestedAttrs: NexusOperationCancelRequestedEventAttributes {
        scheduled_event_id i64, workflow_task_completed_event_id i64,
    }
    NexusCancelCompletedAttrs: NexusOperationCancelRequestCompletedEventAttributes {
        requested_event_id i64, scheduled_event_id i64,
    }
    NexusCancelFailedAttrs: NexusOperationCancelRequestFailedEventAttributes {
        requested_event_id i64, failure failure, scheduled_event_id i64,
    }
}

ends! {
    ActivityCompletedAttrs: ActivityTaskCompletedEventAttributes,
    ActivityFailedAttrs: ActivityTaskFailedEventAttributes,
    ActivityTimedOutAttrs: ActivityTaskTimedOutEventAttributes,
    ActivityCanceledAttrs: ActivityTaskCanceledEventAttributes,
    ChildCompletedAttrs: ChildWorkflowExecutionCompletedEventAttributes,
    ChildFailedAttrs: ChildWorkflowExecutionFailedEventAttributes,
    ChildCanceledAttrs: ChildWorkflowExecutionCanceledEventAttributes,
    ChildTimedOutAttrs: ChildWorkflowExecutionTimedOutEventAttributes,
    ChildTerminatedAttrs: ChildWorkflowExecutionTerminatedEventAttributes,
}
