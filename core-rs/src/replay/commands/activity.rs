//! An activity on a task queue (docs/dev/semantics/commands.md#activities).
//!
//! | state | ActivityTaskScheduled | cancel | ...Started | ...Completed, Failed, TimedOut | ...Canceled |
//! |---|---|---|---|---|---|
//! | Created | Scheduled | CancelledBeforeSent: command dropped, resolved cancelled | fatal | fatal | fatal |
//! | Scheduled, Started | fatal | CancelRequested or Detached: by type, below | Started | Closed, resolved | CanceledByEvent, resolved |
//! | CancelRequested | fatal | ignored | same | Closed, resolved | CanceledByEvent, resolved |
//! | Detached | fatal | ignored | same | Closed, no job | CanceledByEvent, no job |
//! | CanceledByEvent | fatal | ignored | same or fatal: fatal but for ABANDON | Closed or fatal: likewise, no job | same or fatal: likewise |
//! | Closed, CancelledBeforeSent | fatal | ignored | fatal | fatal | fatal |
//!
//! Cancel of a scheduled activity: TRY_CANCEL queues RequestCancelActivity and resolves cancelled at once, WAIT only queues it,
//! ABANDON only resolves. Resolutions made by a cancel go out in a further activation of the same workflow task.
use crate::api::enums::v1::{CommandType, RetryState};
use crate::boundary::{ActivityCancellationType, CommandKind, CoreError};
use crate::error::{Result, codes, nondeterminism};
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{ResolveActivity, ScheduleActivity};
use crate::proto::views::command::{Command, ScheduleActivityTaskCommandAttributes};
use crate::proto::views::common::Payloads;
use crate::proto::views::failure::{ActivityFailureInfo, Failure};
use crate::proto::views::history::ActivityTaskScheduledEventAttributes;
use crate::replay::commands::kind::{Answered, Take, Wait};
use crate::replay::commands::machines::{Machines, Numbers};
use crate::replay::commands::shared::{
    bad_value, cancellation, check_retry_policy, or_own, single_payload, stays_with_build, write_metadata, write_retry_policy,
};
use crate::replay::convert::{check_duration, checked};
use crate::replay::event::{EventRef, Place, bad_transition, wrong_type};
use crate::replay::run_state::{Inherited, Initiator, RunState};
use crate::wire::typed::{Encoded, Put, View, build};

const NAME: &str = "Activity";
const MACHINE: &str = "ActivityMachine";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
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
    state: State,
    cancellation: ActivityCancellationType,
    /// Dropped when the activity is over.
    identity: Option<Box<Identity>>,
    scheduled_event_id: i64,
    started_event_id: i64,
}

#[derive(Clone, Debug)]
struct Identity {
    id: String,
    kind: String,
}

/// Given and queued: the activity starts.
#[derive(Clone, Debug)]
pub struct Schedule {
    seq: u32,
    attributes: Encoded<ScheduleActivity>,
}

/// Given: workflow code cancels.
#[derive(Debug)]
pub struct Cancel {
    pub seq: u32,
}

/// Queued: the server is asked to cancel.
#[derive(Clone, Debug)]
pub struct CancelRequest {
    seq: u32,
    scheduled_event_id: i64,
}

pub fn read(bytes: &[u8], numbers: &mut Numbers) -> Result<(u32, Schedule)> {
    let c = checked::<ScheduleActivity>(bytes)?;
    if c.activity_type().is_empty() {
        return bad_value("ScheduleActivity: activity_type is empty");
    }
    let (schedule_to_close, start_to_close) = (c.schedule_to_close_timeout_ms(), c.start_to_close_timeout_ms());
    check_duration("schedule_to_close_timeout_ms", schedule_to_close)?;
    check_duration("schedule_to_start_timeout_ms", c.schedule_to_start_timeout_ms())?;
    check_duration("start_to_close_timeout_ms", start_to_close)?;
    check_duration("heartbeat_timeout_ms", c.heartbeat_timeout_ms())?;
    check_retry_policy(c.opt_retry_policy())?;
    if start_to_close == 0.0 && schedule_to_close == 0.0 {
        return bad_value(format!("activity {}: set a start-to-close or a schedule-to-close timeout", c.activity_type()));
    }
    if c.cancellation_type().known().is_none() {
        return bad_value(format!("ScheduleActivity: unknown cancellation_type {}", c.cancellation_type().number));
    }
    let seq = numbers.claim(c.seq())?;
    Ok((seq, Schedule { seq, attributes: c.to_owned() }))
}

pub fn id_or_seq(id: &str, seq: u32) -> String {
    if id.is_empty() { seq.to_string() } else { id.to_string() }
}

impl Take for Schedule {
    type Own = Machines<Activity>;
    type Queued = Option<Schedule>;

    fn take(self, activities: &mut Machines<Activity>, _: &mut RunState) -> Result<Option<Schedule>> {
        let a = self.attributes.view();
        let identity = Identity { id: id_or_seq(a.activity_id(), self.seq), kind: a.activity_type().into() };
        *activities.slot(self.seq) = Activity {
            state: State::Created,
            cancellation: a.cancellation_type().or_default(),
            identity: Some(Box::new(identity)),
            ..Default::default()
        };
        Ok(Some(self))
    }
}

impl Take for Cancel {
    type Own = Machines<Activity>;
    type Queued = Option<CancelRequest>;

    fn take(self, activities: &mut Machines<Activity>, run: &mut RunState) -> Result<Option<CancelRequest>> {
        let seq = self.seq;
        let activity = activities.named(seq, NAME, CommandKind::ScheduleActivity)?;
        let cancelled = activity.cancel(seq);
        let request = CancelRequest { seq, scheduled_event_id: activity.scheduled_event_id };
        if let Some(resolution) = cancelled.resolution {
            run.jobs.same_task(resolution);
        }
        Ok(cancelled.command.then_some(request))
    }
}

/// What a cancel asks of the run.
#[derive(Debug, Default)]
struct Cancelled {
    /// RequestCancelActivity has to be queued.
    command: bool,
    resolution: Option<Encoded<ResolveActivity>>,
}

impl Activity {
    fn cancel(&mut self, seq: u32) -> Cancelled {
        match (self.state, self.cancellation) {
            (State::Created, _) => {
                let resolution = self.cancelled(seq, None, "", 0);
                self.close(State::CancelledBeforeSent);
                Cancelled { command: false, resolution: Some(resolution) }
            }
            (State::Scheduled | State::Started, ActivityCancellationType::WaitCancellationCompleted) => {
                self.state = State::CancelRequested;
                Cancelled { command: true, resolution: None }
            }
            (State::Scheduled | State::Started, kind) => {
                self.state = State::Detached;
                let resolution = Some(self.cancelled(seq, None, "", self.started_event_id));
                Cancelled { command: kind == ActivityCancellationType::TryCancel, resolution }
            }
            _ => Cancelled::default(),
        }
    }

    /// `check`: id and type are compared (flag 1).
    fn on_scheduled(&mut self, a: View<ActivityTaskScheduledEventAttributes>, check: bool, event: EventRef) -> Result<()> {
        if self.state != State::Created {
            return Err(bad_transition(MACHINE, self.state, event));
        }
        if check && let Some(own) = &self.identity {
            let (id, kind) = (a.activity_id(), a.activity_type().name());
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

    fn on_cancel_requested(&mut self, event: EventRef) -> Result<()> {
        match self.state {
            State::CancelRequested | State::Detached => Ok(()),
            state => Err(bad_transition(MACHINE, state, event)),
        }
    }

    /// An event that follows the scheduled one. `Some`: the activity is resolved for workflow code.
    fn on_event(&mut self, seq: u32, event: Attributes, at: EventRef) -> Result<Option<Encoded<ResolveActivity>>> {
        self.check_open(seq, at)?;
        let silent = matches!(self.state, State::Detached | State::CanceledByEvent);
        let resolution = match event {
            Attributes::ActivityTaskStarted(_) => {
                self.started_event_id = at.id;
                if self.state == State::Scheduled {
                    self.state = State::Started;
                }
                return Ok(None);
            }
            Attributes::ActivityTaskCompleted(a) => {
                let result = if silent { None } else { single_payload("activity", a.opt_result())? };
                build(|w: Put<ResolveActivity>| w.seq(seq).completed(|w| w.copy_result(result)))
            }
            Attributes::ActivityTaskFailed(a) => {
                let info = self.info(a.identity(), a.retry_state().into(), a.started_event_id());
                failed(seq, "Activity task failed", a.opt_failure(), &info)
            }
            Attributes::ActivityTaskTimedOut(a) => {
                let info = self.info("", a.retry_state().into(), a.started_event_id());
                failed(seq, "Activity task timed out", a.opt_failure(), &info)
            }
            Attributes::ActivityTaskCanceled(a) => {
                let resolution = self.cancelled(seq, a.opt_details(), a.identity(), a.started_event_id());
                self.close(State::CanceledByEvent);
                return Ok((!silent).then_some(resolution));
            }
            _ => return Err(wrong_type(NAME, at)),
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
            state => Err(bad_transition(MACHINE, state, event)),
        }
    }

    fn close(&mut self, state: State) {
        self.state = state;
        self.identity = None;
    }

    fn info(&self, identity: &str, retry_state: i32, started_event_id: i64) -> Encoded<ActivityFailureInfo> {
        let (id, kind) = self.identity.as_ref().map_or(("", ""), |own| (own.id.as_str(), own.kind.as_str()));
        build(|w: Put<ActivityFailureInfo>| {
            w.scheduled_event_id(self.scheduled_event_id)
                .started_event_id(started_event_id)
                .identity(identity)
                .activity_type(|w| w.name(kind))
                .activity_id(id)
                .retry_state(retry_state)
        })
    }

    fn cancelled(
        &self,
        seq: u32,
        details: Option<View<Payloads>>,
        identity: &str,
        started_event_id: i64,
    ) -> Encoded<ResolveActivity> {
        let cause = cancellation("", details);
        let info = self.info(identity, RetryState::CancelRequested as i32, started_event_id);
        let failure = failure("Activity cancelled", Some(cause.view()), &info);
        build(|w: Put<ResolveActivity>| w.seq(seq).cancelled(failure.view()))
    }
}

fn failed(
    seq: u32,
    message: &str,
    cause: Option<View<Failure>>,
    info: &Encoded<ActivityFailureInfo>,
) -> Encoded<ResolveActivity> {
    let failure = failure(message, cause, info);
    build(|w: Put<ResolveActivity>| w.seq(seq).failed(failure.view()))
}

/// A Failure that wraps another as that of an activity.
pub fn failure(message: &str, cause: Option<View<Failure>>, info: &Encoded<ActivityFailureInfo>) -> Encoded<Failure> {
    build(|w: Put<Failure>| w.message(message).copy_cause(cause).copy_activity_failure_info(Some(info.view())))
}

/// "Activity {what} of {event} '..' does not match activity {what} of {command} '..'", as Core words it.
pub fn differs(what: &str, event: &str, command: &str, code: u32, expected: &str, actual: &str) -> Box<CoreError> {
    let text = format!("Activity {what} of {event} '{expected}' does not match activity {what} of {command} '{actual}'");
    nondeterminism(code, text).differing(&format!("activity_{what}"), expected, actual)
}

impl Wait for Schedule {
    type Own = Machines<Activity>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::ScheduleActivity
    }

    fn command_type(&self) -> CommandType {
        CommandType::ScheduleActivityTask
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn is_withdrawn(&self, activities: &Machines<Activity>) -> bool {
        activities.get(self.seq).is_some_and(|a| a.state == State::CancelledBeforeSent)
    }

    fn meet(self, event: Attributes, at: EventRef, activities: &mut Machines<Activity>, run: &mut RunState) -> Result<()> {
        let check = run.checks_identity();
        let activity = activities.of_event(self.seq, at, "activity")?;
        match event {
            Attributes::ActivityTaskScheduled(a) => activity.on_scheduled(a, check, at)?,
            Attributes::ActivityTaskCancelRequested(_) => return Err(bad_transition(MACHINE, activity.state, at)),
            _ => return Err(wrong_type(NAME, at)),
        }
        run.initiated(at, Initiator::Activity(self.seq));
        Ok(())
    }

    fn write<'w>(&self, w: Put<'w, Command>, run: &Inherited) -> Put<'w, Command> {
        let a = self.attributes.view();
        let w = w.schedule_activity_task_command_attributes(|w| write_schedule(w, self.seq, a, &run.task_queue));
        write_metadata(w, a.opt_summary(), None)
    }
}

fn write_schedule<'w>(
    w: Put<'w, ScheduleActivityTaskCommandAttributes>,
    seq: u32,
    a: View<ScheduleActivity>,
    own_queue: &str,
) -> Put<'w, ScheduleActivityTaskCommandAttributes> {
    let queue = or_own(a.task_queue(), own_queue);
    w.activity_id(&id_or_seq(a.activity_id(), seq))
        .activity_type(|w| w.name(a.activity_type()))
        .task_queue(|w| w.name(queue))
        .header_of(a.headers())
        .input_of(a.arguments())
        .schedule_to_close_timeout_ms(a.schedule_to_close_timeout_ms())
        .schedule_to_start_timeout_ms(a.schedule_to_start_timeout_ms())
        .start_to_close_timeout_ms(a.start_to_close_timeout_ms())
        .heartbeat_timeout_ms(a.heartbeat_timeout_ms())
        .with(a.opt_retry_policy(), |w, policy| w.retry_policy(|w| write_retry_policy(w, policy)))
        .use_workflow_build_id(stays_with_build(a.versioning_intent(), queue == own_queue))
        .copy_priority(a.opt_priority())
}

impl Wait for CancelRequest {
    type Own = Machines<Activity>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::ScheduleActivity
    }

    fn command_type(&self) -> CommandType {
        CommandType::RequestCancelActivityTask
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn meet(self, event: Attributes, at: EventRef, activities: &mut Machines<Activity>, _: &mut RunState) -> Result<()> {
        let activity = activities.of_event(self.seq, at, "activity")?;
        match event {
            Attributes::ActivityTaskCancelRequested(_) => activity.on_cancel_requested(at),
            Attributes::ActivityTaskScheduled(_) => Err(bad_transition(MACHINE, activity.state, at)),
            _ => Err(wrong_type(NAME, at)),
        }
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        w.request_cancel_activity_task_command_attributes(|w| w.scheduled_event_id(self.scheduled_event_id))
    }
}

impl Answered for Schedule {
    const KIND: CommandKind = CommandKind::ScheduleActivity;

    fn answered(
        seq: u32,
        event: Attributes,
        at: EventRef,
        activities: &mut Machines<Activity>,
        run: &mut RunState,
    ) -> Result<()> {
        if let Some(resolution) = activities.of_event(seq, at, NAME)?.on_event(seq, event, at)? {
            run.jobs.of_event(at.id, resolution);
        }
        Ok(())
    }
}
