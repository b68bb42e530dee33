//! An activity on a task queue (core-spec 1.5).
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
use prost::Message;

use crate::api::common::v1::{ActivityType, Payloads};
use crate::api::enums::v1::RetryState;
use crate::api::failure::v1::failure::FailureInfo;
use crate::api::failure::v1::{ActivityFailureInfo, CanceledFailureInfo, Failure};
use crate::api::history::v1::history_event::Attributes;
use crate::api::history::v1::{ActivityTaskCanceledEventAttributes, ActivityTaskScheduledEventAttributes};
use crate::boundary::{ActivityCancellationType, ActivityCompleted, ResolveActivity, resolve_activity};
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::replay::event::{EventRef, Place, bad_transition, wrong_type};

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
    pub resolution: Option<ResolveActivity>,
}

impl Activity {
    pub fn new(id: String, kind: String, cancellation: ActivityCancellationType) -> Activity {
        Activity { state: State::Created, cancellation, identity: Some(Box::new(Identity { id, kind })), ..Default::default() }
    }

    pub fn cancel(&mut self, seq: u32) -> Cancelled {
        let nothing = Cancelled { command: false, resolution: None };
        match (self.state, self.cancellation) {
            (State::Created, _) => {
                let resolution = self.cancelled(seq, None, String::new());
                self.close(State::CancelledBeforeSent);
                Cancelled { resolution: Some(resolution), ..nothing }
            }
            (State::Scheduled | State::Started, ActivityCancellationType::WaitCancellationCompleted) => {
                self.state = State::CancelRequested;
                Cancelled { command: true, ..nothing }
            }
            (State::Scheduled | State::Started, kind) => {
                self.state = State::Detached;
                let resolution = Some(self.cancelled(seq, None, String::new()));
                Cancelled { command: kind == ActivityCancellationType::TryCancel, resolution }
            }
            _ => nothing,
        }
    }

    /// `check`: id and type are compared (flag 1).
    pub fn on_scheduled(&mut self, a: &ActivityTaskScheduledEventAttributes, check: bool, event: EventRef) -> Result<()> {
        if self.state != State::Created {
            return Err(bad_transition("ActivityMachine", self.state, event));
        }
        if check && let Some(own) = &self.identity {
            let kind = a.activity_type.as_ref().map_or("", |t| t.name.as_str());
            if a.activity_id != own.id {
                return Err(differs("id", "scheduled event", "activity command", codes::ACTIVITY_ID, &a.activity_id, &own.id));
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

    /// An event that answers the scheduled one. `Some`: the activity is resolved for workflow code.
    pub fn on_event(&mut self, seq: u32, attributes: Attributes, event: EventRef) -> Result<Option<ResolveActivity>> {
        self.check_open(seq, event)?;
        let silent = matches!(self.state, State::Detached | State::CanceledByEvent);
        let resolution = match attributes {
            Attributes::ActivityTaskStartedEventAttributes(_) => {
                self.started_event_id = event.id;
                if self.state == State::Scheduled {
                    self.state = State::Started;
                }
                return Ok(None);
            }
            Attributes::ActivityTaskCompletedEventAttributes(a) => {
                let result = if silent { None } else { single_payload(a.result)? };
                completed(seq, result)
            }
            Attributes::ActivityTaskFailedEventAttributes(a) => {
                let cause = a.failure;
                self.failed(seq, "Activity task failed", cause, a.identity, a.retry_state, a.started_event_id)
            }
            Attributes::ActivityTaskTimedOutEventAttributes(a) => {
                let cause = a.failure;
                self.failed(seq, "Activity task timed out", cause, String::new(), a.retry_state, a.started_event_id)
            }
            Attributes::ActivityTaskCanceledEventAttributes(a) => {
                let ActivityTaskCanceledEventAttributes { details, identity, started_event_id, .. } = a;
                self.started_event_id = started_event_id;
                let resolution = self.cancelled(seq, details, identity);
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

    fn info(&self, identity: String, retry_state: i32, started_event_id: i64) -> FailureInfo {
        let (id, kind) = self.identity.as_ref().map_or_else(Default::default, |own| (own.id.clone(), own.kind.clone()));
        FailureInfo::ActivityFailureInfo(ActivityFailureInfo {
            scheduled_event_id: self.scheduled_event_id,
            started_event_id,
            identity,
            activity_type: Some(ActivityType { name: kind }),
            activity_id: id,
            retry_state,
        })
    }

    fn failed(
        &self,
        seq: u32,
        message: &str,
        cause: Option<Failure>,
        identity: String,
        retry_state: i32,
        started_event_id: i64,
    ) -> ResolveActivity {
        let failure = Failure {
            message: message.into(),
            cause: cause.map(Box::new),
            failure_info: Some(self.info(identity, retry_state, started_event_id)),
            ..Default::default()
        };
        let result = Some(resolve_activity::Result::Failed(failure.encode_to_vec()));
        ResolveActivity { seq, is_local: false, result }
    }

    fn cancelled(&self, seq: u32, details: Option<Payloads>, identity: String) -> ResolveActivity {
        let cause = Failure {
            failure_info: Some(FailureInfo::CanceledFailureInfo(CanceledFailureInfo { details, ..Default::default() })),
            ..Default::default()
        };
        let failure = Failure {
            message: "Activity cancelled".into(),
            cause: Some(Box::new(cause)),
            failure_info: Some(self.info(identity, RetryState::CancelRequested as i32, self.started_event_id)),
            ..Default::default()
        };
        let result = Some(resolve_activity::Result::Cancelled(failure.encode_to_vec()));
        ResolveActivity { seq, is_local: false, result }
    }
}

/// "Activity {what} of {event} '..' does not match activity {what} of {command} '..'", as Core words it.
pub fn differs(
    what: &str,
    event: &str,
    command: &str,
    code: u32,
    expected: &str,
    actual: &str,
) -> Box<crate::boundary::CoreError> {
    let text = format!("Activity {what} of {event} '{expected}' does not match activity {what} of {command} '{actual}'");
    nondeterminism(code, text).differing(&format!("activity_{what}"), expected, actual)
}

/// A result holds one payload or is absent; anything else was not written by a worker.
pub fn single_payload(result: Option<Payloads>) -> Result<Option<crate::api::common::v1::Payload>> {
    let Some(mut list) = result.map(|p| p.payloads) else { return Ok(None) };
    match (list.pop(), list.is_empty()) {
        (Some(one), true) => Ok(Some(one)),
        _ => Err(fatal(codes::PAYLOAD_COUNT, "Not exactly one payload in activity result")),
    }
}

fn completed(seq: u32, result: Option<crate::api::common::v1::Payload>) -> ResolveActivity {
    let result = Some(resolve_activity::Result::Completed(ActivityCompleted { result }));
    ResolveActivity { seq, is_local: false, result }
}
