//! What a kind of command is to the table of kinds.
use super::plan::Plan;
use super::refusal::Reject;
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::event::{Event, Extras};
use crate::engine::messages::events::Attributes;
use crate::engine::state::run::Run;
use crate::engine::time::Micros;

/// The attributes of one kind of command: how they are checked, and what the command does.
pub trait Kind {
    /// The cause with which the task fails when the command has no attributes.
    const CAUSE: Cause;
    /// The command ends the run: it must be the last one, with no event in the buffer that the workflow has not seen.
    const CLOSES: bool = false;

    /// Checks the command against the run and the commands before, and fills in what a server fills in. Nothing is written.
    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject>;

    /// Writes the command's event and the state that goes with it; cannot fail after `check`. Returns whether the command by itself
    /// asks for another workflow task.
    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool;
}

/// The completed task that a command belongs to.
pub struct At<'a> {
    pub time: Micros,
    pub completed_id: i64,
    pub identity: &'a str,
    pub extras: Extras,
}

impl At<'_> {
    /// Writes the event of the command.
    pub fn write<A: Attributes>(&self, run: &mut Run, attrs: &A) -> i64 {
        run.write(Event::new(self.time, attrs).with(&self.extras))
    }
}
