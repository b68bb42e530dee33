//! The four commands that end a run (docs/dev/semantics/commands.md#the-end-of-a-run): what a
//! continued run inherits. `queue` orders them among an activation's commands.
//!
//! Each is matched by type only. With flag 3 the commands given behind the first terminal one are moved before it and further
//! terminal ones are dropped; a history recorded without the flag cut everything behind the first terminal command.
use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::Result;
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{CancelWorkflowExecution, CompleteWorkflow, ContinueAsNew, FailWorkflow};
use crate::proto::views::command::{Command, ContinueAsNewWorkflowExecutionCommandAttributes};
use crate::proto::views::common::{Payload, Payloads};
use crate::proto::views::failure::Failure;
use crate::replay::commands::kind::{Take, Wait};
use crate::replay::commands::shared::{check_retry_policy, or_own, stays_with_build, write_retry_policy};
use crate::replay::convert::{check_duration, checked};
use crate::replay::event::{EventRef, wrong_type};
use crate::replay::run_state::{Inherited, RunState};
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

pub fn read_complete(bytes: &[u8]) -> Result<Terminal> {
    let result = checked::<CompleteWorkflow>(bytes)?.opt_result();
    Ok(Terminal::Complete(result.map(View::to_owned)))
}

pub fn read_fail(bytes: &[u8]) -> Result<Terminal> {
    Ok(Terminal::Fail(checked::<FailWorkflow>(bytes)?.failure().to_owned()))
}

pub fn read_cancel(bytes: &[u8]) -> Result<Terminal> {
    let details = checked::<CancelWorkflowExecution>(bytes)?.opt_details();
    Ok(Terminal::Cancel(details.map(View::to_owned)))
}

pub fn read_continue_as_new(bytes: &[u8]) -> Result<Terminal> {
    let c = checked::<ContinueAsNew>(bytes)?;
    check_duration("workflow_run_timeout_ms", c.workflow_run_timeout_ms())?;
    check_duration("workflow_task_timeout_ms", c.workflow_task_timeout_ms())?;
    check_retry_policy(c.opt_retry_policy())?;
    Ok(Terminal::ContinueAsNew(c.to_owned()))
}

impl Take for Terminal {
    type Own = ();
    type Queued = Option<Terminal>;

    fn take(self, _: &mut (), run: &mut RunState) -> Result<Option<Terminal>> {
        run.closing = true;
        Ok(Some(self))
    }
}

impl Wait for Terminal {
    type Own = ();

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

    fn meet(self, event: Attributes, at: EventRef, _: &mut (), _: &mut RunState) -> Result<()> {
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
    let queue = or_own(c.task_queue(), &from.task_queue);
    let w = w
        .workflow_type(|w| w.name(or_own(c.workflow_type(), &from.workflow_type)))
        .task_queue(|w| w.name(queue))
        .backoff_start_interval_ms(c.backoff_start_interval_ms())
        .inherit_build_id(stays_with_build(c.versioning_intent(), queue == from.task_queue))
        .initial_versioning_behavior(c.initial_versioning_behavior())
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
