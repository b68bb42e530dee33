//! An activity on a task queue (docs/dev/semantics/commands.md#activities).
//!
//! | state | ActivityTaskScheduled | cancel | ...Started | ...Completed, Failed, TimedOut, Canceled |
//! |---|---|---|---|---|
//! | Created | Scheduled | CancelledBeforeSent: command dropped, resolved cancelled | fatal | fatal |
//! | Scheduled, Started | fatal | by type, below | Started | Closed, resolved |
//! | CancelRequested (WAIT) | fatal | ignored | same | Closed, resolved |
//! | Detached (TRY, ABANDON) | fatal | ignored | same | Closed, swallowed |
//! | Closed | fatal | ignored | fatal | fatal |
//!
//! Cancel of a scheduled activity: TRY_CANCEL queues RequestCancelActivity and resolves cancelled at once, WAIT only queues it,
//! ABANDON only resolves. Resolutions made by a cancel go out in a further activation of the same workflow task.
use crate::api::enums::v1::{EventType, RetryState};
use crate::boundary::{ActivityCancellationType, CoreError};
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::replay::event::{EventRef, Place, bad_transition, wrong_type};
use crate::replay::jobs::{Resolution, activity_completed, resolve_activity};
use crate::wire::{Message, Writer};

/// Field of a Failure that holds its cause, and those that say what kind it is.
pub const CAUSE: u32 = 4;
pub const CANCELED_FAILURE: u32 = 7;
const ACTIVITY_FAILURE: u32 = 11;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The seq was given out, but its command was cut off behind a terminal one, or it belongs to a local activity.
    #[default]
    Absent,
    Created,
    Scheduled,
    Started,
    CancelRequested,
    Detached,
    Closed,
    CanceledByEvent,
    CancelledBeforeSent,
}

#[derive(Clone, Debug, Default)]
pub struct Activity {
    pub state: State,
    cancellation: ActivityCancellationType,
    /// Dropped when the activity is over.
    identity: Option<Box<Identity>>,
    pub scheduled_event_id: i64,
    started_event_id: i64,
}

#[derive(Clone, Debug)]
struct Identity {
    id: String,
    kind: String,
}

/// Machine name in wordings.
pub const NAME: &str = "Activity";

/// What a cancel asks of the run.
#[derive(Debug, PartialEq)]
pub struct Cancelled {
    /// RequestCancelActivity has to be queued.
    pub command: bool,
    /// boundary.ResolveActivity.
    pub resolution: Option<Vec<u8>>,
}

impl Activity {
    pub fn new(id: String, kind: String, cancellation: ActivityCancellationType) -> Activity {
        Activity { state: State::Created, cancellation, identity: Some(Box::new(Identity { id, kind })), ..Default::default() }
    }

    pub fn cancel(&mut self, seq: u32) -> Cancelled {
        let nothing = Cancelled { command: false, resolution: None };
        match (self.state, self.cancellation) {
            (State::Created, _) => {
                let resolution = self.cancelled(seq, None, "", 0);
                self.close(State::CancelledBeforeSent);
                Cancelled { resolution: Some(resolution), ..nothing }
            }
            (State::Scheduled | State::Started, ActivityCancellationType::WaitCancellationCompleted) => {
                self.state = State::CancelRequested;
                Cancelled { command: true, ..nothing }
            }
            (State::Scheduled | State::Started, kind) => {
                self.state = State::Detached;
                let resolution = Some(self.cancelled(seq, None, "", self.started_event_id));
                Cancelled { command: kind == ActivityCancellationType::TryCancel, resolution }
            }
            _ => nothing,
        }
    }

    /// `check`: id and type are compared (flag 1).
    pub fn on_scheduled(&mut self, a: Message, check: bool, event: EventRef) -> Result<()> {
        if self.state != State::Created {
            return Err(bad_transition("ActivityMachine", self.state, event));
        }
        if check && let Some(own) = &self.identity {
            let (id, kind) = (a.text(1), a.sub(2).text(1));
            if id != own.id {
                return Err(differs("id", "scheduled event", "activity command", codes::ACTIVITY_ID, id, &own.id));
            }
            if kind != own.kind {
                return Err(differs("type", "scheduled event", "activity command", codes::ACTIVITY_TYPE, kind, &own.kind));
            }
        }
        self.state = State::Scheduled;
        self.scheduled_event_id = event.id;
        Ok(())
    }

    pub fn on_cancel_requested(&mut self, event: EventRef) -> Result<()> {
        match self.state {
            State::CancelRequested | State::Detached => Ok(()),
            state => Err(bad_transition("ActivityMachine", state, event)),
        }
    }

    /// An event that answers the scheduled one. `Some`: the activity is resolved for workflow code, boundary.ResolveActivity.
    pub fn on_event(&mut self, seq: u32, kind: EventType, a: Message, event: EventRef) -> Result<Option<Vec<u8>>> {
        self.check_open(seq, event)?;
        let silent = matches!(self.state, State::Detached | State::CanceledByEvent);
        let resolution = match kind {
            EventType::ActivityTaskStarted => {
                self.started_event_id = event.id;
                if self.state == State::Scheduled {
                    self.state = State::Started;
                }
                return Ok(None);
            }
            EventType::ActivityTaskCompleted => {
                let result = if silent { None } else { single_payload("activity", a.get(1))? };
                resolve_activity(seq, false, Resolution::Completed, &activity_completed(result))
            }
            EventType::ActivityTaskFailed => {
                let info = self.info(a.text(4), a.int(5), a.int(3));
                resolve_activity(seq, false, Resolution::Failed, &failure("Activity task failed", a.bytes(1), &info))
            }
            EventType::ActivityTaskTimedOut => {
                let info = self.info("", a.int(4), a.int(3));
                resolve_activity(seq, false, Resolution::Failed, &failure("Activity task timed out", a.bytes(1), &info))
            }
            EventType::ActivityTaskCanceled => {
                let resolution = self.cancelled(seq, a.bytes(1), a.text(5), a.int(4));
                self.close(State::CanceledByEvent);
                return Ok((!silent).then_some(resolution));
            }
            _ => return Err(wrong_type(NAME, event)),
        };
        self.close(State::Closed);
        Ok((!silent).then_some(resolution))
    }

    fn check_open(&self, seq: u32, event: EventRef) -> Result<()> {
        match self.state {
            State::Scheduled | State::Started | State::CancelRequested | State::Detached => Ok(()),
            State::CanceledByEvent if self.cancellation == ActivityCancellationType::Abandon => Ok(()),
            State::CanceledByEvent => {
                let text = format!("Non-Abandon cancel mode activities cannot be started after being cancelled. Seq: {seq}");
                Err(nondeterminism(codes::ACTIVITY_AFTER_CANCEL, text).at_event(event))
            }
            state => Err(bad_transition("ActivityMachine", state, event)),
        }
    }

    fn close(&mut self, state: State) {
        self.state = state;
        self.identity = None;
    }

    /// ActivityFailureInfo.
    fn info(&self, identity: &str, retry_state: i64, started_event_id: i64) -> Vec<u8> {
        let (id, kind) = self.identity.as_ref().map_or(("", ""), |own| (own.id.as_str(), own.kind.as_str()));
        let mut w = Writer::new();
        w.int(1, self.scheduled_event_id)
            .int(2, started_event_id)
            .text(3, identity)
            .named(4, kind)
            .text(5, id)
            .int(6, retry_state);
        w.finish()
    }

    fn cancelled(&self, seq: u32, details: Option<&[u8]>, identity: &str, started_event_id: i64) -> Vec<u8> {
        let mut cause = Writer::new();
        cause.nested(CANCELED_FAILURE, |w| {
            w.optional(1, details);
        });
        let info = self.info(identity, RetryState::CancelRequested as i64, started_event_id);
        let failure = failure("Activity cancelled", Some(&cause.finish()), &info);
        resolve_activity(seq, false, Resolution::Cancelled, &failure)
    }
}

/// A Failure that wraps another as that of an activity.
pub fn failure(message: &str, cause: Option<&[u8]>, info: &[u8]) -> Vec<u8> {
    let mut w = Writer::new();
    w.text(1, message).optional(CAUSE, cause).message(ACTIVITY_FAILURE, info);
    w.finish()
}

/// "Activity {what} of {event} '..' does not match activity {what} of {command} '..'", as Core words it.
pub fn differs(what: &str, event: &str, command: &str, code: u32, expected: &str, actual: &str) -> Box<CoreError> {
    let text = format!("Activity {what} of {event} '{expected}' does not match activity {what} of {command} '{actual}'");
    nondeterminism(code, text).differing(&format!("activity_{what}"), expected, actual)
}

/// A result (Payloads) holds one payload or is absent; anything else was not written by a worker.
pub fn single_payload<'a>(of: &str, result: Option<Message<'a>>) -> Result<Option<&'a [u8]>> {
    let Some(result) = result else { return Ok(None) };
    let mut payloads = result.all(1);
    match (payloads.next(), payloads.next()) {
        (Some(one), None) => Ok(Some(one)),
        _ => Err(fatal(codes::PAYLOAD_COUNT, format!("Not exactly one payload in {of} result"))),
    }
}
