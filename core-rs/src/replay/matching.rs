//! A command event meets the front of the command queue
//! (docs/dev/semantics/commands.md#commands-are-matched-in-order).
//!
//! Commands are matched in order and by type; of their content only ids and types of activities (flag 1), patch ids and
//! side-effect ids count. Commands taken back before they were sent are passed over. Patches are lenient by design: a deprecated
//! marker may stand without a command, and a patch command may stand without a marker.
use crate::api::enums::v1::EventType;
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::history::event::{Event, event_type};
use crate::replay::activity::Activity;
use crate::replay::cancel_external::CancelExternal;
use crate::replay::child::Child;
use crate::replay::event::{EventRef, Place, bad_event, bad_transition, wrong_type};
use crate::replay::flags::CoreFlag;
use crate::replay::queue::{Queued, type_name_of};
use crate::replay::signal::Signal;
use crate::replay::timer::Timer;
use crate::replay::workflow::{Initiator, Workflow};
use crate::replay::{local_activity, marker, patch, side_effect, terminal, update};
use crate::wire::Message;

/// What is to be done with a patch marker that has no matching front.
enum PatchMarker {
    /// The front is its command.
    Matches,
    /// The marker is skipped, and with it the upsert that was written for it.
    Skip,
}

impl Workflow {
    /// Feeds a command event to its machine. True: the event behind it belongs to it and is skipped too.
    pub fn match_command_event(&mut self, event: &Event, at: EventRef, next: Option<&Event>) -> Result<bool> {
        let attributes = event.attributes().ok_or_else(|| bad_event(at, "attributes"))?;
        let kind = event_type(event).ok_or_else(|| bad_event(at, "type"))?;
        let marker = if kind == EventType::MarkerRecorded { attributes.text(marker::NAME) } else { "" };
        if marker == local_activity::MARKER {
            let check = self.flags.recorded(CoreFlag::IdAndTypeChecks);
            self.local_activities.on_marker(attributes, check, at)?;
            return Ok(false);
        }
        let is_patch = marker == patch::MARKER;
        if is_patch && matches!(self.meet_patch_marker(attributes, at)?, PatchMarker::Skip) {
            return Ok(next.is_some_and(patch::is_change_version_upsert));
        }
        let Some(command) = self.pop_front(is_patch) else {
            let text = format!("No command scheduled for event {at}");
            return Err(nondeterminism(codes::NO_COMMAND, text).differing("", at.type_name(), "no command").at_event(at));
        };
        let (of, seq, given) = (command.kind(), command.seq(), command.command_type());
        let fed = self.feed(command, kind, attributes, at).at_event(at).of_command(of, seq);
        fed.map_err(|mut e| {
            if e.code == codes::COMMAND_TYPE {
                e.actual = type_name_of(given);
            }
            e
        })?;
        Ok(false)
    }

    /// The front of the queue, without commands that were taken back; a patch gives way to an event that is no patch marker.
    fn pop_front(&mut self, is_patch: bool) -> Option<Queued> {
        loop {
            let command = self.queue.pop_front()?;
            let dropped = self.is_withdrawn(&command) || (matches!(command, Queued::Patch { .. }) && !is_patch);
            if !dropped {
                return Some(command);
            }
        }
    }

    fn meet_patch_marker(&mut self, marker: Message, at: EventRef) -> Result<PatchMarker> {
        let damaged = || fatal(codes::BAD_MARKER, format!("{at} is a patch marker without an id")).at_event(at);
        let (id, deprecated) = patch::read(marker).ok_or_else(damaged)?;
        while self.queue.front().is_some_and(|c| self.is_withdrawn(c)) {
            self.queue.pop_front();
        }
        match self.queue.front() {
            Some(Queued::Patch { id: own, .. }) if *own == id => Ok(PatchMarker::Matches),
            _ if deprecated => Ok(PatchMarker::Skip),
            Some(Queued::Patch { id: own, .. }) => {
                let text = format!("Change id {id} does not match expected id {own}");
                Err(nondeterminism(codes::PATCH_ID, text).differing("patch_id", id, own.clone()).at_event(at))
            }
            front => {
                let text = format!(
                    "Non-deprecated patch marker encountered for change {id}, but there is no corresponding change command!"
                );
                let actual = front.map_or("no command", Queued::machine);
                Err(nondeterminism(codes::PATCH_REMOVED, text).differing("patch_id", id, actual).at_event(at))
            }
        }
    }

    fn feed(&mut self, command: Queued, kind: EventType, a: Message, at: EventRef) -> Result<()> {
        use EventType::*;
        match (command, kind) {
            (Queued::StartTimer { seq, .. }, TimerStarted) => {
                self.timer(seq, at)?.on_started(at)?;
                self.initiators.push((at.id, Initiator::Timer(seq)));
            }
            (Queued::CancelTimer { seq }, TimerCanceled) => self.timer(seq, at)?.on_canceled(at)?,
            (Queued::StartTimer { seq, .. } | Queued::CancelTimer { seq }, TimerStarted | TimerCanceled) => {
                return Err(bad_transition("TimerMachine", *self.timer(seq, at)?, at));
            }
            (Queued::ScheduleActivity { seq, .. }, ActivityTaskScheduled) => {
                // What the newest task recorded is compared even before history says that the flag is used.
                let check = self.at_frontier || self.flags.recorded(CoreFlag::IdAndTypeChecks);
                self.activity(seq, at)?.on_scheduled(a, check, at)?;
                self.initiators.push((at.id, Initiator::Activity(seq)));
            }
            (Queued::CancelActivity { seq, .. }, ActivityTaskCancelRequested) => {
                self.activity(seq, at)?.on_cancel_requested(at)?;
            }
            (
                Queued::ScheduleActivity { seq, .. } | Queued::CancelActivity { seq, .. },
                ActivityTaskScheduled | ActivityTaskCancelRequested,
            ) => return Err(bad_transition("ActivityMachine", self.activity(seq, at)?.state, at)),
            (Queued::StartChild { seq, .. }, StartChildWorkflowExecutionInitiated) => {
                let check = self.at_frontier || self.flags.recorded(CoreFlag::IdAndTypeChecks);
                self.child(seq, at)?.on_initiated(a, check, at)?;
                self.initiators.push((at.id, Initiator::Child(seq)));
            }
            (Queued::CancelChild { seq, .. }, RequestCancelExternalWorkflowExecutionInitiated) => {
                self.initiators.push((at.id, Initiator::CancelChild(seq)));
            }
            (Queued::Signal { seq, .. }, SignalExternalWorkflowExecutionInitiated) => {
                self.signal(seq, at)?.on_initiated(at)?;
                self.initiators.push((at.id, Initiator::Signal(seq)));
            }
            (Queued::CancelExternal { seq, .. }, RequestCancelExternalWorkflowExecutionInitiated) => {
                self.cancel_external(seq, at)?.on_initiated(at)?;
                self.initiators.push((at.id, Initiator::CancelExternal(seq)));
            }
            (Queued::UpsertSearchAttributes { .. }, UpsertWorkflowSearchAttributes) => {}
            (Queued::ModifyProperties { .. }, WorkflowPropertiesModified) => {}
            // That the ids agree is known from `meet_patch_marker`.
            (Queued::Patch { .. }, MarkerRecorded) => {}
            (Queued::ChangeVersions { .. }, UpsertWorkflowSearchAttributes) => {}
            (
                command @ (Queued::ChangeVersions { .. }
                | Queued::UpsertSearchAttributes { .. }
                | Queued::ModifyProperties { .. }),
                _,
            ) => {
                let machine = command.machine();
                let text = format!("{machine} does not handle {at}");
                return Err(nondeterminism(codes::COMMAND_TYPE, text).differing("", at.type_name(), machine));
            }
            (Queued::SideEffect { id, .. }, MarkerRecorded) if a.text(marker::NAME) == side_effect::MARKER => {
                let damaged = || fatal(codes::BAD_MARKER, format!("{at} is a side effect marker without an id"));
                let recorded = side_effect::read_id(a).ok_or_else(damaged)?;
                if recorded != id {
                    let text = format!("Side effect id {recorded} does not match expected id {id}");
                    let e = nondeterminism(codes::SIDE_EFFECT_ID, text);
                    return Err(e.differing("side_effect_id", recorded.to_string(), id.to_string()));
                }
            }
            (Queued::AcceptUpdate { id, .. }, WorkflowExecutionUpdateAccepted) => {
                self.check_update_id("accepted", a.text(1), &id, at)?;
            }
            (Queued::CompleteUpdate { id, .. }, WorkflowExecutionUpdateCompleted) => {
                self.check_update_id("completed", a.sub(1).text(1), &id, at)?;
            }
            (Queued::AcceptUpdate { .. }, WorkflowExecutionUpdateCompleted) => {
                return Err(bad_transition("UpdateMachine", update::Step::AcceptCommandCreated, at));
            }
            (Queued::CompleteUpdate { .. }, WorkflowExecutionUpdateAccepted) => {
                return Err(bad_transition("UpdateMachine", update::Step::CompleteCommandCreated, at));
            }
            (Queued::Terminal(t), _) if kind == terminal::event_of(&t) => {}
            (command, _) => return Err(wrong_type(command.machine(), at)),
        }
        Ok(())
    }

    /// Core does not compare them, so that two swapped updates pass; here it is a diagnosis.
    fn check_update_id(&mut self, what: &str, recorded: &str, own: &str, at: EventRef) -> Result<()> {
        if recorded == own {
            return Ok(());
        }
        let text = format!("Update id of {what} event '{recorded}' does not match update id of update command '{own}'");
        self.diagnose(codes::UPDATE_ID, text, at).differing("update_id", recorded, own)
    }

    pub fn child(&mut self, seq: u32, at: EventRef) -> Result<&mut Child> {
        (seq as usize).checked_sub(1).and_then(|i| self.children.get_mut(i)).ok_or_else(|| bad_event(at, "child workflow"))
    }

    pub fn signal(&mut self, seq: u32, at: EventRef) -> Result<&mut Signal> {
        (seq as usize).checked_sub(1).and_then(|i| self.signals.get_mut(i)).ok_or_else(|| bad_event(at, "signal"))
    }

    pub fn cancel_external(&mut self, seq: u32, at: EventRef) -> Result<&mut CancelExternal> {
        (seq as usize).checked_sub(1).and_then(|i| self.cancels.get_mut(i)).ok_or_else(|| bad_event(at, "request to cancel"))
    }

    fn timer(&mut self, seq: u32, at: EventRef) -> Result<&mut Timer> {
        (seq as usize).checked_sub(1).and_then(|i| self.timers.get_mut(i)).ok_or_else(|| bad_event(at, "timer"))
    }

    fn activity(&mut self, seq: u32, at: EventRef) -> Result<&mut Activity> {
        (seq as usize).checked_sub(1).and_then(|i| self.activities.get_mut(i)).ok_or_else(|| bad_event(at, "activity"))
    }
}
