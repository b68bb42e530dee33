//! PROTOCOL_MESSAGE, which places a message of the update protocol among the commands, and these messages: acceptance, rejection,
//! response.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad};
use super::update_message::*;
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::codec::{self, Wire};
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::*;
use crate::engine::messages::tasks::ProtocolMessage;
use crate::engine::messages::updates::UpdateMeta;
use crate::engine::state::run::{Run, kind};
use crate::engine::state::update::{Stage, Update};
use crate::engine::updates;

message! {
    ProtocolMessageRef: command::ProtocolMessageCommandAttributes { message_id str, }
}

const CAUSE: Cause = Cause::BadUpdateWorkflowExecutionMessage;

impl Kind for ProtocolMessageRef {
    const CAUSE: Cause = CAUSE;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        if self.message_id.is_empty() {
            return bad(CAUSE, "MessageID is not set on ProtocolMessageCommand.");
        }
        let found = plan.messages.iter_mut().find(|m| m.as_ref().is_some_and(|m| m.id == self.message_id));
        let Some(message) = found.and_then(Option::take) else {
            return bad(CAUSE, format!("ProtocolMessageCommand referenced absent message ID {}", self.message_id));
        };
        check(plan, message)
    }

    /// The message is applied in its place.
    fn apply(self, _: &mut Run, _: &mut Context, _: &At) -> bool {
        false
    }
}

/// Checks a message against the stage of its update.
pub fn check(plan: &mut Plan, m: ProtocolMessage) -> Result<(), Reject> {
    let id = m.protocol_instance_id;
    let Some(body) = m.body else {
        return bad(CAUSE, format!("Update {id} received message with nil body"));
    };
    plan.size("update message", body.value.len())?;
    fn decode<T: Wire + Default>(value: &[u8]) -> Result<T, Reject> {
        codec::read(value).or_else(|e| bad(CAUSE, format!("unable to unmarshal request: {}", e.0)))
    }
    let name = body.type_url.rsplit('/').next().unwrap_or_default();
    let body = match name {
        "temporal.api.update.v1.Acceptance" => UpdateBody::Accept(decode(&body.value)?),
        "temporal.api.update.v1.Rejection" => UpdateBody::Reject(decode(&body.value)?),
        "temporal.api.update.v1.Response" => UpdateBody::Answer(decode(&body.value)?),
        _ => return bad(CAUSE, format!("Message type {} not supported", body.type_url)),
    };
    let stage = match plan.updates.get(&id) {
        Some(stage) => *stage,
        None => plan.run.updates.get(&id).map(|u| u.stage),
    };
    // An update that this engine has forgotten (it was only admitted when the engine stopped) comes back with its request.
    let pending = match (stage, &body) {
        (Some(s), _) => s,
        (None, UpdateBody::Accept(a)) if a.accepted_request.is_some() => Stage::Admitted,
        (None, UpdateBody::Reject(r)) if r.rejected_request.is_some() => Stage::Admitted,
        (None, _) => {
            let text = format!(
                "update {id} wasn't found on the server. This is most likely a transient error which will be resolved automatically by retries"
            );
            return bad(CAUSE, text);
        }
    };
    let next = match (&body, pending) {
        (UpdateBody::Accept(a), Stage::Admitted | Stage::Sent) => {
            if a.accepted_request_message_id.is_empty() && a.accepted_request.is_none() && stage.is_none() {
                return bad(CAUSE, "accepted_request is not set");
            }
            Some(Stage::Accepted)
        }
        (UpdateBody::Reject(r), Stage::Admitted | Stage::Sent) => {
            if r.failure.is_none() {
                return bad(CAUSE, format!("invalid Rejection of update {id}: failure is not set"));
            }
            None
        }
        (UpdateBody::Answer(a), Stage::Accepted) => {
            if a.outcome.is_none() {
                return bad(CAUSE, format!("invalid Response of update {id}: outcome is not set"));
            }
            Some(Stage::Completed)
        }
        (_, stage) => {
            return bad(CAUSE, format!("invalid state transition attempted for Update {id}: {name} in state {stage:?}"));
        }
    };
    plan.updates.insert(id.clone(), next);
    plan.decided.push(UpdateMessage { update_id: id, body });
    Ok(())
}

/// A worker's decision or response, checked by the plan.
pub fn apply(run: &mut Run, cx: &mut Context, m: UpdateMessage) {
    let time = run.time(cx.now);
    let id = m.update_id;
    match m.body {
        UpdateBody::Accept(a) if run.open() => {
            run.update_seq += 1;
            let seq = run.update_seq;
            let known = run.updates.get_or_insert_with(id.clone(), || Update {
                stage: Stage::Sent,
                seq,
                request: None,
                accepted_id: 0,
                outcome: None,
                waits: Vec::new(),
                admitted: false,
            });
            // The event that admitted the update has its request.
            let request = if known.admitted { None } else { known.request.take().or(a.accepted_request) };
            let attrs = UpdateAcceptedAttrs {
                protocol_instance_id: id.clone(),
                accepted_request_message_id: format!("{id}/request"),
                accepted_request_sequencing_event_id: a.accepted_request_sequencing_event_id,
                accepted_request: request,
            };
            let accepted_id = run.append(time, &attrs);
            if let Some(u) = run.updates.get_mut(&id) {
                u.stage = Stage::Accepted;
                u.accepted_id = accepted_id;
            }
            run.mark(kind::UPDATE, id);
        }
        UpdateBody::Answer(a) if run.open() => {
            let Some(u) = run.updates.get_mut(&id) else { return };
            u.stage = Stage::Completed;
            u.outcome.clone_from(&a.outcome);
            let accepted_event_id = u.accepted_id;
            let meta = a.meta.or_else(|| Some(UpdateMeta { update_id: id.clone(), identity: String::new() }));
            run.append(time, &UpdateCompletedAttrs { meta, outcome: a.outcome, accepted_event_id });
            run.mark(kind::UPDATE, id);
        }
        UpdateBody::Reject(r) => updates::reject(run, cx, &id, r.failure.unwrap_or_default()),
        // The workflow ended before these: what closes the run settles them.
        UpdateBody::Accept(_) | UpdateBody::Answer(_) => {}
    }
}
