//! The four commands that end a run (docs/dev/semantics/commands.md#the-end-of-a-run): how they are
//! ordered among an activation's commands, and what a continued run inherits.
//!
//! Each is matched by type only. With flag 3 the commands given behind the first terminal one are moved before it and further
//! terminal ones are dropped; a history recorded without the flag cut everything behind the first terminal command.
use crate::api::enums::v1::EventType;
use crate::replay::convert::{write_retry_policy, write_wrapped};
use crate::replay::given::Given;
use crate::replay::queue::Terminal;
use crate::wire::{Message, Writer};

/// Machine names in wordings.
pub const COMPLETE: &str = "Complete workflow";
pub const FAIL: &str = "Fail workflow";
pub const CANCEL: &str = "Cancel workflow";
pub const CONTINUE_AS_NEW: &str = "Continue as new workflow";

/// What the run is, and what a continued one inherits unless told otherwise: as the start event says, and as commands changed it.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    /// What commands to other workflows say of this one.
    pub namespace: String,
    pub run_id: String,
    pub workflow_type: String,
    pub task_queue: String,
    /// Memo, RetryPolicy and SearchAttributes, encoded.
    pub memo: Option<Vec<u8>>,
    pub retry_policy: Option<Vec<u8>>,
    pub search_attributes: Option<Vec<u8>>,
}

/// The event that records this command.
pub fn event_of(terminal: &Terminal) -> EventType {
    match terminal {
        Terminal::Complete(_) => EventType::WorkflowExecutionCompleted,
        Terminal::Fail(_) => EventType::WorkflowExecutionFailed,
        Terminal::Cancel(_) => EventType::WorkflowExecutionCanceled,
        Terminal::ContinueAsNew(_) => EventType::WorkflowExecutionContinuedAsNew,
    }
}

/// Position of the first terminal command, if what stands behind it has to be moved or cut.
pub fn first_terminal_with_followers(given: &[Given]) -> Option<usize> {
    let at = given.iter().position(|g| matches!(g, Given::Terminal(_)))?;
    (at + 1 < given.len()).then_some(at)
}

/// Moves what was given behind the first terminal command before it; further terminal commands are dropped.
pub fn move_to_end(given: Vec<Given>) -> Vec<Given> {
    let mut out = Vec::with_capacity(given.len());
    let mut terminal = None;
    for g in given {
        match g {
            Given::Terminal(_) if terminal.is_some() => {}
            Given::Terminal(_) => terminal = Some(g),
            _ => out.push(g),
        }
    }
    out.extend(terminal);
    out
}

/// ContinueAsNewWorkflowExecutionCommandAttributes of a boundary.ContinueAsNew. Timeouts and headers are not carried over; memo,
/// retry policy and search attributes are, unless given.
pub fn write_continue_as_new(w: &mut Writer, c: Message, from: &Inherited) {
    let (name, queue) = (c.text(1), c.text(2));
    w.named(1, if name.is_empty() { &from.workflow_type } else { name });
    w.named(2, if queue.is_empty() { &from.task_queue } else { queue });
    write_wrapped(w, 3, c.all(3));
    w.duration_ms(4, c.double(4)).duration_ms(5, c.double(5));
    match c.get(9) {
        Some(policy) => write_retry_policy(w, 7, policy),
        None => {
            w.optional(7, from.retry_policy.as_deref());
        }
    }
    write_wrapped(w, 12, c.all(7));
    write_or_inherit(w, 13, c, 6, from.memo.as_deref());
    write_or_inherit(w, 14, c, 8, from.search_attributes.as_deref());
}

/// The entries of a map that was given, or else what the run began with.
fn write_or_inherit(w: &mut Writer, field: u32, given: Message, map: u32, inherited: Option<&[u8]>) {
    if given.all(map).next().is_some() {
        write_wrapped(w, field, given.all(map));
    } else {
        w.optional(field, inherited);
    }
}
