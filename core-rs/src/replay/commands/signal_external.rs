//! A signal to another workflow, or to a child
//! (docs/dev/semantics/commands.md#signals-and-cancel-requests-to-other-runs).
//!
//! | state | SignalExternal...Initiated | cancel | ExternalWorkflowExecutionSignaled, SignalExternal...Failed |
//! |---|---|---|---|
//! | Created | Initiated | CancelledBeforeSent: command dropped, resolved cancelled | fatal |
//! | Initiated | fatal | ignored: a sent signal cannot be withdrawn | Closed, resolved |
//! | Closed, CancelledBeforeSent | fatal | ignored | fatal |
//!
//! Its content is not compared with history.
use crate::api::enums::v1::{CommandType, SignalExternalWorkflowExecutionFailedCause as Cause};
use crate::boundary::CommandKind;
use crate::error::Result;
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{CancelSignalWorkflow, ResolveSignalExternalWorkflow, SignalExternalWorkflow};
use crate::proto::views::command::Command;
use crate::proto::views::failure::Failure;
use crate::replay::commands::kind::{Answered, Nothing, Take, Wait};
use crate::replay::commands::machines::{Machines, Numbers};
use crate::replay::commands::shared::{bad_value, cancellation, or_own, server_refusal};
use crate::replay::convert::checked;
use crate::replay::event::{EventRef, bad_transition, wrong_type};
use crate::replay::run_state::{Inherited, Initiator, RunState};
use crate::wire::typed::{Encoded, Put, build};

const NAME: &str = "Signal external WF";
const MACHINE: &str = "SignalExternalMachine";

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

/// Given and queued: the signal is sent.
#[derive(Clone, Debug)]
pub struct Send {
    seq: u32,
    attributes: Encoded<SignalExternalWorkflow>,
}

/// Given: workflow code takes it back.
#[derive(Debug)]
pub struct Cancel {
    seq: u32,
}

pub fn read(bytes: &[u8], numbers: &mut Numbers) -> Result<(u32, Send)> {
    let c = checked::<SignalExternalWorkflow>(bytes)?;
    for (value, what) in [(c.workflow_id(), "workflow_id"), (c.signal_name(), "signal_name")] {
        if value.is_empty() {
            return bad_value(format!("SignalExternalWorkflow: {what} is empty"));
        }
    }
    let seq = numbers.claim(c.seq())?;
    Ok((seq, Send { seq, attributes: c.to_owned() }))
}

pub fn read_cancel(bytes: &[u8]) -> Result<Cancel> {
    Ok(Cancel { seq: checked::<CancelSignalWorkflow>(bytes)?.seq() })
}

impl Take for Send {
    type Own = Machines<Signal>;
    type Queued = Option<Send>;

    fn take(self, signals: &mut Machines<Signal>, _: &mut RunState) -> Result<Option<Send>> {
        *signals.slot(self.seq) = Signal::Created;
        Ok(Some(self))
    }
}

impl Take for Cancel {
    type Own = Machines<Signal>;
    type Queued = Nothing;

    fn take(self, signals: &mut Machines<Signal>, run: &mut RunState) -> Result<Nothing> {
        let signal = signals.named(self.seq, "SignalExternal", CommandKind::SignalExternalWorkflow)?;
        if *signal == Signal::Created {
            *signal = Signal::CancelledBeforeSent;
            let failure = cancellation("Signal was cancelled before being sent", None);
            run.jobs.same_task(resolved(self.seq, &failure));
        }
        Ok(None)
    }
}

/// An empty failure: it was delivered.
fn resolved(seq: u32, failure: &Encoded<Failure>) -> Encoded<ResolveSignalExternalWorkflow> {
    build(|w: Put<ResolveSignalExternalWorkflow>| w.seq(seq).failure(failure.view()))
}

impl Wait for Send {
    type Own = Machines<Signal>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::SignalExternalWorkflow
    }

    fn command_type(&self) -> CommandType {
        CommandType::SignalExternalWorkflowExecution
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn is_withdrawn(&self, signals: &Machines<Signal>) -> bool {
        signals.get(self.seq) == Some(&Signal::CancelledBeforeSent)
    }

    fn meet(self, event: Attributes, at: EventRef, signals: &mut Machines<Signal>, run: &mut RunState) -> Result<()> {
        if !matches!(event, Attributes::SignalExternalWorkflowExecutionInitiated(_)) {
            return Err(wrong_type(NAME, at));
        }
        let signal = signals.of_event(self.seq, at, "signal")?;
        if *signal != Signal::Created {
            return Err(bad_transition(MACHINE, *signal, at));
        }
        *signal = Signal::Initiated;
        run.initiated(at, Initiator::Signal(self.seq));
        Ok(())
    }

    /// A child is known by its id alone.
    fn write<'w>(&self, w: Put<'w, Command>, run: &Inherited) -> Put<'w, Command> {
        let a = self.attributes.view();
        let to_child = a.child_workflow_only();
        let namespace = if to_child { &run.namespace } else { or_own(a.namespace(), &run.namespace) };
        w.signal_external_workflow_execution_command_attributes(|w| {
            w.namespace(namespace)
                .execution(|w| w.workflow_id(a.workflow_id()).run_id(if to_child { "" } else { a.run_id() }))
                .signal_name(a.signal_name())
                .input_of(a.arguments())
                .child_workflow_only(to_child)
                .header_of(a.headers())
        })
    }
}

impl Answered for Send {
    const KIND: CommandKind = CommandKind::SignalExternalWorkflow;

    fn answered(seq: u32, event: Attributes, at: EventRef, signals: &mut Machines<Signal>, run: &mut RunState) -> Result<()> {
        let failure = match event {
            Attributes::ExternalWorkflowExecutionSignaled(_) => Encoded::default(),
            Attributes::SignalExternalWorkflowExecutionFailed(a) => {
                let cause = a.cause().or_default();
                let reason = match cause {
                    Cause::Unspecified => "unknown",
                    Cause::ExternalWorkflowExecutionNotFound | Cause::NamespaceNotFound => "it was not found",
                    Cause::SignalCountLimitExceeded => "The per-workflow signal limit was exceeded",
                };
                server_refusal(&format!("Unable to signal external workflow because {reason}"), &format!("{cause:?}"))
            }
            _ => return Err(wrong_type(NAME, at)),
        };
        let signal = signals.of_event(seq, at, "signal")?;
        if *signal != Signal::Initiated {
            return Err(bad_transition(MACHINE, *signal, at));
        }
        *signal = Signal::Closed;
        run.jobs.of_event(at.id, resolved(seq, &failure));
        Ok(())
    }
}
