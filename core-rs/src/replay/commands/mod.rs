//! The commands of workflow code. One file per kind: its states and their table, the reading and checking of the command, the
//! matching of its events, and its form on the wire. A kind knows its own machines and the [`RunState`]; this file knows the kinds.
//! To add one is to add a file, its lines in `kinds!`, one in `read_command`, and what it keeps in [`AllMachines`].
//!
//! The way of a command: `read` checks the bytes and claims a seq; `Take` turns it, when the activation ends, into a machine and an
//! entry of the queue; `Wait` meets the event that records it, or writes it for the server.
pub mod activity;
pub mod cancel_external;
pub mod child;
pub mod kind;
pub mod local_activity;
pub mod local_marker;
pub mod machines;
pub mod marker;
pub mod nexus;
pub mod patch;
pub mod properties;
pub mod shared;
pub mod side_effect;
pub mod signal_external;
#[cfg(test)]
mod tables;
pub mod terminal;
pub mod timer;
pub mod transact;
pub mod update;

use std::collections::VecDeque;
use std::convert::Infallible;

use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::{Result, codes, misuse};
use crate::proto::views;
use crate::proto::views::Attributes;
use crate::proto::views::command::Command;
use crate::replay::commands::kind::{Answered, Take, Wait};
use crate::replay::commands::machines::{Machines, Numbers};
use crate::replay::convert::checked;
use crate::replay::event::EventRef;
use crate::replay::run_state::{Inherited, Initiator, RunState};
use crate::wire::typed::{Encoded, Put};

/// Event group markers of a command, as they stand in it; empty: none. They are sent, and compared with nothing.
pub type Groups = Encoded<Command>;

/// A command in the queue.
pub struct Entry {
    pub command: Queued,
    pub groups: Groups,
}

pub fn read_groups(bytes: &[u8]) -> Result<Groups> {
    Ok(checked::<views::boundary::EventGroups>(bytes)?.same_as().to_owned())
}

/// What each kind keeps of its commands.
#[derive(Default)]
pub struct AllMachines {
    pub timers: Machines<timer::Timer>,
    pub activities: Machines<activity::Activity>,
    pub local_activities: local_activity::LocalActivities,
    pub children: Machines<child::Child>,
    pub operations: Machines<nexus::Operation>,
    pub signals: Machines<signal_external::Signal>,
    pub cancels: Machines<cancel_external::CancelExternal>,
    pub patches: patch::Patches,
    pub side_effects: side_effect::SideEffects,
    pub transacts: Machines<transact::Machine>,
    pub updates: update::Updates,
}

/// The part of all machines that is a kind's own.
macro_rules! own {
    (ref $machines:ident $own:ident) => {
        &$machines.$own
    };
    (ref $machines:ident) => {
        &()
    };
    ($machines:ident $own:ident) => {
        &mut $machines.$own
    };
    ($machines:ident) => {
        &mut ()
    };
}

macro_rules! kinds {
    (
        given { $($given:ident($g:ty) $(of $given_own:ident)?,)* }
        queued { $($queued:ident($q:ty) $(of $queued_own:ident)?,)* }
        answered { $($answered:ident($a:ty) $(of $answered_own:ident)?,)* }
    ) => {
        /// A command of the activation that is running.
        #[derive(Debug)]
        pub enum Given { $($given($g),)* }

        /// A command that waits for its event.
        #[derive(Clone, Debug)]
        pub enum Queued { $($queued($q),)* }

        $(impl From<$g> for Given { fn from(command: $g) -> Given { Given::$given(command) } })*
        $(impl From<$q> for Queued { fn from(command: $q) -> Queued { Queued::$queued(command) } })*

        impl Given {
            /// The command moves its machine, and what waits for an event enters the queue.
            #[allow(unused_variables)] // Kinds without machines.
            pub fn take(
                self,
                groups: Groups,
                machines: &mut AllMachines,
                run: &mut RunState,
                queue: &mut VecDeque<Entry>,
            ) -> Result<()> {
                match self {
                    $(Given::$given(c) => {
                        let queued = c.take(own!(machines $($given_own)?), run)?.into_iter();
                        queue.extend(queued.map(|c| Entry { command: c.into(), groups: groups.clone() }));
                    })*
                }
                Ok(())
            }
        }

        impl Queued {
            pub fn machine(&self) -> &'static str {
                match self { $(Queued::$queued(c) => c.machine(),)* }
            }
            pub fn kind(&self) -> CommandKind {
                match self { $(Queued::$queued(c) => c.kind(),)* }
            }
            pub fn command_type(&self) -> CommandType {
                match self { $(Queued::$queued(c) => c.command_type(),)* }
            }
            pub fn seq(&self) -> u32 {
                match self { $(Queued::$queued(c) => c.seq(),)* }
            }
            pub fn is_withdrawn(&self, machines: &AllMachines) -> bool {
                match self { $(Queued::$queued(c) => c.is_withdrawn(own!(ref machines $($queued_own)?)),)* }
            }
            pub fn is_lenient(&self) -> bool {
                match self { $(Queued::$queued(c) => c.is_lenient(),)* }
            }
            pub fn meet(self, event: Attributes, at: EventRef, machines: &mut AllMachines, run: &mut RunState) -> Result<()> {
                match self { $(Queued::$queued(c) => c.meet(event, at, own!(machines $($queued_own)?), run),)* }
            }
            pub fn write<'w>(&self, w: Put<'w, Command>, run: &Inherited) -> Put<'w, Command> {
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
            pub fn answered(self, event: Attributes, at: EventRef, machines: &mut AllMachines, run: &mut RunState) -> Result<()> {
                match self { $(Initiator::$answered(seq) => <$a>::answered(seq, event, at, own!(machines $($answered_own)?), run),)* }
            }
        }
    };
}

kinds! {
    given {
        StartTimer(timer::Start) of timers,
        CancelTimer(timer::Cancel) of timers,
        ScheduleActivity(activity::Schedule) of activities,
        CancelActivity(activity::Cancel) of activities,
        ScheduleLocalActivity(local_activity::Schedule) of local_activities,
        CancelLocalActivity(local_activity::Cancel) of local_activities,
        StartChild(child::Start) of children,
        CancelChild(child::Cancel) of children,
        ScheduleNexus(nexus::Schedule) of operations,
        CancelNexus(nexus::Cancel) of operations,
        Signal(signal_external::Send) of signals,
        CancelSignal(signal_external::Cancel) of signals,
        CancelExternal(cancel_external::Request) of cancels,
        UpsertSearchAttributes(properties::Upsert),
        ModifyProperties(properties::Modify),
        SetPatchMarker(patch::Set) of patches,
        SideEffect(side_effect::Record) of side_effects,
        Transact(transact::Run) of transacts,
        AwaitTransact(transact::Await) of transacts,
        UpdateResponse(update::Respond) of updates,
        Terminal(terminal::Terminal),
    }
    queued {
        StartTimer(timer::Start) of timers,
        CancelTimer(timer::Cancel) of timers,
        ScheduleActivity(activity::Schedule) of activities,
        CancelActivity(activity::CancelRequest) of activities,
        LocalMarker(local_activity::Record) of local_activities,
        StartChild(child::Start) of children,
        CancelChild(child::CancelRequest),
        ScheduleNexus(nexus::Schedule) of operations,
        CancelNexus(nexus::CancelRequest) of operations,
        Signal(signal_external::Send) of signals,
        CancelExternal(cancel_external::Request) of cancels,
        UpsertSearchAttributes(properties::Upsert),
        ModifyProperties(properties::Modify),
        Patch(patch::Marked),
        SideEffect(side_effect::Record),
        Transact(transact::Run) of transacts,
        Update(update::Decided),
        Terminal(terminal::Terminal),
    }
    answered {
        Timer(timer::Start) of timers,
        Activity(activity::Schedule) of activities,
        Child(child::Start) of children,
        Nexus(nexus::Schedule) of operations,
        CancelChild(child::CancelRequest),
        Signal(signal_external::Send) of signals,
        CancelExternal(cancel_external::Request) of cancels,
    }
}

impl Queued {
    /// The id of the patch, where the command is the marker of one.
    pub fn patch_id(&self) -> Option<&str> {
        match self {
            Queued::Patch(marked) => marked.patch_id(),
            _ => None,
        }
    }
}

impl Given {
    /// A local activity is recorded long after it was given, so it keeps its groups itself.
    pub fn keep_groups(&mut self, groups: Groups) -> Groups {
        let Given::ScheduleLocalActivity(schedule) = self else { return groups };
        schedule.groups = groups;
        Groups::default()
    }
}

impl From<Infallible> for Queued {
    fn from(nothing: Infallible) -> Queued {
        match nothing {}
    }
}

impl AllMachines {
    /// Reads and checks a command, and claims its seq (0 for kinds without one). Nothing is matched yet. `compat`: of a program of
    /// the compat layer.
    pub fn read_command(&mut self, kind: CommandKind, bytes: &[u8], compat: bool) -> Result<(u32, Given)> {
        fn numbered<C: Into<Given>>((seq, command): (u32, C)) -> (u32, Given) {
            (seq, command.into())
        }
        fn plain<C: Into<Given>>(command: C) -> (u32, Given) {
            (0, command.into())
        }
        match kind {
            CommandKind::StartTimer => timer::read(bytes, &mut self.timers.numbers).map(numbered),
            CommandKind::ScheduleActivity => activity::read(bytes, self.activity_numbers(compat)).map(numbered),
            CommandKind::ScheduleLocalActivity => local_activity::read(bytes, &mut self.local_activities.numbers).map(numbered),
            CommandKind::StartChildWorkflow => child::read(bytes, &mut self.children.numbers).map(numbered),
            CommandKind::ScheduleNexusOperation => nexus::read(bytes, &mut self.operations.numbers).map(numbered),
            CommandKind::CancelChildWorkflow => child::read_cancel(bytes).map(plain),
            CommandKind::SignalExternalWorkflow => signal_external::read(bytes, &mut self.signals.numbers).map(numbered),
            CommandKind::CancelSignalWorkflow => signal_external::read_cancel(bytes).map(plain),
            CommandKind::CancelExternalWorkflow => cancel_external::read(bytes, &mut self.cancels.numbers).map(numbered),
            CommandKind::UpsertSearchAttributes => properties::read_upsert(bytes).map(plain),
            CommandKind::ModifyWorkflowProperties => properties::read_modify(bytes).map(plain),
            CommandKind::SetPatchMarker => patch::read_set(bytes).map(plain),
            CommandKind::RecordSideEffect => side_effect::read(bytes).map(plain),
            CommandKind::Transact => transact::read(bytes, &mut self.transacts.numbers).map(numbered),
            CommandKind::AwaitTransact => transact::read_await(bytes).map(plain),
            CommandKind::UpdateResponse => update::read(bytes).map(plain),
            CommandKind::CompleteWorkflow => terminal::read_complete(bytes).map(plain),
            CommandKind::FailWorkflow => terminal::read_fail(bytes).map(plain),
            CommandKind::CancelWorkflow => terminal::read_cancel(bytes).map(plain),
            CommandKind::ContinueAsNew => terminal::read_continue_as_new(bytes).map(plain),
            CommandKind::QueryResult | CommandKind::Unspecified => {
                let text = format!("{} is not allowed in this activation", kind.as_str_name());
                Err(misuse(codes::OUT_OF_ORDER_CALL, text))
            }
        }
    }

    /// Compat programs number activities and local activities together, as the official SDK does: their ids are in history.
    fn activity_numbers(&mut self, compat: bool) -> &mut Numbers {
        if compat { &mut self.local_activities.numbers } else { &mut self.activities.numbers }
    }

    /// Kinds that are cancelled by their seq alone.
    pub fn read_cancel(&self, kind: CommandKind, seq: u32) -> Result<Given> {
        match kind {
            CommandKind::StartTimer => Ok(timer::Cancel { seq }.into()),
            CommandKind::ScheduleActivity => Ok(activity::Cancel { seq }.into()),
            CommandKind::ScheduleLocalActivity => Ok(local_activity::Cancel { seq }.into()),
            CommandKind::ScheduleNexusOperation => Ok(nexus::Cancel { seq }.into()),
            CommandKind::StartChildWorkflow | CommandKind::SignalExternalWorkflow => {
                let text = format!("{} is canceled by another command, not by its seq", kind.as_str_name());
                Err(misuse(codes::OUT_OF_ORDER_CALL, text))
            }
            _ => Err(misuse(codes::OUT_OF_ORDER_CALL, format!("{} cannot be canceled", kind.as_str_name()))),
        }
    }
}
