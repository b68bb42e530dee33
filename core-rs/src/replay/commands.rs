//! Commands of workflow code: checked when they are given, turned into machines when the activation ends.
use crate::boundary::job::Variant;
use crate::boundary::{
    ActivityCancellationType, CancelWorkflowExecution, CommandKind, CompleteWorkflow, ContinueAsNew, FailWorkflow,
    RecordSideEffect, ScheduleActivity, ScheduleLocalActivity, SetPatchMarker, StartTimer, UpdateResponse, update_response,
};
use crate::error::{Result, codes, decode, misuse, nondeterminism};
use crate::replay::activity::Activity;
use crate::replay::convert::{check_duration, check_retry_policy};
use crate::replay::event::Place;
use crate::replay::flags::CoreFlag;
use crate::replay::queue::{Queued, Terminal};
use crate::replay::terminal;
use crate::replay::timer::Timer;
use crate::replay::workflow::Workflow;

/// A command as given, with its seq.
#[derive(Debug)]
pub enum Given {
    StartTimer(u32, StartTimer),
    CancelTimer(u32),
    ScheduleActivity(u32, Box<ScheduleActivity>),
    CancelActivity(u32),
    ScheduleLocalActivity(u32, Box<ScheduleLocalActivity>),
    CancelLocalActivity(u32),
    SetPatchMarker(SetPatchMarker),
    SideEffect(RecordSideEffect),
    UpdateResponse(String, update_response::Response),
    Terminal(Terminal),
}

/// The last seq of each kind. Compat programs number activities and local activities together, as the official SDK does: their
/// ids are in history.
#[derive(Clone, Debug, Default)]
pub struct Seqs {
    pub timers: u32,
    pub activities: u32,
    pub local_activities: u32,
}

/// How many numbers a caller that counts by itself may leave out at once.
const MAX_SKIPPED: u32 = 100_000;

/// The seq of a new command: the next one, or the higher one that the caller asks for.
fn claim(last: &mut u32, wanted: u32) -> Result<u32> {
    let next = last.checked_add(1).ok_or_else(|| misuse(codes::BAD_VALUE, "no seq is left"))?;
    let seq = if wanted == 0 { next } else { wanted };
    if seq < next || seq - next > MAX_SKIPPED {
        return Err(misuse(codes::BAD_VALUE, format!("seq {seq} cannot follow seq {last}")));
    }
    *last = seq;
    Ok(seq)
}

impl Workflow {
    /// Reads and checks a command. Answers it with its seq; nothing is matched yet.
    pub fn read_command(&mut self, kind: CommandKind, bytes: &[u8]) -> Result<(u32, Given)> {
        Ok(match kind {
            CommandKind::StartTimer => {
                let c: StartTimer = decode("StartTimer", bytes)?;
                check_duration("duration_ms", c.duration_ms)?;
                if c.duration_ms < 1.0 {
                    return Err(misuse(codes::BAD_VALUE, format!("a timer lasts at least 1 ms, not {}", c.duration_ms)));
                }
                let seq = claim(&mut self.seqs.timers, c.seq)?;
                (seq, Given::StartTimer(seq, c))
            }
            CommandKind::ScheduleActivity => {
                let c: ScheduleActivity = decode("ScheduleActivity", bytes)?;
                check_activity(&c)?;
                let seq = claim(&mut self.seqs.activities, c.seq)?;
                (seq, Given::ScheduleActivity(seq, Box::new(c)))
            }
            CommandKind::ScheduleLocalActivity => {
                let c: ScheduleLocalActivity = decode("ScheduleLocalActivity", bytes)?;
                if c.activity_type.is_empty() {
                    return Err(misuse(codes::BAD_VALUE, "a local activity needs a type"));
                }
                let seq = self.claim_local_seq(c.seq)?;
                (seq, Given::ScheduleLocalActivity(seq, Box::new(c)))
            }
            CommandKind::SetPatchMarker => (0, Given::SetPatchMarker(decode("SetPatchMarker", bytes)?)),
            CommandKind::RecordSideEffect => (0, Given::SideEffect(decode("RecordSideEffect", bytes)?)),
            CommandKind::UpdateResponse => {
                let c: UpdateResponse = decode("UpdateResponse", bytes)?;
                let response = c.response.ok_or_else(|| misuse(codes::BAD_VALUE, "an update response without a response"))?;
                (0, Given::UpdateResponse(c.protocol_instance_id, response))
            }
            CommandKind::CompleteWorkflow => {
                let c: CompleteWorkflow = decode("CompleteWorkflow", bytes)?;
                (0, Given::Terminal(Terminal::Complete(c)))
            }
            CommandKind::FailWorkflow => {
                let c: FailWorkflow = decode("FailWorkflow", bytes)?;
                (0, Given::Terminal(Terminal::Fail(Box::new(decode("Failure", &c.failure)?))))
            }
            CommandKind::CancelWorkflow => {
                let c: CancelWorkflowExecution = decode("CancelWorkflowExecution", bytes)?;
                let details = if c.details.is_empty() { None } else { Some(decode("Payloads", &c.details)?) };
                (0, Given::Terminal(Terminal::Cancel(details)))
            }
            CommandKind::ContinueAsNew => {
                let c: ContinueAsNew = decode("ContinueAsNew", bytes)?;
                check_duration("workflow_run_timeout_ms", c.workflow_run_timeout_ms)?;
                check_duration("workflow_task_timeout_ms", c.workflow_task_timeout_ms)?;
                check_retry_policy(&c.retry_policy)?;
                (0, Given::Terminal(Terminal::ContinueAsNew(Box::new(c))))
            }
            CommandKind::QueryResult | CommandKind::Unspecified => {
                return Err(misuse(
                    codes::OUT_OF_ORDER_CALL,
                    format!("{} is not a command of this activation", kind.as_str_name()),
                ));
            }
        })
    }

    fn claim_local_seq(&mut self, wanted: u32) -> Result<u32> {
        let last = if self.is_compat() { &mut self.seqs.activities } else { &mut self.seqs.local_activities };
        claim(last, wanted)
    }

    pub fn read_cancel(&self, kind: CommandKind, seq: u32) -> Result<Given> {
        match kind {
            CommandKind::StartTimer => Ok(Given::CancelTimer(seq)),
            CommandKind::ScheduleActivity => Ok(Given::CancelActivity(seq)),
            CommandKind::ScheduleLocalActivity => Ok(Given::CancelLocalActivity(seq)),
            _ => Err(misuse(codes::OUT_OF_ORDER_CALL, format!("{} cannot be cancelled", kind.as_str_name()))),
        }
    }

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
                let id = if attributes.activity_id.is_empty() { seq.to_string() } else { attributes.activity_id.clone() };
                let activity = Activity::new(id, attributes.activity_type.clone(), attributes.cancellation_type());
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
                    self.jobs.same_task(Variant::ResolveActivity(resolution));
                }
            }
            Given::ScheduleLocalActivity(seq, a) => {
                let id = if a.activity_id.is_empty() { seq.to_string() } else { a.activity_id };
                self.local_activities.schedule(seq, id, a.activity_type);
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
            Given::SetPatchMarker(p) => self.set_patch_marker(p),
            Given::SideEffect(s) => self.record_side_effect(s)?,
            Given::UpdateResponse(id, response) => {
                let answer = self.updates.answer(&id, response, self.replaying);
                let answer = answer.of_command(CommandKind::UpdateResponse, 0)?;
                self.queue.extend(answer.command);
                self.outgoing.extend(answer.message);
            }
            Given::Terminal(terminal) => {
                self.closing = true;
                self.queue.push_back(Queued::Terminal(terminal));
            }
        }
        Ok(())
    }

    fn set_patch_marker(&mut self, p: SetPatchMarker) {
        if !self.patches.give(&p.patch_id) {
            return;
        }
        let listed =
            self.flags.on(CoreFlag::UpsertOnPatch, self.replaying) && (!self.replaying || self.patches.was_seen(&p.patch_id));
        self.queue.push_back(Queued::Patch { id: p.patch_id, deprecated: p.deprecated });
        // The list is for searching only: it is not carried into a continued run as an attribute of this one.
        if listed && let Some(value) = self.patches.change_versions() {
            self.queue.push_back(Queued::ChangeVersions { value });
        }
    }

    fn record_side_effect(&mut self, s: RecordSideEffect) -> Result<()> {
        if self.replaying && !self.side_effects.known.contains(&s.id) {
            let text = format!("No side effect marker in history for side effect id {}", s.id);
            return Err(nondeterminism(codes::SIDE_EFFECT_MISSING, text).of_command(CommandKind::RecordSideEffect, s.id));
        }
        self.queue.push_back(Queued::SideEffect { id: s.id, payload: s.payload });
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

fn check_activity(c: &ScheduleActivity) -> Result<()> {
    if c.activity_type.is_empty() {
        return Err(misuse(codes::BAD_VALUE, "an activity needs a type"));
    }
    check_duration("schedule_to_close_timeout_ms", c.schedule_to_close_timeout_ms)?;
    check_duration("schedule_to_start_timeout_ms", c.schedule_to_start_timeout_ms)?;
    check_duration("start_to_close_timeout_ms", c.start_to_close_timeout_ms)?;
    check_duration("heartbeat_timeout_ms", c.heartbeat_timeout_ms)?;
    check_retry_policy(&c.retry_policy)?;
    if c.start_to_close_timeout_ms == 0.0 && c.schedule_to_close_timeout_ms == 0.0 {
        let text = format!("activity {} needs a start-to-close or a schedule-to-close timeout", c.activity_type);
        return Err(misuse(codes::BAD_VALUE, text));
    }
    if ActivityCancellationType::try_from(c.cancellation_type).is_err() {
        return Err(misuse(codes::BAD_VALUE, format!("unknown cancellation type {}", c.cancellation_type)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::claim;
    use crate::error::codes;

    #[test]
    fn seqs_rise_by_one_or_to_the_number_that_the_caller_counts() {
        let mut last = 0;
        assert_eq!(claim(&mut last, 0).unwrap(), 1);
        assert_eq!(claim(&mut last, 4).unwrap(), 4);
        assert_eq!(claim(&mut last, 0).unwrap(), 5);
        for wanted in [5, 1, u32::MAX] {
            assert_eq!(claim(&mut last, wanted).unwrap_err().code, codes::BAD_VALUE);
        }
        assert_eq!(last, 5);
        last = u32::MAX;
        assert_eq!(claim(&mut last, 0).unwrap_err().code, codes::BAD_VALUE);
    }
}
