//! A request to cancel another workflow
//! (docs/dev/semantics/commands.md#signals-and-cancel-requests-to-other-runs).
//!
//! | state | RequestCancelExternal...Initiated | ExternalWorkflowExecutionCancelRequested, RequestCancelExternal...Failed |
//! |---|---|---|
//! | Created | Initiated | fatal |
//! | Initiated | fatal | Closed, resolved |
//! | Closed | fatal | fatal |
//!
//! It cannot be withdrawn, and its content is not compared with history. The core's request to
//! cancel a child is matched the same way, but has no machine: its result is ignored.
use crate::api::enums::v1::{CancelExternalWorkflowExecutionFailedCause as Cause, CommandType};
use crate::boundary::CommandKind;
use crate::error::Result;
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{CancelExternalWorkflow, ResolveCancelExternalWorkflow};
use crate::proto::views::command::Command;
use crate::replay::commands::kind::{Answered, Take, Wait};
use crate::replay::commands::machines::{Machines, Numbers};
use crate::replay::commands::shared::{bad_value, or_own, server_refusal};
use crate::replay::convert::checked;
use crate::replay::event::{EventRef, bad_transition, wrong_type};
use crate::replay::run_state::{Inherited, Initiator, RunState};
use crate::wire::typed::{Encoded, Put, build};

/// Machine name in error messages.
pub const NAME: &str = "Cancel external WF";
const MACHINE: &str = "CancelExternalMachine";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CancelExternal {
    /// The seq was given out, but its command was cut off behind a terminal one, or was never sent.
    #[default]
    Absent,
    Created,
    Initiated,
    Closed,
}

#[derive(Clone, Debug)]
pub struct Request {
    seq: u32,
    attributes: Encoded<CancelExternalWorkflow>,
}

pub fn read(bytes: &[u8], numbers: &mut Numbers) -> Result<(u32, Request)> {
    let c = checked::<CancelExternalWorkflow>(bytes)?;
    if c.workflow_id().is_empty() {
        return bad_value("CancelExternalWorkflow: workflow_id is empty");
    }
    let seq = numbers.claim(c.seq())?;
    Ok((seq, Request { seq, attributes: c.to_owned() }))
}

impl Take for Request {
    type Own = Machines<CancelExternal>;
    type Queued = Option<Request>;

    fn take(self, cancels: &mut Machines<CancelExternal>, _: &mut RunState) -> Result<Option<Request>> {
        *cancels.slot(self.seq) = CancelExternal::Created;
        Ok(Some(self))
    }
}

impl Wait for Request {
    type Own = Machines<CancelExternal>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::CancelExternalWorkflow
    }

    fn command_type(&self) -> CommandType {
        CommandType::RequestCancelExternalWorkflowExecution
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn meet(self, event: Attributes, at: EventRef, cancels: &mut Machines<CancelExternal>, run: &mut RunState) -> Result<()> {
        if !matches!(event, Attributes::RequestCancelExternalWorkflowExecutionInitiated(_)) {
            return Err(wrong_type(NAME, at));
        }
        let request = cancels.of_event(self.seq, at, "request to cancel")?;
        if *request != CancelExternal::Created {
            return Err(bad_transition(MACHINE, *request, at));
        }
        *request = CancelExternal::Initiated;
        run.initiated(at, Initiator::CancelExternal(self.seq));
        Ok(())
    }

    fn write<'w>(&self, w: Put<'w, Command>, run: &Inherited) -> Put<'w, Command> {
        let a = self.attributes.view();
        let reason = format!("Cancel requested by workflow with run id {} with reason: {}", run.run_id, a.reason());
        w.request_cancel_external_workflow_execution_command_attributes(|w| {
            w.namespace(or_own(a.namespace(), &run.namespace)).workflow_id(a.workflow_id()).run_id(a.run_id()).reason(&reason)
        })
    }
}

impl Answered for Request {
    const KIND: CommandKind = CommandKind::CancelExternalWorkflow;

    fn answered(
        seq: u32,
        event: Attributes,
        at: EventRef,
        cancels: &mut Machines<CancelExternal>,
        run: &mut RunState,
    ) -> Result<()> {
        check_answer(event, at)?;
        let request = cancels.of_event(seq, at, "request to cancel")?;
        if *request != CancelExternal::Initiated {
            return Err(bad_transition(MACHINE, *request, at));
        }
        *request = CancelExternal::Closed;
        let failure = match event {
            Attributes::RequestCancelExternalWorkflowExecutionFailed(a) => {
                let cause = a.cause().or_default();
                let reason = match cause {
                    Cause::Unspecified => "unknown",
                    Cause::ExternalWorkflowExecutionNotFound | Cause::NamespaceNotFound => "not found",
                };
                server_refusal(&format!("Unable to cancel external workflow because {reason}"), &format!("{cause:?}"))
            }
            _ => Encoded::default(),
        };
        run.jobs.of_event(at.id, build(|w: Put<ResolveCancelExternalWorkflow>| w.seq(seq).failure(failure.view())));
        Ok(())
    }
}

/// The event is the outcome of a cancel request.
pub fn check_answer(event: Attributes, at: EventRef) -> Result<()> {
    use Attributes::{ExternalWorkflowExecutionCancelRequested, RequestCancelExternalWorkflowExecutionFailed};
    match event {
        ExternalWorkflowExecutionCancelRequested(_) | RequestCancelExternalWorkflowExecutionFailed(_) => Ok(()),
        _ => Err(wrong_type(NAME, at)),
    }
}
