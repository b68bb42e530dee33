//! Nexus operations and callbacks: their stored state, and what calls of the host came to.
use crate::engine::message::message;
use crate::engine::messages::events::NexusScheduledAttrs;

message! {
    NexusState: engine::NexusState {
        scheduled_id i64, attempt i32, scheduled_us i64, started_us i64, operation_token str, next_attempt_us i64,
        last_complete_us i64, last_failure failure, cancellation msg(NexusCancellation), attrs msg(NexusScheduledAttrs),
    }
    NexusCancellation: engine::NexusCancellation {
        requested_id i64, requested_us i64, state i32, attempt i32, next_attempt_us i64, last_complete_us i64, last_failure failure,
    }
    CallbackState: engine::CallbackState {
        callback raw(CALLBACK), registered_us i64, state i32, attempt i32, next_attempt_us i64, last_complete_us i64,
        last_failure failure, outcome msg(NexusOutcome), request_id str,
    }
    NexusOutcome: engine::NexusOutcome {
        workflow_id str, run_id str, scheduled_id i64, request_id str, attempt i32, what i32, result raw(PAYLOAD), failure failure,
        operation_token str, links raws(LINK), started_us i64,
    }
    NexusEndpoints: engine::NexusEndpoints { endpoints reps(NexusEndpoint), }
    NexusEndpoint: engine::NexusEndpoint { name str, id str, }
}

/// Kinds of outcomes. Numbers are stored: never reuse one.
pub mod what {
    pub const STARTED: i32 = 1;
    pub const COMPLETED: i32 = 2;
    pub const FAILED: i32 = 3;
    pub const CANCELED: i32 = 4;
    /// The attempt failed, and another one may succeed.
    pub const RETRY: i32 = 5;
    /// The call to cancel, or of a callback, succeeded.
    pub const DELIVERED: i32 = 6;
    /// It failed for good.
    pub const REJECTED: i32 = 7;
}

/// temporal.api.enums.v1.NexusOperationCancellationState
pub mod cancellation {
    /// Waits for the start of the operation.
    pub const UNSPECIFIED: i32 = 0;
    pub const SCHEDULED: i32 = 1;
    pub const BACKING_OFF: i32 = 2;
    pub const SUCCEEDED: i32 = 3;
    pub const FAILED: i32 = 4;
}

/// temporal.api.enums.v1.CallbackState
pub mod callback {
    /// The run is open.
    pub const STANDBY: i32 = 1;
    pub const SCHEDULED: i32 = 2;
    pub const BACKING_OFF: i32 = 3;
    pub const FAILED: i32 = 4;
    pub const SUCCEEDED: i32 = 5;
}
