//! The Nexus operations and callbacks of a run, for DescribeWorkflowExecution.
use crate::engine::message::message;
use crate::engine::messages::nexus::NexusCancellation;
use crate::engine::state::pending::{Callback, Nexus};
use crate::engine::time::{timestamp, timestamp_opt};

message! {
    PendingNexus: workflow::PendingNexusOperationInfo {
        endpoint str, service str, operation str, operation_id str, schedule_to_close_timeout dur, scheduled_time ts, state i32,
        attempt i32, last_attempt_complete_time ts, last_attempt_failure failure, next_attempt_schedule_time ts,
        cancellation_info msg(CancellationInfo), scheduled_event_id i64, operation_token str, schedule_to_start_timeout dur,
        start_to_close_timeout dur,
    }
    CancellationInfo: workflow::NexusOperationCancellationInfo {
        requested_time ts, state i32, attempt i32, last_attempt_complete_time ts, last_attempt_failure failure,
        next_attempt_schedule_time ts,
    }
    CallbackInfo: workflow::CallbackInfo {
        callback raw(CALLBACK), trigger msg(Trigger), registration_time ts, state i32, attempt i32, last_attempt_complete_time ts,
        last_attempt_failure failure, next_attempt_schedule_time ts,
    }
    Trigger: workflow::CallbackInfoTrigger { workflow_closed raw(ANY), }
}

/// temporal.api.enums.v1.PendingNexusOperationState
const SCHEDULED: i32 = 1;
const BACKING_OFF: i32 = 2;
const STARTED: i32 = 3;

pub fn pending(op: &Nexus) -> PendingNexus {
    let s = &op.state;
    let attrs = s.attrs.clone().unwrap_or_default();
    PendingNexus {
        endpoint: attrs.endpoint,
        service: attrs.service,
        operation: attrs.operation,
        operation_id: s.operation_token.clone(),
        schedule_to_close_timeout: attrs.schedule_to_close_timeout,
        scheduled_time: Some(timestamp(s.scheduled_us)),
        state: if s.started_us != 0 {
            STARTED
        } else if s.next_attempt_us != 0 {
            BACKING_OFF
        } else {
            SCHEDULED
        },
        attempt: s.attempt,
        last_attempt_complete_time: timestamp_opt(s.last_complete_us),
        last_attempt_failure: s.last_failure.clone(),
        next_attempt_schedule_time: timestamp_opt(s.next_attempt_us),
        cancellation_info: s.cancellation.as_ref().map(cancellation),
        scheduled_event_id: s.scheduled_id,
        operation_token: s.operation_token.clone(),
        schedule_to_start_timeout: attrs.schedule_to_start_timeout,
        start_to_close_timeout: attrs.start_to_close_timeout,
    }
}

fn cancellation(c: &NexusCancellation) -> CancellationInfo {
    CancellationInfo {
        requested_time: timestamp_opt(c.requested_us),
        state: c.state,
        attempt: c.attempt,
        last_attempt_complete_time: timestamp_opt(c.last_complete_us),
        last_attempt_failure: c.last_failure.clone(),
        next_attempt_schedule_time: timestamp_opt(c.next_attempt_us),
    }
}

pub fn callback(c: &Callback) -> CallbackInfo {
    let s = &c.state;
    CallbackInfo {
        callback: s.callback.clone(),
        trigger: Some(Trigger { workflow_closed: Some(Vec::new()) }),
        registration_time: timestamp_opt(s.registered_us),
        state: s.state,
        attempt: s.attempt,
        last_attempt_complete_time: timestamp_opt(s.last_complete_us),
        last_attempt_failure: s.last_failure.clone(),
        next_attempt_schedule_time: timestamp_opt(s.next_attempt_us),
    }
}
