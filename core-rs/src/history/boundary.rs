//! Where a sequence ends. A sequence is what the core applies at once: the events after one
//! WorkflowTaskStarted up to and including the next that counts
//! (docs/dev/semantics/history.md#sequences).
//!
//! A scanner walks forward only, keeps its position while look-ahead is missing, and never returns
//! a provisional result: its result equals the one with the whole history at hand. That makes
//! sequences independent of page sizes.
//!
//! Core's second rule is the one proposed in temporalio/sdk-rust pull requests 1281 and 1509 (flag
//! 4). No published Core has it; when one does, compare this code with it.
use std::collections::VecDeque;

use crate::api::enums::v1::EventType;
use crate::boundary::JobOrder;
use crate::history::event::{Event, event_type, is_command_event, is_terminal_event};
use crate::proto::views::Attributes;

/// Name under which native programs record themselves in sdk_metadata.
const NATIVE_SDK_NAME: &str = "temporalex-ts";
/// Core's internal flag 4: its second rule holds for the whole run.
const WFT_CHUNKING_V2: u32 = 4;

/// The rule that decides where sequences end. One per run, for its whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundaryRule {
    /// Every completed task ends its own sequence.
    Unmerged,
    /// Core's rule: empty tasks before the first command are taken for heartbeats and merged into the next one.
    Core,
    /// Core's second rule: only tasks that nothing could have observed are merged, judged by the whole batch of commands behind.
    CoreChunkingV2,
}

/// The rule of a run, from its first successful WorkflowTaskCompleted. `None`: no task has completed yet, so that the first
/// completion will be ours, with our own metadata.
pub fn choose_rule(order: JobOrder, first_completed: Option<&Event>) -> BoundaryRule {
    let own = if order == JobOrder::Native { BoundaryRule::Unmerged } else { BoundaryRule::Core };
    let Some(completed) = first_completed else { return own };
    let Some(Attributes::WorkflowTaskCompleted(a)) = completed.attributes() else { return BoundaryRule::Core };
    match a.opt_sdk_metadata() {
        Some(m) if m.core_used_flags().contains(&WFT_CHUNKING_V2) => BoundaryRule::CoreChunkingV2,
        Some(m) if m.sdk_name() == NATIVE_SDK_NAME => own,
        _ => BoundaryRule::Core,
    }
}

/// What surrounds the events of one scan.
pub(super) struct Scope<'a> {
    pub events: &'a VecDeque<Event>,
    /// Nothing follows the last event.
    pub complete: bool,
    /// Sequencing ids of the updates that came as messages with the current task, ascending,
    /// without those that an earlier sequence covers.
    pub update_positions: &'a [i64],
}

/// Looks for the end of the first sequence in a queue of events; created for each sequence.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    cursor: usize,
    /// Started events passed over on the way that may still become the end: (event id, index).
    starts: Vec<(i64, usize)>,
    command: bool,
    /// A command event or the start of the run was seen.
    opened: bool,
    /// Something that workflow code can observe was seen (second rule only).
    observable: bool,
    /// A batch of commands whose end was not in sight: (its start, how far it is known), so a new page costs only its own events.
    open_batch: (usize, usize),
}

impl Scanner {
    /// Index of the last event of the sequence; `None`: more events are needed, or, if `complete`,
    /// no such end exists.
    pub fn find(&mut self, rule: BoundaryRule, scope: &Scope) -> Option<usize> {
        match rule {
            BoundaryRule::Unmerged => self.unmerged(scope),
            BoundaryRule::Core => self.core(scope),
            BoundaryRule::CoreChunkingV2 => self.chunking_v2(scope),
        }
    }

    fn unmerged(&mut self, scope: &Scope) -> Option<usize> {
        while let Some(event) = scope.events.get(self.cursor) {
            if is_terminal_event(event) {
                return Some(self.cursor);
            }
            if event_type(event) == Some(EventType::WorkflowTaskStarted) {
                match scope.events.get(self.cursor + 1) {
                    None => return scope.complete.then_some(self.cursor),
                    Some(outcome) if is_forgotten(outcome) => {}
                    Some(_) => return Some(self.cursor),
                }
            }
            self.cursor += 1;
        }
        None
    }

    fn core(&mut self, scope: &Scope) -> Option<usize> {
        while let Some(event) = scope.events.get(self.cursor) {
            if is_terminal_event(event) {
                return Some(self.cursor);
            }
            let kind = event_type(event);
            self.command |= is_command_event(event);
            self.opened |= self.command || kind == Some(EventType::WorkflowExecutionStarted);
            if kind == Some(EventType::WorkflowTaskStarted) {
                let Some(outcome) = scope.events.get(self.cursor + 1) else {
                    return scope.complete.then_some(self.cursor);
                };
                if event_type(outcome) == Some(EventType::WorkflowTaskCompleted) {
                    let Some(follower) = scope.events.get(self.cursor + 2) else {
                        return scope.complete.then_some(self.cursor);
                    };
                    let heartbeat = !self.command && event_type(follower) == Some(EventType::WorkflowTaskScheduled);
                    self.starts.push((event.event_id, self.cursor));
                    if !heartbeat {
                        return Some(self.start_of_update(follower).unwrap_or(self.cursor));
                    }
                } else if !is_forgotten(outcome) {
                    self.starts.push((event.event_id, self.cursor));
                    if self.opened {
                        return Some(self.cursor);
                    }
                }
            }
            self.cursor += 1;
        }
        None
    }

    fn chunking_v2(&mut self, scope: &Scope) -> Option<usize> {
        while let Some(event) = scope.events.get(self.cursor) {
            let kind = event_type(event);
            let update_reached = kind == Some(EventType::WorkflowExecutionUpdateAdmitted)
                || scope.update_positions.first().is_some_and(|id| *id <= event.event_id);
            if update_reached && let Some((_, index)) = self.starts.last() {
                return Some(*index);
            }
            self.observable |= update_reached;
            if is_terminal_event(event) {
                return Some(self.cursor);
            }
            if kind != Some(EventType::WorkflowTaskStarted) {
                let frame = matches!(kind, Some(EventType::WorkflowTaskScheduled | EventType::WorkflowTaskCompleted));
                self.observable |= !frame;
                self.cursor += 1;
                continue;
            }
            match scope.events.get(self.cursor + 1).map(event_type) {
                None => return scope.complete.then_some(self.cursor),
                Some(Some(EventType::WorkflowTaskFailed | EventType::WorkflowTaskTimedOut)) => {
                    self.cursor += 2;
                    continue;
                }
                Some(Some(EventType::WorkflowTaskCompleted)) => {}
                Some(_) => return Some(self.cursor),
            }
            match self.completed_start(event.event_id, scope)? {
                Verdict::End(index) => return Some(index),
                Verdict::MergeInto(successor) => {
                    self.starts.push((event.event_id, self.cursor));
                    self.cursor = successor;
                }
            }
        }
        None
    }

    /// The second rule at a started event whose task completed. `None`: a batch of commands is not yet bounded.
    fn completed_start(&mut self, started_id: i64, scope: &Scope) -> Option<Verdict> {
        let here = self.cursor;
        let batch = here + 2;
        let batch_end = self.batch_end(batch, scope)?;
        if self.observable || batch_end > batch {
            return Some(Verdict::End(here));
        }
        // Only an empty task right behind this one can make it a heartbeat. An update accepted there was sequenced behind this start.
        let successor = batch_end + 1;
        let follow = (scope.events.get(batch_end).map(event_type), scope.events.get(successor).map(event_type));
        match follow {
            (Some(Some(EventType::WorkflowTaskScheduled)), Some(Some(EventType::WorkflowTaskStarted))) => {}
            (Some(Some(EventType::WorkflowTaskScheduled)), None) if !scope.complete => return None,
            _ => return Some(Verdict::End(here)),
        }
        match scope.events.get(successor + 1).map(event_type) {
            None if !scope.complete => return None,
            None if scope.update_positions.first().is_some_and(|id| *id > started_id) => return Some(Verdict::End(here)),
            None => return Some(Verdict::MergeInto(successor)),
            Some(Some(EventType::WorkflowTaskCompleted)) => {}
            Some(_) => return Some(Verdict::End(here)),
        }
        let next_end = self.batch_end(successor + 2, scope)?;
        let blocks = |e: &Event| event_type(e).is_none() || event_type(e) == Some(EventType::WorkflowExecutionUpdateAccepted);
        if scope.events.range(successor + 2..next_end).any(blocks) {
            return Some(Verdict::End(here));
        }
        Some(Verdict::MergeInto(successor))
    }

    /// Index behind the batch of commands that begins at `from`; `None` while it may extend beyond
    /// the events at hand.
    fn batch_end(&mut self, from: usize, scope: &Scope) -> Option<usize> {
        let mut end = if self.open_batch.0 == from { self.open_batch.1 } else { from };
        while scope.events.get(end).is_some_and(is_command_or_ignorable) {
            end += 1;
        }
        if end >= scope.events.len() && !scope.complete {
            self.open_batch = (from, end.min(scope.events.len()).max(from));
            return None;
        }
        Some(end.min(scope.events.len()))
    }

    /// Core's rule: an accepted update right behind the completion belongs to the latest start before its sequencing id.
    fn start_of_update(&self, follower: &Event) -> Option<usize> {
        let sequenced = accepted_sequencing_id(follower)?;
        self.starts.iter().rev().find(|(id, _)| *id < sequenced).map(|(_, index)| *index)
    }
}

enum Verdict {
    End(usize),
    MergeInto(usize),
}

/// A started task with this outcome did not happen for the workflow.
fn is_forgotten(outcome: &Event) -> bool {
    use EventType::*;
    matches!(
        event_type(outcome),
        Some(
            WorkflowTaskFailed
                | WorkflowTaskTimedOut
                | WorkflowExecutionTimedOut
                | WorkflowExecutionTerminated
                | WorkflowExecutionCanceled
        )
    )
}

fn is_command_or_ignorable(event: &Event) -> bool {
    is_command_event(event) || (event_type(event).is_none() && event.worker_may_ignore)
}

fn accepted_sequencing_id(event: &Event) -> Option<i64> {
    match event.attributes() {
        Some(Attributes::WorkflowExecutionUpdateAccepted(a)) => Some(a.accepted_request_sequencing_event_id()),
        _ => None,
    }
}
