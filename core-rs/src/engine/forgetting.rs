//! Runs leave memory: idle ones, purged ones, and those whose commit failed.
use super::machine::Engine;
use super::{queries, rpc};

impl Engine {
    /// Evicts idle runs above the limit, oldest first; recently used ones are spared once. Each
    /// call checks a few runs per committed one, not all above the limit, because runs with queued
    /// tasks are not idle and may be many. The next batch continues where this one stopped.
    pub(super) fn evict(&mut self, committed: usize) {
        let mut looks = 4 * committed + 64;
        while self.runs.len() > self.cx.limits.cached_runs && looks > 0 {
            looks -= 1;
            let Some(slot) = self.runs.clock.pop_front() else { return };
            let Some(run) = self.runs.get_mut(slot) else { continue };
            if std::mem::take(&mut run.touched) || !run.idle() {
                self.runs.clock.push_back(slot);
                continue;
            }
            self.runs.remove(slot);
        }
    }

    /// Drops a closed run that the store has purged; its waiters get an error. With something uncommitted it stays: that commit fails,
    /// and then it is dropped.
    pub(super) fn forget_run(&mut self, run_id: &str) {
        let Some(slot) = self.runs.by_id.get(run_id).copied() else { return };
        if self.runs.get(slot).is_some_and(|run| !run.open() && !run.dirty && !run.in_flight) {
            self.drop_run(slot);
        }
    }

    /// Forgets a run whose commit failed: its waiting callers get an error, and it is loaded again.
    pub(super) fn drop_run(&mut self, slot: u32) {
        let Some(mut run) = self.runs.remove(slot) else { return };
        self.runs.clock.retain(|s| *s != slot);
        if let Some(key) = &run.task_queued {
            self.cx.queues.remove(key);
        }
        for a in run.activities.values() {
            if let Some(key) = &a.queued {
                self.cx.queues.remove(key);
            }
        }
        let workflow_id = run.head.workflow_id.clone();
        let gone =
            || rpc::unavailable(format!("the state of workflow \"{workflow_id}\" was reloaded from the store; retry the call"));
        for id in run.queries.keys().copied().collect::<Vec<_>>() {
            if let Some(q) = queries::remove(&mut run, &mut self.cx, id) {
                self.cx.fail(q.request_id, gone());
            }
        }
        for w in std::mem::take(&mut run.history_waits) {
            self.cx.fail(w.request_id, gone());
        }
        for u in run.updates.values_mut() {
            for w in std::mem::take(&mut u.waits) {
                self.cx.fail(w.request_id, gone());
            }
        }
        self.cx.open_runs += i64::from(run.stored_open == Some(true)) - i64::from(run.open());
        if run.stored_open.is_some() {
            self.runs.want_load(&run.head.workflow_id, &run.head.run_id);
        }
    }
}
