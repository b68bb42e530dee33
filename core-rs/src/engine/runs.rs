//! The runs in memory: found by run id or by workflow id (the latest run), loaded when needed, dropped when idle.
//!
//! A request that needs a run which is not in memory is parked until the host answers the `LoadRequest`. What the store does not
//! have is remembered only while the parked requests are answered.
use crate::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, VecDeque};

use super::Engine;
use super::cx::{Again, Cx, Wait};
use super::read_history;
use super::rpc;
use super::state::Run;
use super::time::Micros;
use super::{activity, outgoing, queues, start, workflow_task};
use crate::boundary::{LoadRequest, RunRecord};

#[derive(Default)]
pub struct Runs {
    slots: Vec<Option<Box<Run>>>,
    free: Vec<u32>,
    by_id: HashMap<String, u32>,
    /// Run id of the latest run per workflow id, as far as it is known.
    latest: HashMap<String, String>,
    /// Known not to exist, while parked requests are answered.
    absent: SortedSet<(String, String)>,
    parked: SortedMap<(String, String), VecDeque<Again>>,
    /// Runs whose orders wait for a run to be loaded.
    pub ordered: SortedMap<(String, String), Vec<u32>>,
    pub loads: Vec<LoadRequest>,
    /// (deadline, slot) of every run that waits for a moment.
    wakes: std::collections::BTreeSet<(Micros, u32)>,
    pub dirty: Vec<u32>,
    /// Second-chance order for eviction.
    clock: VecDeque<u32>,
}

/// What is known of a run that a request names.
pub enum Found {
    Slot(u32),
    Missing,
    Unknown,
}

impl Runs {
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn get(&self, slot: u32) -> Option<&Run> {
        self.slots.get(slot as usize)?.as_deref()
    }

    pub fn get_mut(&mut self, slot: u32) -> Option<&mut Run> {
        self.slots.get_mut(slot as usize)?.as_deref_mut()
    }

    pub fn insert(&mut self, mut run: Run, latest: bool) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        run.slot = slot;
        self.by_id.insert(run.head.run_id.clone(), slot);
        if latest {
            self.latest.insert(run.head.workflow_id.clone(), run.head.run_id.clone());
        }
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(Box::new(run));
        }
        self.clock.push_back(slot);
        slot
    }

    /// Forgets the run. Its places in queues must be gone already.
    pub fn remove(&mut self, slot: u32) -> Option<Box<Run>> {
        let run = self.slots.get_mut(slot as usize)?.take()?;
        self.by_id.remove(&run.head.run_id);
        if self.latest.get(&run.head.workflow_id) == Some(&run.head.run_id) {
            self.latest.remove(&run.head.workflow_id);
        }
        if let Some(wake) = run.wake {
            self.wakes.remove(&(wake, slot));
        }
        self.free.push(slot);
        Some(run)
    }

    pub fn find(&self, workflow_id: &str, run_id: &str) -> Found {
        let id = if run_id.is_empty() { self.latest.get(workflow_id).map(String::as_str) } else { Some(run_id) };
        if let Some(slot) = id.and_then(|id| self.by_id.get(id)) {
            let same = self.get(*slot).is_some_and(|r| r.head.workflow_id == workflow_id);
            return if same { Found::Slot(*slot) } else { Found::Missing };
        }
        if self.absent.contains(&(workflow_id.to_string(), run_id.to_string())) { Found::Missing } else { Found::Unknown }
    }

    pub fn next_wake(&self) -> Option<(Micros, u32)> {
        self.wakes.first().copied()
    }

    fn set_wake(&mut self, slot: u32) {
        let Some(run) = self.slots.get_mut(slot as usize).and_then(Option::as_deref_mut) else { return };
        let next = run.next_deadline();
        if run.wake != next {
            if let Some(old) = run.wake {
                self.wakes.remove(&(old, slot));
            }
            if let Some(new) = next {
                self.wakes.insert((new, slot));
            }
            run.wake = next;
        }
    }
}

impl Engine {
    /// One step on a run: whatever it set off (next task, queues, wakes, readers, new runs) is done when this returns.
    pub(super) fn with_run<T>(&mut self, slot: u32, step: impl FnOnce(&mut Run, &mut Cx) -> T) -> Option<T> {
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
        super::limits::check_history(run, cx);
        start::schedule_if_wanted(run, cx.now);
        enqueue(run, cx);
        read_history::notify(run, cx);
        outgoing::announce(run, cx);
        // The row must not say that the run is due when it is not: the host would load it again and again.
        run.dirty |= run.durable_deadline() != run.stored_wake;
        if run.dirty && !run.listed {
            run.listed = true;
            self.runs.dirty.push(slot);
        }
        self.runs.set_wake(slot);
    }

    /// The slot of the run that a request names; parks the request (or fails it) and answers None otherwise.
    pub(super) fn resolve(&mut self, workflow_id: &str, run_id: &str, request: &Again) -> Option<u32> {
        if workflow_id.is_empty() {
            self.cx.fail(request.request_id, rpc::invalid("WorkflowId is not set on request."));
            return None;
        }
        if workflow_id.contains('\0') || run_id.contains('\0') {
            self.cx.fail(request.request_id, rpc::invalid("WorkflowId or RunId contains a NUL character."));
            return None;
        }
        match self.runs.find(workflow_id, run_id) {
            Found::Slot(slot) => Some(slot),
            Found::Missing => {
                self.cx.fail(request.request_id, rpc::workflow_not_found(workflow_id));
                None
            }
            Found::Unknown => {
                self.park(workflow_id, run_id, request.clone());
                None
            }
        }
    }

    pub(super) fn park(&mut self, workflow_id: &str, run_id: &str, request: Again) {
        let key = (workflow_id.to_string(), run_id.to_string());
        let wait = Wait::Parked { workflow_id: key.0.clone(), run_id: key.1.clone() };
        self.cx.waiting.insert(request.request_id, wait);
        if !self.runs.parked.contains_key(&key) {
            self.want_load(&key.0, &key.1);
        }
        self.runs.parked.get_or_insert_with(key, VecDeque::new).push_back(request);
    }

    pub(super) fn want_load(&mut self, workflow_id: &str, run_id: &str) {
        let load = LoadRequest { workflow_id: workflow_id.into(), run_id: run_id.into() };
        if !self.runs.loads.contains(&load) {
            self.runs.loads.push(load);
        }
    }

    pub(super) fn unpark(&mut self, workflow_id: &str, run_id: &str, request_id: u32) {
        let key = (workflow_id.to_string(), run_id.to_string());
        if let Some(queue) = self.runs.parked.get_mut(&key) {
            queue.retain(|r| r.request_id != request_id);
            if queue.is_empty() {
                self.runs.parked.remove(&key);
            }
        }
    }

    pub(super) fn take_record(&mut self, record: RunRecord) {
        let key = (record.asked_workflow_id.clone(), record.asked_run_id.clone());
        if !record.unavailable.is_empty() {
            // Nothing is known of the run: neither that it exists nor that its id is free.
            for request in self.runs.parked.remove(&key).unwrap_or_default() {
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
                let text = format!("the stored state of workflow {} cannot be read", key.0);
                self.cx.fail(request.request_id, rpc::data_loss(text));
            }
            self.orders_answered(&key.0, &key.1, false);
            return;
        }
        self.runs.absent.insert(key.clone());
        for request in parked {
            self.cx.waiting.remove(&request.request_id);
            self.handle(request);
        }
        self.orders_answered(&key.0, &key.1, true);
        self.runs.absent.remove(&key);
    }

    /// A run that was just loaded: deadlines, queues, and tasks whose holders are gone.
    fn recover(&mut self, slot: u32) {
        self.with_run(slot, |run, cx| {
            for id in run.activities.keys().copied().collect::<Vec<_>>() {
                let wait = run
                    .activities
                    .get(&id)
                    .is_some_and(|a| !a.started() && (a.state.attempt == 1 || a.state.scheduled_us <= cx.now));
                if wait {
                    run.to_queue.push(id);
                }
                activity::restore(run, id);
            }
            if !run.open() {
                return;
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
                workflow_task::timed_out(run, cx);
            }
            if sticky_lost {
                run.clear_sticky();
            }
            for id in activities {
                activity::lost(run, cx, id);
            }
        });
    }

    /// Drops idle runs beyond the limit, oldest first, those that were used lately spared once.
    pub(super) fn evict(&mut self) {
        let mut looks = 2 * self.runs.len().saturating_sub(self.cx.limits.cached_runs) + 16;
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

    /// Drops a closed run that the store has purged; who waits for it is told. With something uncommitted it stays: that commit fails,
    /// and then it is dropped.
    pub(super) fn forget_run(&mut self, run_id: &str) {
        let Some(slot) = self.runs.by_id.get(run_id).copied() else { return };
        if self.runs.get(slot).is_some_and(|run| !run.open() && !run.dirty && !run.in_flight) {
            self.drop_run(slot);
        }
    }

    /// Forgets a run whose commit failed: its waiting callers hear of it, and it is loaded again.
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
        let gone = || rpc::unavailable("the state of the workflow was reloaded, please retry");
        for id in run.queries.keys().copied().collect::<Vec<_>>() {
            if let Some(q) = super::queries::remove(&mut run, &mut self.cx, id) {
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
            self.want_load(&run.head.workflow_id, &run.head.run_id);
        }
    }

    pub(super) fn fire(&mut self, slot: u32) {
        self.with_run(slot, |run, cx| {
            while let Some((t, what)) = run.deadlines.first().copied() {
                if t > cx.now {
                    break;
                }
                super::timers::fire(run, cx, t, what);
            }
        });
    }
}

/// Puts what waits for a worker into its queue.
fn enqueue(run: &mut Run, cx: &mut Cx) {
    if !run.open() {
        return;
    }
    if let Some(task) = &mut run.head.task
        && task.started_id == 0
        && run.task_queued.is_none()
    {
        // A sticky worker that is gone would only cost its timeout.
        let sticky = task.sticky && cx.queues.sticky_alive(&run.head.sticky_queue, cx.now);
        let name = if sticky { &run.head.sticky_queue } else { &run.head.task_queue };
        let key = cx.queues.push(queues::Side::Workflow, name, task.scheduled_us, run.slot, queues::Task::Workflow);
        run.task_queued = Some(key);
        if !sticky {
            run.set_task_deadline(None);
        }
    }
    for id in std::mem::take(&mut run.to_queue) {
        let Some(a) = run.activities.get_mut(&id) else { continue };
        if a.queued.is_some() || a.started() {
            continue;
        }
        let name = a.attrs.task_queue.as_ref().map_or("", |q| &q.name);
        a.queued = Some(cx.queues.push(queues::Side::Activity, name, a.state.scheduled_us, run.slot, queues::Task::Activity(id)));
        activity::restore(run, id);
    }
}
