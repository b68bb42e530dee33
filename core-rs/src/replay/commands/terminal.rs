//! The four commands that end a run (docs/dev/semantics/commands.md#the-end-of-a-run): how they are
//! ordered among an activation's commands, and what a continued run inherits.
//!
//! Each is matched by type only. With flag 3 the commands given behind the first terminal one are moved before it and further
//! terminal ones are dropped; a history recorded without the flag cut everything behind the first terminal command.
use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::Result;
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{CancelWorkflowExecution, CompleteWorkflow, ContinueAsNew, FailWorkflow};
use crate::proto::views::command::{Command, ContinueAsNewWorkflowExecutionCommandAttributes};
use crate::proto::views::common::{Memo, Payload, Payloads, RetryPolicy, SearchAttributes};
use crate::proto::views::failure::Failure;
use crate::replay::commands::shared::{check_retry_policy, or_own, write_retry_policy};
use crate::replay::commands::{Given, Take, Wait, checked};
use crate::replay::convert::check_duration;
use crate::replay::event::{EventRef, wrong_type};
use crate::replay::workflow::Workflow;
use crate::wire::typed::{Encoded, Put, View};

/// The command that ends the run; given and queued.
#[derive(Clone, Debug)]
pub enum Terminal {
    /// The result.
    Complete(Option<Encoded<Payload>>),
    Fail(Encoded<Failure>),
    /// Details.
    Cancel(Option<Encoded<Payloads>>),
    ContinueAsNew(Encoded<ContinueAsNew>),
}

/// What the run is, and what a continued one inherits unless told otherwise: as the start event says, and as commands changed it.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    /// What commands to other workflows say of this one.
    pub namespace: String,
    pub run_id: String,
    pub workflow_type: String,
    pub task_queue: String,
    pub memo: Option<Encoded<Memo>>,
    pub retry_policy: Option<Encoded<RetryPolicy>>,
    pub search_attributes: Option<Encoded<SearchAttributes>>,
}

pub fn read_complete(bytes: &[u8]) -> Result<(u32, Given)> {
    let result = checked::<CompleteWorkflow>(bytes)?.opt_result();
    Ok((0, Terminal::Complete(result.map(View::to_owned)).into()))
}

pub fn read_fail(bytes: &[u8]) -> Result<(u32, Given)> {
    Ok((0, Terminal::Fail(checked::<FailWorkflow>(bytes)?.failure().to_owned()).into()))
}

pub fn read_cancel(bytes: &[u8]) -> Result<(u32, Given)> {
    let details = checked::<CancelWorkflowExecution>(bytes)?.opt_details();
    Ok((0, Terminal::Cancel(details.map(View::to_owned)).into()))
}

pub fn read_continue_as_new(bytes: &[u8]) -> Result<(u32, Given)> {
    let c = checked::<ContinueAsNew>(bytes)?;
    check_duration("workflow_run_timeout_ms", c.workflow_run_timeout_ms())?;
    check_duration("workflow_task_timeout_ms", c.workflow_task_timeout_ms())?;
    check_retry_policy(c.opt_retry_policy())?;
    Ok((0, Terminal::ContinueAsNew(c.to_owned()).into()))
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

impl Take for Terminal {
    fn take(self, run: &mut Workflow) -> Result<()> {
        run.closing = true;
        run.enqueue(self);
        Ok(())
    }
}

impl Wait for Terminal {
    fn machine(&self) -> &'static str {
        match self {
            Terminal::Complete(_) => "Complete workflow",
            Terminal::Fail(_) => "Fail workflow",
            Terminal::Cancel(_) => "Cancel workflow",
            Terminal::ContinueAsNew(_) => "Continue as new workflow",
        }
    }

    fn kind(&self) -> CommandKind {
        match self {
            Terminal::Complete(_) => CommandKind::CompleteWorkflow,
            Terminal::Fail(_) => CommandKind::FailWorkflow,
            Terminal::Cancel(_) => CommandKind::CancelWorkflow,
            Terminal::ContinueAsNew(_) => CommandKind::ContinueAsNew,
        }
    }

    fn command_type(&self) -> CommandType {
        match self {
            Terminal::Complete(_) => CommandType::CompleteWorkflowExecution,
            Terminal::Fail(_) => CommandType::FailWorkflowExecution,
            Terminal::Cancel(_) => CommandType::CancelWorkflowExecution,
            Terminal::ContinueAsNew(_) => CommandType::ContinueAsNewWorkflowExecution,
        }
    }

    fn meet(self, event: Attributes, at: EventRef, _: &mut Workflow) -> Result<()> {
        match (&self, event) {
            (Terminal::Complete(_), Attributes::WorkflowExecutionCompleted(_))
            | (Terminal::Fail(_), Attributes::WorkflowExecutionFailed(_))
            | (Terminal::Cancel(_), Attributes::WorkflowExecutionCanceled(_))
            | (Terminal::ContinueAsNew(_), Attributes::WorkflowExecutionContinuedAsNew(_)) => Ok(()),
            _ => Err(wrong_type(self.machine(), at)),
        }
    }

    fn write<'w>(&self, w: Put<'w, Command>, run: &Inherited) -> Put<'w, Command> {
        match self {
            Terminal::Complete(result) => w.complete_workflow_execution_command_attributes(|w| {
                w.with(result.as_ref(), |w, result| w.result(|w| w.add_payloads(|w| w.all_of(result.view()))))
            }),
            Terminal::Fail(failure) => w.fail_workflow_execution_command_attributes(|w| w.copy_failure(Some(failure.view()))),
            Terminal::Cancel(details) => {
                w.cancel_workflow_execution_command_attributes(|w| w.copy_details(details.as_ref().map(Encoded::view)))
            }
            Terminal::ContinueAsNew(c) => {
                w.continue_as_new_workflow_execution_command_attributes(|w| write_continue_as_new(w, c.view(), run))
            }
        }
    }
}

/// Timeouts and headers are not carried over; memo, retry policy and search attributes are, unless given.
fn write_continue_as_new<'w>(
    w: Put<'w, ContinueAsNewWorkflowExecutionCommandAttributes>,
    c: View<ContinueAsNew>,
    from: &Inherited,
) -> Put<'w, ContinueAsNewWorkflowExecutionCommandAttributes> {
    let w = w
        .workflow_type(|w| w.name(or_own(c.workflow_type(), &from.workflow_type)))
        .task_queue(|w| w.name(or_own(c.task_queue(), &from.task_queue)))
        .input_of(c.arguments())
        .workflow_run_timeout_ms(c.workflow_run_timeout_ms())
        .workflow_task_timeout_ms(c.workflow_task_timeout_ms());
    let w = match c.opt_retry_policy() {
        Some(policy) => w.retry_policy(|w| write_retry_policy(w, policy)),
        None => w.copy_retry_policy(from.retry_policy.as_ref().map(Encoded::view)),
    };
    let w = w.header_of(c.headers());
    let w = match c.memo() {
        given if given.is_empty() => w.copy_memo(from.memo.as_ref().map(Encoded::view)),
        given => w.memo_of(given),
    };
    match c.search_attributes() {
        given if given.is_empty() => w.copy_search_attributes(from.search_attributes.as_ref().map(Encoded::view)),
        given => w.search_attributes_of(given),
    }
}
