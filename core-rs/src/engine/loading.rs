//! A run comes from the store: it takes up its deadlines and queues, and the requests that were parked for it are handled.
//!
//! What the store does not have is remembered only while the parked requests are handled.
use super::machine::Engine;
use super::requests::handle;
use super::state::run::Run;
use super::{activity, callbacks, nexus, rpc, timers, workflow_task};
use crate::boundary::RunRecord;

impl Engine {
    pub(super) fn take_record(&mut self, record: RunRecord) {
        if let Some(time) = record.cron {
            return self.take_cron_time(time);
        }
        let key = (record.asked_workflow_id.clone(), record.asked_run_id.clone());
        if !record.unavailable.is_empty() {
            // Nothing is known of the run: neither that it exists nor that its id is free.
            for request in self.runs.parked.remove(&key).unwrap_or_default() {
                self.runs.histories.remove(&request.request_id);
                self.cx.fail(request.request_id, rpc::unavailable(record.unavailable.clone()));
            }
            self.orders_answered(&key.0, &key.1, false);
            return;
        }
        let row_id = record.row.as_ref().map(|r| r.run_id.clone()).unwrap_or_default();
        let known = self.runs.by_id.get(&row_id).copied();
        let latest_known = self.runs.latest.contains_key(&key.0);
        let mut damaged = false;
        if record.found && known.is_none() {
            match Run::from_record(&record) {
                Some(run) => {
                    let slot = self.runs.insert(run, false);
                    self.recover(slot);
                }
                None => damaged = true,
            }
        }
        if record.found && !damaged && key.1.is_empty() && !key.0.is_empty() && !latest_known {
            self.runs.latest.insert(key.0.clone(), row_id);
        }
        let parked = self.runs.parked.remove(&key).unwrap_or_default();
        if damaged {
            for request in parked {
                let text = format!(
                    "the stored state of workflow \"{}\" is damaged: check the store with `temporalex store check`",
                    key.0
                );
                self.runs.histories.remove(&request.request_id);
                self.cx.fail(request.request_id, rpc::data_loss(text));
            }
            self.orders_answered(&key.0, &key.1, false);
            return;
        }
        self.runs.absent.insert(key.clone());
        for request in parked {
            self.cx.waiting.remove(&request.request_id);
            self.keep_history(request.request_id, &key.1, &record.history);
            handle(self, request);
        }
        self.orders_answered(&key.0, &key.1, true);
        self.runs.absent.remove(&key);
    }

    /// Keeps a history for the request that waits for it. A load of the state alone has none, and may come first: the first
    /// empty answer is only noted, and the request asks again.
    fn keep_history(&mut self, request_id: u32, run_id: &str, history: &[u8]) {
        let Some(histories) = self.runs.histories.get_mut(&request_id) else { return };
        let noted = (String::new(), run_id.as_bytes().to_vec());
        if history.is_empty() && !histories.contains(&noted) {
            return histories.push(noted);
        }
        histories.push((run_id.into(), history.to_vec()));
    }

    /// A run that was just loaded: deadlines, queues, and tasks whose holders are gone.
    fn recover(&mut self, slot: u32) {
        self.with_run(slot, |run, cx| {
            for id in run.activities.keys().copied().collect::<Vec<_>>() {
                let wait = run
                    .activities
                    .get(&id)
                    .is_some_and(|a| !a.started() && !a.paused() && (a.is_first() || a.state.scheduled_us <= cx.now));
                if wait {
                    run.to_queue.push(id);
                }
                activity::restore(run, id);
            }
            for id in run.nexus.keys().copied().collect::<Vec<_>>() {
                nexus::recover(run, id);
            }
            for id in run.callbacks.keys().copied().collect::<Vec<_>>() {
                callbacks::recover(run, cx, id);
            }
            if !run.open() {
                return;
            }
            if timers::by_hand(run, cx) {
                timers::hold_all(run);
            }
            let deadline = (run.head.run_deadline_us > 0).then_some(run.head.run_deadline_us);
            run.set_run_deadline(deadline);
            let first = (run.head.first_task_at_us > 0).then_some(run.head.first_task_at_us);
            run.set_first_task_deadline(first);
            let sticky_timeout = run.head.sticky_timeout_us;
            let task_deadline = run.head.task.as_ref().and_then(|t| match (t.started_id != 0, t.sticky) {
                (true, _) => Some(t.started_us + t.start_to_close_us),
                (false, true) if sticky_timeout > 0 => Some(t.scheduled_us + sticky_timeout),
                _ => None,
            });
            run.set_task_deadline(task_deadline);
            if !cx.in_flight_lost {
                return;
            }
            let lost = |life: u64| life != 0 && life != cx.life;
            let sticky_lost = lost(run.head.sticky_life);
            let task_lost = run.head.task.as_ref().is_some_and(|t| t.started_id != 0 && lost(t.life));
            let activities: Vec<i64> =
                run.activities.iter().filter(|(_, a)| a.started() && lost(a.state.life)).map(|(id, _)| *id).collect();
            if task_lost {
                workflow_task::lost(run, cx);
            }
            if sticky_lost {
                run.clear_sticky();
            }
            for id in activities {
                activity::lost(run, cx, id);
            }
        });
    }
}
