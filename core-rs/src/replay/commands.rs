//! The commands of an activation that has ended become machines and queue entries, in order.
use crate::boundary::{ActivityCancellationType, CommandKind};
use crate::error::{Result, codes, nondeterminism};
use crate::replay::activity::Activity;
use crate::replay::cancel_external::CancelExternal;
use crate::replay::child::Child;
use crate::replay::event::Place;
use crate::replay::flags::CoreFlag;
use crate::replay::given::{Given, id_or_seq};
use crate::replay::jobs::Variant;
use crate::replay::queue::Queued;
use crate::replay::signal::Signal;
use crate::replay::timer::Timer;
use crate::replay::workflow::Workflow;
use crate::replay::{properties, terminal};
use crate::wire::Message as Fields;

impl Workflow {
    /// The activation's commands become machines and queue entries, in order.
    pub fn take_commands(&mut self, mut given: Vec<Given>) -> Result<()> {
        if self.closing {
            return Ok(());
        }
        if let Some(at) = terminal::first_terminal_with_followers(&given) {
            if self.flags.on(CoreFlag::MoveTerminal, self.replaying) {
                given = terminal::move_to_end(given);
            } else {
                given.truncate(at + 1);
            }
        }
        given.into_iter().try_for_each(|g| self.take_command(g))
    }

    fn take_command(&mut self, given: Given) -> Result<()> {
        match given {
            Given::StartTimer(seq, attributes) => {
                *slot(&mut self.timers, seq) = Timer::StartCreated;
                self.queue.push_back(Queued::StartTimer { seq, attributes });
            }
            Given::CancelTimer(seq) => {
                let timer = existing(&mut self.timers, seq, "Timer").of_command(CommandKind::StartTimer, seq)?;
                if timer.cancel() {
                    self.queue.push_back(Queued::CancelTimer { seq });
                }
            }
            Given::ScheduleActivity(seq, attributes) => {
                let a = Fields(&attributes);
                let cancellation = ActivityCancellationType::try_from(a.int32(11)).unwrap_or_default();
                let activity = Activity::new(id_or_seq(a.text(1), seq), a.text(2).into(), cancellation);
                *slot(&mut self.activities, seq) = activity;
                self.queue.push_back(Queued::ScheduleActivity { seq, attributes });
            }
            Given::CancelActivity(seq) => {
                let activity = existing(&mut self.activities, seq, "Activity").of_command(CommandKind::ScheduleActivity, seq)?;
                let cancelled = activity.cancel(seq);
                let scheduled_event_id = activity.scheduled_event_id;
                if cancelled.command {
                    self.queue.push_back(Queued::CancelActivity { seq, scheduled_event_id });
                }
                if let Some(resolution) = cancelled.resolution {
                    self.jobs.same_task(Variant::ResolveActivity, resolution);
                }
            }
            Given::ScheduleLocalActivity(seq, a) => {
                self.local_activities.schedule(seq, a.id, a.kind);
            }
            Given::CancelLocalActivity(seq) => {
                let last = if self.is_compat() { self.seqs.activities } else { self.seqs.local_activities };
                if seq == 0 || seq > last {
                    return Err(missing("LocalActivity", seq).of_command(CommandKind::ScheduleLocalActivity, seq));
                }
                if let Some(released) = self.local_activities.cancel(seq, self.activation_index) {
                    self.resolve_local_activity(released);
                }
            }
            Given::SetPatchMarker { id, deprecated } => self.set_patch_marker(id, deprecated),
            Given::SideEffect { id, payload } => self.record_side_effect(id, payload)?,
            Given::UpdateResponse(id, response) => {
                let answer = self.updates.answer(&id, response, self.replaying);
                let answer = answer.of_command(CommandKind::UpdateResponse, 0)?;
                self.queue.extend(answer.command);
                self.outgoing.extend(answer.message);
            }
            Given::StartChild(seq, attributes) => {
                *slot(&mut self.children, seq) = Child::new(Fields(&attributes), &self.namespace);
                self.queue.push_back(Queued::StartChild { seq, attributes });
            }
            Given::CancelChild { seq, reason } => {
                let child =
                    existing(&mut self.children, seq, "ChildWorkflowStart").of_command(CommandKind::StartChildWorkflow, seq)?;
                let cancelled = child.cancel(seq, &reason);
                self.queue.extend(cancelled.request.map(|request| Queued::CancelChild { seq, request }));
                if let Some((variant, resolution)) = cancelled.resolution {
                    self.jobs.same_task(variant, resolution);
                }
            }
            Given::Signal(seq, attributes) => {
                *slot(&mut self.signals, seq) = Signal::Created;
                self.queue.push_back(Queued::Signal { seq, attributes });
            }
            Given::CancelSignal(seq) => {
                let signal =
                    existing(&mut self.signals, seq, "SignalExternal").of_command(CommandKind::SignalExternalWorkflow, seq)?;
                if let Some(resolution) = signal.cancel(seq) {
                    self.jobs.same_task(Variant::ResolveSignalExternalWorkflow, resolution);
                }
            }
            Given::CancelExternal(seq, attributes) => {
                *slot(&mut self.cancels, seq) = CancelExternal::Created;
                self.queue.push_back(Queued::CancelExternal { seq, attributes });
            }
            Given::UpsertSearchAttributes(change) => self.upsert_search_attributes(change),
            Given::ModifyProperties(change) => {
                // Core lets a continued run begin with the memo of the start event, whatever became of it.
                if !self.is_compat() {
                    self.inherited.memo = properties::merged(self.inherited.memo.as_deref(), &change, self.order);
                }
                self.queue.push_back(Queued::ModifyProperties { change });
            }
            Given::Terminal(terminal) => {
                self.closing = true;
                self.queue.push_back(Queued::Terminal(terminal));
            }
        }
        Ok(())
    }

    fn set_patch_marker(&mut self, id: String, deprecated: bool) {
        if !self.patches.give(&id) {
            return;
        }
        let listed = self.flags.on(CoreFlag::UpsertOnPatch, self.replaying) && (!self.replaying || self.patches.was_seen(&id));
        self.queue.push_back(Queued::Patch { id, deprecated });
        // The list is for searching only: it is not carried into a continued run as an attribute of this one.
        if listed && let Some(value) = self.patches.change_versions() {
            self.queue.push_back(Queued::ChangeVersions { value });
        }
    }

    fn upsert_search_attributes(&mut self, mut change: Vec<u8>) {
        if properties::names_change_versions(&change) && self.flags.on(CoreFlag::UpsertOnPatch, self.replaying) {
            change.clear();
        }
        let inherited = &mut self.inherited.search_attributes;
        *inherited = properties::merged(inherited.as_deref(), &change, self.order);
        self.queue.push_back(Queued::UpsertSearchAttributes { change });
    }

    fn record_side_effect(&mut self, id: u32, payload: Option<Vec<u8>>) -> Result<()> {
        if self.replaying && !self.side_effects.known.contains(&id) {
            let text = format!("No side effect marker in history for side effect id {id}");
            return Err(nondeterminism(codes::SIDE_EFFECT_MISSING, text).of_command(CommandKind::RecordSideEffect, id));
        }
        self.queue.push_back(Queued::SideEffect { id, payload });
        Ok(())
    }
}

/// The machine of a seq that has just been given out. Seqs whose commands were cut off stay absent.
fn slot<T: Default + Clone>(machines: &mut Vec<T>, seq: u32) -> &mut T {
    let index = (seq as usize).saturating_sub(1);
    if machines.len() <= index {
        machines.resize(index + 1, T::default());
    }
    &mut machines[index]
}

fn existing<'a, T>(machines: &'a mut [T], seq: u32, kind: &str) -> Result<&'a mut T> {
    let index = (seq as usize).wrapping_sub(1);
    machines.get_mut(index).ok_or_else(|| missing(kind, seq))
}

fn missing(kind: &str, seq: u32) -> Box<crate::boundary::CoreError> {
    nondeterminism(codes::MISSING_MACHINE, format!("Missing associated machine for {kind}({seq})"))
}
