//! Timers of a run, once they are started.
use super::context::Context;
use super::event::About;
use super::messages::events::TimerFiredAttrs;
use super::search_attributes;
use super::state::pending::TimerState;
use super::state::run::{Deadline, Run, kind};
use super::time::Micros;

/// A started timer is open.
pub fn insert(run: &mut Run, cx: &Context, timer_id: String, started_id: i64, fire_us: Micros) {
    if !by_hand(run, cx) {
        run.set_deadline(Deadline::Timer(started_id), None, Some(fire_us));
    }
    run.timer_ids.insert(started_id, timer_id.clone());
    run.mark(kind::TIMER, timer_id.clone());
    run.timers.insert(timer_id.clone(), TimerState { timer_id, started_id, fire_us });
}

/// Takes an open timer out of the run.
pub fn remove(run: &mut Run, timer_id: &str) -> Option<TimerState> {
    let timer = run.timers.remove(timer_id)?;
    run.timer_ids.remove(&timer.started_id);
    run.set_deadline(Deadline::Timer(timer.started_id), Some(timer.fire_us), None);
    run.mark(kind::TIMER, timer_id);
    Some(timer)
}

/// The timer that this TimerStarted event started is due.
pub fn fired(run: &mut Run, cx: &mut Context, started_id: i64) {
    if let Some(id) = run.timer_ids.get(&started_id).cloned() {
        remove(run, &id);
        let time = run.time(cx.now);
        let about = About::Timer(id.clone(), started_id);
        run.add(time, TimerFiredAttrs { timer_id: id, started_event_id: started_id }, about);
        run.want_task = true;
    }
}

/// Whether timers of the run fire on request alone: all of the engine's do, or it was started so.
pub fn by_hand(run: &Run, cx: &Context) -> bool {
    cx.manual_timers || search_attributes::timers_by_hand(run.head.search_attributes.as_deref())
}

/// A run was loaded whose timers fire on request: disables the deadlines of all its timers.
pub fn hold_all(run: &mut Run) {
    for (started_id, fire_us) in run.timers.values().map(|t| (t.started_id, t.fire_us)).collect::<Vec<_>>() {
        run.set_deadline(Deadline::Timer(started_id), Some(fire_us), None);
    }
}
