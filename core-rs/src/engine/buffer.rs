//! Events that arrive while a workflow task is in a worker's hands.
//!
//! Invariant (docs/dev/semantics/engine.md#what-holds-of-every-history): buffered events follow the command events of their task, in
//! the order of arrival, before the next WorkflowTaskScheduled. (A server moves activity results
//! after other buffered events for the sake of one of its databases; here the true order is kept.)
use super::codec::Slot;
use super::event::{About, Buffered, Event, Extras, sequence_key};
use super::messages::events::Attributes;
use super::state::run::{Run, kind};
use super::task_events::make_normal;
use super::time::Micros;

impl Run {
    /// An event from outside: buffered while a workflow task is started, written at once otherwise. Returns its id, 0 if buffered.
    pub fn add<A: Attributes + 'static>(&mut self, time: Micros, attrs: A, about: About) -> i64 {
        make_normal(self);
        if self.task_started() {
            self.buffer_event(time, attrs, about);
            return 0;
        }
        self.append(time, &attrs)
    }

    /// As `add`, with links of the event.
    pub fn add_linked<A: Attributes + 'static>(&mut self, time: Micros, attrs: A, about: About, links: Vec<Vec<u8>>) -> i64 {
        let extras = Extras { links, ..Extras::default() };
        make_normal(self);
        if !self.task_started() {
            return self.write(Event::new(time, &attrs).with(&extras));
        }
        self.buffer_event(time, attrs, about);
        if let Some(last) = self.buffer.back_mut() {
            last.extras = extras;
        }
        0
    }

    pub fn buffer_event<A: Attributes + 'static>(&mut self, time: Micros, attrs: A, about: About) {
        self.head.buffer_seq += 1;
        let seq = self.head.buffer_seq;
        self.head.last_time_us = self.head.last_time_us.max(time);
        self.mark(kind::BUFFERED, sequence_key(seq));
        self.buffer.push_back(Buffered::new(seq, time, attrs, about));
    }

    /// Writes the buffered events; true if there were any. ActivityTaskStarted and what ended the attempt are linked here, and so are the
    /// start and the end of a child.
    pub fn flush_buffer(&mut self) -> bool {
        let any = !self.buffer.is_empty();
        let mut started: Vec<(i64, i64)> = Vec::new();
        while let Some(mut b) = self.buffer.pop_front() {
            self.mark(kind::BUFFERED, sequence_key(b.seq));
            if let About::ActivityEnded(scheduled, field) | About::ChildEnded(scheduled, field) = b.about
                && let Some((_, id)) = started.iter().rev().find(|(s, _)| *s == scheduled)
                && let Some(Slot::I64(started_event_id)) = b.attrs.slot(field)
            {
                *started_event_id = *id;
            }
            let id = self.write(b.event());
            match b.about {
                About::Attached(request_id) => self.attached_as(request_id, id),
                About::ActivityStarted(scheduled) => started.push((scheduled, id)),
                About::ChildStarted(initiated) => {
                    started.push((initiated, id));
                    self.child_started_as(initiated, id);
                }
                _ => {}
            }
        }
        any
    }

    /// Takes the TimerFired of this timer out of the buffer (it is cancelled by the very task that did not see it fire); returns
    /// the id of its TimerStarted.
    pub fn unfire(&mut self, timer_id: &str) -> Option<i64> {
        let at = self.buffered_fire(timer_id)?;
        let b = self.buffer.remove(at)?;
        self.mark(kind::BUFFERED, sequence_key(b.seq));
        match b.about {
            About::Timer(_, started) => Some(started),
            _ => None,
        }
    }

    pub fn buffered_fire(&self, timer_id: &str) -> Option<usize> {
        self.buffer.iter().position(|b| matches!(&b.about, About::Timer(id, _) if id == timer_id))
    }

    /// The end of this activity is buffered: the workflow may still ask to cancel it.
    pub fn buffered_activity_end(&self, scheduled_id: i64) -> bool {
        self.buffer.iter().any(|b| matches!(b.about, About::ActivityEnded(id, _) if id == scheduled_id))
    }

    /// The same of a Nexus operation.
    pub fn buffered_nexus_end(&self, scheduled_id: i64) -> bool {
        self.buffer.iter().any(|b| b.about == About::NexusEnded(scheduled_id))
    }
}
