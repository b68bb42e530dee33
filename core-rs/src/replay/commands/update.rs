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
use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{DoUpdate, UpdateResponse, UpdateResponseResponse};
use crate::proto::views::command::Command;
use crate::proto::views::common::Payload;
use crate::proto::views::failure::Failure;
use crate::proto::views::protocol::{self, MessageSequencingId};
use crate::proto::views::update::{Acceptance, Meta, Outcome, Rejection, Request, Response as UpdateOutcome};
use crate::replay::commands::kind::{Take, Wait};
use crate::replay::commands::shared::bad_value;
use crate::replay::convert::checked;
use crate::replay::event::{EventRef, Place, bad_transition, wrong_type};
use crate::replay::run_state::{Inherited, RunState};
use crate::sorted::SortedMap;
use crate::wire::typed::{self, Encoded, Put, View, build};

const NAME: &str = "Update";
const MACHINE: &str = "UpdateMachine";
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
enum Step {
    AcceptCommandCreated,
    CompleteCommandCreated,
}

#[derive(Clone, Debug)]
struct Update {
    state: State,
    message_id: String,
    sequencing_id: i64,
    /// As it came: the server wants it back with the decision. Not kept while replaying.
    request: Option<Encoded<Request>>,
    meta: Option<Encoded<Meta>>,
}

/// An update request, from a message, an accepted event or an admitted one.
#[derive(Clone, Debug)]
pub struct Incoming {
    pub protocol_instance_id: String,
    pub message_id: String,
    pub sequencing_id: i64,
    pub request: Encoded<Request>,
}

/// The updates of a run by protocol instance id, which is the update id.
#[derive(Clone, Debug, Default)]
pub struct Updates {
    by_id: SortedMap<String, Update>,
    /// Requests that a reset restored in the sequence being replayed: their accepted
    /// event carries no request.
    pub admitted: SortedMap<String, Incoming>,
}

/// Given: what workflow code says to a request.
#[derive(Debug)]
pub struct Respond {
    id: String,
    response: Response,
}

#[derive(Clone, Debug)]
enum Response {
    Accepted,
    Rejected(Encoded<Failure>),
    Completed(Encoded<Payload>),
}

/// Queued: fixes the place of a message among the events. `message_id` is the message's.
#[derive(Clone, Debug)]
pub struct Decided {
    id: String,
    message_id: String,
    step: Step,
}

/// What a response of workflow code puts in motion.
#[derive(Debug)]
struct Decision {
    command: Option<Decided>,
    message: Encoded<protocol::Message>,
}

pub fn read(bytes: &[u8]) -> Result<Respond> {
    let c = checked::<UpdateResponse>(bytes)?;
    let response = match c.response() {
        Some(UpdateResponseResponse::Accepted(_)) => Response::Accepted,
        Some(UpdateResponseResponse::Rejected(failure)) => Response::Rejected(failure.to_owned()),
        Some(UpdateResponseResponse::Completed(payload)) => Response::Completed(payload.to_owned()),
        None => return bad_value("UpdateResponse: response is not set"),
    };
    Ok(Respond { id: c.protocol_instance_id().into(), response })
}

/// The request inside a checked message of a workflow task.
pub fn read_message(message: View<protocol::Message>) -> Result<Incoming> {
    let id = message.id();
    let Some(MessageSequencingId::EventId(sequencing_id)) = message.sequencing_id() else {
        let text = format!("Message {id} has no sequencing event ID, so its place in the history is unknown: server bug");
        return Err(fatal(codes::BAD_MESSAGE, text));
    };
    let type_url = message.body().type_url();
    if type_url.rsplit('/').next() != Some("temporal.api.update.v1.Request") {
        return Err(fatal(codes::BAD_MESSAGE, format!("Message {id} is of unknown type '{type_url}'")));
    }
    let request = typed::read::<Request>(message.body().value())
        .map_err(|e| fatal(codes::BAD_MESSAGE, format!("Message {id}: cannot decode its update request: {e}")))?;
    Ok(Incoming {
        protocol_instance_id: message.protocol_instance_id().into(),
        message_id: id.into(),
        sequencing_id,
        request: request.to_owned(),
    })
}

impl Updates {
    /// The job for a request; `None` when this update is already known (the server may bring a request twice).
    pub fn request(&mut self, incoming: Incoming, replaying: bool) -> Option<Encoded<DoUpdate>> {
        let Incoming { protocol_instance_id, message_id, sequencing_id, request } = incoming;
        // A rejection leaves no trace on the server, so that the same id may come again.
        if self.by_id.get(&protocol_instance_id).is_some_and(|u| u.state != State::Rejected) {
            return None;
        }
        let read = request.view();
        let (meta, input) = (read.opt_meta(), read.input());
        let job = build(|w: Put<DoUpdate>| {
            w.id(meta.map_or(protocol_instance_id.as_str(), View::<Meta>::update_id))
                .protocol_instance_id(&protocol_instance_id)
                .name(input.name())
                .copy_input(input.args().payloads())
                .copy_headers(input.header().fields())
                .identity(meta.unwrap_or_default().identity())
                .run_validator(!replaying)
        });
        let meta = meta.map(View::to_owned);
        let request = (!replaying).then_some(request);
        let update = Update { state: State::RequestInitiated, message_id, sequencing_id, request, meta };
        self.by_id.insert(protocol_instance_id, update);
        Some(job)
    }

    fn respond(&mut self, id: &str, response: Response) -> Result<Decision> {
        use Response::*;
        let Some(update) = self.by_id.get_mut(id) else {
            return Err(fatal(codes::UNKNOWN_UPDATE, format!("Missing associated machine for protocol message {id}")));
        };
        Ok(match (update.state, response) {
            (State::RequestInitiated, Accepted) => update.accept(id),
            (State::RequestInitiated, Rejected(failure)) => update.reject(id, failure.view()),
            (State::Accepted, Rejected(failure)) => {
                update.complete(id, &build(|w: Put<Outcome>| w.copy_failure(Some(failure.view()))))
            }
            (State::Accepted, Completed(payload)) => {
                update.complete(id, &build(|w: Put<Outcome>| w.success(|w| w.add_payloads(|w| w.all_of(payload.view())))))
            }
            (state, _) => {
                let text = format!("Invalid transition while handling update response (id {id}) in state {state:?}");
                return Err(nondeterminism(codes::UPDATE_STATE, text));
            }
        })
    }
}

impl Update {
    fn accept(&mut self, id: &str) -> Decision {
        self.state = State::Accepted;
        let request = self.request.take();
        let acceptance = build(|w: Put<Acceptance>| {
            w.accepted_request_message_id(&self.message_id)
                .accepted_request_sequencing_event_id(self.sequencing_id)
                .copy_accepted_request(request.as_ref().map(Encoded::view))
        });
        let (message_id, message) = self.message(id, "accept", "Acceptance", acceptance.view().bytes());
        Decision { command: Some(Decided { id: id.into(), message_id, step: Step::AcceptCommandCreated }), message }
    }

    fn reject(&mut self, id: &str, failure: View<Failure>) -> Decision {
        self.state = State::Rejected;
        let request = self.request.take();
        let rejection = build(|w: Put<Rejection>| {
            w.rejected_request_message_id(&self.message_id)
                .rejected_request_sequencing_event_id(self.sequencing_id)
                .copy_rejected_request(request.as_ref().map(Encoded::view))
                .copy_failure(Some(failure))
        });
        Decision { command: None, message: self.message(id, "reject", "Rejection", rejection.view().bytes()).1 }
    }

    fn complete(&mut self, id: &str, outcome: &Encoded<Outcome>) -> Decision {
        self.state = State::Completed;
        let meta = self.meta.take();
        let response =
            build(|w: Put<UpdateOutcome>| w.copy_meta(meta.as_ref().map(Encoded::view)).copy_outcome(Some(outcome.view())));
        let (message_id, message) = self.message(id, "complete", "Response", response.view().bytes());
        Decision { command: Some(Decided { id: id.into(), message_id, step: Step::CompleteCommandCreated }), message }
    }

    /// Id and bytes of a message about this update.
    fn message(&self, id: &str, suffix: &str, kind: &str, value: &[u8]) -> (String, Encoded<protocol::Message>) {
        let message_id = format!("{}/{suffix}", self.message_id);
        let message = build(|w: Put<protocol::Message>| {
            w.id(&message_id).protocol_instance_id(id).body(|w| w.type_url(&format!("{TYPE_URL}{kind}")).value(value))
        });
        (message_id, message)
    }
}

impl Take for Respond {
    type Own = Updates;
    type Queued = Option<Decided>;

    fn take(self, updates: &mut Updates, run: &mut RunState) -> Result<Option<Decided>> {
        let decision = updates.respond(&self.id, self.response).of_command(CommandKind::UpdateResponse, 0)?;
        if !run.replaying {
            run.outgoing.push(decision.message);
        }
        Ok(decision.command)
    }
}

impl Wait for Decided {
    type Own = ();

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::UpdateResponse
    }

    fn command_type(&self) -> CommandType {
        CommandType::ProtocolMessage
    }

    /// Core does not compare the ids, so that two swapped updates pass; here it is a diagnosis.
    fn meet(self, event: Attributes, at: EventRef, _: &mut (), run: &mut RunState) -> Result<()> {
        let (what, recorded) = match (self.step, event) {
            (Step::AcceptCommandCreated, Attributes::WorkflowExecutionUpdateAccepted(a)) => {
                ("accepted", a.protocol_instance_id())
            }
            (Step::CompleteCommandCreated, Attributes::WorkflowExecutionUpdateCompleted(a)) => {
                ("completed", a.meta().update_id())
            }
            (step, Attributes::WorkflowExecutionUpdateAccepted(_) | Attributes::WorkflowExecutionUpdateCompleted(_)) => {
                return Err(bad_transition(MACHINE, step, at));
            }
            _ => return Err(wrong_type(NAME, at)),
        };
        let own = self.id;
        if recorded == own {
            return Ok(());
        }
        let text = format!("Update id of {what} event '{recorded}' does not match update id of update command '{own}'");
        run.diagnose(codes::UPDATE_ID, text, at).differing("update_id", recorded, own)
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        w.protocol_message_command_attributes(|w| w.message_id(&self.message_id))
    }
}
