//! Task queues: tasks that wait for a worker (`backlog.rs` orders them) and polls that wait for a task, first in, first out. They are in memory only;
//! loading a run puts its waiting tasks back. Pairing happens when a batch closes (`dispatch.rs`), so a poll that was cancelled
//! before never takes a task with it.
use crate::sorted::SortedMap;
use std::collections::HashMap;

pub use super::backlog::Task;
use super::backlog::{Backlog, Place, Rank, Stats};
use super::messages::common::WorkerVersionStamp;
use super::messages::versioning::Version;
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
}

/// A sticky queue that was not polled for so long has lost its worker (the server's figure).
const STICKY_IDLE: Micros = 10 * SECOND;

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

    pub fn take_pair(&mut self, side: Side, name: &str, now: Micros) -> Option<((u32, Task), u64, Poll)> {
        let queue = self.side(side).get_mut(name)?;
        if queue.tasks.is_empty() {
            return None;
        }
        let (seq, poll) = queue.polls.pop_first()?;
        queue.last_poll = now;
        let task = queue.tasks.pop(now)?;
        self.waiting -= 1;
        Some((task, seq, poll))
    }

    /// The task was stale: the poll keeps its place.
    pub fn give_back(&mut self, side: Side, name: &str, seq: u64, poll: Poll) {
        self.queue(side, name).polls.insert(seq, poll);
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
    }
}
