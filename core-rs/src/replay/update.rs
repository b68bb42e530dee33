//! Updates over protocol messages (core-spec 1.11).
//!
//! | state | accepted | rejected | completed | UpdateAccepted | UpdateCompleted |
//! |---|---|---|---|---|---|
//! | RequestInitiated | Accepted: message, command | Rejected: message only | nondeterminism | - | - |
//! | Accepted | nondeterminism | Completed: failure | Completed | recorded | - |
//! | Completed | nondeterminism | nondeterminism | nondeterminism | recorded | recorded |
//!
//! Acceptance and Response each go with a PROTOCOL_MESSAGE command that fixes their place among the events; a Rejection has none.
//! While replaying no message is written, but the commands are, and match the events.

use crate::sorted::SortedMap;
use prost::Message as _;

use crate::api::failure::v1::Failure;
use crate::api::protocol::v1::Message;
use crate::api::update::v1::{Acceptance, Meta, Outcome, Rejection, Request, Response, outcome};
use crate::boundary::{DoUpdate, update_response};
use crate::error::{Result, codes, decode, fatal, nondeterminism};
use crate::replay::convert::payload_vec;
use crate::replay::queue::Queued;

/// Machine name in wordings.
pub const NAME: &str = "Update";

const TYPE_URL: &str = "type.googleapis.com/temporal.api.update.v1.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    RequestInitiated,
    Accepted,
    Rejected,
    Completed,
}

/// The command whose event is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    AcceptCommandCreated,
    CompleteCommandCreated,
}

#[derive(Clone, Debug)]
struct Update {
    state: State,
    message_id: String,
    sequencing_id: i64,
    /// The server wants it back with the decision; not kept while replaying.
    request: Option<Box<Request>>,
    meta: Option<Meta>,
}

/// An update request, from a message, an accepted event or an admitted one.
#[derive(Clone, Debug)]
pub struct Incoming {
    pub protocol_instance_id: String,
    pub message_id: String,
    pub sequencing_id: i64,
    pub request: Box<Request>,
}

/// The updates of a run by protocol instance id, which is the update id.
#[derive(Clone, Debug, Default)]
pub struct Updates {
    by_id: SortedMap<String, Update>,
    /// Requests that a reset brought back in the sequence being replayed: the accepted event behind it has none of its own.
    pub admitted: SortedMap<String, Incoming>,
}

/// What an answer of workflow code puts in motion.
#[derive(Debug, Default)]
pub struct Answer {
    pub command: Option<Queued>,
    pub message: Option<Message>,
}

/// The request inside a message of a workflow task.
pub fn read_message(message: Message) -> Result<Incoming> {
    use crate::api::protocol::v1::message::SequencingId;
    let Message { id, protocol_instance_id, body, sequencing_id } = message;
    let Some(SequencingId::EventId(sequencing_id)) = sequencing_id else {
        let text = format!("Message {id} has no event id that says where it belongs. This is a server bug.");
        return Err(fatal(codes::BAD_MESSAGE, text));
    };
    let body = body.unwrap_or_default();
    if body.type_url.rsplit('/').next() != Some("temporal.api.update.v1.Request") {
        return Err(fatal(codes::BAD_MESSAGE, format!("Message {id} is of unknown type '{}'", body.type_url)));
    }
    let request = Request::decode(body.value.as_slice())
        .map_err(|e| fatal(codes::BAD_MESSAGE, format!("Message {id} holds no update request: {e}")))?;
    Ok(Incoming { protocol_instance_id, message_id: id, sequencing_id, request: Box::new(request) })
}

impl Updates {
    /// The job for a request; `None` when this update is already known (the server may bring a request twice).
    pub fn request(&mut self, incoming: Incoming, replaying: bool) -> Option<DoUpdate> {
        let Incoming { protocol_instance_id, message_id, sequencing_id, request } = incoming;
        // A rejection leaves no trace on the server, so that the same id may come again.
        if self.by_id.get(&protocol_instance_id).is_some_and(|u| u.state != State::Rejected) {
            return None;
        }
        let kept = (!replaying).then(|| request.clone());
        let Request { meta, input, .. } = *request;
        let input = input.unwrap_or_default();
        let identity = meta.as_ref().map(|m| m.identity.clone()).unwrap_or_default();
        let id = meta.as_ref().map_or_else(|| protocol_instance_id.clone(), |m| m.update_id.clone());
        let update = Update { state: State::RequestInitiated, message_id, sequencing_id, request: kept, meta };
        self.by_id.insert(protocol_instance_id.clone(), update);
        Some(DoUpdate {
            id,
            protocol_instance_id,
            name: input.name,
            input: payload_vec(input.args),
            headers: input.header.map(|h| h.fields).unwrap_or_default(),
            identity,
            run_validator: !replaying,
        })
    }

    /// Workflow code's answer.
    pub fn answer(&mut self, id: &str, response: update_response::Response, replaying: bool) -> Result<Answer> {
        use update_response::Response::*;
        let Some(update) = self.by_id.get_mut(id) else {
            return Err(fatal(codes::UNKNOWN_UPDATE, format!("Missing associated machine for protocol message {id}")));
        };
        let mut answer = match (update.state, response) {
            (State::RequestInitiated, Accepted(_)) => update.accept(id),
            (State::RequestInitiated, Rejected(failure)) => update.reject(id, decode("Failure", &failure)?),
            (State::Accepted, Rejected(failure)) => {
                update.complete(id, outcome::Value::Failure(decode::<Failure>("Failure", &failure)?))
            }
            (State::Accepted, Completed(payload)) => {
                let payloads = crate::api::common::v1::Payloads { payloads: vec![payload] };
                update.complete(id, outcome::Value::Success(payloads))
            }
            (state, _) => {
                let text = format!("Invalid transition while handling update response (id {id}) in state {state:?}");
                return Err(nondeterminism(codes::UPDATE_STATE, text));
            }
        };
        if replaying {
            answer.message = None;
        }
        Ok(answer)
    }
}

impl Update {
    fn accept(&mut self, id: &str) -> Answer {
        self.state = State::Accepted;
        let acceptance = Acceptance {
            accepted_request_message_id: self.message_id.clone(),
            accepted_request_sequencing_event_id: self.sequencing_id,
            accepted_request: self.request.take().map(|r| *r),
        };
        let message = self.message(id, "accept", "Acceptance", acceptance.encode_to_vec());
        Answer { command: Some(Queued::AcceptUpdate { id: id.into(), message_id: message.id.clone() }), message: Some(message) }
    }

    fn reject(&mut self, id: &str, failure: Failure) -> Answer {
        self.state = State::Rejected;
        let rejection = Rejection {
            rejected_request_message_id: self.message_id.clone(),
            rejected_request_sequencing_event_id: self.sequencing_id,
            rejected_request: self.request.take().map(|r| *r),
            failure: Some(failure),
        };
        Answer { command: None, message: Some(self.message(id, "reject", "Rejection", rejection.encode_to_vec())) }
    }

    fn complete(&mut self, id: &str, value: outcome::Value) -> Answer {
        self.state = State::Completed;
        let response = Response { meta: self.meta.take(), outcome: Some(Outcome { value: Some(value) }) };
        let message = self.message(id, "complete", "Response", response.encode_to_vec());
        Answer { command: Some(Queued::CompleteUpdate { id: id.into(), message_id: message.id.clone() }), message: Some(message) }
    }

    fn message(&self, id: &str, suffix: &str, kind: &str, value: Vec<u8>) -> Message {
        Message {
            id: format!("{}/{suffix}", self.message_id),
            protocol_instance_id: id.into(),
            body: Some(prost_types::Any { type_url: format!("{TYPE_URL}{kind}"), value }),
            sequencing_id: None,
        }
    }
}
