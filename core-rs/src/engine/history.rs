//! Writing a run's history: ids, batches, and the tail that sticky tasks get.
//!
//! Invariants (docs/dev/semantics/engine.md#what-holds-of-every-history): ids are contiguous; a batch ends at WorkflowTaskStarted.
use super::event::Event;
use super::messages::events::Attributes;
use super::state::run::{Recent, Run};
use super::time::Micros;
use crate::boundary::HistoryBatch;

/// A tail bigger than this is read from the store instead.
const MAX_RECENT: usize = 256 * 1024;

impl Run {
    /// Writes an event now and returns its id.
    pub fn append<A: Attributes>(&mut self, time: Micros, attrs: &A) -> i64 {
        self.write(Event::new(time, attrs))
    }

    pub fn write(&mut self, event: Event) -> i64 {
        let id = self.head.next_event_id;
        if !self.batch_open {
            self.batches.push(HistoryBatch { first_event_id: id as u32, ..Default::default() });
            self.batch_open = true;
        }
        if let Some(batch) = self.batches.last_mut() {
            let bytes = event.to_bytes(id);
            let n = bytes.len();
            batch.events.extend_from_slice(&bytes);
            batch.last_event_id = id as u32;
            self.head.history_bytes += n as i64;
            if let Some(recent) = &mut self.recent {
                if recent.bytes.len() + n > MAX_RECENT {
                    self.recent = None;
                } else {
                    recent.bytes.extend_from_slice(&bytes);
                }
            }
        }
        self.head.next_event_id += 1;
        self.head.last_time_us = self.head.last_time_us.max(event.time);
        self.dirty = true;
        id
    }

    /// Ends the current batch.
    pub fn cut_batch(&mut self) {
        self.batch_open = false;
    }

    /// After WorkflowTaskStarted was written: what the task delivers if it is partial, and a fresh tail.
    pub fn take_recent(&mut self) -> Option<Recent> {
        self.recent.replace(Recent { first_id: self.head.next_event_id, bytes: Vec::new() })
    }
}
