//! Random histories that a server could have written for a worker of this core, made from a tape of bytes: the same tape gives the
//! same history, and a shorter one a simpler history.
use std::collections::BTreeSet;

use temporalex_core::api::enums::v1::{
    CancelExternalWorkflowExecutionFailedCause, RetryState, SignalExternalWorkflowExecutionFailedCause,
    StartChildWorkflowExecutionFailedCause, TimeoutType,
};

use super::follow::TRY_CANCEL;
use super::history::{HistoryBuilder, failure, json};

struct Tape<'a>(std::slice::Iter<'a, u8>);

impl Tape<'_> {
    /// 0 when the tape has run out.
    fn below(&mut self, n: usize) -> usize {
        self.0.next().map_or(0, |byte| *byte as usize % n)
    }

    fn has_more(&self) -> bool {
        !self.0.as_slice().is_empty()
    }

    fn take<T>(&mut self, from: &mut Vec<T>) -> Option<T> {
        (!from.is_empty()).then(|| from.remove(self.below(from.len())))
    }
}

#[derive(Default)]
struct World {
    timers: Vec<String>,
    activities: Vec<String>,
    /// Cancel requested, answer outstanding.
    cancelling: Vec<String>,
    accepted: Vec<String>,
    patches: BTreeSet<String>,
    names: u32,
    side_effects: u32,
    cancelled: bool,
    /// Initiated; started.
    children: [Vec<String>; 2],
    /// Children whose cancellation was requested.
    asked: BTreeSet<String>,
    /// Those of them that are resolved already.
    detached: BTreeSet<String>,
    signals: Vec<String>,
    /// Requests to cancel that have no answer yet; those of children make no job.
    cancels: Vec<(String, bool)>,
}

impl World {
    fn name(&mut self) -> String {
        self.names += 1;
        self.names.to_string()
    }
}

/// A history of a native program, or of one whose every task gives a command (so that Core's rule has nothing to merge).
pub fn history(tape: &[u8], native: bool) -> HistoryBuilder {
    let tape = &mut Tape(tape.iter());
    let mut world = World::default();
    let mut h = HistoryBuilder::new();
    if tape.below(4) == 1 {
        h = h.signal("early");
    }
    let (mut first, mut timers, mut activities) = (true, 0, 0);
    loop {
        let mut jobs = first;
        for _ in 0..tape.below(4) {
            let (next, job) = event(h, tape, &mut world);
            (h, jobs) = (next, jobs || job);
        }
        if !jobs && !native {
            (h, jobs) = (h.signal("s"), true);
        }
        match tape.below(8) {
            1 => h = h.w_failed(),
            2 => h = h.w_timed_out(),
            3 => (h, jobs) = (h.w_reset(&world.name()), true),
            4 => (h, jobs) = (h.scheduled().signal("between").started().timed_out_task(), true),
            _ => {}
        }
        if !tape.has_more() {
            return h.w_open();
        }
        h = match (first, native) {
            (true, true) => h.w_native(),
            (true, false) => h.w().meta(&[1, 2, 3], &[], "temporal-typescript", "1.0.0"),
            _ => h.w(),
        };
        first = false;
        let before = h.last_id();
        let count = tape.below(4);
        // Only what the program was woken for can make it give commands; a request that it accepts wakes it too.
        if !jobs && count > 0 {
            (h, jobs) = (accept(h, &mut world), true);
        }
        let (open_timers, open_activities) = (world.timers.clone(), world.activities.clone());
        let mut open_children = world.children.concat();
        open_children.retain(|id| !world.asked.contains(id));
        let mut old = [open_timers, open_activities, open_children];
        for _ in 0..if jobs { count } else { 0 } {
            h = command(h, tape, &mut world, &mut old, &mut timers, &mut activities);
        }
        if !native && h.last_id() == before {
            h = start_timer(h, &mut world, &mut timers);
        }
        if jobs && tape.below(12) == 11 {
            return match tape.below(3) {
                0 => h.wf_completed(),
                1 => h.wf_failed(failure("x")),
                _ => h.wf_continued_as_new(),
            };
        }
    }
}

/// One event from outside; whether it makes a job.
fn event(h: HistoryBuilder, tape: &mut Tape, world: &mut World) -> (HistoryBuilder, bool) {
    match tape.below(10) {
        1 => {
            if let Some(timer) = tape.take(&mut world.timers) {
                return (h.timer_fired(&timer), true);
            }
        }
        2 => {
            if let Some(id) = tape.take(&mut world.activities) {
                return (end_of_activity(h, tape, &id), true);
            }
        }
        3 => {
            if let Some(id) = tape.take(&mut world.cancelling) {
                let h = match tape.below(2) {
                    0 => h.act_started(&id).act_canceled(&id, None),
                    _ => end_of_activity(h, tape, &id),
                };
                return (h, true);
            }
        }
        4 if !world.cancelled => {
            world.cancelled = true;
            return (h.cancel_requested("enough"), true);
        }
        5 => {
            if let Some(id) = tape.take(&mut world.children[0]) {
                let heard = !world.detached.contains(&id);
                if tape.below(4) == 3 {
                    let exists = StartChildWorkflowExecutionFailedCause::WorkflowAlreadyExists;
                    return (h.child_start_failed(&id, exists), heard);
                }
                world.children[1].push(id.clone());
                return (h.child_started(&id), heard);
            }
        }
        6 => {
            if let Some(id) = tape.take(&mut world.children[1]) {
                let heard = !world.detached.contains(&id);
                return (end_of_child(h, tape, &id), heard);
            }
        }
        7 => {
            if let Some(id) = tape.take(&mut world.signals) {
                let not_found = SignalExternalWorkflowExecutionFailedCause::ExternalWorkflowExecutionNotFound;
                return (if tape.below(2) == 0 { h.signal_delivered(&id) } else { h.signal_failed(&id, not_found) }, true);
            }
        }
        8 => {
            if let Some((id, of_child)) = tape.take(&mut world.cancels) {
                let not_found = CancelExternalWorkflowExecutionFailedCause::ExternalWorkflowExecutionNotFound;
                let h = if tape.below(2) == 0 { h.cancel_delivered(&id) } else { h.cancel_failed(&id, not_found) };
                return (h, !of_child);
            }
        }
        _ => {}
    }
    (h.signal("s"), true)
}

fn end_of_activity(h: HistoryBuilder, tape: &mut Tape, id: &str) -> HistoryBuilder {
    match tape.below(3) {
        0 => h.act_done(id),
        1 => h.act_started(id).act_failed(id, failure("boom"), RetryState::MaximumAttemptsReached),
        _ => h.act_timed_out(id, TimeoutType::ScheduleToStart),
    }
}

fn end_of_child(h: HistoryBuilder, tape: &mut Tape, id: &str) -> HistoryBuilder {
    match tape.below(5) {
        0 => h.child_completed(id),
        1 => h.child_failed(id, failure("boom"), RetryState::RetryPolicyNotSet),
        2 => h.child_canceled(id),
        3 => h.child_terminated(id),
        _ => h.child_timed_out(id, RetryState::Timeout),
    }
}

fn accept(h: HistoryBuilder, world: &mut World) -> HistoryBuilder {
    let id = format!("u{}", world.name());
    world.accepted.push(id.clone());
    h.update_accepted(&id, "upd")
}

fn start_timer(h: HistoryBuilder, world: &mut World, timers: &mut u32) -> HistoryBuilder {
    *timers += 1;
    world.timers.push(timers.to_string());
    h.timer_started(&timers.to_string())
}

/// `old`: timers, activities and children from before this task; one that started in this task would be withdrawn, not
/// canceled.
fn command(
    h: HistoryBuilder,
    tape: &mut Tape,
    world: &mut World,
    old: &mut [Vec<String>; 3],
    timers: &mut u32,
    activities: &mut u32,
) -> HistoryBuilder {
    match tape.below(14) {
        1 => {
            if let Some(timer) = tape.take(&mut old[0]) {
                world.timers.retain(|t| *t != timer);
                return h.timer_canceled(&timer);
            }
        }
        2 => {
            *activities += 1;
            let id = activities.to_string();
            world.activities.push(id.clone());
            return h.act_scheduled(&id);
        }
        3 => {
            if let Some(id) = tape.take(&mut old[1]) {
                world.activities.retain(|a| *a != id);
                world.cancelling.push(id.clone());
                return h.act_cancel_requested(&id);
            }
        }
        4 => {
            let id = format!("p{}", tape.below(3));
            if world.patches.insert(id.clone()) {
                let all: Vec<&str> = world.patches.iter().map(String::as_str).collect();
                return h.patch_marker(&id, false).change_version_upsert(&all);
            }
        }
        5 => {
            world.side_effects += 1;
            return h.side_effect_marker(world.side_effects - 1, json("1"));
        }
        6 => return accept(h, world),
        7 => {
            if let Some(id) = tape.take(&mut world.accepted) {
                return h.update_completed(&id);
            }
        }
        8 => {
            let id = format!("{}{}", ["", TRY_CANCEL][tape.below(2)], world.name());
            world.children[0].push(id.clone());
            return h.child_initiated(&id);
        }
        9 => {
            if let Some(id) = tape.take(&mut old[2]) {
                world.asked.insert(id.clone());
                if id.starts_with(TRY_CANCEL) {
                    world.detached.insert(id.clone());
                }
                world.cancels.push((id.clone(), true));
                return h.cancel_initiated(&id, true);
            }
        }
        10 => {
            let id = format!("s{}", world.name());
            world.signals.push(id.clone());
            return h.signal_initiated(&id);
        }
        11 => {
            let id = format!("x{}", world.name());
            world.cancels.push((id.clone(), false));
            return h.cancel_initiated(&id, false);
        }
        12 => return h.upsert([("k", json("1"))]),
        13 => return h.properties_modified([("k", json("1"))]),
        _ => {}
    }
    start_timer(h, world, timers)
}
