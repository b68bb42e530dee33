//! The runs in memory: found by run id or by workflow id (the latest run), loaded when needed, dropped when idle.
use std::collections::{BTreeSet, HashMap, VecDeque};

use super::state::request::Again;
use super::state::run::Run;
use super::time::Micros;
use crate::boundary::LoadRequest;
use crate::sorted::{SortedMap, SortedSet};

#[derive(Default)]
pub struct Runs {
    slots: Vec<Option<Box<Run>>>,
    free: Vec<u32>,
    pub by_id: HashMap<String, u32>,
    /// Run id of the latest run per workflow id, as far as it is known.
    pub latest: HashMap<String, String>,
    /// Known not to exist, while parked requests are handled.
    pub absent: SortedSet<(String, String)>,
    pub parked: SortedMap<(String, String), VecDeque<Again>>,
    /// Runs whose orders wait for a run to be loaded.
    pub ordered: SortedMap<(String, String), Vec<u32>>,
    pub loads: Vec<LoadRequest>,
    /// Stored histories for requests that need them, by request id: run id and encoded History.
    pub histories: HashMap<u32, Vec<(String, Vec<u8>)>>,
    /// (deadline, slot) of every run that waits for a moment.
    wakes: BTreeSet<(Micros, u32)>,
    pub dirty: Vec<u32>,
    /// Second-chance order for eviction.
    pub clock: VecDeque<u32>,
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

    /// The moment at which the run needs the engine follows a step.
    pub fn set_wake(&mut self, slot: u32) {
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

    /// Asks the host for a run, once per batch.
    pub fn want_load(&mut self, workflow_id: &str, run_id: &str) {
        let load = LoadRequest { workflow_id: workflow_id.into(), run_id: run_id.into(), ..Default::default() };
        if !self.loads.contains(&load) {
            self.loads.push(load);
        }
    }
}
