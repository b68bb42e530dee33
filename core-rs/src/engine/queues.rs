//! Task queues: tasks that wait for a worker (`backlog.rs` orders them) and polls that wait for a task, first in, first out. They are in memory only;
//! loading a run puts its waiting tasks back. Pairing happens when a batch closes (`dispatch.rs`), so a poll that was cancelled
//! before never takes a task with it.
use crate::sorted::SortedMap;
use std::collections::HashMap;

use super::backlog::{Backlog, Place, Rank, Stats};
pub use super::backlog::{Taken, Task};
use super::messages::common::WorkerVersionStamp;
use super::messages::versioning::Version;
use super::throttle::{QueueConfig, Throttle};
use super::time::{Micros, SECOND};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Workflow,
    Activity,
}

/// A place in a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueKey {
    pub side: Side,
    pub queue: String,
    place: Place,
}

pub struct Poll {
    pub request_id: u32,
    pub identity: String,
    pub worker_version: Option<WorkerVersionStamp>,
    /// Of a versioned worker.
    pub version: Option<Version>,
    pub sticky: bool,
}

/// A task that waits for a poll.
pub struct Entry {
    pub rank: Rank,
    pub ready: Micros,
    /// The slot of its run.
    pub slot: u32,
    pub task: Task,
}

#[derive(Default)]
struct Queue {
    tasks: Backlog,
    polls: SortedMap<u64, Poll>,
    /// When the last poll left; a sticky queue without polls is abandoned.
    last_poll: Micros,
    polled: bool,
}

#[derive(Default)]
pub struct Queues {
    workflow: HashMap<String, Queue>,
    activity: HashMap<String, Queue>,
    seq: u64,
    /// Tasks in all queues.
    waiting: usize,
    /// Queues that may have both a task and a poll.
    matched: Vec<(Side, String)>,
    /// Limits and weights of workflow tasks (0) and activity tasks (1), by the name of the queue.
    throttles: SortedMap<(u8, String), Throttle>,
    /// Activity queues with a task and a poll whose limit is reached: when the next task may leave.
    delayed: SortedMap<String, Micros>,
}

/// A sticky queue that was not polled for so long has lost its worker (the server's figure).
const STICKY_IDLE: Micros = 10 * SECOND;

/// The task queue: that of the tasks for a version of workers has the same limits.
fn base(name: &str) -> &str {
    name.split('\0').next().unwrap_or(name)
}

impl Queues {
    fn side(&mut self, side: Side) -> &mut HashMap<String, Queue> {
        match side {
            Side::Workflow => &mut self.workflow,
            Side::Activity => &mut self.activity,
        }
    }

    fn queue(&mut self, side: Side, name: &str) -> &mut Queue {
        let map = self.side(side);
        if !map.contains_key(name) {
            map.insert(name.into(), Queue::default());
        }
        map.entry(name.into()).or_default()
    }

    /// Adds a task; of tasks with the same rank those come first that became ready earlier.
    pub fn push(&mut self, side: Side, name: &str, entry: Entry, now: Micros) -> QueueKey {
        let Entry { rank, ready, slot, task } = entry;
        self.seq += 1;
        let order = (ready, self.seq);
        let queue = self.queue(side, name);
        let place = queue.tasks.insert(rank, order, slot, task, now);
        let polled = !queue.polls.is_empty();
        self.waiting += 1;
        if polled {
            self.matched.push((side, name.into()));
        }
        QueueKey { side, queue: name.into(), place }
    }

    pub fn remove(&mut self, key: &QueueKey) {
        if let Some(queue) = self.side(key.side).get_mut(&key.queue) {
            let removed = queue.tasks.remove(&key.place);
            self.waiting -= usize::from(removed);
            self.tidy(key.side, &key.queue);
        }
    }

    /// Adds a poll and returns its place.
    pub fn poll(&mut self, side: Side, name: &str, poll: Poll, now: Micros) -> u64 {
        self.seq += 1;
        let seq = self.seq;
        let queue = self.queue(side, name);
        queue.polls.insert(seq, poll);
        queue.last_poll = now;
        queue.polled = true;
        if !queue.tasks.is_empty() {
            self.matched.push((side, name.into()));
        }
        seq
    }

    pub fn cancel_poll(&mut self, side: Side, name: &str, seq: u64, now: Micros) {
        if let Some(queue) = self.side(side).get_mut(name) {
            queue.polls.remove(&seq);
            queue.last_poll = queue.last_poll.max(now);
        }
        self.tidy(side, name);
    }

    /// Removes and returns one queue that may have both tasks and polls.
    pub fn next_matched(&mut self) -> Option<(Side, String)> {
        self.matched.pop()
    }

    pub fn take_pair(&mut self, side: Side, name: &str, now: Micros) -> Option<(Taken, u64, Poll)> {
        self.delayed.remove(name);
        let queue = match side {
            Side::Workflow => self.workflow.get_mut(name)?,
            Side::Activity => self.activity.get_mut(name)?,
        };
        if queue.tasks.is_empty() || queue.polls.is_empty() {
            return None;
        }
        let mut throttle =
            if self.throttles.is_empty() { None } else { self.throttles.get_mut(&(side as u8, base(name).into())) };
        let queue_due = throttle.as_ref().map_or(Some(now), |t| t.due());
        let taken = match queue_due {
            Some(due) if due <= now => queue.tasks.pop(now, throttle.as_deref()),
            due => Err(due),
        };
        let taken = match taken {
            Ok(taken) => taken,
            Err(due) => {
                if let Some(due) = due {
                    self.delayed.insert(name.into(), due);
                }
                return None;
            }
        };
        if let Some(throttle) = &mut throttle {
            throttle.consume(&taken.key, taken.weight, now, 1);
        }
        let (seq, poll) = queue.polls.pop_first()?;
        queue.last_poll = now;
        self.waiting -= 1;
        Some((taken, seq, poll))
    }

    /// The task was stale: the poll keeps its place, and the limits do not count it.
    pub fn give_back(&mut self, side: Side, name: &str, taken: &Taken, (seq, poll): (u64, Poll), now: Micros) {
        if let Some(throttle) = self.throttles.get_mut(&(side as u8, base(name).into())) {
            throttle.consume(&taken.key, taken.weight, now, -1);
        }
        self.queue(side, name).polls.insert(seq, poll);
    }

    /// Replaces the configurations of all queues.
    pub fn configure(&mut self, configs: Vec<(Side, String, QueueConfig)>, now: Micros) {
        let mut configs: SortedMap<_, _> = configs.into_iter().map(|(side, name, c)| ((side as u8, name), c)).collect();
        for (key, throttle) in self.throttles.iter_mut() {
            throttle.configure(configs.remove(key).unwrap_or_default(), now);
        }
        while let Some((key, config)) = configs.pop_first() {
            self.throttles.get_or_insert_with(key, Throttle::default).configure(config, now);
        }
        let limited = |name: &&String| self.throttles.contains_key(&(Side::Activity as u8, base(name).into()));
        self.matched.extend(self.activity.keys().filter(limited).map(|name| (Side::Activity, name.clone())));
    }

    /// The rate that a poll for activities had, in tasks a second; the last poll of a queue counts.
    pub fn limit(&mut self, name: &str, rate: Option<f64>, now: Micros) {
        if rate.is_none() && self.throttles.is_empty() {
            return;
        }
        let key = (Side::Activity as u8, name.into());
        if rate.is_some() || self.throttles.contains_key(&key) {
            self.throttles.get_or_insert_with(key, Throttle::default).polled(rate, now);
        }
    }

    /// Takes one task of a queue that the host gives out. Otherwise returns when it may: None: never.
    pub fn take_token(&mut self, name: &str, key: &str, weight: f32, now: Micros) -> Result<(), Option<Micros>> {
        let Some(throttle) = self.throttles.get_mut(&(Side::Activity as u8, name.into())) else { return Ok(()) };
        let due = throttle.due().zip(throttle.key_due(key)).map(|(queue, key)| queue.max(key));
        if due.is_some_and(|due| due <= now) {
            throttle.consume(key, weight, now, 1);
            return Ok(());
        }
        Err(due)
    }

    /// Tasks whose queue has waited for its limit may leave.
    pub fn wake(&mut self, now: Micros) {
        if self.next_due().is_some_and(|due| due <= now) {
            self.matched
                .extend(self.delayed.iter().filter(|(_, due)| **due <= now).map(|(name, _)| (Side::Activity, name.clone())));
            self.delayed.retain(|_, due| *due > now);
        }
    }

    /// When the first queue may give out a task again.
    pub fn next_due(&self) -> Option<Micros> {
        self.delayed.values().copied().min()
    }

    /// Tasks and queries that wait for a poll.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Of a queue, by priority: with its tasks for all versions of workers. A name with a version has those only.
    pub fn stats(&mut self, side: Side, name: &str, now: Micros) -> Vec<Stats> {
        let parts = self.side(side).iter_mut().filter(|(place, _)| match place.strip_prefix(name) {
            Some(version) => version.is_empty() || version.starts_with('\0'),
            None => false,
        });
        let mut sums: Vec<Stats> = Vec::new();
        for stats in parts.flat_map(|(_, queue)| queue.tasks.stats(now)) {
            match sums.iter_mut().find(|sum| sum.priority == stats.priority) {
                Some(sum) => sum.add(stats),
                None => sums.push(stats),
            }
        }
        sums.sort_by_key(|sum| sum.priority);
        sums
    }

    /// The runs of all tasks that wait.
    pub fn slots(&self) -> Vec<u32> {
        self.workflow.values().chain(self.activity.values()).flat_map(|queue| queue.tasks.slots()).collect()
    }

    pub fn sticky_alive(&self, name: &str, now: Micros) -> bool {
        self.workflow.get(name).is_some_and(|q| !q.polls.is_empty() || q.polled && now - q.last_poll < STICKY_IDLE)
    }

    /// The worker of this sticky queue shuts down: the runs whose tasks wait there, and its open polls.
    pub fn shut(&mut self, name: &str) -> (Vec<u32>, Vec<u32>) {
        let Some(queue) = self.workflow.get_mut(name) else { return Default::default() };
        queue.polled = false;
        queue.last_poll = 0;
        let polls = std::mem::take(&mut queue.polls).into_values().map(|p| p.request_id).collect();
        (queue.tasks.slots().collect(), polls)
    }

    /// Drops queues that hold nothing; sticky names are new with every worker process. One that was polled lately stays known.
    fn tidy(&mut self, side: Side, name: &str) {
        let map = self.side(side);
        if map.get(name).is_some_and(|q| q.tasks.is_empty() && q.polls.is_empty() && !q.polled) {
            map.remove(name);
        }
    }

    /// Forgets queues that were not polled for an hour and hold nothing.
    pub fn sweep(&mut self, now: Micros) {
        let old = now - 3600 * SECOND;
        for map in [&mut self.workflow, &mut self.activity] {
            map.retain(|_, q| !q.tasks.is_empty() || !q.polls.is_empty() || q.last_poll > old);
        }
        let known = &self.activity;
        self.throttles.retain(|(_, name), throttle| throttle.is_configured() || known.keys().any(|known| base(known) == name));
    }
}
