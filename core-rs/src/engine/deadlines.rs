//! What happens when a deadline of a run has come. A deadline is never early: the engine's clock only reaches it when the host's did.
use super::context::Context;
use super::state::run::{Deadline, Run};
use super::time::Micros;
use super::{activity, callbacks, close, new_run, nexus, orders, queries, timers, workflow_task};

/// Fires one due deadline and takes it from the run's list.
pub fn fire(run: &mut Run, cx: &mut Context, t: Micros, what: Deadline) {
    run.deadlines.remove(&(t, what));
    match what {
        Deadline::Timer(started_id) => timers::fired(run, cx, started_id),
        Deadline::Activity(id) => {
            if let Some(a) = run.activities.get_mut(&id) {
                a.deadline = None;
            }
            activity::due(run, cx, id);
        }
        Deadline::FirstTask => {
            run.first_task_deadline = None;
            new_run::first_task_due(run);
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
        Deadline::Orders => orders::due(run, cx),
        Deadline::Nexus(id) => {
            if let Some(op) = run.nexus.get_mut(&id) {
                op.deadline = None;
            }
            nexus::due(run, cx, id);
        }
        Deadline::Callback(id) => {
            if let Some(c) = run.callbacks.get_mut(&id) {
                c.deadline = None;
            }
            callbacks::due(run, cx, id);
        }
    }
}
