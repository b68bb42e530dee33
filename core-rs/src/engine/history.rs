//! Writing a run's history: ids, batches, the tail that sticky tasks get, and the buffer for events that arrive while a workflow
//! task is in a worker's hands.
//!
//! Invariants (core-spec 2.11): ids are contiguous; a batch ends at WorkflowTaskStarted; buffered events follow the command events
//! of their task, in the order of arrival, before the next WorkflowTaskScheduled. (A server moves activity results behind other
//! buffered events for the sake of one of its databases; here the true order is kept.)
use crate::boundary::HistoryBatch;

use super::event::{Attrs, Event};
use super::state::{Recent, Run, kind};
use super::workflow_task;

/// A tail bigger than this is read from the store instead.
const MAX_RECENT: usize = 256 * 1024;

impl Run {
    /// Writes an event now and answers its id.
    pub fn append(&mut self, event: Event) -> i64 {
        self.write(&event)
    }

    pub fn write(&mut self, event: &Event) -> i64 {
        let id = self.head.next_event_id;
        if !self.batch_open {
            self.batches.push(HistoryBatch { first_event_id: id as u32, ..Default::default() });
            self.batch_open = true;
        }
        if let Some(batch) = self.batches.last_mut() {
            let n = event.append_to(id, &mut batch.events);
            batch.last_event_id = id as u32;
            self.head.history_bytes += n as i64;
            if let Some(recent) = &mut self.recent {
                if recent.bytes.len() + n > MAX_RECENT {
                    self.recent = None;
                } else {
                    recent.bytes.extend_from_slice(&batch.events[batch.events.len() - n..]);
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

    /// An event from outside: buffered while a workflow task is started, written at once otherwise. Answers its id, 0 if buffered.
    pub fn add(&mut self, event: Event) -> i64 {
        workflow_task::make_normal(self);
        if self.task_started() { self.buffer_event(event) } else { self.append(event) }
    }

    pub fn buffer_event(&mut self, event: Event) -> i64 {
        self.head.buffer_seq += 1;
        self.head.last_time_us = self.head.last_time_us.max(event.time);
        let seq = self.head.buffer_seq;
        self.mark(kind::BUFFERED, buffer_id(seq));
        self.buffer.push_back((seq, event));
        0
    }

    /// Writes the buffered events; true if there were any. ActivityTaskStarted and what ended the attempt are linked here.
    pub fn flush_buffer(&mut self) -> bool {
        let any = !self.buffer.is_empty();
        let mut started: Vec<(i64, i64)> = Vec::new();
        while let Some((seq, mut event)) = self.buffer.pop_front() {
            self.mark(kind::BUFFERED, buffer_id(seq));
            let link = |scheduled: i64, id: &mut i64| {
                if let Some((_, s)) = started.iter().rev().find(|(s, _)| *s == scheduled) {
                    *id = *s;
                }
            };
            match &mut event.attrs {
                Attrs::ActivityTaskCompleted(a) => link(a.scheduled_event_id, &mut a.started_event_id),
                Attrs::ActivityTaskFailed(a) => link(a.scheduled_event_id, &mut a.started_event_id),
                Attrs::ActivityTaskTimedOut(a) => link(a.scheduled_event_id, &mut a.started_event_id),
                Attrs::ActivityTaskCanceled(a) => link(a.scheduled_event_id, &mut a.started_event_id),
                _ => {}
            }
            let scheduled = if let Attrs::ActivityTaskStarted(a) = &event.attrs { Some(a.scheduled_event_id) } else { None };
            let id = self.append(event);
            if let Some(scheduled) = scheduled {
                started.push((scheduled, id));
            }
        }
        any
    }

    /// Takes the TimerFired of this timer out of the buffer (it is cancelled by the very task that did not see it fire).
    pub fn unfire(&mut self, timer_id: &str) -> Option<i64> {
        let at = self.buffered_fire(timer_id)?;
        let (seq, event) = self.buffer.remove(at)?;
        self.mark(kind::BUFFERED, buffer_id(seq));
        match event.attrs {
            Attrs::TimerFired(a) => Some(a.started_event_id),
            _ => None,
        }
    }

    pub fn buffered_fire(&self, timer_id: &str) -> Option<usize> {
        self.buffer.iter().position(|(_, e)| matches!(&e.attrs, Attrs::TimerFired(a) if a.timer_id == timer_id))
    }

    /// The end of this activity is buffered: the workflow may still ask to cancel it.
    pub fn buffered_activity_end(&self, scheduled_id: i64) -> bool {
        self.buffer.iter().any(|(_, e)| match &e.attrs {
            Attrs::ActivityTaskCompleted(a) => a.scheduled_event_id == scheduled_id,
            Attrs::ActivityTaskFailed(a) => a.scheduled_event_id == scheduled_id,
            Attrs::ActivityTaskTimedOut(a) => a.scheduled_event_id == scheduled_id,
            Attrs::ActivityTaskCanceled(a) => a.scheduled_event_id == scheduled_id,
            _ => false,
        })
    }
}

/// Zero-padded, so that the order of keys is the order of arrival.
pub fn buffer_id(seq: i64) -> String {
    format!("{seq:012}")
}
