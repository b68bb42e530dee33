//! The state of one run. `Head` is its bounded part, written whole with each commit that touches
//! the run; activities, timers, updates, request ids and buffered events are separate items,
//! written only when they change.
use std::collections::VecDeque;

use super::order::Order;
use super::pending::*;
use super::query::Query;
use super::update::Update;
use crate::api::enums::v1::{TaskQueueKind, WorkflowExecutionStatus};
use crate::boundary::HistoryBatch;
use crate::engine::event::Buffered;
use crate::engine::limits;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::versioning::Versioning;
use crate::engine::queues::QueueKey;
use crate::engine::time::Micros;
use crate::sorted::{SortedMap, SortedSet};

message! {
    /// Everything of a run that does not grow. Times and lengths in microseconds, 0 for "none".
    Head: engine::Head {
        workflow_id str, run_id str, workflow_type str, task_queue str, status i32, start_us i64, close_us i64,
        next_event_id i64, history_bytes i64, execution_timeout_us i64, run_timeout_us i64, task_timeout_us i64,
        execution_deadline_us i64, run_deadline_us i64, first_run_id str, original_run_id str, continued_run_id str,
        next_run_id str, attempt i32, memo fields, search_attributes fields, create_request_id str, sticky_queue str,
        sticky_timeout_us i64, last_completed_started_id i64, task_attempt i32, task msg(TaskState), cancel_requested bool,
        cancel_request_id str, first_task_at_us i64, last_time_us i64, buffer_seq i64, inbox_signals u32,
        retry_policy msg(RetryPolicy), execution_time_us i64, worker_version msg(WorkerVersionStamp), user_metadata meta,
        transitions i64, close_event_id i64, priority raw(PRIORITY), first_start_us i64, sticky_life u64,
        parent msg(WorkflowExecution), parent_initiated_id i64, root msg(WorkflowExecution), order_seq i64,
        task_lost i32, reset_run_id str, base_run_ids strs, reset_points reps(ResetPoint), versioning msg(Versioning),
        worker_deployment_name str,
    }
    /// A task that a reset can go back to: the first one that a build completed. `run_id` is empty for the run itself.
    ResetPoint: engine::ResetPoint { binary_checksum str, build_id str, run_id str, completed_id i64, time_us i64, }
    /// A request that was attached to the run, by the id of its event; 0: it is buffered.
    AttachedRequest: engine::AttachedRequest { event_id i64, }
    /// The pending workflow task. A transient or speculative one has its events outside history.
    TaskState: engine::TaskState {
        scheduled_id i64, started_id i64, attempt i32, scheduled_us i64, original_scheduled_us i64, started_us i64,
        start_to_close_us i64, sticky bool, request_id str, nonce u64, life u64, identity str, suggest_continue_as_new bool,
        suggest_reasons u32s, history_bytes i64, worker_version msg(WorkerVersionStamp), in_history bool, speculative bool,
        inbox_delivered u32,
    }
}

/// Kinds of store items. Numbers are stored: never reuse one.
pub mod kind {
    pub const ACTIVITY: u32 = 1;
    /// The scheduled attributes of an activity whose input is too big to be written with every heartbeat.
    pub const ACTIVITY_INPUT: u32 = 2;
    pub const TIMER: u32 = 3;
    pub const BUFFERED: u32 = 4;
    pub const REQUEST: u32 = 5;
    pub const UPDATE: u32 = 6;
    /// The started attributes, kept while a retry policy or a cron schedule may need them for the next run.
    pub const STARTED: u32 = 7;
    pub const CHILD: u32 = 8;
    /// What this run has ordered of another one and could not be carried out in its batch.
    pub const ORDER: u32 = 9;
    pub const NEXUS: u32 = 20;
    /// What is called when the run has closed.
    pub const CALLBACK: u32 = 21;
    /// A request that was attached to the run while it was open.
    pub const ATTACHED: u32 = 22;
}

/// What a run waits for, in the order in which things due at the same moment happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deadline {
    /// A timer, by the id of its TimerStarted event.
    Timer(i64),
    /// The next deadline of an activity (retry or timeout), by the id of its ActivityTaskScheduled event.
    Activity(i64),
    /// Backoff before the first workflow task.
    FirstTask,
    /// Schedule-to-start (sticky) or start-to-close timeout of the workflow task.
    Task,
    /// Run or execution timeout.
    Run,
    /// A query waits on a sticky queue.
    Query(u64),
    /// Orders that could not be carried out are tried again.
    Orders,
    /// The next deadline of a Nexus operation (retry or timeout), by the id of its NexusOperationScheduled event.
    Nexus(i64),
    /// The next attempt of a callback, by its number.
    Callback(i64),
}

/// Events since the last WorkflowTaskStarted, encoded, for the next sticky task.
pub struct Recent {
    pub first_id: i64,
    pub bytes: Vec<u8>,
}

/// A long poll of history that waits for events after `after_id` (or for the close).
pub struct HistoryWait {
    pub request_id: u32,
    pub after_id: i64,
    pub close_only: bool,
    pub page_size: i64,
}

/// One run in memory.
pub struct Run {
    pub head: Head,
    pub activities: SortedMap<i64, Activity>,
    pub activity_ids: SortedMap<String, i64>,
    pub timers: SortedMap<String, TimerState>,
    /// Timer id by TimerStarted event id.
    pub timer_ids: SortedMap<i64, String>,
    pub buffer: VecDeque<Buffered>,
    /// By the id of their Initiated event.
    pub children: SortedMap<i64, ChildState>,
    pub orders: SortedMap<i64, Order>,
    /// By the id of their NexusOperationScheduled event.
    pub nexus: SortedMap<i64, Nexus>,
    /// By number.
    pub callbacks: SortedMap<i64, Callback>,
    /// Operations whose next call is due when the step ends.
    pub to_call: Vec<i64>,
    pub order_attempts: u32,
    pub orders_deadline: Option<Micros>,
    pub request_ids: SortedSet<String>,
    /// Requests that were attached to the run, by id: the id of their event, 0 while that is buffered. A closed run keeps them.
    pub attached: SortedMap<String, i64>,
    pub updates: SortedMap<String, Update>,
    /// Order of admission.
    pub update_seq: u64,
    /// encoded StartedAttrs, kept only with a retry policy or a cron schedule
    pub started_attrs: Option<Vec<u8>>,

    pub queries: SortedMap<u64, Query>,
    pub history_waits: Vec<HistoryWait>,
    pub deadlines: SortedSet<(Micros, Deadline)>,
    /// Deadline of the workflow task and of the run as they stand in `deadlines`.
    pub task_deadline: Option<Micros>,
    pub run_deadline: Option<Micros>,
    pub first_task_deadline: Option<Micros>,
    /// As registered with the engine.
    pub wake: Option<Micros>,
    /// As written into the row.
    pub stored_wake: Option<Micros>,
    pub task_queued: Option<QueueKey>,
    pub recent: Option<Recent>,

    /// Something happened that the workflow must see.
    pub want_task: bool,
    /// State that must be written; `Some` entries of `dirty_items` are (kind, id).
    pub dirty: bool,
    pub dirty_items: SortedSet<(u32, String)>,
    pub batches: Vec<HistoryBatch>,
    pub batch_open: bool,
    pub listed: bool,
    pub create: bool,
    /// Whether the store counts it as open; None: the store does not have it.
    pub stored_open: Option<bool>,
    pub slot: u32,
    /// Activities to put into their queues when the step ends.
    pub to_queue: Vec<i64>,
    /// Activities that the response to the completion is to carry.
    pub eager_activities: Vec<i64>,
    /// The first workflow task as the response to the start carried it, while its worker has it; a repeated start gets it again.
    pub eager_task: Option<Vec<u8>>,
    /// Part of the batch that the host is committing.
    pub in_flight: bool,
    pub touched: bool,
}

impl Run {
    pub fn new(head: Head) -> Run {
        Run {
            head,
            activities: SortedMap::new(),
            activity_ids: SortedMap::new(),
            timers: SortedMap::new(),
            timer_ids: SortedMap::new(),
            buffer: VecDeque::new(),
            children: SortedMap::new(),
            orders: SortedMap::new(),
            nexus: SortedMap::new(),
            callbacks: SortedMap::new(),
            to_call: Vec::new(),
            order_attempts: 0,
            orders_deadline: None,
            request_ids: SortedSet::new(),
            attached: SortedMap::new(),
            updates: SortedMap::new(),
            update_seq: 0,
            started_attrs: None,
            queries: SortedMap::new(),
            history_waits: Vec::new(),
            deadlines: SortedSet::new(),
            task_deadline: None,
            run_deadline: None,
            first_task_deadline: None,
            wake: None,
            stored_wake: None,
            task_queued: None,
            recent: None,
            want_task: false,
            dirty: false,
            dirty_items: SortedSet::new(),
            batches: Vec::new(),
            batch_open: false,
            listed: false,
            create: false,
            stored_open: None,
            slot: 0,
            to_queue: Vec::new(),
            eager_activities: Vec::new(),
            eager_task: None,
            in_flight: false,
            touched: true,
        }
    }

    pub fn open(&self) -> bool {
        self.head.status == WorkflowExecutionStatus::Running as i32
    }

    pub fn last_event_id(&self) -> i64 {
        self.head.next_event_id - 1
    }

    /// A workflow task is in a worker's hands.
    pub fn task_started(&self) -> bool {
        self.head.task.as_ref().is_some_and(|t| t.started_id != 0)
    }

    /// Time of what happens to this run now: never before anything that happened to it already.
    pub fn time(&self, now: Micros) -> Micros {
        self.head.last_time_us.max(now)
    }

    pub fn mark(&mut self, kind: u32, id: impl Into<String>) {
        self.dirty = true;
        self.dirty_items.insert((kind, id.into()));
    }

    pub fn sticky(&self) -> bool {
        !self.head.sticky_queue.is_empty()
    }

    /// Nothing of this run exists in memory only.
    pub fn idle(&self) -> bool {
        !self.dirty
            && !self.in_flight
            && !self.listed
            && self.queries.is_empty()
            && self.orders.is_empty()
            && self.history_waits.is_empty()
            && self.task_queued.is_none()
            && !self.head.task.as_ref().is_some_and(|t| t.speculative)
            && self.activities.values().all(|a| a.queued.is_none())
            && self.nexus.values().all(|n| !n.calling && !n.canceling)
            && self.callbacks.values().all(|c| !c.calling)
            && self.updates.values().all(Update::at_rest)
    }

    /// Moves a deadline in the run's list.
    pub fn set_deadline(&mut self, what: Deadline, old: Option<Micros>, new: Option<Micros>) {
        if old == new {
            return;
        }
        if let Some(t) = old {
            self.deadlines.remove(&(t, what));
        }
        if let Some(t) = new {
            self.deadlines.insert((t, what));
        }
    }

    pub fn set_task_deadline(&mut self, new: Option<Micros>) {
        self.set_deadline(Deadline::Task, self.task_deadline, new);
        self.task_deadline = new;
    }

    pub fn set_run_deadline(&mut self, new: Option<Micros>) {
        self.set_deadline(Deadline::Run, self.run_deadline, new);
        self.run_deadline = new;
    }

    pub fn set_first_task_deadline(&mut self, new: Option<Micros>) {
        self.set_deadline(Deadline::FirstTask, self.first_task_deadline, new);
        self.first_task_deadline = new;
    }

    /// The queue that the next task goes to, as events show it.
    pub fn current_queue(&self) -> TaskQueue {
        if self.sticky() {
            TaskQueue {
                name: self.head.sticky_queue.clone(),
                kind: TaskQueueKind::Sticky as i32,
                normal_name: self.head.task_queue.clone(),
            }
        } else {
            normal_queue(&self.head.task_queue)
        }
    }

    /// The next workflow task is a first attempt.
    pub fn reset_attempts(&mut self) {
        self.head.task_attempt = 1;
        self.head.task_lost = 0;
    }

    /// Attempts of the workflow task, without those that were lost with their process.
    pub fn counted_attempts(&self) -> i32 {
        (self.head.task_attempt - self.head.task_lost).max(1)
    }

    /// The workflow task has failed so often that nothing new is asked of the run.
    pub fn is_failing(&self) -> bool {
        self.counted_attempts() >= limits::FAILING_TASK_ATTEMPTS
    }

    pub fn clear_sticky(&mut self) {
        if self.sticky() {
            self.head.sticky_queue.clear();
            self.head.sticky_timeout_us = 0;
            self.head.sticky_life = 0;
            self.dirty = true;
        }
    }

    /// Takes a child out of the pending ones.
    pub fn remove_child(&mut self, initiated_id: i64) -> Option<ChildState> {
        let child = self.children.remove(&initiated_id)?;
        self.mark(kind::CHILD, initiated_id.to_string());
        Some(child)
    }

    /// The id of a child's Started event; 0 while that event is buffered.
    pub fn child_started_as(&mut self, initiated_id: i64, event_id: i64) {
        if let Some(child) = self.children.get_mut(&initiated_id) {
            child.started_id = event_id;
            self.mark(kind::CHILD, initiated_id.to_string());
        }
    }

    /// Remembers an attached request, by the id of its event; 0: it is buffered.
    pub fn attached_as(&mut self, request_id: String, event_id: i64) {
        self.mark(kind::ATTACHED, request_id.clone());
        self.attached.insert(request_id, event_id);
    }

    /// Whether the run is a child of this very run, or of one whose events the run copied in a reset (`bases`).
    pub fn is_child_of(&self, parent: &WorkflowExecution, bases: &[String]) -> bool {
        self.head
            .parent
            .as_ref()
            .is_some_and(|p| p.workflow_id == parent.workflow_id && (p.run_id == parent.run_id || bases.contains(&p.run_id)))
    }

    /// Drops the order that a command of this run has given, because its result is in history.
    pub fn drop_order_of(&mut self, initiated_id: i64) {
        let found = self.orders.iter().find(|(_, o)| o.message.initiated_id == initiated_id).map(|(seq, _)| *seq);
        if let Some(seq) = found {
            self.take_order(seq);
        }
    }

    /// Of messages to other runs.
    pub fn sender(&self) -> (WorkflowExecution, Vec<String>) {
        (self.execution(), self.head.base_run_ids.clone())
    }

    pub fn execution(&self) -> WorkflowExecution {
        WorkflowExecution { workflow_id: self.head.workflow_id.clone(), run_id: self.head.run_id.clone() }
    }

    /// The first of the runs that this one descends from, by chains and by parents.
    pub fn root(&self) -> WorkflowExecution {
        let own = || WorkflowExecution { workflow_id: self.head.workflow_id.clone(), run_id: self.head.first_run_id.clone() };
        self.head.root.clone().unwrap_or_else(own)
    }
}
