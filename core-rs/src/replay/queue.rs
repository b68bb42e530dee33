//! The queue of commands that wait for their event: how an activation's commands enter it, and how a
//! command event meets its front (docs/dev/semantics/commands.md#commands-are-matched-in-order).
//!
//! Workflow code's attributes are kept as they came and encoded in the server's form only with a
//! completion, so that a replay, which sends nothing, does not encode them. Commands are matched in
//! order and by type; of their content only ids and types of activities and children (flag 1),
//! patch ids and side-effect ids count. Commands withdrawn before they were sent are skipped.
use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::{Result, codes, nondeterminism};
use crate::history::event::{Event, camel};
use crate::proto::views::Attributes;
use crate::proto::views::history::MarkerRecordedEventAttributes;
use crate::replay::commands::patch::{self, PatchMarker};
use crate::replay::commands::{Entry, Given, Groups, Queued, marker};
use crate::replay::event::{EventRef, Place, bad_event};
use crate::replay::flags::CoreFlag;
use crate::replay::workflow::Workflow;
use crate::wire::typed::View;

impl Workflow {
    /// The activation's commands become machines and queue entries, in order.
    pub fn take_commands(&mut self, mut given: Vec<(Given, Groups)>) -> Result<()> {
        if self.run.closing {
            return Ok(());
        }
        if let Some(at) = first_terminal_with_followers(&given) {
            if self.run.flag(CoreFlag::MoveTerminal) {
                given = move_to_end(given);
            } else {
                given.truncate(at + 1);
            }
        }
        given.into_iter().try_for_each(|(g, groups)| g.take(groups, &mut self.machines, &mut self.run, &mut self.queue))
    }

    /// Feeds a command event to its machine. True: the event behind it belongs to it and is skipped too.
    pub fn match_command_event(&mut self, event: &Event, at: EventRef, next: Option<&Event>) -> Result<bool> {
        let attributes = event.attributes().ok_or_else(|| bad_event(at, "attributes"))?;
        let mut is_patch = false;
        if let Attributes::MarkerRecorded(recorded) = attributes {
            match recorded.marker_name() {
                marker::LOCAL_ACTIVITY => {
                    let check = self.run.flags.recorded(CoreFlag::IdAndTypeChecks);
                    if self.machines.local_activities.on_marker(recorded, check, at)? {
                        return Ok(false);
                    }
                }
                marker::PATCH => {
                    is_patch = true;
                    if matches!(self.meet_patch_marker(recorded, at)?, PatchMarker::Skip) {
                        return Ok(next.is_some_and(patch::is_change_version_upsert));
                    }
                }
                _ => {}
            }
        }
        let Some(command) = self.pop_front(is_patch) else {
            let text = format!("No command scheduled for event {at}");
            return Err(nondeterminism(codes::NO_COMMAND, text).differing("", at.type_name(), "no command").at_event(at));
        };
        let (of, seq, given) = (command.kind(), command.seq(), command.command_type());
        command.meet(attributes, at, &mut self.machines, &mut self.run).at_event(at).of_command(of, seq).map_err(|mut e| {
            if e.code == codes::COMMAND_TYPE {
                e.actual = type_name_of(given);
            }
            e
        })?;
        Ok(false)
    }

    /// A patch marker meets the front of the queue, which stays there.
    fn meet_patch_marker(&mut self, recorded: View<MarkerRecordedEventAttributes>, at: EventRef) -> Result<PatchMarker> {
        self.drop_withdrawn();
        let front = self.queue.front().map(|entry| &entry.command);
        patch::meet_marker(recorded, at, front.and_then(Queued::patch_id), front.map_or("no command", Queued::machine))
    }

    /// The front of the queue, without withdrawn commands; a patch is skipped if the event is not a
    /// patch marker.
    fn pop_front(&mut self, is_patch: bool) -> Option<Queued> {
        loop {
            let Entry { command, .. } = self.queue.pop_front()?;
            let dropped = command.is_withdrawn(&self.machines) || (command.patch_id().is_some() && !is_patch);
            if !dropped {
                return Some(command);
            }
        }
    }

    /// Drops withdrawn commands from the front of the queue.
    fn drop_withdrawn(&mut self) {
        while self.queue.front().is_some_and(|e| e.command.is_withdrawn(&self.machines)) {
            self.queue.pop_front();
        }
    }

    /// A command of an earlier activation that the events of its task do not hold. Core notices it only at the next command event
    /// of another type; this says where code and history part. Patches may stand without an event. `where_to`: "before" the event
    /// that follows the commands, or "up to" the last event of a history that ends with them.
    pub fn check_extra_command(&mut self, at: EventRef, where_to: &str) -> Result<()> {
        let mut queued = self.queue.iter().map(|entry| &entry.command);
        let Some(extra) = queued.find(|c| !c.is_lenient() && !c.is_withdrawn(&self.machines)) else { return Ok(()) };
        if self.extra_reported {
            return Ok(());
        }
        let (kind, seq): (CommandKind, u32) = (extra.kind(), extra.seq());
        let name = type_name_of(extra.command_type());
        self.extra_reported = true;
        let text = format!("Extra command {name} not found in history {where_to} event {}", at.id);
        self.run.diagnose(codes::EXTRA_COMMAND, text, at).of_command(kind, seq)
    }
}

/// Position of the first terminal command, if the commands behind it have to be moved or cut.
fn first_terminal_with_followers(given: &[(Given, Groups)]) -> Option<usize> {
    let at = given.iter().position(|(g, _)| matches!(g, Given::Terminal(_)))?;
    (at + 1 < given.len()).then_some(at)
}

/// Moves what was given behind the first terminal command before it; further terminal commands are dropped.
fn move_to_end(given: Vec<(Given, Groups)>) -> Vec<(Given, Groups)> {
    let mut out = Vec::with_capacity(given.len());
    let mut terminal = None;
    for g in given {
        match g.0 {
            Given::Terminal(_) if terminal.is_some() => {}
            Given::Terminal(_) => terminal = Some(g),
            _ => out.push(g),
        }
    }
    out.extend(terminal);
    out
}

/// "StartTimer" for COMMAND_TYPE_START_TIMER: the way events are named.
fn type_name_of(command: CommandType) -> String {
    camel(command.as_str_name().trim_start_matches("COMMAND_TYPE_"))
}
