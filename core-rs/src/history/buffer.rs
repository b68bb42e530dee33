//! Owns a run's events until they are applied: joins pages and partial tasks in order, cuts them into sequences, and shows the
//! next sequence before the current one is applied.
//!
//! Every event is moved twice (in, out) and looked at by one forward scan; nothing is cloned and no
//! scan starts over. A sequence is handed out only when the one behind it is bounded too or the
//! history is known to end (docs/dev/semantics/history.md#a-sequence-waits-for-the-next-one):
//! results of a task are recorded behind it, and its activation needs them.
use std::collections::VecDeque;

use crate::api::enums::v1::EventType;
use crate::boundary::JobOrder;
use crate::error::{Result, codes, fatal};
use crate::history::boundary::{BoundaryRule, Scanner, Scope, choose_rule};
use crate::history::event::{Event, event_type, is_command_event, is_terminal_event};

/// The result of [`HistoryBuffer::take_next`].
#[derive(Debug, PartialEq)]
pub enum Next {
    /// The next sequence, in order, never empty.
    Sequence(Vec<Event>),
    /// Push the next page (or, while [`HistoryBuffer::is_missing_prefix`], the pages from event 1).
    NeedMore,
    /// All events that exist were handed out.
    End,
}

/// The events of one run that are known and not yet applied.
#[derive(Debug, Default)]
pub struct HistoryBuffer {
    order: JobOrder,
    rule: Option<BoundaryRule>,
    /// The rule was read from the first completion (or set) and does not change any more.
    rule_is_final: bool,
    /// Cut off, at most two: the sequence to hand out and the one behind it.
    ready: VecDeque<Vec<Event>>,
    /// Not yet part of a bounded sequence.
    open: VecDeque<Event>,
    scanner: Scanner,
    /// Events of a partial task that wait for what lies before them.
    tail: Vec<Event>,
    complete: bool,
    /// Id of the last event in `open`, `ready` or handed out.
    last_known: i64,
    last_taken: i64,
    last_taken_started: i64,
    previous_started: i64,
    started: i64,
    /// The task only asks: what no completed task has seen stays for the task that will bring it.
    query_only: bool,
    update_positions: Vec<i64>,
}

impl HistoryBuffer {
    /// An empty buffer for a native program.
    pub fn new() -> HistoryBuffer {
        HistoryBuffer::default()
    }

    /// An empty buffer; the order of jobs takes part in the choice of the rule.
    pub fn with_job_order(order: JobOrder) -> HistoryBuffer {
        HistoryBuffer { order, ..HistoryBuffer::default() }
    }

    /// Fixes the rule. Without this call it is read from the first successful WorkflowTaskCompleted that is pushed.
    pub fn set_rule(&mut self, rule: BoundaryRule) {
        self.rule = Some(rule);
        self.rule_is_final = true;
    }

    /// The rule in force; `None` while no page has shown it.
    pub fn rule(&self) -> Option<BoundaryRule> {
        self.rule
    }

    /// A workflow task begins, or a replay; call it before its events are pushed. `started` = 0: no WorkflowTaskStarted has to be reached (query-only task).
    pub fn begin_task(&mut self, previous_started: i64, started: i64) {
        self.previous_started = previous_started;
        self.started = started;
        self.query_only = false;
        self.update_positions.clear();
    }

    /// Starts a task that only carries a query. Its fetched history may continue with events of an
    /// open task.
    pub fn begin_query(&mut self, previous_started: i64) {
        self.begin_task(previous_started, 0);
        self.query_only = true;
    }

    /// Sequencing ids of the update requests that came as messages with the task; Core's second rule keeps their place.
    pub fn set_update_positions(&mut self, mut positions: Vec<i64>) {
        positions.sort_unstable();
        self.update_positions = positions;
    }

    /// previous_started_event_id of the current task.
    pub fn previous_started_id(&self) -> i64 {
        self.previous_started
    }

    /// started_event_id of the current task.
    pub fn started_id(&self) -> i64 {
        self.started
    }

    /// Id of the last WorkflowTaskStarted that was handed out; 0: none.
    pub fn last_taken_started_id(&self) -> i64 {
        self.last_taken_started
    }

    /// Id of the last event that was handed out; 0: none.
    pub fn last_taken_id(&self) -> i64 {
        self.last_taken
    }

    /// A partial task came for a run whose beginning is not here: fetch from event 1 and push those pages.
    pub fn is_missing_prefix(&self) -> bool {
        !self.tail.is_empty()
    }

    /// The history is known to its end and all of it was handed out.
    pub fn is_drained(&self) -> bool {
        self.complete && self.ready.is_empty() && self.open.is_empty() && self.tail.is_empty()
    }

    /// Events of a task or of a fetched page, in order. `complete`: no page follows.
    ///
    /// Events that are already known are dropped from the front. Fatal: a gap, or an end before the task's started event.
    pub fn push(&mut self, events: Vec<Event>, complete: bool) -> Result<()> {
        let joins_at_start = self.last_known == 0 && self.tail.is_empty();
        if joins_at_start && events.first().is_some_and(|e| e.event_id > 1) {
            self.tail = events;
            self.complete = false;
            return Ok(());
        }
        self.append(events)?;
        if complete && !self.tail.is_empty() {
            let tail = std::mem::take(&mut self.tail);
            self.append(tail)?;
        }
        if complete && self.query_only {
            self.forget_open_task();
        }
        self.complete = complete;
        if complete && self.last_known < self.started {
            let text =
                format!("History ends at event {} although the task was started by event {}", self.last_known, self.started);
            return Err(fatal(codes::HISTORY_INCOMPLETE, text));
        }
        if complete && !self.rule_is_final {
            // No task has completed: the rule is our own until a completion says otherwise.
            self.rule = Some(choose_rule(self.order, None));
        }
        self.cut();
        Ok(())
    }

    fn append(&mut self, events: Vec<Event>) -> Result<()> {
        let known = events.iter().take_while(|e| (1..=self.last_known).contains(&e.event_id)).count();
        let mut last = self.last_known;
        for event in &events[known..] {
            if event.event_id != last + 1 {
                let text = format!("History is out of order. Last processed event: {last}, event id: {}", event.event_id);
                let mut gap = fatal(codes::HISTORY_OUT_OF_ORDER, text);
                gap.event_id = u32::try_from(event.event_id).unwrap_or_default();
                return Err(gap);
            }
            last = event.event_id;
            if !self.rule_is_final && event_type(event) == Some(EventType::WorkflowTaskCompleted) {
                self.set_rule(choose_rule(self.order, Some(event)));
            }
        }
        self.last_known = last;
        if self.open.is_empty() && known == 0 {
            self.open = events.into();
        } else {
            self.open.extend(events.into_iter().skip(known));
        }
        Ok(())
    }

    /// Drops the events behind the last completed task and its commands: they come again with their
    /// own task. A closed run has no such task.
    fn forget_open_task(&mut self) {
        if self.open.iter().any(is_terminal_event) {
            return;
        }
        let completed = |e: &Event| event_type(e) == Some(EventType::WorkflowTaskCompleted);
        let Some(at) = self.open.iter().rposition(completed) else { return };
        let commands = self.open.iter().skip(at + 1).take_while(|e| is_command_event(e)).count();
        let keep = at + 1 + commands;
        if keep < self.open.len() {
            self.open.truncate(keep);
            self.last_known = self.open.back().map_or(self.last_known, |e| e.event_id);
            self.scanner = Scanner::default();
        }
    }

    /// The next sequence, once the one behind it is bounded or the history is known to end.
    pub fn take_next(&mut self) -> Next {
        self.cut();
        let enough = self.ready.len() > 1 || (self.complete && self.open.is_empty());
        if !self.tail.is_empty() || !enough {
            return Next::NeedMore;
        }
        let Some(sequence) = self.ready.pop_front() else { return Next::End };
        for event in &sequence {
            self.last_taken = event.event_id;
            if event_type(event) == Some(EventType::WorkflowTaskStarted) {
                self.last_taken_started = event.event_id;
            }
        }
        Next::Sequence(sequence)
    }

    /// The sequence that the following [`HistoryBuffer::take_next`] will hand out; `None` at the end of what is known.
    pub fn peek(&self) -> Option<&[Event]> {
        self.ready.front().map(Vec::as_slice)
    }

    /// The server dropped a speculative task: the run goes back to the state after `last_event_id`, whose last started event is
    /// `started_id`. Later events will come again.
    pub fn rewind(&mut self, last_event_id: i64, started_id: i64) {
        self.ready.clear();
        self.open.clear();
        self.scanner = Scanner::default();
        self.last_known = last_event_id;
        self.last_taken = last_event_id;
        self.last_taken_started = started_id;
    }

    /// Moves bounded sequences from `open` to `ready` until two are there.
    fn cut(&mut self) {
        let Some(rule) = self.rule else { return };
        while self.ready.len() < 2 && !self.open.is_empty() {
            let scope = Scope { events: &self.open, complete: self.complete, update_positions: &self.update_positions };
            let end = match self.scanner.find(rule, &scope) {
                Some(end) => end,
                // The rest never reached its started event: it is the last sequence.
                None if self.complete => self.open.len() - 1,
                None => return,
            };
            let sequence: Vec<Event> = self.open.drain(..=end).collect();
            let last = sequence.last().map_or(0, |e| e.event_id);
            self.update_positions.retain(|id| *id > last);
            self.ready.push_back(sequence);
            self.scanner = Scanner::default();
        }
    }
}
