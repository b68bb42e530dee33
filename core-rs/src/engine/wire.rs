//! The Temporal messages that the engine reads and writes, with the fields that it knows. Field numbers are Temporal's; a
//! sub-message that is only carried (payloads, headers, memos, failures) stays encoded, so its bytes are moved and never built up.
//! Fields that the engine has no use for are not listed and are skipped.

/// `wire! { Name { tag field kind, ... } }` with the kinds str, strs, bytes, i32, u32s, i64, u32, u64 (fixed64), double, bool, dur,
/// ts, msg(T), reps(T), and the carried ones: payloads, fields (header, memo, search attributes), failure, meta (user metadata),
/// raw(SCHEMA), raws(SCHEMA). Fields are written in the order in which they are listed: ascending.
macro_rules! wire {
    ($($(#[$doc:meta])* $name:ident { $($tag:literal $field:ident $kind:ident $(($arg:ident))?,)* })*) => { $(
        $(#[$doc])*
        #[derive(Default, Clone)]
        pub struct $name { $(pub $field: wire!(@type $kind $($arg)?),)* }

        impl $crate::engine::codec::Wire for $name {
            fn slot(&mut self, field: u32) -> Option<$crate::engine::codec::Slot<'_>> {
                use $crate::engine::codec::Slot;
                Some(match field {
                    $($tag => wire!(@slot self.$field, $kind $($arg)?),)*
                    _ => return None,
                })
            }

            fn view(&self, position: usize) -> Option<(u32, $crate::engine::codec::View<'_>)> {
                use $crate::engine::codec::View;
                const TAGS: &[u32] = &[$($tag),*];
                let tag = *TAGS.get(position)?;
                let view = match tag {
                    $($tag => wire!(@view self.$field, $kind),)*
                    _ => return None,
                };
                Some((tag, view))
            }
        }
    )* };
    (@type str) => { String };
    (@type strs) => { Vec<String> };
    (@type bytes) => { Vec<u8> };
    (@type i32) => { i32 };
    (@type u32s) => { Vec<u32> };
    (@type i64) => { i64 };
    (@type u32) => { u32 };
    (@type u64) => { u64 };
    (@type double) => { f64 };
    (@type bool) => { bool };
    (@type dur) => { Option<prost_types::Duration> };
    (@type ts) => { Option<prost_types::Timestamp> };
    (@type msg $t:ident) => { Option<$t> };
    (@type reps $t:ident) => { Vec<$t> };
    (@type raws $s:ident) => { Vec<Vec<u8>> };
    (@type $carried:ident $($s:ident)?) => { Option<Vec<u8>> };
    (@slot $s:ident.$f:ident, str) => { Slot::Text(&mut $s.$f) };
    (@slot $s:ident.$f:ident, strs) => { Slot::Texts(&mut $s.$f) };
    (@slot $s:ident.$f:ident, bytes) => { Slot::Bytes(&mut $s.$f) };
    (@slot $s:ident.$f:ident, i32) => { Slot::I32(&mut $s.$f) };
    (@slot $s:ident.$f:ident, u32s) => { Slot::Numbers(&mut $s.$f) };
    (@slot $s:ident.$f:ident, i64) => { Slot::I64(&mut $s.$f) };
    (@slot $s:ident.$f:ident, u32) => { Slot::U32(&mut $s.$f) };
    (@slot $s:ident.$f:ident, u64) => { Slot::Fixed(&mut $s.$f) };
    (@slot $s:ident.$f:ident, double) => { Slot::Double(&mut $s.$f) };
    (@slot $s:ident.$f:ident, bool) => { Slot::Bool(&mut $s.$f) };
    (@slot $s:ident.$f:ident, dur) => { Slot::Duration(&mut $s.$f) };
    (@slot $s:ident.$f:ident, ts) => { Slot::Timestamp(&mut $s.$f) };
    (@slot $s:ident.$f:ident, msg $t:ident) => { Slot::Message($s.$f.get_or_insert_with(Default::default)) };
    (@slot $s:ident.$f:ident, reps $t:ident) => { {
        $s.$f.push(Default::default());
        match $s.$f.last_mut() {
            Some(last) => Slot::Message(last),
            None => return None,
        }
    } };
    (@slot $s:ident.$f:ident, payloads) => { wire!(@slot $s.$f, raw PAYLOADS) };
    (@slot $s:ident.$f:ident, fields) => { wire!(@slot $s.$f, raw PAYLOAD_MAP) };
    (@slot $s:ident.$f:ident, failure) => { wire!(@slot $s.$f, raw FAILURE) };
    (@slot $s:ident.$f:ident, meta) => { wire!(@slot $s.$f, raw USER_METADATA) };
    (@slot $s:ident.$f:ident, raw $schema:ident) => { Slot::Raw(&mut $s.$f, &$crate::wire::schema::$schema, stringify!($f)) };
    (@slot $s:ident.$f:ident, raws $schema:ident) => { Slot::Raws(&mut $s.$f, &$crate::wire::schema::$schema, stringify!($f)) };
    (@view $s:ident.$f:ident, str) => { View::Bytes($s.$f.as_bytes()) };
    (@view $s:ident.$f:ident, strs) => { View::Texts(&$s.$f) };
    (@view $s:ident.$f:ident, bytes) => { View::Bytes(&$s.$f) };
    (@view $s:ident.$f:ident, i32) => { View::Int($s.$f as i64) };
    (@view $s:ident.$f:ident, u32s) => { View::Numbers(&$s.$f) };
    (@view $s:ident.$f:ident, i64) => { View::Int($s.$f) };
    (@view $s:ident.$f:ident, u32) => { View::Int($s.$f as i64) };
    (@view $s:ident.$f:ident, u64) => { View::Fixed($s.$f) };
    (@view $s:ident.$f:ident, double) => { View::Double($s.$f) };
    (@view $s:ident.$f:ident, bool) => { View::Int($s.$f as i64) };
    (@view $s:ident.$f:ident, dur) => { View::Time($s.$f.as_ref().map(|t| (t.seconds, t.nanos))) };
    (@view $s:ident.$f:ident, ts) => { View::Time($s.$f.as_ref().map(|t| (t.seconds, t.nanos))) };
    (@view $s:ident.$f:ident, msg) => { View::Message($s.$f.as_ref().map(|m| m as &dyn $crate::engine::codec::Wire)) };
    (@view $s:ident.$f:ident, reps) => { View::Messages(&$s.$f) };
    (@view $s:ident.$f:ident, raws) => { View::Raws(&$s.$f) };
    (@view $s:ident.$f:ident, $carried:ident) => { View::Raw(&$s.$f) };
}
pub(super) use wire;

// Small messages that many others hold.
wire! {
    WorkflowExecution { 1 workflow_id str, 2 run_id str, }
    /// WorkflowType and ActivityType.
    Named { 1 name str, }
    TaskQueue { 1 name str, 2 kind i32, 3 normal_name str, }
    RetryPolicy {
        1 initial_interval dur, 2 backoff_coefficient double, 3 maximum_interval dur, 4 maximum_attempts i32,
        5 non_retryable_error_types strs,
    }
}

// Requests of clients.
wire! {
    StartRequest {
        1 namespace str, 2 workflow_id str, 3 workflow_type msg(Named), 4 task_queue msg(TaskQueue), 5 input payloads,
        6 workflow_execution_timeout dur, 7 workflow_run_timeout dur, 8 workflow_task_timeout dur, 9 identity str,
        10 request_id str, 11 workflow_id_reuse_policy i32, 12 retry_policy msg(RetryPolicy), 13 cron_schedule str,
        14 memo fields, 15 search_attributes fields, 16 header fields, 18 continued_failure failure,
        19 last_completion_result payloads, 20 workflow_start_delay dur, 21 completion_callbacks raws(ANY),
        22 workflow_id_conflict_policy i32, 23 user_metadata meta, 25 versioning_override raw(ANY), 27 priority raw(PRIORITY),
    }
    StartResponse { 1 run_id str, 3 started bool, 5 status i32, 6 first_execution_run_id str, }
    SignalWithStartRequest {
        1 namespace str, 2 workflow_id str, 3 workflow_type msg(Named), 4 task_queue msg(TaskQueue), 5 input payloads,
        6 workflow_execution_timeout dur, 7 workflow_run_timeout dur, 8 workflow_task_timeout dur, 9 identity str,
        10 request_id str, 11 workflow_id_reuse_policy i32, 12 signal_name str, 13 signal_input payloads,
        15 retry_policy msg(RetryPolicy), 16 cron_schedule str, 17 memo fields, 18 search_attributes fields, 19 header fields,
        20 workflow_start_delay dur, 22 workflow_id_conflict_policy i32, 23 user_metadata meta, 25 versioning_override raw(ANY),
        26 priority raw(PRIORITY),
    }
    SignalWithStartResponse { 1 run_id str, 2 started bool, 4 first_execution_run_id str, }
    SignalRequest {
        1 namespace str, 2 workflow_execution msg(WorkflowExecution), 3 signal_name str, 4 input payloads, 5 identity str,
        6 request_id str, 8 header fields,
    }
    CancelRequest {
        1 namespace str, 2 workflow_execution msg(WorkflowExecution), 3 identity str, 4 request_id str,
        5 first_execution_run_id str, 6 reason str,
    }
    TerminateRequest {
        1 namespace str, 2 workflow_execution msg(WorkflowExecution), 3 reason str, 4 details payloads, 5 identity str,
        6 first_execution_run_id str,
    }
    DescribeRequest { 1 namespace str, 2 execution msg(WorkflowExecution), }
    GetHistoryRequest {
        1 namespace str, 2 execution msg(WorkflowExecution), 3 maximum_page_size i32, 4 next_page_token bytes,
        5 wait_new_event bool, 6 history_event_filter_type i32,
    }
    GetHistoryResponse { 1 history raw(ANY), 3 next_page_token bytes, }
    QueryRequest {
        1 namespace str, 2 execution msg(WorkflowExecution), 3 query raw(QUERY), 4 query_reject_condition i32,
    }
    QueryRejected { 1 status i32, }
    QueryResponse { 1 query_result payloads, 2 query_rejected msg(QueryRejected), }
    UpdateRequest {
        1 namespace str, 2 workflow_execution msg(WorkflowExecution), 3 first_execution_run_id str, 4 wait_policy msg(WaitPolicy),
        5 request raw(UPDATE_REQUEST),
    }
    WaitPolicy { 1 lifecycle_stage i32, }
    UpdateRef { 1 workflow_execution msg(WorkflowExecution), 2 update_id str, }
    UpdateResponse { 1 update_ref msg(UpdateRef), 2 outcome raw(OUTCOME), 3 stage i32, }
    /// Of an update-with-start: both responses.
    PairResponse { 1 start bytes, 2 update bytes, }
    PollUpdateRequest { 1 namespace str, 2 update_ref msg(UpdateRef), 3 identity str, 4 wait_policy msg(WaitPolicy), }
    PollUpdateResponse { 1 outcome raw(OUTCOME), 2 stage i32, 3 update_ref msg(UpdateRef), }
    ResetStickyRequest { 1 namespace str, 2 execution msg(WorkflowExecution), }
    ShutdownWorkerRequest { 1 namespace str, 2 sticky_task_queue str, 3 identity str, }
}

// Workflow tasks.
wire! {
    StickyExecutionAttributes { 1 worker_task_queue msg(TaskQueue), 2 schedule_to_start_timeout dur, }
    WorkerVersionStamp { 1 build_id str, 3 use_versioning bool, }
    WorkerVersionCapabilities { 1 build_id str, 2 use_versioning bool, }
    PollRequest {
        1 namespace str, 2 task_queue msg(TaskQueue), 3 identity str, 5 worker_version_capabilities msg(WorkerVersionCapabilities),
    }
    PollActivityRequest {
        1 namespace str, 2 task_queue msg(TaskQueue), 3 identity str, 5 worker_version_capabilities msg(WorkerVersionCapabilities),
    }
    QueryEntry { 1 key str, 2 value bytes, }
    PollResponse {
        1 task_token bytes, 2 workflow_execution msg(WorkflowExecution), 3 workflow_type msg(Named),
        4 previous_started_event_id i64, 5 started_event_id i64, 6 attempt i32, 8 history raw(ANY), 9 next_page_token bytes,
        10 query raw(QUERY), 11 workflow_execution_task_queue msg(TaskQueue), 12 scheduled_time ts, 13 started_time ts,
        14 queries reps(QueryEntry), 15 messages reps(ProtocolMessage),
    }
    AnyMessage { 1 type_url str, 2 value bytes, }
    ProtocolMessage {
        1 id str, 2 protocol_instance_id str, 3 event_id i64, 4 command_index i64, 5 body msg(AnyMessage),
    }
    QueryResultEntry { 1 key str, 2 value msg(QueryResult), }
    QueryResult { 1 result_type i32, 2 answer payloads, 3 error_message str, 4 failure failure, }
    Capabilities { 1 discard_speculative_workflow_task_with_events bool, }
    TaskCompletedRequest {
        1 task_token bytes, 2 commands reps(Command), 3 identity str, 4 sticky_attributes msg(StickyExecutionAttributes),
        5 return_new_workflow_task bool, 6 force_create_new_workflow_task bool, 7 binary_checksum str,
        8 query_results reps(QueryResultEntry), 9 namespace str, 10 worker_version_stamp msg(WorkerVersionStamp),
        11 messages reps(ProtocolMessage), 12 sdk_metadata raw(SDK_METADATA), 13 metering_metadata raw(METERING),
        14 capabilities msg(Capabilities), 21 page_number i32, 22 intermediate_page bool,
    }
    TaskCompletedResponse { 1 workflow_task raw(ANY), 3 reset_history_event_id i64, }
    TaskFailedRequest {
        1 task_token bytes, 2 cause i32, 3 failure failure, 4 identity str, 5 binary_checksum str, 6 namespace str,
        8 worker_version msg(WorkerVersionStamp),
    }
    QueryTaskCompletedRequest {
        1 task_token bytes, 2 completed_type i32, 3 query_result payloads, 4 error_message str, 6 namespace str, 7 failure failure,
    }
}

// Commands. The oneof of Temporal's Command is a set of optional fields here; a command uses the one that its type names.
wire! {
    Command {
        1 command_type i32, 2 schedule_activity msg(ScheduleActivity), 3 start_timer msg(StartTimer),
        4 complete msg(Complete), 5 fail msg(Fail), 6 cancel_activity msg(CancelActivity), 7 cancel_timer msg(CancelTimer),
        8 cancel msg(Cancel), 9 cancel_external msg(CancelExternal), 10 marker msg(Marker), 11 continue_as_new msg(ContinueAsNew),
        12 start_child msg(StartChild), 13 signal_external msg(SignalExternal),
        14 upsert_search_attributes msg(UpsertSearchAttributes), 15 protocol_message msg(ProtocolMessageRef),
        17 modify_properties msg(ModifyProperties), 301 user_metadata meta, 302 event_group_markers raws(ANY),
    }
    ScheduleActivity {
        1 activity_id str, 2 activity_type msg(Named), 4 task_queue msg(TaskQueue), 5 header fields, 6 input payloads,
        7 schedule_to_close_timeout dur, 8 schedule_to_start_timeout dur, 9 start_to_close_timeout dur, 10 heartbeat_timeout dur,
        11 retry_policy msg(RetryPolicy), 13 use_workflow_build_id bool, 14 priority raw(PRIORITY),
    }
    StartChild {
        1 namespace str, 2 workflow_id str, 3 workflow_type msg(Named), 4 task_queue msg(TaskQueue), 5 input payloads,
        6 workflow_execution_timeout dur, 7 workflow_run_timeout dur, 8 workflow_task_timeout dur, 9 parent_close_policy i32,
        10 control str, 11 workflow_id_reuse_policy i32, 12 retry_policy msg(RetryPolicy), 13 cron_schedule str, 14 header fields,
        15 memo fields, 16 search_attributes fields, 17 inherit_build_id bool, 18 priority raw(PRIORITY),
    }
    SignalExternal {
        1 namespace str, 2 execution msg(WorkflowExecution), 3 signal_name str, 4 input payloads, 5 control str,
        6 child_workflow_only bool, 7 header fields,
    }
    CancelExternal { 1 namespace str, 2 workflow_id str, 3 run_id str, 4 control str, 5 child_workflow_only bool, 6 reason str, }
    StartTimer { 1 timer_id str, 2 start_to_fire_timeout dur, }
    CancelTimer { 1 timer_id str, }
    CancelActivity { 1 scheduled_event_id i64, }
    Complete { 1 result payloads, }
    Fail { 1 failure failure, }
    Cancel { 1 details payloads, }
    Marker { 1 marker_name str, 2 details raws(PAYLOADS_ENTRY), 3 header fields, 4 failure failure, }
    UpsertSearchAttributes { 1 search_attributes fields, }
    ModifyProperties { 1 upserted_memo fields, }
    ProtocolMessageRef { 1 message_id str, }
    ContinueAsNew {
        1 workflow_type msg(Named), 2 task_queue msg(TaskQueue), 3 input payloads, 4 workflow_run_timeout dur,
        5 workflow_task_timeout dur, 6 backoff_start_interval dur, 7 retry_policy msg(RetryPolicy), 8 initiator i32,
        9 failure failure, 10 last_completion_result payloads, 11 cron_schedule str, 12 header fields, 13 memo fields,
        14 search_attributes fields, 15 inherit_build_id bool, 16 initial_versioning_behavior i32,
    }
}

// Update protocol.
wire! {
    UpdateMeta { 1 update_id str, 2 identity str, }
    /// The parts of an update request that the engine looks at; the request itself travels encoded.
    UpdateRequestView { 1 meta msg(UpdateMeta), 2 input msg(UpdateInputView), 3 request_id str, }
    UpdateInputView { 2 name str, }
    Acceptance {
        1 accepted_request_message_id str, 2 accepted_request_sequencing_event_id i64, 3 accepted_request raw(UPDATE_REQUEST),
    }
    Rejection {
        1 rejected_request_message_id str, 2 rejected_request_sequencing_event_id i64, 3 rejected_request raw(UPDATE_REQUEST),
        4 failure failure,
    }
    UpdateAnswer { 1 meta msg(UpdateMeta), 2 outcome raw(OUTCOME), }
    Outcome { 1 success payloads, 2 failure failure, }
}

// Activity tasks.
wire! {
    PollActivityResponse {
        1 task_token bytes, 2 workflow_namespace str, 3 workflow_type msg(Named), 4 workflow_execution msg(WorkflowExecution),
        5 activity_type msg(Named), 6 activity_id str, 7 header fields, 8 input payloads, 9 heartbeat_details payloads,
        10 scheduled_time ts, 11 current_attempt_scheduled_time ts, 12 started_time ts, 13 attempt i32,
        14 schedule_to_close_timeout dur, 15 start_to_close_timeout dur, 16 heartbeat_timeout dur, 17 retry_policy msg(RetryPolicy),
        19 priority raw(PRIORITY),
    }
    HeartbeatRequest { 1 task_token bytes, 2 details payloads, 3 identity str, 4 namespace str, }
    HeartbeatByIdRequest {
        1 namespace str, 2 workflow_id str, 3 run_id str, 4 activity_id str, 5 details payloads, 6 identity str,
    }
    HeartbeatResponse { 1 cancel_requested bool, }
    ActivityCompletedRequest { 1 task_token bytes, 2 result payloads, 3 identity str, 4 namespace str, }
    ActivityCompletedByIdRequest {
        1 namespace str, 2 workflow_id str, 3 run_id str, 4 activity_id str, 5 result payloads, 6 identity str,
    }
    ActivityFailedRequest {
        1 task_token bytes, 2 failure failure, 3 identity str, 4 namespace str, 5 last_heartbeat_details payloads,
    }
    ActivityFailedByIdRequest {
        1 namespace str, 2 workflow_id str, 3 run_id str, 4 activity_id str, 5 failure failure, 6 identity str,
        7 last_heartbeat_details payloads,
    }
    ActivityCanceledRequest { 1 task_token bytes, 2 details payloads, 3 identity str, 4 namespace str, }
    ActivityCanceledByIdRequest {
        1 namespace str, 2 workflow_id str, 3 run_id str, 4 activity_id str, 5 details payloads, 6 identity str,
    }
}

// Failures: what the engine reads of one, and what it writes of its own.
wire! {
    ApplicationInfo { 1 r#type str, 2 non_retryable bool, 4 next_retry_delay dur, }
    TimeoutInfo { 1 timeout_type i32, 2 last_heartbeat_details payloads, }
    FlagInfo { 1 non_retryable bool, }
    Failure {
        1 message str, 2 source str, 4 cause failure, 5 application_info msg(ApplicationInfo), 6 timeout_info msg(TimeoutInfo),
        7 canceled_info raw(ANY), 8 terminated_info raw(ANY), 9 server_info msg(FlagInfo), 11 activity_info raw(ANY),
        12 child_info raw(ANY),
    }
}

// Attributes of history events.
wire! {
    StartedAttrs {
        1 workflow_type msg(Named), 2 parent_workflow_namespace str, 3 parent_workflow_execution msg(WorkflowExecution),
        4 parent_initiated_event_id i64, 5 task_queue msg(TaskQueue), 6 input payloads, 7 workflow_execution_timeout dur,
        8 workflow_run_timeout dur, 9 workflow_task_timeout dur, 10 continued_execution_run_id str, 11 initiator i32,
        12 continued_failure failure, 13 last_completion_result payloads, 14 original_execution_run_id str, 15 identity str,
        16 first_execution_run_id str, 17 retry_policy msg(RetryPolicy), 18 attempt i32, 19 workflow_execution_expiration_time ts,
        20 cron_schedule str, 21 first_workflow_task_backoff dur, 22 memo fields, 23 search_attributes fields,
        24 prev_auto_reset_points raw(ANY), 25 header fields, 27 parent_workflow_namespace_id str, 28 workflow_id str,
        31 root_workflow_execution msg(WorkflowExecution), 35 priority raw(PRIORITY),
    }
    CompletedAttrs { 1 result payloads, 2 workflow_task_completed_event_id i64, 3 new_execution_run_id str, }
    FailedAttrs { 1 failure failure, 2 retry_state i32, 3 workflow_task_completed_event_id i64, 4 new_execution_run_id str, }
    TimedOutAttrs { 1 retry_state i32, 2 new_execution_run_id str, }
    ContinuedAsNewAttrs {
        1 new_execution_run_id str, 2 workflow_type msg(Named), 3 task_queue msg(TaskQueue), 4 input payloads,
        5 workflow_run_timeout dur, 6 workflow_task_timeout dur, 7 workflow_task_completed_event_id i64,
        8 backoff_start_interval dur, 9 initiator i32, 10 failure failure, 11 last_completion_result payloads, 12 header fields,
        13 memo fields, 14 search_attributes fields, 15 inherit_build_id bool, 16 initial_versioning_behavior i32,
    }
    TaskScheduledAttrs { 1 task_queue msg(TaskQueue), 2 start_to_close_timeout dur, 3 attempt i32, }
    TaskStartedAttrs {
        1 scheduled_event_id i64, 2 identity str, 3 request_id str, 4 suggest_continue_as_new bool, 5 history_size_bytes i64,
        6 worker_version msg(WorkerVersionStamp), 8 suggest_continue_as_new_reasons u32s,
    }
    TaskCompletedAttrs {
        1 scheduled_event_id i64, 2 started_event_id i64, 3 identity str, 4 binary_checksum str,
        5 worker_version msg(WorkerVersionStamp), 6 sdk_metadata raw(SDK_METADATA), 13 metering_metadata raw(METERING),
    }
    TaskTimedOutAttrs { 1 scheduled_event_id i64, 2 started_event_id i64, 3 timeout_type i32, }
    TaskFailedAttrs {
        1 scheduled_event_id i64, 2 started_event_id i64, 3 cause i32, 4 failure failure, 5 identity str, 9 binary_checksum str,
    }
    ActivityScheduledAttrs {
        1 activity_id str, 2 activity_type msg(Named), 4 task_queue msg(TaskQueue), 5 header fields, 6 input payloads,
        7 schedule_to_close_timeout dur, 8 schedule_to_start_timeout dur, 9 start_to_close_timeout dur, 10 heartbeat_timeout dur,
        11 workflow_task_completed_event_id i64, 12 retry_policy msg(RetryPolicy), 13 use_workflow_build_id bool,
        14 priority raw(PRIORITY),
    }
    ActivityStartedAttrs {
        1 scheduled_event_id i64, 2 identity str, 3 request_id str, 4 attempt i32, 5 last_failure failure,
        6 worker_version msg(WorkerVersionStamp),
    }
    ActivityCompletedAttrs { 1 result payloads, 2 scheduled_event_id i64, 3 started_event_id i64, 4 identity str, }
    ActivityFailedAttrs {
        1 failure failure, 2 scheduled_event_id i64, 3 started_event_id i64, 4 identity str, 5 retry_state i32,
    }
    ActivityTimedOutAttrs { 1 failure failure, 2 scheduled_event_id i64, 3 started_event_id i64, 4 retry_state i32, }
    ActivityCancelRequestedAttrs { 1 scheduled_event_id i64, 2 workflow_task_completed_event_id i64, }
    ActivityCanceledAttrs {
        1 details payloads, 2 latest_cancel_requested_event_id i64, 3 scheduled_event_id i64, 4 started_event_id i64, 5 identity str,
    }
    TimerStartedAttrs { 1 timer_id str, 2 start_to_fire_timeout dur, 3 workflow_task_completed_event_id i64, }
    TimerFiredAttrs { 1 timer_id str, 2 started_event_id i64, }
    TimerCanceledAttrs { 1 timer_id str, 2 started_event_id i64, 3 workflow_task_completed_event_id i64, 4 identity str, }
    CancelRequestedAttrs {
        1 cause str, 2 external_initiated_event_id i64, 3 external_workflow_execution msg(WorkflowExecution), 4 identity str,
    }
    CanceledAttrs { 1 workflow_task_completed_event_id i64, 2 details payloads, }
    TerminatedAttrs { 1 reason str, 2 details payloads, 3 identity str, }
    MarkerAttrs {
        1 marker_name str, 2 details raws(PAYLOADS_ENTRY), 3 workflow_task_completed_event_id i64, 4 header fields, 5 failure failure,
    }
    SignaledAttrs {
        1 signal_name str, 2 input payloads, 3 identity str, 4 header fields,
        6 external_workflow_execution msg(WorkflowExecution),
    }
    UpsertAttrs { 1 workflow_task_completed_event_id i64, 2 search_attributes fields, }
    PropertiesModifiedAttrs { 1 workflow_task_completed_event_id i64, 2 upserted_memo fields, }
    UpdateAcceptedAttrs {
        1 protocol_instance_id str, 2 accepted_request_message_id str, 3 accepted_request_sequencing_event_id i64,
        4 accepted_request raw(UPDATE_REQUEST),
    }
    ChildInitiatedAttrs {
        1 namespace str, 2 workflow_id str, 3 workflow_type msg(Named), 4 task_queue msg(TaskQueue), 5 input payloads,
        6 workflow_execution_timeout dur, 7 workflow_run_timeout dur, 8 workflow_task_timeout dur, 9 parent_close_policy i32,
        10 control str, 11 workflow_task_completed_event_id i64, 12 workflow_id_reuse_policy i32, 13 retry_policy msg(RetryPolicy),
        14 cron_schedule str, 15 header fields, 16 memo fields, 17 search_attributes fields, 18 namespace_id str,
        19 inherit_build_id bool, 20 priority raw(PRIORITY),
    }
    ChildStartFailedAttrs {
        1 namespace str, 2 workflow_id str, 3 workflow_type msg(Named), 4 cause i32, 5 control str, 6 initiated_event_id i64,
        7 workflow_task_completed_event_id i64, 8 namespace_id str,
    }
    ChildStartedAttrs {
        1 namespace str, 2 initiated_event_id i64, 3 workflow_execution msg(WorkflowExecution), 4 workflow_type msg(Named),
        5 header fields, 6 namespace_id str,
    }
    ChildCompletedAttrs {
        1 result payloads, 2 namespace str, 3 workflow_execution msg(WorkflowExecution), 4 workflow_type msg(Named),
        5 initiated_event_id i64, 6 started_event_id i64, 7 namespace_id str,
    }
    ChildFailedAttrs {
        1 failure failure, 2 namespace str, 3 workflow_execution msg(WorkflowExecution), 4 workflow_type msg(Named),
        5 initiated_event_id i64, 6 started_event_id i64, 7 retry_state i32, 8 namespace_id str,
    }
    ChildCanceledAttrs {
        1 details payloads, 2 namespace str, 3 workflow_execution msg(WorkflowExecution), 4 workflow_type msg(Named),
        5 initiated_event_id i64, 6 started_event_id i64, 7 namespace_id str,
    }
    ChildTimedOutAttrs {
        1 namespace str, 2 workflow_execution msg(WorkflowExecution), 3 workflow_type msg(Named), 4 initiated_event_id i64,
        5 started_event_id i64, 6 retry_state i32, 7 namespace_id str,
    }
    ChildTerminatedAttrs {
        1 namespace str, 2 workflow_execution msg(WorkflowExecution), 3 workflow_type msg(Named), 4 initiated_event_id i64,
        5 started_event_id i64, 6 namespace_id str,
    }
    CancelInitiatedAttrs {
        1 workflow_task_completed_event_id i64, 2 namespace str, 3 workflow_execution msg(WorkflowExecution), 4 control str,
        5 child_workflow_only bool, 6 reason str, 7 namespace_id str,
    }
    CancelFailedAttrs {
        1 cause i32, 2 workflow_task_completed_event_id i64, 3 namespace str, 4 workflow_execution msg(WorkflowExecution),
        5 initiated_event_id i64, 6 control str, 7 namespace_id str,
    }
    SignalFailedAttrs {
        1 cause i32, 2 workflow_task_completed_event_id i64, 3 namespace str, 4 workflow_execution msg(WorkflowExecution),
        5 initiated_event_id i64, 6 control str, 7 namespace_id str,
    }
    ExternalCancelRequestedAttrs {
        1 initiated_event_id i64, 2 namespace str, 3 workflow_execution msg(WorkflowExecution), 4 namespace_id str,
    }
    SignalInitiatedAttrs {
        1 workflow_task_completed_event_id i64, 2 namespace str, 3 workflow_execution msg(WorkflowExecution), 4 signal_name str,
        5 input payloads, 6 control str, 7 child_workflow_only bool, 8 header fields, 9 namespace_id str,
    }
    ExternalSignaledAttrs {
        1 initiated_event_id i64, 2 namespace str, 3 workflow_execution msg(WorkflowExecution), 4 control str, 5 namespace_id str,
    }
    UpdateCompletedAttrs { 1 meta msg(UpdateMeta), 2 outcome raw(OUTCOME), 3 accepted_event_id i64, }
}

// Answers of Describe.
wire! {
    ExecutionConfig {
        1 task_queue msg(TaskQueue), 2 workflow_execution_timeout dur, 3 workflow_run_timeout dur,
        4 default_workflow_task_timeout dur, 5 user_metadata meta,
    }
    ExecutionInfo {
        1 execution msg(WorkflowExecution), 2 r#type msg(Named), 3 start_time ts, 4 close_time ts, 5 status i32,
        6 history_length i64, 7 parent_namespace_id str, 8 parent_execution msg(WorkflowExecution), 9 execution_time ts, 10 memo fields, 11 search_attributes fields, 13 task_queue str,
        14 state_transition_count i64, 15 history_size_bytes i64, 16 most_recent_worker_version_stamp msg(WorkerVersionStamp),
        17 execution_duration dur, 18 root_execution msg(WorkflowExecution), 21 first_run_id str,
    }
    ExtendedInfo { 1 execution_expiration_time ts, 2 run_expiration_time ts, 3 cancel_requested bool, 5 original_start_time ts, }
    PendingActivity {
        1 activity_id str, 2 activity_type msg(Named), 3 state i32, 4 heartbeat_details payloads, 5 last_heartbeat_time ts,
        6 last_started_time ts, 7 attempt i32, 8 maximum_attempts i32, 9 scheduled_time ts, 10 expiration_time ts,
        11 last_failure failure, 12 last_worker_identity str, 16 current_retry_interval dur, 17 last_attempt_complete_time ts,
        18 next_attempt_schedule_time ts, 22 priority raw(PRIORITY), 24 activity_options msg(ActivityOptions),
    }
    ActivityOptions {
        1 task_queue msg(TaskQueue), 2 schedule_to_close_timeout dur, 3 schedule_to_start_timeout dur, 4 start_to_close_timeout dur,
        5 heartbeat_timeout dur, 6 retry_policy msg(RetryPolicy), 7 priority raw(PRIORITY),
    }
    PendingChild {
        1 workflow_id str, 2 run_id str, 3 workflow_type_name str, 4 initiated_id i64, 5 parent_close_policy i32,
    }
    PendingTask { 1 state i32, 2 scheduled_time ts, 3 original_scheduled_time ts, 4 started_time ts, 5 attempt i32, }
    DescribeResponse {
        1 execution_config msg(ExecutionConfig), 2 workflow_execution_info msg(ExecutionInfo),
        3 pending_activities reps(PendingActivity), 4 pending_children reps(PendingChild), 5 pending_workflow_task msg(PendingTask),
        8 workflow_extended_info msg(ExtendedInfo),
    }
}
