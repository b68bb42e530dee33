//! Failures: what the engine reads of one, and the few that it writes itself.
use crate::api::enums::v1::TimeoutType;
use crate::engine::codec;
use crate::engine::message::message;

message! {
    ApplicationInfo: failure::ApplicationFailureInfo { r#type str, non_retryable bool, next_retry_delay dur, }
    TimeoutInfo: failure::TimeoutFailureInfo { timeout_type i32, last_heartbeat_details payloads, }
    ResetInfo: failure::ResetWorkflowFailureInfo { last_heartbeat_details payloads, }
    FlagInfo: failure::ServerFailureInfo { non_retryable bool, }
    CanceledInfo: failure::CanceledFailureInfo { details payloads, }
    NexusInfo: failure::NexusOperationFailureInfo {
        scheduled_event_id i64, endpoint str, service str, operation str, operation_id str, operation_token str,
    }
    Failure: failure::Failure {
        message str, source str, cause failure, application_info = application_failure_info msg(ApplicationInfo),
        timeout_info = timeout_failure_info msg(TimeoutInfo), canceled_info = canceled_failure_info raw(ANY),
        terminated_info = terminated_failure_info raw(ANY), server_info = server_failure_info msg(FlagInfo),
        reset_info = reset_workflow_failure_info msg(ResetInfo),
        activity_info = activity_failure_info raw(ANY), child_info = child_workflow_execution_failure_info raw(ANY),
        nexus_info = nexus_operation_execution_failure_info msg(NexusInfo),
    }
}

/// A timeout as a server words it.
pub fn timeout(message: impl Into<String>, kind: TimeoutType) -> Failure {
    Failure {
        message: message.into(),
        source: "Server".into(),
        timeout_info: Some(TimeoutInfo { timeout_type: kind as i32, last_heartbeat_details: None }),
        ..Default::default()
    }
}

/// encoded temporal Failure of the server, final
pub fn server(message: &str) -> Vec<u8> {
    let server_info = Some(FlagInfo { non_retryable: true });
    codec::bytes(&Failure { message: message.into(), server_info, ..Default::default() })
}

/// A timeout of a Nexus operation.
pub fn timeout_of_nexus(kind: TimeoutType) -> Failure {
    Failure { source: String::new(), ..timeout("operation timed out", kind) }
}

/// encoded temporal Failure of a cancellation
pub fn canceled(message: &str, details: Option<Vec<u8>>) -> Vec<u8> {
    let info = codec::bytes(&CanceledInfo { details });
    codec::bytes(&Failure { message: message.into(), canceled_info: Some(info), ..Default::default() })
}

/// encoded temporal Failure of a termination
pub fn terminated(message: &str) -> Vec<u8> {
    codec::bytes(&Failure { message: message.into(), terminated_info: Some(Vec::new()), ..Default::default() })
}

/// encoded temporal Failure of the server, of this type, final
pub fn application(kind: &str, message: &str) -> Vec<u8> {
    codec::bytes(&Failure {
        message: message.into(),
        source: "Server".into(),
        application_info: Some(ApplicationInfo { r#type: kind.into(), non_retryable: true, next_retry_delay: None }),
        ..Default::default()
    })
}

/// encoded temporal Failure of what a reset ends
pub fn reset(reason: &str, last_heartbeat_details: Option<Vec<u8>>) -> Vec<u8> {
    let reset_info = Some(ResetInfo { last_heartbeat_details });
    codec::bytes(&Failure { message: reason.into(), reset_info, ..Default::default() })
}
