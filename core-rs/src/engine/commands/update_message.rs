//! What a worker decides about an update, decoded.
use crate::engine::message::message;
use crate::engine::messages::updates::*;

message! {
    Acceptance: update::Acceptance {
        accepted_request_message_id str, accepted_request_sequencing_event_id i64, accepted_request raw(UPDATE_REQUEST),
    }
    Rejection: update::Rejection {
        rejected_request_message_id str, rejected_request_sequencing_event_id i64, rejected_request raw(UPDATE_REQUEST),
        failure failure,
    }
    UpdateAnswer: update::Response { meta msg(UpdateMeta), outcome raw(OUTCOME), }
}

/// A message of the update protocol, decoded.
pub struct UpdateMessage {
    pub update_id: String,
    pub body: UpdateBody,
}

pub enum UpdateBody {
    Accept(Acceptance),
    Reject(Rejection),
    Answer(UpdateAnswer),
}
