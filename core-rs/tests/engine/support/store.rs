//! The store's side of the contract, in memory.
use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use temporalex_core::api::history::v1::{History, HistoryEvent};
use temporalex_core::boundary::{HistoryBatch, RunRecord, RunRow, RunWrite, StateItem};

#[derive(Clone, Default)]
pub struct Stored {
    pub row: RunRow,
    pub head: Vec<u8>,
    pub items: BTreeMap<(u32, String), Vec<u8>>,
    pub batches: Vec<HistoryBatch>,
    pub order: u64,
}

impl Stored {
    pub fn events(&self) -> Vec<HistoryEvent> {
        let mut events = Vec::new();
        for b in &self.batches {
            let h = History::decode(b.events.as_slice()).expect("a stored batch decodes");
            assert_eq!(h.events.first().map(|e| e.event_id), Some(i64::from(b.first_event_id)), "first id of a batch");
            assert_eq!(h.events.last().map(|e| e.event_id), Some(i64::from(b.last_event_id)), "last id of a batch");
            events.extend(h.events);
        }
        events
    }
}

/// The store's side of the contract.
#[derive(Clone, Default)]
pub struct Store {
    pub runs: BTreeMap<String, Stored>,
    /// Workflow ids that it fails to read now.
    pub unreadable: BTreeSet<String>,
    order: u64,
}

impl Store {
    pub fn commit(&mut self, writes: Vec<RunWrite>) {
        for w in writes {
            let row = w.row.expect("a write has a row");
            self.order += 1;
            let order = self.order;
            if w.create {
                assert!(!self.runs.contains_key(&row.run_id), "created twice");
                self.runs.insert(row.run_id.clone(), Stored { order, ..Default::default() });
            }
            let s = self.runs.get_mut(&row.run_id).expect("a write to a run that was created");
            for b in w.append {
                let next = s.batches.last().map_or(1, |b| b.last_event_id + 1);
                assert_eq!(b.first_event_id, next, "batches are contiguous");
                assert!(b.last_event_id >= b.first_event_id);
                s.batches.push(b);
            }
            for i in w.put {
                s.items.insert((i.kind, i.id), i.value);
            }
            for i in w.remove {
                assert!(i.value.is_empty());
                s.items.remove(&(i.kind, i.id));
            }
            assert_eq!(row.history_length, s.batches.last().map_or(0, |b| b.last_event_id));
            s.row = row;
            s.head = w.head;
        }
    }

    pub fn record(&self, run_id: &str) -> RunRecord {
        let Some(s) = self.runs.get(run_id) else { return RunRecord::default() };
        RunRecord {
            found: true,
            row: Some(s.row.clone()),
            head: s.head.clone(),
            items: s
                .items
                .iter()
                .map(|((kind, id), value)| StateItem { kind: *kind, id: id.clone(), value: value.clone() })
                .collect(),
            ..Default::default()
        }
    }

    pub fn load(&self, workflow_id: &str, run_id: &str) -> RunRecord {
        if self.unreadable.contains(workflow_id) {
            let (asked_workflow_id, asked_run_id) = (workflow_id.into(), run_id.into());
            return RunRecord { asked_workflow_id, asked_run_id, unavailable: "disk".into(), ..Default::default() };
        }
        let id = if run_id.is_empty() {
            let of_id = self.runs.iter().filter(|(_, s)| s.row.workflow_id == workflow_id);
            of_id.max_by_key(|(_, s)| s.order).map(|(id, _)| id.clone()).unwrap_or_default()
        } else {
            run_id.to_string()
        };
        RunRecord { asked_workflow_id: workflow_id.into(), asked_run_id: run_id.into(), ..self.record(&id) }
    }

    pub fn range(&self, run_id: &str, from: i64, to: i64) -> Vec<HistoryEvent> {
        let events = self.runs.get(run_id).map(Stored::events).unwrap_or_default();
        events.into_iter().filter(|e| e.event_id >= from && e.event_id <= to).collect()
    }

    /// All events of a run, encoded.
    pub fn history(&self, run_id: &str) -> Vec<u8> {
        self.runs.get(run_id).map(|s| s.batches.iter().flat_map(|b| b.events.clone()).collect()).unwrap_or_default()
    }

    /// Open rows whose moment has come.
    pub fn due(&self, now_ms: f64) -> Vec<String> {
        let due =
            self.runs.iter().filter(|(_, s)| s.row.close_time_ms == 0.0 && s.row.wake_at_ms > 0.0 && s.row.wake_at_ms <= now_ms);
        due.map(|(id, _)| id.clone()).collect()
    }

    pub fn ready(&self) -> Vec<String> {
        self.runs.iter().filter(|(_, s)| s.row.ready).map(|(id, _)| id.clone()).collect()
    }

    pub fn next_wake(&self) -> Option<f64> {
        let wakes = self.runs.values().filter(|s| s.row.close_time_ms == 0.0 && s.row.wake_at_ms > 0.0).map(|s| s.row.wake_at_ms);
        wakes.min_by(f64::total_cmp)
    }
}
