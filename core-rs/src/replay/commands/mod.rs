//! The commands of workflow code. One file per kind: its states and their table, the reading and checking of the command, the
//! matching of its events, and its form on the wire. To add a kind is to add a file, its lines in `kinds!` and one in `read_command`.
//!
//! The way of a command: `read` checks the bytes and claims a seq; `Take` turns it, when the activation ends, into a machine and an
//! entry of the queue; `Wait` meets the event that records it, or writes it for the server.
pub mod activity;
pub mod cancel_external;
pub mod child;
pub mod local_activity;
pub mod local_marker;
pub mod machines;
pub mod marker;
pub mod patch;
pub mod properties;
pub mod queue;
pub mod shared;
pub mod side_effect;
pub mod signal_external;
pub mod terminal;
pub mod timer;
pub mod update;

use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::{Result, codes, misuse};
use crate::proto::views::Attributes;
use crate::proto::views::command::Command;
use crate::replay::event::EventRef;
use crate::replay::workflow::Workflow;
use crate::wire::typed::{self, Checked, Put, View};

/// A command that was read: it moves the run when its activation ends.
pub trait Take {
    fn take(self, run: &mut Workflow) -> Result<()>;
}

/// A command in the queue: its event has not been seen. It leaves the queue when the event is applied, never when it is sent.
pub trait Wait {
    /// Machine name in error messages.
    fn machine(&self) -> &'static str;
    fn kind(&self) -> CommandKind;
    fn command_type(&self) -> CommandType;

    /// The caller's number where the kind has one; for side effects their id.
    fn seq(&self) -> u32 {
        0
    }

    /// It was taken back before it was sent.
    fn is_withdrawn(&self, _: &Workflow) -> bool {
        false
    }

    /// A patch gives way to an event that is not a patch marker, and may stand without an event.
    fn is_lenient(&self) -> bool {
        false
    }

    /// The command event that met it at the front of the queue.
    fn meet(self, event: Attributes, at: EventRef, run: &mut Workflow) -> Result<()>;
    /// The command as the server takes it, but for its type.
    fn write<'w>(&self, w: Put<'w, Command>, run: &terminal::Inherited) -> Put<'w, Command>;
}

/// A command whose recorded event is answered by later ones.
pub trait Answered {
    const KIND: CommandKind;
    fn answered(run: &mut Workflow, seq: u32, event: Attributes, at: EventRef) -> Result<()>;
}

macro_rules! kinds {
    (given { $($given:ident($g:ty),)* } queued { $($queued:ident($q:ty),)* } answered { $($answered:ident($a:ty),)* }) => {
        /// A command of the activation that is running.
        #[derive(Debug)]
        pub enum Given { $($given($g),)* }

        /// A command that waits for its event.
        #[derive(Clone, Debug)]
        pub enum Queued { $($queued($q),)* }

        /// Whose event later events answer, by seq.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Initiator { $($answered(u32),)* }

        $(impl From<$g> for Given { fn from(command: $g) -> Given { Given::$given(command) } })*
        $(impl From<$q> for Queued { fn from(command: $q) -> Queued { Queued::$queued(command) } })*

        impl Take for Given {
            fn take(self, run: &mut Workflow) -> Result<()> {
                match self { $(Given::$given(c) => c.take(run),)* }
            }
        }

        impl Wait for Queued {
            fn machine(&self) -> &'static str {
                match self { $(Queued::$queued(c) => c.machine(),)* }
            }
            fn kind(&self) -> CommandKind {
                match self { $(Queued::$queued(c) => c.kind(),)* }
            }
            fn command_type(&self) -> CommandType {
                match self { $(Queued::$queued(c) => c.command_type(),)* }
            }
            fn seq(&self) -> u32 {
                match self { $(Queued::$queued(c) => c.seq(),)* }
            }
            fn is_withdrawn(&self, run: &Workflow) -> bool {
                match self { $(Queued::$queued(c) => c.is_withdrawn(run),)* }
            }
            fn is_lenient(&self) -> bool {
                match self { $(Queued::$queued(c) => c.is_lenient(),)* }
            }
            fn meet(self, event: Attributes, at: EventRef, run: &mut Workflow) -> Result<()> {
                match self { $(Queued::$queued(c) => c.meet(event, at, run),)* }
            }
            fn write<'w>(&self, w: Put<'w, Command>, run: &terminal::Inherited) -> Put<'w, Command> {
                match self { $(Queued::$queued(c) => c.write(w, run),)* }
            }
        }

        impl Initiator {
            pub fn kind(self) -> CommandKind {
                match self { $(Initiator::$answered(_) => <$a>::KIND,)* }
            }
            pub fn seq(self) -> u32 {
                match self { $(Initiator::$answered(seq) => seq,)* }
            }
            pub fn answered(self, run: &mut Workflow, event: Attributes, at: EventRef) -> Result<()> {
                match self { $(Initiator::$answered(seq) => <$a>::answered(run, seq, event, at),)* }
            }
        }
    };
}

kinds! {
    given {
        StartTimer(timer::Start),
        CancelTimer(timer::Cancel),
        ScheduleActivity(activity::Schedule),
        CancelActivity(activity::Cancel),
        ScheduleLocalActivity(local_activity::Schedule),
        CancelLocalActivity(local_activity::Cancel),
        StartChild(child::Start),
        CancelChild(child::Cancel),
        Signal(signal_external::Send),
        CancelSignal(signal_external::Cancel),
        CancelExternal(cancel_external::Request),
        UpsertSearchAttributes(properties::Upsert),
        ModifyProperties(properties::Modify),
        SetPatchMarker(patch::Set),
        SideEffect(side_effect::Record),
        UpdateResponse(update::Respond),
        Terminal(terminal::Terminal),
    }
    queued {
        StartTimer(timer::Start),
        CancelTimer(timer::Cancel),
        ScheduleActivity(activity::Schedule),
        CancelActivity(activity::CancelRequest),
        LocalMarker(local_activity::Record),
        StartChild(child::Start),
        CancelChild(child::CancelRequest),
        Signal(signal_external::Send),
        CancelExternal(cancel_external::Request),
        UpsertSearchAttributes(properties::Upsert),
        ModifyProperties(properties::Modify),
        Patch(patch::Marker),
        ChangeVersions(patch::ChangeVersions),
        SideEffect(side_effect::Record),
        AcceptUpdate(update::Accept),
        CompleteUpdate(update::Complete),
        Terminal(terminal::Terminal),
    }
    answered {
        Timer(timer::Start),
        Activity(activity::Schedule),
        Child(child::Start),
        CancelChild(child::CancelRequest),
        Signal(signal_external::Send),
        CancelExternal(cancel_external::Request),
    }
}

/// A message of the caller that has the form that it should have.
pub fn checked<M: Checked>(bytes: &[u8]) -> Result<View<'_, M>> {
    typed::read(bytes).map_err(|e| misuse(codes::BAD_BYTES, format!("{} does not decode: {e}", M::NAME)))
}

impl Workflow {
    /// Reads and checks a command, and claims its seq (0 for kinds without one). Nothing is matched yet.
    pub fn read_command(&mut self, kind: CommandKind, bytes: &[u8]) -> Result<(u32, Given)> {
        match kind {
            CommandKind::StartTimer => timer::read(bytes, self),
            CommandKind::ScheduleActivity => activity::read(bytes, self),
            CommandKind::ScheduleLocalActivity => local_activity::read(bytes, self),
            CommandKind::StartChildWorkflow => child::read(bytes, self),
            CommandKind::CancelChildWorkflow => child::read_cancel(bytes),
            CommandKind::SignalExternalWorkflow => signal_external::read(bytes, self),
            CommandKind::CancelSignalWorkflow => signal_external::read_cancel(bytes),
            CommandKind::CancelExternalWorkflow => cancel_external::read(bytes, self),
            CommandKind::UpsertSearchAttributes => properties::read_upsert(bytes),
            CommandKind::ModifyWorkflowProperties => properties::read_modify(bytes),
            CommandKind::SetPatchMarker => patch::read_set(bytes),
            CommandKind::RecordSideEffect => side_effect::read(bytes),
            CommandKind::UpdateResponse => update::read(bytes),
            CommandKind::CompleteWorkflow => terminal::read_complete(bytes),
            CommandKind::FailWorkflow => terminal::read_fail(bytes),
            CommandKind::CancelWorkflow => terminal::read_cancel(bytes),
            CommandKind::ContinueAsNew => terminal::read_continue_as_new(bytes),
            CommandKind::QueryResult | CommandKind::Unspecified => {
                let text = format!("{} is not a command of this activation", kind.as_str_name());
                Err(misuse(codes::OUT_OF_ORDER_CALL, text))
            }
        }
    }

    /// Kinds that are taken back by their seq alone.
    pub fn read_cancel(&self, kind: CommandKind, seq: u32) -> Result<Given> {
        match kind {
            CommandKind::StartTimer => Ok(timer::Cancel { seq }.into()),
            CommandKind::ScheduleActivity => Ok(activity::Cancel { seq }.into()),
            CommandKind::ScheduleLocalActivity => Ok(local_activity::Cancel { seq }.into()),
            CommandKind::StartChildWorkflow | CommandKind::SignalExternalWorkflow => {
                let text = format!("{} is cancelled by a command of its own", kind.as_str_name());
                Err(misuse(codes::OUT_OF_ORDER_CALL, text))
            }
            _ => Err(misuse(codes::OUT_OF_ORDER_CALL, format!("{} cannot be cancelled", kind.as_str_name()))),
        }
    }
}
