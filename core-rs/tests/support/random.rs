//! Random histories that a server could have written for a worker of this core, made from a tape of bytes: the same tape gives the
//! same history, and a shorter one a simpler history.
use std::collections::BTreeSet;

use temporalex_core::api::enums::v1::{RetryState, TimeoutType};

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
        let mut old = (open_timers, open_activities);
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
    match tape.below(6) {
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

/// `old`: timers and activities that were there before this task; what began in it would be taken back, not cancelled.
fn command(
    h: HistoryBuilder,
    tape: &mut Tape,
    world: &mut World,
    old: &mut (Vec<String>, Vec<String>),
    timers: &mut u32,
    activities: &mut u32,
) -> HistoryBuilder {
    match tape.below(8) {
        1 => {
            if let Some(timer) = tape.take(&mut old.0) {
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
            if let Some(id) = tape.take(&mut old.1) {
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
        _ => {}
    }
    start_timer(h, world, timers)
}
