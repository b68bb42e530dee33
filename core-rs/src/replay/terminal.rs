//! The four commands that end a run (core-spec 1.10): how they are ordered among an activation's commands, and what a
//! continued run inherits.
//!
//! Each is matched by type only. With flag 3 the commands given behind the first terminal one are moved before it and further
//! terminal ones are dropped; a history recorded without the flag cut everything behind the first terminal command.
use crate::api::command::v1::ContinueAsNewWorkflowExecutionCommandAttributes;
use crate::api::common::v1::{Header, Memo, RetryPolicy, SearchAttributes, WorkflowType};
use crate::api::enums::v1::EventType;
use crate::api::taskqueue::v1::TaskQueue;
use crate::boundary::ContinueAsNew;
use crate::replay::commands::Given;
use crate::replay::convert::{optional_duration, payloads, retry_policy};
use crate::replay::queue::Terminal;

/// Machine names in wordings.
pub const COMPLETE: &str = "Complete workflow";
pub const FAIL: &str = "Fail workflow";
pub const CANCEL: &str = "Cancel workflow";
pub const CONTINUE_AS_NEW: &str = "Continue as new workflow";

/// What the start event says that a continued run inherits unless told otherwise.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    pub workflow_type: String,
    pub task_queue: String,
    pub memo: Option<Memo>,
    pub retry_policy: Option<RetryPolicy>,
    pub search_attributes: Option<SearchAttributes>,
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

/// Timeouts and headers are not carried over; memo, retry policy and search attributes are, unless given.
pub fn continue_as_new(c: &ContinueAsNew, from: &Inherited) -> ContinueAsNewWorkflowExecutionCommandAttributes {
    let name = if c.workflow_type.is_empty() { &from.workflow_type } else { &c.workflow_type };
    let queue = if c.task_queue.is_empty() { &from.task_queue } else { &c.task_queue };
    let memo = (!c.memo.is_empty()).then(|| Memo { fields: c.memo.clone() });
    let search_attributes =
        (!c.search_attributes.is_empty()).then(|| SearchAttributes { indexed_fields: c.search_attributes.clone() });
    ContinueAsNewWorkflowExecutionCommandAttributes {
        workflow_type: Some(WorkflowType { name: name.clone() }),
        task_queue: Some(TaskQueue { name: queue.clone(), ..Default::default() }),
        input: payloads(&c.arguments),
        workflow_run_timeout: optional_duration(c.workflow_run_timeout_ms),
        workflow_task_timeout: optional_duration(c.workflow_task_timeout_ms),
        retry_policy: c.retry_policy.as_ref().map(retry_policy).or_else(|| from.retry_policy.clone()),
        header: (!c.headers.is_empty()).then(|| Header { fields: c.headers.clone() }),
        memo: memo.or_else(|| from.memo.clone()),
        search_attributes: search_attributes.or_else(|| from.search_attributes.clone()),
        ..Default::default()
    }
}
