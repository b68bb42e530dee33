//! What a kind of command does: the parts that its file implements. Each part is given the kind's own machines and the state of
//! the run, and nothing else; `Own` is `()` for kinds without machines.
use std::convert::Infallible;

use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::Result;
use crate::proto::views::Attributes;
use crate::proto::views::command::Command;
use crate::replay::event::EventRef;
use crate::replay::run_state::{Inherited, RunState};
use crate::wire::typed::Put;

/// A command that was read: it moves its machine when its activation ends.
pub trait Take {
    type Own;
    /// What then waits for its event: a type, or types, that are [`Wait`].
    type Queued: IntoIterator;
    fn take(self, own: &mut Self::Own, run: &mut RunState) -> Result<Self::Queued>;
}

/// Of commands after which nothing waits.
pub type Nothing = Option<Infallible>;

/// A command in the queue: its event has not been seen. It leaves the queue when the event is applied, never when it is sent.
pub trait Wait {
    type Own;
    /// Machine name in error messages.
    fn machine(&self) -> &'static str;
    fn kind(&self) -> CommandKind;
    fn command_type(&self) -> CommandType;

    /// The caller's number where the kind has one; for side effects their id.
    fn seq(&self) -> u32 {
        0
    }

    /// Whether it was withdrawn before it was sent.
    fn is_withdrawn(&self, _: &Self::Own) -> bool {
        false
    }

    /// A patch gives way to an event that is not a patch marker, and may stand without an event.
    fn is_lenient(&self) -> bool {
        false
    }

    /// The command event that met it at the front of the queue.
    fn meet(self, event: Attributes, at: EventRef, own: &mut Self::Own, run: &mut RunState) -> Result<()>;
    /// The command as the server takes it, but for its type.
    fn write<'w>(&self, w: Put<'w, Command>, run: &Inherited) -> Put<'w, Command>;
}

/// A command whose recorded event is resolved by later ones.
pub trait Answered: Wait {
    const KIND: CommandKind;
    fn answered(seq: u32, event: Attributes, at: EventRef, own: &mut Self::Own, run: &mut RunState) -> Result<()>;
}
