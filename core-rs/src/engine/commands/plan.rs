//! What the checks of a workflow task's commands know: the run, and what the commands before have planned.
use super::refusal::{Reject, bad};
use super::update_message::UpdateMessage;
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::boundary::{TransactCall, TransactResult};
use crate::engine::context::Context;
use crate::engine::cron::Crons;
use crate::engine::limits::{self, Limits};
use crate::engine::messages::tasks::ProtocolMessage;
use crate::engine::search_attributes::Register;
use crate::engine::state::run::Run;
use crate::engine::state::update::Stage;
use crate::sorted::{SortedMap, SortedSet};

pub struct Plan<'a> {
    pub run: &'a Run,
    pub namespace: &'a str,
    pub attributes: Option<&'a Register>,
    pub crons: &'a Crons,
    /// The ids of the endpoints by name; None: the host makes no calls.
    pub endpoints: Option<&'a SortedMap<String, String>>,
    limits: &'a Limits,
    /// Timers that were started (true) or cancelled.
    pub timers: SortedMap<String, bool>,
    /// Activity ids that are in use (true), or free again because their activity was canceled before a worker had it.
    pub activities: SortedMap<String, bool>,
    /// Pending activities.
    pub pending_activities: usize,
    /// Scheduled activities by the id of their event, with their activity ids.
    pub scheduled_activities: SortedMap<i64, String>,
    pub cancelled_activities: SortedSet<i64>,
    /// The id of the event that the command writes.
    pub next_id: i64,
    /// Timers whose buffered TimerFired will be removed.
    pub unfired: SortedSet<String>,
    /// Stage of the updates that were decided; `None`: rejected.
    pub updates: SortedMap<String, Option<Stage>>,
    /// Workflow ids.
    pub started_children: Vec<String>,
    pub signals: usize,
    pub cancels: usize,
    /// Scheduled operations, by the id of their event.
    pub nexus: SortedSet<i64>,
    pub canceled_nexus: SortedSet<i64>,
    /// Messages that no command has placed.
    pub messages: Vec<Option<ProtocolMessage>>,
    /// Checked messages that are to be applied next.
    pub decided: Vec<UpdateMessage>,
    pub reducers: Reducers,
    /// Workflow code waits for a reducer.
    pub awaited: bool,
    /// Failure of a reducer that the run cannot do without: the run ends with it in the next task.
    pub required_failure: Option<Vec<u8>>,
}

/// The reducers of a task, in the order of their commands.
pub enum Reducers {
    /// They have not run: what the host is to run.
    Asking(Vec<TransactCall>),
    /// What each came to.
    Ended(std::vec::IntoIter<TransactResult>),
}

pub enum Reducer {
    Asked,
    Ended(TransactResult),
    /// The host's answer has fewer results than the task has reducers.
    Missing,
}

impl Reducers {
    pub fn next(&mut self, marker: impl FnOnce() -> Vec<u8>) -> Reducer {
        match self {
            Reducers::Asking(calls) => {
                calls.push(TransactCall { marker: marker() });
                Reducer::Asked
            }
            Reducers::Ended(results) => results.next().map_or(Reducer::Missing, Reducer::Ended),
        }
    }
}

pub const ACROSS: &str = "cross namespace commands are not allowed";

impl<'a> Plan<'a> {
    pub fn new(run: &'a Run, cx: &'a Context, messages: Vec<ProtocolMessage>, reducers: Reducers) -> Plan<'a> {
        // The events of a task that is outside history are written before its completion.
        let outside = run.head.task.as_ref().is_some_and(|task| !task.in_history);
        Plan {
            run,
            namespace: &cx.namespace,
            attributes: cx.attributes.as_ref(),
            crons: &cx.crons,
            endpoints: cx.endpoints.as_ref(),
            limits: &cx.limits,
            timers: SortedMap::new(),
            activities: SortedMap::new(),
            pending_activities: run.activities.len(),
            scheduled_activities: SortedMap::new(),
            next_id: run.head.next_event_id + if outside { 3 } else { 1 },
            cancelled_activities: SortedSet::new(),
            unfired: SortedSet::new(),
            updates: SortedMap::new(),
            started_children: Vec::new(),
            signals: 0,
            cancels: 0,
            nexus: SortedSet::new(),
            canceled_nexus: SortedSet::new(),
            messages: messages.into_iter().map(Some).collect(),
            decided: Vec::new(),
            reducers,
            awaited: false,
            required_failure: None,
        }
    }

    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.limits.payload_bytes
    }

    pub fn size(&self, what: &str, bytes: usize) -> Result<(), Reject> {
        if !self.fits(bytes) {
            let limit = self.limits.payload_bytes;
            return bad(Cause::PayloadsTooLarge, format!("{what} exceeds size limit: {bytes} bytes, at most {limit}."));
        }
        Ok(())
    }

    pub fn payloads(&self, what: &str, value: &Option<Vec<u8>>) -> Result<(), Reject> {
        self.size(what, value.as_ref().map_or(0, Vec::len))
    }

    pub fn header(&self, what: &str, value: &Option<Vec<u8>>) -> Result<(), Reject> {
        let bytes = value.as_ref().map_or(0, Vec::len);
        if bytes > limits::HEADER_BYTES {
            let text = format!("{what} exceeds size limit: {bytes} bytes, at most {}.", limits::HEADER_BYTES);
            return bad(Cause::PayloadsTooLarge, text);
        }
        Ok(())
    }

    /// The namespace is another one than the engine's.
    pub fn foreign(&self, namespace: &str) -> bool {
        !namespace.is_empty() && namespace != self.namespace
    }

    /// Whether the timer is running after the commands before.
    pub fn timer_open(&self, id: &str) -> bool {
        self.timers.get(id).copied().unwrap_or_else(|| self.run.timers.contains_key(id))
    }

    /// Whether the activity id is in use after the commands before.
    pub fn activity_open(&self, id: &str) -> bool {
        self.activities.get(id).copied().unwrap_or_else(|| self.run.activity_ids.contains_key(id))
    }

    /// Events in the buffer that the commands before do not take back.
    pub fn unhandled(&self) -> usize {
        self.run.buffer.len() - self.unfired.len()
    }
}
