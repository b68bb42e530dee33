//! A request to cancel another workflow
//! (docs/dev/semantics/commands.md#signals-and-cancel-requests-to-other-runs).
//!
//! | state | RequestCancelExternal...Initiated | ExternalWorkflowExecutionCancelRequested, RequestCancelExternal...Failed |
//! |---|---|---|
//! | Created | Initiated | fatal |
//! | Initiated | fatal | Closed, resolved |
//! | Closed | fatal | fatal |
//!
//! It cannot be taken back, and of its content nothing is compared with history. The request that the core makes to cancel a child
//! is matched the same way, but its answer is nobody's business: the child ends by itself, or does not. It has no machine.
use crate::api::enums::v1::{CancelExternalWorkflowExecutionFailedCause as Cause, EventType};
use crate::error::{Result, codes, misuse};
use crate::replay::event::{EventRef, bad_transition, wrong_type};
use crate::replay::signal::{answer, failure};
use crate::replay::terminal::Inherited;
use crate::wire::schema::Kind::{Text, Varint};
use crate::wire::schema::Schema;
use crate::wire::{Message, Writer};

pub static CANCEL_EXTERNAL_WORKFLOW: Schema = Schema(&[(1, Text), (2, Text), (3, Text), (4, Text), (5, Varint)]);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CancelExternal {
    /// The seq was given out, but its command was cut off behind a terminal one, or was never sent.
    #[default]
    Absent,
    Created,
    Initiated,
    Closed,
}

/// Machine name in wordings.
pub const NAME: &str = "Cancel external WF";
const MACHINE: &str = "CancelExternalMachine";

impl CancelExternal {
    pub fn on_initiated(&mut self, event: EventRef) -> Result<()> {
        if *self != CancelExternal::Created {
            return Err(bad_transition(MACHINE, *self, event));
        }
        *self = CancelExternal::Initiated;
        Ok(())
    }

    /// An event that answers the initiated one: boundary.ResolveCancelExternalWorkflow.
    pub fn on_event(&mut self, seq: u32, kind: EventType, a: Message, event: EventRef) -> Result<Vec<u8>> {
        check_answer(kind, event)?;
        if *self != CancelExternal::Initiated {
            return Err(bad_transition(MACHINE, *self, event));
        }
        *self = CancelExternal::Closed;
        if kind == EventType::ExternalWorkflowExecutionCancelRequested {
            return Ok(answer(seq, &[]));
        }
        let cause = Cause::try_from(a.int32(1)).unwrap_or_default();
        let reason = match cause {
            Cause::Unspecified => "unknown",
            Cause::ExternalWorkflowExecutionNotFound | Cause::NamespaceNotFound => "not found",
        };
        let failure = failure(&format!("Unable to cancel external workflow because {reason}"), &format!("{cause:?}"));
        Ok(answer(seq, &failure))
    }
}

/// The event answers a request to cancel.
pub fn check_answer(kind: EventType, event: EventRef) -> Result<()> {
    use EventType::{ExternalWorkflowExecutionCancelRequested, RequestCancelExternalWorkflowExecutionFailed};
    match kind {
        ExternalWorkflowExecutionCancelRequested | RequestCancelExternalWorkflowExecutionFailed => Ok(()),
        _ => Err(wrong_type(NAME, event)),
    }
}

/// boundary.CancelExternalWorkflow.
pub fn check(c: Message) -> Result<()> {
    if c.text(2).is_empty() {
        return Err(misuse(codes::BAD_VALUE, "a request to cancel another workflow needs its id"));
    }
    Ok(())
}

/// RequestCancelExternalWorkflowExecutionCommandAttributes of a boundary.CancelExternalWorkflow.
pub fn write(w: &mut Writer, a: Message, own: &Inherited) {
    let namespace = if a.text(1).is_empty() { &own.namespace } else { a.text(1) };
    let reason = format!("Cancel requested by workflow with run id {} with reason: {}", own.run_id, a.text(4));
    w.text(1, namespace).text(2, a.text(2)).text(3, a.text(3)).text(6, &reason);
}
