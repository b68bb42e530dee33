//! What happens when a deadline of a run has come. A deadline is never early: the engine's clock only reaches it when the host's did.
use super::cx::Cx;
use super::event::About;
use super::state::{Deadline, Run};
use super::time::Micros;
use super::wire::TimerFiredAttrs;
use super::{activity, apply, close, outgoing, queries, start, workflow_task};

/// Fires one due deadline and takes it from the run's list.
pub fn fire(run: &mut Run, cx: &mut Cx, t: Micros, what: Deadline) {
    run.deadlines.remove(&(t, what));
    match what {
        Deadline::Timer(started_id) => {
            if let Some(id) = run.timer_ids.get(&started_id).cloned() {
                apply::remove_timer(run, &id);
                let time = run.time(cx.now);
                let about = About::Timer(id.clone(), started_id);
                run.add(time, TimerFiredAttrs { timer_id: id, started_event_id: started_id }, about);
                run.want_task = true;
            }
        }
        Deadline::Activity(id) => {
            if let Some(a) = run.activities.get_mut(&id) {
                a.deadline = None;
            }
            activity::due(run, cx, id);
        }
        Deadline::FirstTask => {
            run.first_task_deadline = None;
            start::first_task_due(run);
        }
        Deadline::Task => {
            run.task_deadline = None;
            workflow_task::timed_out(run, cx);
        }
        Deadline::Run => {
            run.run_deadline = None;
            close::timed_out(run, cx);
        }
        Deadline::Query(id) => queries::due(run, cx, id),
        Deadline::Orders => outgoing::due(run, cx),
    }
}
