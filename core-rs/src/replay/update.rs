//! Updates over protocol messages (docs/dev/semantics/updates.md).
//!
//! | state | accepted | rejected | completed | UpdateAccepted | UpdateCompleted |
//! |---|---|---|---|---|---|
//! | RequestInitiated | Accepted: message, command | Rejected: message only | nondeterminism | - | - |
//! | Accepted | nondeterminism | Completed: failure | Completed | recorded | - |
//! | Completed | nondeterminism | nondeterminism | nondeterminism | recorded | recorded |
//!
//! Acceptance and Response each go with a PROTOCOL_MESSAGE command that fixes their place among the events; a Rejection has none.
//! While replaying no message is written, but the commands are, and match the events.

use crate::error::{Result, codes, fatal, nondeterminism};
use crate::replay::convert::write_wrapped;
use crate::replay::queue::Queued;
use crate::sorted::SortedMap;
use crate::wire::{Message, Writer};

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
    /// update.v1.Request as it came: the server wants it back with the decision. Not kept while replaying.
    request: Option<Vec<u8>>,
    /// update.v1.Meta.
    meta: Option<Vec<u8>>,
}

/// An update request, from a message, an accepted event or an admitted one.
#[derive(Clone, Debug)]
pub struct Incoming {
    pub protocol_instance_id: String,
    pub message_id: String,
    pub sequencing_id: i64,
    /// update.v1.Request.
    pub request: Vec<u8>,
}

/// The updates of a run by protocol instance id, which is the update id.
#[derive(Clone, Debug, Default)]
pub struct Updates {
    by_id: SortedMap<String, Update>,
    /// Requests that a reset brought back in the sequence being replayed: the accepted event behind it has none of its own.
    pub admitted: SortedMap<String, Incoming>,
}

/// An answer of workflow code (boundary.UpdateResponse).
#[derive(Clone, Debug)]
pub enum Response {
    Accepted,
    /// Failure.
    Rejected(Vec<u8>),
    /// Payload.
    Completed(Vec<u8>),
}

/// What an answer of workflow code puts in motion.
#[derive(Debug, Default)]
pub struct Answer {
    pub command: Option<Queued>,
    /// protocol.v1.Message.
    pub message: Option<Vec<u8>>,
}

/// The request inside a checked message of a workflow task.
pub fn read_message(message: Message) -> Result<Incoming> {
    let id = message.text(1);
    // sequencing_id is a oneof of event_id and command_index.
    if message.fields().filter(|(n, _)| matches!(n, 3 | 4)).last().is_none_or(|(n, _)| n != 3) {
        let text = format!("Message {id} has no event id that says where it belongs. This is a server bug.");
        return Err(fatal(codes::BAD_MESSAGE, text));
    }
    let (type_url, value) = (message.sub(5).text(1), message.sub(5).bytes(2).unwrap_or_default());
    if type_url.rsplit('/').next() != Some("temporal.api.update.v1.Request") {
        return Err(fatal(codes::BAD_MESSAGE, format!("Message {id} is of unknown type '{type_url}'")));
    }
    crate::wire::schema::message(value, &crate::wire::schema::UPDATE_REQUEST, 0)
        .map_err(|e| fatal(codes::BAD_MESSAGE, format!("Message {id} holds no update request: {e}")))?;
    Ok(Incoming {
        protocol_instance_id: message.text(2).into(),
        message_id: id.into(),
        sequencing_id: message.int(3),
        request: value.into(),
    })
}

impl Updates {
    /// boundary.DoUpdate for a request; `None` when this update is already known (the server may bring a request twice).
    pub fn request(&mut self, incoming: Incoming, replaying: bool) -> Option<Vec<u8>> {
        let Incoming { protocol_instance_id, message_id, sequencing_id, request } = incoming;
        // A rejection leaves no trace on the server, so that the same id may come again.
        if self.by_id.get(&protocol_instance_id).is_some_and(|u| u.state != State::Rejected) {
            return None;
        }
        let read = Message(&request);
        let (meta, input) = (read.get(1), read.sub(2));
        let mut job = Writer::new();
        job.text(1, meta.map_or(protocol_instance_id.as_str(), |m| m.text(1))).text(2, &protocol_instance_id);
        job.text(3, input.text(2)).each(4, input.sub(3).all(1)).each(5, input.sub(1).all(1));
        job.text(6, meta.unwrap_or_default().text(2)).flag(7, !replaying);
        let meta = meta.map(|m| m.0.to_vec());
        let request = (!replaying).then_some(request);
        let update = Update { state: State::RequestInitiated, message_id, sequencing_id, request, meta };
        self.by_id.insert(protocol_instance_id, update);
        Some(job.finish())
    }

    /// Workflow code's answer.
    pub fn answer(&mut self, id: &str, response: Response, replaying: bool) -> Result<Answer> {
        use Response::*;
        let Some(update) = self.by_id.get_mut(id) else {
            return Err(fatal(codes::UNKNOWN_UPDATE, format!("Missing associated machine for protocol message {id}")));
        };
        let mut answer = match (update.state, response) {
            (State::RequestInitiated, Accepted) => update.accept(id),
            (State::RequestInitiated, Rejected(failure)) => update.reject(id, &failure),
            (State::Accepted, Rejected(failure)) => update.complete(id, |w| {
                w.message(2, &failure);
            }),
            (State::Accepted, Completed(payload)) => {
                update.complete(id, |w| write_wrapped(w, 1, std::iter::once(payload.as_slice())))
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
        let acceptance = self.decision(None);
        let (message_id, message) = self.message(id, "accept", "Acceptance", &acceptance);
        Answer { command: Some(Queued::AcceptUpdate { id: id.into(), message_id }), message: Some(message) }
    }

    fn reject(&mut self, id: &str, failure: &[u8]) -> Answer {
        self.state = State::Rejected;
        let rejection = self.decision(Some(failure));
        Answer { command: None, message: Some(self.message(id, "reject", "Rejection", &rejection).1) }
    }

    /// update.v1.Acceptance, or with a failure update.v1.Rejection: the same fields.
    fn decision(&mut self, failure: Option<&[u8]>) -> Vec<u8> {
        let request = self.request.take();
        let mut w = Writer::new();
        w.text(1, &self.message_id).int(2, self.sequencing_id).optional(3, request.as_deref()).optional(4, failure);
        w.finish()
    }

    /// `outcome` writes update.v1.Outcome.
    fn complete(&mut self, id: &str, outcome: impl FnOnce(&mut Writer)) -> Answer {
        self.state = State::Completed;
        let mut response = Writer::new();
        response.optional(1, self.meta.take().as_deref()).nested(2, outcome);
        let (message_id, message) = self.message(id, "complete", "Response", &response.finish());
        Answer { command: Some(Queued::CompleteUpdate { id: id.into(), message_id }), message: Some(message) }
    }

    /// Id and bytes of a protocol.v1.Message.
    fn message(&self, id: &str, suffix: &str, kind: &str, value: &[u8]) -> (String, Vec<u8>) {
        let message_id = format!("{}/{suffix}", self.message_id);
        let mut w = Writer::new();
        w.text(1, &message_id).text(2, id).nested(5, |w| {
            w.text(1, &format!("{TYPE_URL}{kind}")).data(2, value);
        });
        (message_id, w.finish())
    }
}
