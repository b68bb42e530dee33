//! A signal to another workflow, or to a child
//! (docs/dev/semantics/commands.md#signals-and-cancel-requests-to-other-runs).
//!
//! | state | SignalExternal...Initiated | cancel | ExternalWorkflowExecutionSignaled, SignalExternal...Failed |
//! |---|---|---|---|
//! | Created | Initiated | CancelledBeforeSent: command dropped, resolved cancelled | fatal |
//! | Initiated | fatal | ignored: what was sent cannot be taken back | Closed, resolved |
//! | Closed, CancelledBeforeSent | fatal | ignored | fatal |
//!
//! Of its content nothing is compared with history.
use crate::api::enums::v1::{EventType, SignalExternalWorkflowExecutionFailedCause as Cause};
use crate::error::{Result, codes, misuse};
use crate::replay::activity::CANCELED_FAILURE;
use crate::replay::convert::write_wrapped;
use crate::replay::event::{EventRef, bad_transition, wrong_type};
use crate::replay::terminal::Inherited;
use crate::wire::schema::Kind::{Message as Sub, Text, Varint};
use crate::wire::schema::{PAYLOAD, PAYLOAD_ENTRY, Schema};
use crate::wire::{Message, Writer};

const APPLICATION_FAILURE: u32 = 5;

pub static SIGNAL_EXTERNAL_WORKFLOW: Schema =
    Schema(&[(1, Text), (2, Text), (3, Text), (4, Varint), (5, Text), (6, Sub(&PAYLOAD)), (7, Sub(&PAYLOAD_ENTRY)), (8, Varint)]);
pub static CANCEL_SIGNAL_WORKFLOW: Schema = Schema(&[(1, Varint)]);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signal {
    /// The seq was given out, but its command was cut off behind a terminal one, or was never sent.
    #[default]
    Absent,
    Created,
    Initiated,
    Closed,
    CancelledBeforeSent,
}

/// Machine name in wordings.
pub const NAME: &str = "Signal external WF";
const MACHINE: &str = "SignalExternalMachine";

impl Signal {
    /// `Some`: it was taken back, boundary.ResolveSignalExternalWorkflow.
    pub fn cancel(&mut self, seq: u32) -> Option<Vec<u8>> {
        if *self != Signal::Created {
            return None;
        }
        *self = Signal::CancelledBeforeSent;
        let mut failure = Writer::new();
        failure.text(1, "Signal was cancelled before being sent").nested(CANCELED_FAILURE, |_| {});
        Some(answer(seq, &failure.finish()))
    }

    pub fn on_initiated(&mut self, event: EventRef) -> Result<()> {
        if *self != Signal::Created {
            return Err(bad_transition(MACHINE, *self, event));
        }
        *self = Signal::Initiated;
        Ok(())
    }

    /// An event that answers the initiated one: boundary.ResolveSignalExternalWorkflow.
    pub fn on_event(&mut self, seq: u32, kind: EventType, a: Message, event: EventRef) -> Result<Vec<u8>> {
        let failure = match kind {
            EventType::ExternalWorkflowExecutionSignaled => Vec::new(),
            EventType::SignalExternalWorkflowExecutionFailed => {
                let cause = Cause::try_from(a.int32(1)).unwrap_or_default();
                let reason = match cause {
                    Cause::Unspecified => "unknown",
                    Cause::ExternalWorkflowExecutionNotFound | Cause::NamespaceNotFound => "it was not found",
                    Cause::SignalCountLimitExceeded => "The per-workflow signal limit was exceeded",
                };
                failure(&format!("Unable to signal external workflow because {reason}"), &format!("{cause:?}"))
            }
            _ => return Err(wrong_type(NAME, event)),
        };
        if *self != Signal::Initiated {
            return Err(bad_transition(MACHINE, *self, event));
        }
        *self = Signal::Closed;
        Ok(answer(seq, &failure))
    }
}

/// An application failure; its type names the server's cause.
pub fn failure(message: &str, kind: &str) -> Vec<u8> {
    let mut w = Writer::new();
    w.text(1, message).named(APPLICATION_FAILURE, kind);
    w.finish()
}

/// boundary.ResolveSignalExternalWorkflow and boundary.ResolveCancelExternalWorkflow alike; no failure: it was delivered.
pub fn answer(seq: u32, failure: &[u8]) -> Vec<u8> {
    let mut w = Writer::new();
    w.uint(1, u64::from(seq)).data(2, failure);
    w.finish()
}

/// boundary.SignalExternalWorkflow.
pub fn check(c: Message) -> Result<()> {
    for (field, what) in [(2, "the id of a workflow"), (5, "a name")] {
        if c.text(field).is_empty() {
            return Err(misuse(codes::BAD_VALUE, format!("a signal to another workflow needs {what}")));
        }
    }
    Ok(())
}

/// SignalExternalWorkflowExecutionCommandAttributes of a boundary.SignalExternalWorkflow. A child is known by its id alone.
pub fn write(w: &mut Writer, a: Message, own: &Inherited) {
    let to_child = a.flag(4);
    let namespace = if to_child || a.text(1).is_empty() { &own.namespace } else { a.text(1) };
    w.text(1, namespace).nested(2, |w| {
        w.text(1, a.text(2)).text(2, if to_child { "" } else { a.text(3) });
    });
    w.text(3, a.text(5));
    write_wrapped(w, 4, a.all(6));
    w.flag(6, to_child);
    write_wrapped(w, 7, a.all(7));
}
