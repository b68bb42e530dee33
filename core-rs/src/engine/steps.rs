//! A step on a run, and what it sets off: the next task, queues, deadlines, readers, new runs.
use super::context::Context;
use super::machine::Engine;
use super::queues::{Entry, Side, Task};
use super::state::run::Run;
use super::{activity, close, deadlines, history_readers, limits, nexus, orders, versioning, workflow_task};

impl Engine {
    /// One step on a run: whatever it set off (next task, queues, wakes, readers, new runs) is done when this returns.
    pub(super) fn with_run<T>(&mut self, slot: u32, step: impl FnOnce(&mut Run, &mut Context) -> T) -> Option<T> {
        let run = self.runs.get_mut(slot)?;
        run.touched = true;
        let result = step(run, &mut self.cx);
        self.settle_run(slot);
        while let Some(run) = self.cx.spawned.pop() {
            let slot = self.runs.insert(run, true);
            self.settle_run(slot);
        }
        Some(result)
    }

    /// Takes in what a step without a run has made (a first start).
    pub(super) fn take_spawned(&mut self) -> Option<u32> {
        let mut slot = None;
        while let Some(run) = self.cx.spawned.pop() {
            let s = self.runs.insert(run, true);
            self.settle_run(s);
            slot = Some(s);
        }
        slot
    }

    fn settle_run(&mut self, slot: u32) {
        let Some(run) = self.runs.get_mut(slot) else { return };
        let cx = &mut self.cx;
        close::end_if_too_long(run, cx);
        workflow_task::schedule_if_wanted(run, cx.now);
        enqueue(run, cx);
        history_readers::notify(run, cx);
        orders::announce(run, cx);
        // The row must not say that the run is due when it is not: the host would load it again and again.
        run.dirty |= run.durable_deadline() != run.stored_wake;
        if run.dirty && !run.listed {
            run.listed = true;
            self.runs.dirty.push(slot);
        }
        self.runs.set_wake(slot);
    }

    pub(super) fn fire(&mut self, slot: u32) {
        self.with_run(slot, |run, cx| {
            while let Some((t, what)) = run.deadlines.first().copied() {
                if t > cx.now {
                    break;
                }
                deadlines::fire(run, cx, t, what);
            }
        });
    }
}

/// Puts what waits for a worker into its queue.
fn enqueue(run: &mut Run, cx: &mut Context) {
    if !run.open() {
        return;
    }
    if let Some(task) = &run.head.task
        && task.started_id == 0
        && run.task_queued.is_none()
    {
        // A sticky worker that is gone would only cost its timeout.
        let (sticky, ready) = (task.sticky, task.scheduled_us);
        let sticky = sticky && cx.queues.sticky_alive(&run.head.sticky_queue, cx.now) && !versioning::leaves_worker(run, cx);
        let name = if sticky {
            run.head.sticky_queue.clone()
        } else {
            versioning::place_of(run, cx, Side::Workflow, &run.head.task_queue)
        };
        let rank = limits::rank(run.head.priority.as_deref(), None);
        let entry = Entry { rank, ready, slot: run.slot, task: Task::Workflow };
        let key = cx.queues.push(Side::Workflow, &name, entry, cx.now);
        run.task_queued = Some(key);
        if !sticky {
            run.set_task_deadline(None);
        }
    }
    nexus::call(run, cx);
    for id in std::mem::take(&mut run.to_queue) {
        let Some(a) = run.activities.get(&id) else { continue };
        if a.queued.is_some() || a.started() || a.paused() {
            continue;
        }
        let name = versioning::place_of(run, cx, Side::Activity, a.attrs.task_queue.as_ref().map_or("", |q| &q.name));
        let rank = limits::rank(run.head.priority.as_deref(), a.attrs.priority.as_deref());
        let entry = Entry { rank, ready: a.state.scheduled_us, slot: run.slot, task: Task::Activity(id) };
        let key = cx.queues.push(Side::Activity, &name, entry, cx.now);
        if let Some(a) = run.activities.get_mut(&id) {
            a.queued = Some(key);
        }
        activity::restore(run, id);
    }
}
