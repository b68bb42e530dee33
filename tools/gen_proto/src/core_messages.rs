//! The messages that the replay core reads and writes. `views.rs` turns these lists into readers, writers and checks.

/// Message and fields that are read or carried. Each listed field gets a reader and a row of the check, so what is not checked has no
/// reader. `field!`: a message that is carried as it came, and only checked to be a length-delimited field. A listed field whose
/// message is not listed stops the generator.
pub const READ: &[(&str, &str)] = &[
    ("google.protobuf.Duration", "seconds nanos"),
    ("google.protobuf.Timestamp", "seconds nanos"),
    ("google.protobuf.Any", "type_url value"),
    ("common.Payload.ExternalPayloadDetails", "size_bytes"),
    ("common.Payload", "metadata data external_payloads"),
    ("common.Payloads", "payloads"),
    ("common.Header", "fields"),
    ("common.Memo", "fields"),
    ("common.SearchAttributes", "indexed_fields"),
    ("common.WorkflowExecution", "workflow_id run_id"),
    ("common.WorkflowType", "name"),
    ("common.ActivityType", "name"),
    ("common.RetryPolicy", "initial_interval maximum_interval maximum_attempts non_retryable_error_types"),
    ("common.Priority", "priority_key fairness_key fairness_weight"),
    ("common.WorkerVersionStamp", "build_id"),
    ("deployment.WorkerDeploymentVersion", "build_id deployment_name"),
    ("common.MeteringMetadata", "nonfirst_local_activity_execution_attempts"),
    ("taskqueue.TaskQueue", "name"),
    ("sdk.UserMetadata", "summary details"),
    (
        "sdk.WorkflowTaskCompletedMetadata",
        "core_used_flags lang_used_flags sdk_name sdk_version",
    ),
    ("query.WorkflowQuery", "query_type query_args header"),
    ("update.Meta", "update_id identity"),
    ("update.Input", "header name args"),
    ("update.Request", "meta input request_id completion_callbacks! links!"),
    ("update.Outcome", "success failure"),
    (
        "failure.ApplicationFailureInfo",
        "type non_retryable details next_retry_delay category",
    ),
    ("failure.TimeoutFailureInfo", "timeout_type last_heartbeat_details"),
    ("failure.CanceledFailureInfo", "details identity"),
    ("failure.TerminatedFailureInfo", "identity"),
    ("failure.ServerFailureInfo", "non_retryable"),
    ("failure.ResetWorkflowFailureInfo", "last_heartbeat_details"),
    (
        "failure.ActivityFailureInfo",
        "scheduled_event_id started_event_id identity activity_type activity_id retry_state",
    ),
    (
        "failure.ChildWorkflowExecutionFailureInfo",
        "namespace workflow_execution workflow_type initiated_event_id started_event_id retry_state",
    ),
    (
        "failure.NexusOperationFailureInfo",
        "scheduled_event_id endpoint service operation operation_id operation_token",
    ),
    ("failure.NexusHandlerFailureInfo", "type retry_behavior"),
    (
        "failure.Failure",
        "message source stack_trace cause application_failure_info timeout_failure_info canceled_failure_info \
         terminated_failure_info server_failure_info reset_workflow_failure_info activity_failure_info \
         child_workflow_execution_failure_info nexus_operation_execution_failure_info nexus_handler_failure_info \
         encoded_attributes",
    ),
    ("protocol.Message", "id protocol_instance_id event_id command_index body"),
    (
        "workflowservice.PollWorkflowTaskQueueResponse",
        "task_token workflow_execution workflow_type previous_started_event_id started_event_id attempt history! \
         next_page_token query workflow_execution_task_queue queries messages",
    ),
    ("workflowservice.RespondWorkflowTaskCompletedResponse", "reset_history_event_id"),
    // Attributes of events: these types are known, and a type without fields is only walked over.
    (
        "history.WorkflowExecutionStartedEventAttributes",
        "workflow_type task_queue input workflow_execution_timeout workflow_run_timeout workflow_task_timeout \
         continued_execution_run_id original_execution_run_id first_execution_run_id retry_policy attempt memo \
         search_attributes header",
    ),
    ("history.WorkflowExecutionCompletedEventAttributes", ""),
    ("history.WorkflowExecutionFailedEventAttributes", ""),
    ("history.WorkflowExecutionTimedOutEventAttributes", ""),
    ("history.WorkflowTaskScheduledEventAttributes", ""),
    (
        "history.WorkflowTaskStartedEventAttributes",
        "scheduled_event_id suggest_continue_as_new history_size_bytes suggest_continue_as_new_reasons \
         target_worker_deployment_version_changed",
    ),
    (
        "history.WorkflowTaskCompletedEventAttributes",
        "scheduled_event_id started_event_id binary_checksum worker_version sdk_metadata deployment_version",
    ),
    ("history.WorkflowTaskTimedOutEventAttributes", "scheduled_event_id started_event_id"),
    (
        "history.WorkflowTaskFailedEventAttributes",
        "scheduled_event_id started_event_id cause new_run_id",
    ),
    ("history.ActivityTaskScheduledEventAttributes", "activity_id activity_type"),
    ("history.ActivityTaskStartedEventAttributes", "scheduled_event_id"),
    (
        "history.ActivityTaskCompletedEventAttributes",
        "result scheduled_event_id started_event_id",
    ),
    (
        "history.ActivityTaskFailedEventAttributes",
        "failure scheduled_event_id started_event_id identity retry_state",
    ),
    (
        "history.ActivityTaskTimedOutEventAttributes",
        "failure scheduled_event_id started_event_id retry_state",
    ),
    ("history.ActivityTaskCancelRequestedEventAttributes", "scheduled_event_id"),
    (
        "history.ActivityTaskCanceledEventAttributes",
        "details latest_cancel_requested_event_id scheduled_event_id started_event_id identity",
    ),
    ("history.TimerStartedEventAttributes", "timer_id"),
    ("history.TimerFiredEventAttributes", "timer_id started_event_id"),
    ("history.TimerCanceledEventAttributes", "timer_id started_event_id"),
    ("history.MarkerRecordedEventAttributes", "marker_name details failure"),
    (
        "history.WorkflowExecutionSignaledEventAttributes",
        "signal_name input identity header",
    ),
    ("history.WorkflowExecutionTerminatedEventAttributes", ""),
    ("history.WorkflowExecutionCancelRequestedEventAttributes", "cause"),
    ("history.WorkflowExecutionCanceledEventAttributes", ""),
    ("history.RequestCancelExternalWorkflowExecutionInitiatedEventAttributes", ""),
    (
        "history.RequestCancelExternalWorkflowExecutionFailedEventAttributes",
        "cause initiated_event_id",
    ),
    ("history.ExternalWorkflowExecutionCancelRequestedEventAttributes", "initiated_event_id"),
    ("history.WorkflowExecutionContinuedAsNewEventAttributes", ""),
    (
        "history.StartChildWorkflowExecutionInitiatedEventAttributes",
        "workflow_id workflow_type",
    ),
    (
        "history.StartChildWorkflowExecutionFailedEventAttributes",
        "cause initiated_event_id",
    ),
    (
        "history.ChildWorkflowExecutionStartedEventAttributes",
        "initiated_event_id workflow_execution",
    ),
    (
        "history.ChildWorkflowExecutionCompletedEventAttributes",
        "result initiated_event_id",
    ),
    (
        "history.ChildWorkflowExecutionFailedEventAttributes",
        "failure initiated_event_id retry_state",
    ),
    ("history.ChildWorkflowExecutionCanceledEventAttributes", "initiated_event_id"),
    (
        "history.ChildWorkflowExecutionTimedOutEventAttributes",
        "initiated_event_id retry_state",
    ),
    ("history.ChildWorkflowExecutionTerminatedEventAttributes", "initiated_event_id"),
    ("history.SignalExternalWorkflowExecutionInitiatedEventAttributes", ""),
    (
        "history.SignalExternalWorkflowExecutionFailedEventAttributes",
        "cause initiated_event_id",
    ),
    ("history.ExternalWorkflowExecutionSignaledEventAttributes", "initiated_event_id"),
    ("history.UpsertWorkflowSearchAttributesEventAttributes", "search_attributes"),
    (
        "history.WorkflowExecutionUpdateAcceptedEventAttributes",
        "protocol_instance_id accepted_request_message_id accepted_request_sequencing_event_id accepted_request",
    ),
    ("history.WorkflowExecutionUpdateRejectedEventAttributes", ""),
    ("history.WorkflowExecutionUpdateCompletedEventAttributes", "meta"),
    ("history.WorkflowPropertiesModifiedEventAttributes", ""),
    ("history.WorkflowExecutionUpdateAdmittedEventAttributes", "request"),
    ("history.NexusOperationScheduledEventAttributes", ""),
    ("history.NexusOperationStartedEventAttributes", "scheduled_event_id operation_token"),
    ("history.NexusOperationCompletedEventAttributes", "scheduled_event_id result"),
    ("history.NexusOperationFailedEventAttributes", "scheduled_event_id failure"),
    ("history.NexusOperationTimedOutEventAttributes", "scheduled_event_id failure"),
    ("history.NexusOperationCanceledEventAttributes", "scheduled_event_id failure"),
    ("history.NexusOperationCancelRequestedEventAttributes", "scheduled_event_id"),
    ("history.NexusOperationCancelRequestCompletedEventAttributes", "scheduled_event_id"),
    (
        "history.NexusOperationCancelRequestFailedEventAttributes",
        "scheduled_event_id failure",
    ),
    // Commands of workflow code.
    ("boundary.Nothing", ""),
    (
        "boundary.RetryPolicy",
        "initial_interval_ms backoff_coefficient maximum_interval_ms maximum_attempts non_retryable_error_types",
    ),
    ("boundary.EventGroups", "event_group_markers!"),
    ("boundary.StartTimer", "duration_ms summary seq"),
    (
        "boundary.ScheduleActivity",
        "activity_id activity_type task_queue headers arguments schedule_to_close_timeout_ms schedule_to_start_timeout_ms \
         start_to_close_timeout_ms heartbeat_timeout_ms retry_policy cancellation_type summary seq priority versioning_intent",
    ),
    (
        "boundary.ScheduleLocalActivity",
        "activity_id activity_type headers arguments schedule_to_close_timeout_ms schedule_to_start_timeout_ms \
         start_to_close_timeout_ms retry_policy local_retry_threshold_ms cancellation_type attempt original_schedule_time_ms seq \
         summary",
    ),
    ("boundary.ActivityCompleted", "result"),
    (
        "boundary.LocalActivityResolution",
        "seq completed failed cancelled attempt runtime_ms backoff_ms original_schedule_time_ms",
    ),
    ("boundary.SetPatchMarker", "patch_id deprecated"),
    ("boundary.RecordSideEffect", "id payload"),
    ("boundary.Transact", "reducer arguments required seq"),
    ("boundary.AwaitTransact", "seq"),
    (
        "boundary.UpdateResponse",
        "protocol_instance_id accepted rejected completed",
    ),
    ("boundary.QueryResult", "query_id succeeded failed"),
    ("boundary.CompleteWorkflow", "result"),
    ("boundary.FailWorkflow", "failure"),
    ("boundary.CancelWorkflowExecution", "details"),
    (
        "boundary.ContinueAsNew",
        "workflow_type task_queue arguments workflow_run_timeout_ms workflow_task_timeout_ms memo headers \
         search_attributes retry_policy backoff_start_interval_ms initial_versioning_behavior versioning_intent",
    ),
    (
        "boundary.StartChildWorkflow",
        "namespace workflow_id workflow_type task_queue arguments workflow_execution_timeout_ms workflow_run_timeout_ms \
         workflow_task_timeout_ms parent_close_policy workflow_id_reuse_policy retry_policy cron_schedule headers memo \
         search_attributes cancellation_type priority summary details seq versioning_intent",
    ),
    ("boundary.CancelChildWorkflow", "seq reason"),
    (
        "boundary.SignalExternalWorkflow",
        "namespace workflow_id run_id child_workflow_only signal_name arguments headers seq",
    ),
    ("boundary.CancelSignalWorkflow", "seq"),
    (
        "boundary.CancelExternalWorkflow",
        "namespace workflow_id run_id reason seq",
    ),
    (
        "boundary.ScheduleNexusOperation",
        "endpoint service operation input schedule_to_close_timeout_ms schedule_to_start_timeout_ms start_to_close_timeout_ms \
         nexus_header cancellation_type summary seq",
    ),
    ("boundary.UpsertSearchAttributes", "search_attributes"),
    ("boundary.ModifyWorkflowProperties", "memo"),
];

/// Messages that the core writes; each gets a writer for every field.
pub const WRITTEN: &[&str] = &[
    "common.Payload",
    "common.Payloads",
    "common.Header",
    "common.Memo",
    "common.SearchAttributes",
    "common.WorkflowExecution",
    "common.WorkflowType",
    "common.ActivityType",
    "common.RetryPolicy",
    "taskqueue.TaskQueue",
    "taskqueue.StickyExecutionAttributes",
    "sdk.UserMetadata",
    "sdk.WorkflowTaskCompletedMetadata",
    "query.WorkflowQueryResult",
    "update.Meta",
    "update.Acceptance",
    "update.Rejection",
    "update.Response",
    "update.Outcome",
    "protocol.Message",
    "google.protobuf.Any",
    "failure.Failure",
    "failure.ApplicationFailureInfo",
    "failure.TimeoutFailureInfo",
    "failure.CanceledFailureInfo",
    "failure.TerminatedFailureInfo",
    "failure.ActivityFailureInfo",
    "failure.ChildWorkflowExecutionFailureInfo",
    "failure.NexusOperationFailureInfo",
    "command.Command",
    "command.ScheduleActivityTaskCommandAttributes",
    "command.StartTimerCommandAttributes",
    "command.CompleteWorkflowExecutionCommandAttributes",
    "command.FailWorkflowExecutionCommandAttributes",
    "command.RequestCancelActivityTaskCommandAttributes",
    "command.CancelTimerCommandAttributes",
    "command.CancelWorkflowExecutionCommandAttributes",
    "command.RequestCancelExternalWorkflowExecutionCommandAttributes",
    "command.RecordMarkerCommandAttributes",
    "command.ContinueAsNewWorkflowExecutionCommandAttributes",
    "command.StartChildWorkflowExecutionCommandAttributes",
    "command.ProtocolMessageCommandAttributes",
    "command.SignalExternalWorkflowExecutionCommandAttributes",
    "command.UpsertWorkflowSearchAttributesCommandAttributes",
    "command.ModifyWorkflowPropertiesCommandAttributes",
    "command.ScheduleNexusOperationCommandAttributes",
    "command.RequestCancelNexusOperationCommandAttributes",
    "workflowservice.RespondWorkflowTaskCompletedRequest",
    "workflowservice.RespondWorkflowTaskCompletedRequest.Capabilities",
    "workflowservice.RespondWorkflowTaskFailedRequest",
    "workflowservice.RespondQueryTaskCompletedRequest",
    "boundary.Step",
    "boundary.Activation",
    "boundary.Job",
    "boundary.InitializeWorkflow",
    "boundary.NotifyHasPatch",
    "boundary.SideEffectValue",
    "boundary.UpdateRandomSeed",
    "boundary.FireTimer",
    "boundary.ResolveActivity",
    "boundary.ActivityCompleted",
    "boundary.DoBackoff",
    "boundary.LocalWork",
    "boundary.ScheduleLocalActivity",
    "boundary.SignalWorkflow",
    "boundary.DoUpdate",
    "boundary.CancelWorkflow",
    "boundary.QueryWorkflow",
    "boundary.ResolveChildWorkflowStart",
    "boundary.ChildWorkflowStarted",
    "boundary.ChildWorkflowStartFailed",
    "boundary.ResolveChildWorkflow",
    "boundary.ChildWorkflowCompleted",
    "boundary.ResolveNexusOperationStart",
    "boundary.ResolveNexusOperation",
    "boundary.NexusOperationCompleted",
    "boundary.ResolveSignalExternalWorkflow",
    "boundary.ResolveTransact",
    "boundary.ResolveCancelExternalWorkflow",
];

/// Fields of the boundary that are bytes or a number there, and what they hold.
pub const MEANS: &[(&str, &str)] = &[
    ("boundary.UpdateResponse.rejected", "failure.Failure"),
    ("boundary.QueryResult.failed", "failure.Failure"),
    ("boundary.FailWorkflow.failure", "failure.Failure"),
    ("boundary.CancelWorkflowExecution.details", "common.Payloads"),
    ("boundary.ScheduleActivity.priority", "common.Priority"),
    ("boundary.StartChildWorkflow.priority", "common.Priority"),
    ("boundary.StartChildWorkflow.parent_close_policy", "enums.ParentClosePolicy"),
    ("boundary.StartChildWorkflow.workflow_id_reuse_policy", "enums.WorkflowIdReusePolicy"),
    (
        "boundary.InitializeWorkflow.started_attributes",
        "history.WorkflowExecutionStartedEventAttributes",
    ),
    ("boundary.LocalActivityResolution.failed", "failure.Failure"),
    ("boundary.LocalActivityResolution.cancelled", "failure.Failure"),
    ("boundary.ResolveActivity.failed", "failure.Failure"),
    ("boundary.ResolveActivity.cancelled", "failure.Failure"),
    ("boundary.ResolveChildWorkflowStart.cancelled", "failure.Failure"),
    ("boundary.ResolveChildWorkflow.failed", "failure.Failure"),
    ("boundary.ResolveChildWorkflow.cancelled", "failure.Failure"),
    ("boundary.ResolveNexusOperationStart.failed", "failure.Failure"),
    ("boundary.ResolveNexusOperation.failed", "failure.Failure"),
    ("boundary.ResolveNexusOperation.cancelled", "failure.Failure"),
    ("boundary.ResolveTransact.failed", "failure.Failure"),
    ("boundary.ResolveSignalExternalWorkflow.failure", "failure.Failure"),
    ("boundary.ResolveCancelExternalWorkflow.failure", "failure.Failure"),
];

/// Oneofs that are read as a whole: the last of the variants that occurs counts.
pub const ONEOFS: &[&str] = &[
    "boundary.UpdateResponse.response",
    "boundary.QueryResult.result",
    "boundary.LocalActivityResolution.result",
    "protocol.Message.sequencing_id",
];

/// Oneofs whose variants know their field: the generated `VariantOf`.
pub const VARIANTS: &[&str] = &["boundary.Job.variant"];

/// Messages whose fields are also needed as numbers, for loops that look at every field once.
pub const NUMBERS: &[&str] = &["history.HistoryEvent", "history.History", "history.WorkflowExecutionStartedEventAttributes"];
