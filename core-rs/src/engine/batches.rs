//! Closes a batch: all changes go to the host as one list of writes and replies, and count only
//! after its commit.
use super::machine::{Batch, Engine};
use super::rpc;
use super::time::{SECOND, to_ms};
use crate::boundary::Flush;

impl Engine {
    pub(super) fn close_batch(&mut self) -> Flush {
        if self.batch.is_none() {
            self.carry_out();
        }
        let mut flush = Flush { loads: self.take_loads(), ..Default::default() };
        if flush.loads.is_empty() && self.batch.is_none() && !self.cx.reducing.tasks.is_empty() {
            flush.transacts = std::mem::take(&mut self.cx.reducing.tasks);
            return flush;
        }
        // A batch that waits for the store is not closed; and there is one at a time.
        if flush.loads.is_empty() && self.batch.is_none() {
            self.dispatch();
            flush.loads = self.take_loads();
            let slots = std::mem::take(&mut self.runs.dirty);
            for slot in &slots {
                if let Some(run) = self.runs.get_mut(*slot) {
                    flush.writes.push(run.take_write());
                    run.listed = false;
                    run.in_flight = true;
                }
            }
            flush.replies = std::mem::take(&mut self.cx.replies);
            flush.timed_out = std::mem::take(&mut self.cx.timed_out);
            flush.nexus_calls = std::mem::take(&mut self.cx.nexus_calls);
            self.cx.crons.batch_ended();
            self.batch = Some(Batch { slots });
        }
        let wakes = [self.runs.next_wake().map(|(t, _)| t), self.cx.queues.next_due()];
        flush.next_wake_ms = wakes.into_iter().flatten().min().map_or(0.0, to_ms);
        flush.open_runs = self.cx.open_runs.clamp(0, i64::from(u32::MAX)) as u32;
        flush.cached_runs = self.runs.len() as u32;
        flush.queued_tasks = self.cx.queues.waiting() as u32;
        flush
    }

    pub(super) fn batch_committed(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        let committed = batch.slots.len();
        for slot in batch.slots {
            if let Some(run) = self.runs.get_mut(slot) {
                run.in_flight = false;
                run.stored_open = Some(run.open());
            }
        }
        self.evict(committed);
        if self.swept + SECOND * 600 < self.cx.now {
            self.swept = self.cx.now;
            let now = self.cx.now;
            self.cx.queues.sweep(now);
        }
    }

    /// Drops what the failed commit touched, and what was built on it since.
    pub(super) fn batch_aborted(&mut self) {
        let batch = self.batch.take();
        let since = std::mem::take(&mut self.runs.dirty);
        // Tasks whose reducers have not run: their workers report again.
        self.cx.reducing = Default::default();
        self.trial = None;
        self.cx.crons.batch_ended();
        self.runs.histories.clear();
        // They time out again when the run is loaded again.
        self.cx.timed_out.clear();
        // Their runs are dropped, and make them again.
        self.cx.nexus_calls.clear();
        for reply in std::mem::take(&mut self.cx.replies) {
            let text = "the change was not recorded: an earlier write to the store, which it depends on, failed; retry the call";
            self.cx.fail(reply.request_id, rpc::unavailable(text));
        }
        for slot in batch.map(|b| b.slots).unwrap_or_default().into_iter().chain(since) {
            self.drop_run(slot);
        }
    }
}
