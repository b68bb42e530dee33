//! Between a run in memory and its rows in the store: head, items, row.
use super::codec;
use super::event::{Buffered, sequence_key};
use super::messages::events::{ActivityScheduledAttrs, StartedAttrs};
use super::messages::nexus::{CallbackState, NexusState, callback};
use super::messages::orders::Outgoing;
use super::nexus;
use super::state::order::Order;
use super::state::pending::{Activity, ActivityState, Callback, ChildState, Nexus, TimerState};
use super::state::run::{AttachedRequest, Deadline, Head, Run, kind};
use super::state::update::{Update, UpdateState};
use super::time::{Micros, from_ms, to_ms};
use crate::boundary::{RunRecord, RunRow, RunWrite, StateItem};

impl Run {
    /// The earliest moment at which the run needs the engine.
    pub fn next_deadline(&self) -> Option<Micros> {
        self.deadlines.first().map(|(t, _)| *t)
    }

    /// The same for what the store knows: queries and speculative tasks are not part of it.
    pub fn durable_deadline(&self) -> Option<Micros> {
        let speculative = self.head.task.as_ref().is_some_and(|t| t.speculative);
        let durable = |what: &Deadline| {
            !(matches!(what, Deadline::Query(_) | Deadline::Orders) || (speculative && *what == Deadline::Task))
        };
        self.deadlines.iter().find(|(_, what)| durable(what)).map(|(t, _)| *t)
    }

    /// A task of this run is queued or in a worker's hands, or something that it has ordered is not carried out.
    fn ready(&self) -> bool {
        let orders = !self.orders.is_empty();
        let calls =
            self.nexus.values().any(nexus::wants_call) || self.callbacks.values().any(|c| c.state.state == callback::SCHEDULED);
        orders
            || calls
            || self.open()
                && (self.head.task.as_ref().is_some_and(|t| !t.speculative)
                    || self.activities.values().any(|a| a.started() || a.queued.is_some() || (a.is_first() && !a.paused())))
    }

    pub fn row(&self) -> RunRow {
        let h = &self.head;
        RunRow {
            workflow_id: h.workflow_id.clone(),
            run_id: h.run_id.clone(),
            workflow_type: h.workflow_type.clone(),
            task_queue: h.task_queue.clone(),
            status: h.status,
            start_time_ms: to_ms(h.start_us),
            close_time_ms: to_ms(h.close_us),
            history_length: self.last_event_id() as u32,
            history_size_bytes: h.history_bytes as f64,
            wake_at_ms: self.durable_deadline().map_or(0.0, to_ms),
            ready: self.ready(),
            first_run_id: h.first_run_id.clone(),
            next_run_id: h.next_run_id.clone(),
            memo: h.memo.clone().unwrap_or_default(),
            search_attributes: h.search_attributes.clone().unwrap_or_default(),
        }
    }

    /// The head at rest: a speculative task is not part of it.
    pub fn head_bytes(&mut self) -> Vec<u8> {
        if self.head.task.as_ref().is_some_and(|t| t.speculative) {
            let task = self.head.task.take();
            let bytes = codec::bytes(&self.head);
            self.head.task = task;
            return bytes;
        }
        codec::bytes(&self.head)
    }

    /// The stored value of an item; None if the item does not exist.
    pub fn item(&mut self, item_kind: u32, id: &str) -> Option<Vec<u8>> {
        match item_kind {
            kind::ACTIVITY => {
                let a = self.activities.get_mut(&id.parse().ok()?)?;
                if a.attrs_stored {
                    return Some(codec::bytes(&a.state));
                }
                let attrs = std::mem::take(&mut a.attrs);
                a.state.attrs = Some(attrs);
                let bytes = codec::bytes(&a.state);
                a.attrs = a.state.attrs.take().unwrap_or_default();
                Some(bytes)
            }
            kind::ACTIVITY_INPUT => {
                let a = self.activities.get(&id.parse().ok()?)?;
                a.attrs_stored.then(|| codec::bytes(&a.attrs))
            }
            kind::TIMER => self.timers.get(id).map(|t| codec::bytes(t)),
            kind::BUFFERED => self.buffer.iter().find(|b| sequence_key(b.seq) == id).map(Buffered::to_bytes),
            kind::REQUEST => self.request_ids.contains(id).then(Vec::new),
            kind::UPDATE => self.updates.get(id).and_then(Update::to_state).map(|s| codec::bytes(&s)),
            kind::STARTED => self.started_attrs.clone(),
            kind::CHILD => self.children.get(&id.parse().ok()?).map(|c| codec::bytes(c)),
            kind::ORDER => self.orders.get(&id.parse().ok()?).map(|o| codec::bytes(&o.message)),
            kind::NEXUS => self.nexus.get(&id.parse().ok()?).map(|n| codec::bytes(&n.state)),
            kind::ATTACHED => self.attached.get(id).map(|event_id| codec::bytes(&AttachedRequest { event_id: *event_id })),
            kind::CALLBACK => self.callbacks.get(&id.parse().ok()?).map(|c| codec::bytes(&c.state)),
            _ => None,
        }
    }

    /// All that changed since the last commit.
    pub fn take_write(&mut self) -> RunWrite {
        self.head.transitions += 1;
        let (mut put, mut remove) = (Vec::new(), Vec::new());
        for (seq, order) in self.orders.iter_mut().filter(|(_, o)| !o.stored) {
            order.stored = true;
            self.dirty_items.insert((kind::ORDER, sequence_key(*seq)));
        }
        for (kind, id) in std::mem::take(&mut self.dirty_items) {
            match self.item(kind, &id) {
                Some(value) => put.push(StateItem { kind, id, value }),
                // A run that the store has never seen has nothing to remove.
                None if self.create => {}
                None => remove.push(StateItem { kind, id, value: Vec::new() }),
            }
        }
        self.dirty = false;
        self.batch_open = false;
        self.stored_wake = self.durable_deadline();
        RunWrite {
            row: Some(self.row()),
            head: self.head_bytes(),
            append: std::mem::take(&mut self.batches),
            put,
            remove,
            create: std::mem::take(&mut self.create),
        }
    }

    /// All of the run as the store should have it after a commit (for tests and diagnosis).
    pub fn record(&mut self) -> RunRecord {
        let mut ids: Vec<(u32, String)> = Vec::new();
        for (id, a) in &self.activities {
            ids.push((kind::ACTIVITY, id.to_string()));
            if a.attrs_stored {
                ids.push((kind::ACTIVITY_INPUT, id.to_string()));
            }
        }
        ids.extend(self.timers.keys().map(|id| (kind::TIMER, id.clone())));
        ids.extend(self.buffer.iter().map(|b| (kind::BUFFERED, sequence_key(b.seq))));
        ids.extend(self.children.keys().map(|id| (kind::CHILD, id.to_string())));
        ids.extend(self.orders.keys().map(|seq| (kind::ORDER, sequence_key(*seq))));
        ids.extend(self.nexus.keys().map(|id| (kind::NEXUS, id.to_string())));
        ids.extend(self.callbacks.keys().map(|id| (kind::CALLBACK, id.to_string())));
        ids.extend(self.attached.keys().map(|id| (kind::ATTACHED, id.clone())));
        ids.extend(self.request_ids.iter().map(|id| (kind::REQUEST, id.clone())));
        ids.extend(self.updates.keys().map(|id| (kind::UPDATE, id.clone())));
        if self.started_attrs.is_some() {
            ids.push((kind::STARTED, String::new()));
        }
        ids.sort();
        let items = ids.into_iter().filter_map(|(kind, id)| self.item(kind, &id).map(|value| StateItem { kind, id, value }));
        let items = items.collect();
        RunRecord { found: true, row: Some(self.row()), head: self.head_bytes(), items, ..Default::default() }
    }

    /// Rebuilds a run; None: the bytes are not those of a run.
    pub fn from_record(record: &RunRecord) -> Option<Run> {
        let row = record.row.as_ref()?;
        let head = codec::read::<Head>(&record.head).ok()?;
        if head.run_id != row.run_id || head.workflow_id != row.workflow_id || head.next_event_id < 2 {
            return None;
        }
        let mut run = Run::new(head);
        let mut big: Vec<(i64, ActivityScheduledAttrs)> = Vec::new();
        let mut buffered: Vec<Buffered> = Vec::new();
        for item in &record.items {
            match item.kind {
                kind::ACTIVITY => {
                    let mut state = codec::read::<ActivityState>(&item.value).ok()?;
                    let attrs = state.attrs.take();
                    let activity = Activity {
                        attrs_stored: attrs.is_none(),
                        attrs: attrs.unwrap_or_default(),
                        deadline: None,
                        queued: None,
                        state,
                    };
                    run.activities.insert(item.id.parse().ok()?, activity);
                }
                kind::ACTIVITY_INPUT => {
                    big.push((item.id.parse().ok()?, codec::read::<ActivityScheduledAttrs>(&item.value).ok()?));
                }
                kind::TIMER => {
                    let timer = codec::read::<TimerState>(&item.value).ok()?;
                    run.set_deadline(Deadline::Timer(timer.started_id), None, Some(timer.fire_us));
                    run.timer_ids.insert(timer.started_id, item.id.clone());
                    run.timers.insert(item.id.clone(), timer);
                }
                kind::BUFFERED => buffered.push(Buffered::from_bytes(item.id.parse().ok()?, &item.value)?),
                kind::REQUEST => {
                    run.request_ids.insert(item.id.clone());
                }
                kind::UPDATE => {
                    let state = codec::read::<UpdateState>(&item.value).ok()?;
                    run.updates.insert(item.id.clone(), Update::from_state(state));
                }
                kind::STARTED => {
                    codec::read::<StartedAttrs>(&item.value).ok()?;
                    run.started_attrs = Some(item.value.clone());
                }
                kind::NEXUS => {
                    let state = codec::read::<NexusState>(&item.value).ok()?;
                    let op = Nexus { state, deadline: None, calling: false, canceling: false };
                    run.nexus.insert(item.id.parse().ok()?, op);
                }
                kind::CALLBACK => {
                    let state = codec::read::<CallbackState>(&item.value).ok()?;
                    run.callbacks.insert(item.id.parse().ok()?, Callback { state, deadline: None, calling: false });
                }
                kind::ATTACHED => {
                    let request = codec::read::<AttachedRequest>(&item.value).ok()?;
                    run.attached.insert(item.id.clone(), request.event_id);
                }
                kind::CHILD => {
                    run.children.insert(item.id.parse().ok()?, codec::read::<ChildState>(&item.value).ok()?);
                }
                kind::ORDER => {
                    let message = codec::read::<Outgoing>(&item.value).ok()?;
                    run.orders.insert(item.id.parse().ok()?, Order { message, stored: true, tried: false });
                }
                // Written by a newer version of the engine.
                _ => return None,
            }
        }
        for (id, attrs) in big {
            run.activities.get_mut(&id)?.attrs = attrs;
        }
        buffered.sort_by_key(|b| b.seq);
        run.buffer = buffered.into();
        run.activity_ids = run.activities.iter().map(|(id, a)| (a.attrs.activity_id.clone(), *id)).collect();
        run.stored_open = Some(run.open());
        run.stored_wake = (row.wake_at_ms > 0.0).then(|| from_ms(row.wake_at_ms));
        Some(run)
    }
}
