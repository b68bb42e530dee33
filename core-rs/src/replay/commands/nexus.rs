//! An operation of a Nexus service (docs/dev/semantics/commands.md#nexus-operations).
//!
//! | state | ...Scheduled | cancel | ...Started | ...Completed, Failed, TimedOut | ...Canceled | ...CancelRequestCompleted, ...Failed |
//! |---|---|---|---|---|---|---|
//! | Created | Scheduled | CancelledBeforeSent: command dropped, start resolved failed | fatal | fatal | fatal | fatal |
//! | Scheduled | fatal | same or Detached: by type, below | Started, start resolved | Closed, start resolved (Completed: and the result) | Detached, start resolved | fatal |
//! | Started | fatal | same or Detached: by type, below | fatal | Closed, resolved | Detached, resolved | same or Detached: by type, below |
//! | Detached | fatal | ignored | same, no job | same, no job | same, no job | same, no job |
//! | Closed | fatal | ignored | fatal | fatal | fatal | same, no job |
//! | CancelledBeforeSent | fatal | ignored | fatal | fatal | fatal | fatal |
//!
//! A cancel, once: TRY_CANCEL queues the request and resolves the operation as cancelled at once,
//! ABANDON only resolves it; both WAIT types queue the request. WAIT_CANCELLATION_REQUESTED is then
//! resolved when the server reports that the request was delivered (cancelled) or could not be
//! (failed). A resolved operation is Detached: it continues at its service and sends no further
//! jobs. Endpoint, service and operation are not compared with the event, as in Core.
use crate::api::enums::v1::CommandType;
use crate::boundary::{CommandKind, NexusOperationCancellationType};
use crate::error::Result;
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{ResolveNexusOperation, ResolveNexusOperationStart, ScheduleNexusOperation};
use crate::proto::views::command::{
    Command, RequestCancelNexusOperationCommandAttributes, ScheduleNexusOperationCommandAttributes,
};
use crate::proto::views::failure::Failure;
use crate::replay::commands::kind::{Answered, Take, Wait};
use crate::replay::commands::machines::{Machines, Numbers};
use crate::replay::commands::shared::{bad_value, cancellation, write_metadata};
use crate::replay::convert::{check_duration, checked};
use crate::replay::event::{EventRef, bad_transition, wrong_type};
use crate::replay::run_state::{Inherited, Initiator, RunState};
use crate::wire::typed::{Encoded, Put, View, build};

const NAME: &str = "Nexus operation";
const MACHINE: &str = "NexusOperationMachine";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The seq was given out, but its command was cut off behind a terminal one.
    #[default]
    Absent,
    Created,
    Scheduled,
    Started,
    Detached,
    Closed,
    CancelledBeforeSent,
}

#[derive(Clone, Debug, Default)]
pub struct Operation {
    state: State,
    cancellation: NexusOperationCancellationType,
    cancel_requested: bool,
    /// Dropped when the operation is over.
    identity: Option<Box<Identity>>,
    scheduled_event_id: i64,
}

#[derive(Clone, Debug, Default)]
struct Identity {
    endpoint: String,
    service: String,
    operation: String,
    token: String,
}

/// Given and queued: the operation is scheduled.
#[derive(Clone, Debug)]
pub struct Schedule {
    seq: u32,
    attributes: Encoded<ScheduleNexusOperation>,
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
    let c = checked::<ScheduleNexusOperation>(bytes)?;
    check_duration("schedule_to_close_timeout_ms", c.schedule_to_close_timeout_ms())?;
    check_duration("schedule_to_start_timeout_ms", c.schedule_to_start_timeout_ms())?;
    check_duration("start_to_close_timeout_ms", c.start_to_close_timeout_ms())?;
    if c.cancellation_type().known().is_none() {
        return bad_value(format!("ScheduleNexusOperation: unknown cancellation_type {}", c.cancellation_type().number));
    }
    let seq = numbers.claim(c.seq())?;
    Ok((seq, Schedule { seq, attributes: c.to_owned() }))
}

/// A job for workflow code.
#[derive(Debug)]
enum Resolution {
    Start(Encoded<ResolveNexusOperationStart>),
    End(Encoded<ResolveNexusOperation>),
}

impl Resolution {
    fn failed_start(seq: u32, failure: View<Failure>) -> Resolution {
        Resolution::Start(build(|w: Put<ResolveNexusOperationStart>| w.seq(seq).failed(failure)))
    }

    fn failed(seq: u32, failure: View<Failure>) -> Resolution {
        Resolution::End(build(|w: Put<ResolveNexusOperation>| w.seq(seq).failed(failure)))
    }

    fn cancelled(seq: u32, failure: View<Failure>) -> Resolution {
        Resolution::End(build(|w: Put<ResolveNexusOperation>| w.seq(seq).cancelled(failure)))
    }
}

impl Take for Schedule {
    type Own = Machines<Operation>;
    type Queued = Option<Schedule>;

    fn take(self, operations: &mut Machines<Operation>, _: &mut RunState) -> Result<Option<Schedule>> {
        let a = self.attributes.view();
        let identity = Identity {
            endpoint: a.endpoint().into(),
            service: a.service().into(),
            operation: a.operation().into(),
            ..Default::default()
        };
        *operations.slot(self.seq) = Operation {
            state: State::Created,
            cancellation: a.cancellation_type().or_default(),
            identity: Some(Box::new(identity)),
            ..Default::default()
        };
        Ok(Some(self))
    }
}

impl Take for Cancel {
    type Own = Machines<Operation>;
    type Queued = Option<CancelRequest>;

    fn take(self, operations: &mut Machines<Operation>, run: &mut RunState) -> Result<Option<CancelRequest>> {
        let operation = operations.named(self.seq, "NexusOperation", CommandKind::ScheduleNexusOperation)?;
        let cancelled = operation.cancel(self.seq);
        match cancelled.resolution {
            Some(Resolution::Start(job)) => run.jobs.same_task(job),
            Some(Resolution::End(job)) => run.jobs.same_task(job),
            None => {}
        }
        let scheduled_event_id = operation.scheduled_event_id;
        Ok(cancelled.request.then_some(CancelRequest { seq: self.seq, scheduled_event_id }))
    }
}

/// What a cancel asks of the run.
#[derive(Debug, Default)]
struct Cancelled {
    /// RequestCancelNexusOperation has to be queued.
    request: bool,
    resolution: Option<Resolution>,
}

impl Operation {
    fn cancel(&mut self, seq: u32) -> Cancelled {
        use NexusOperationCancellationType::{Abandon, TryCancel};
        match self.state {
            State::Created => {
                let failure = self.cancelled("Nexus Operation cancelled before scheduled");
                self.close(State::CancelledBeforeSent);
                Cancelled { request: false, resolution: Some(Resolution::failed_start(seq, failure.view())) }
            }
            State::Scheduled | State::Started if !self.cancel_requested => {
                self.cancel_requested = true;
                let at_once = matches!(self.cancellation, Abandon | TryCancel);
                let resolution = at_once.then(|| {
                    let failure = self.cancelled("Nexus operation cancelled after starting");
                    self.close(State::Detached);
                    Resolution::cancelled(seq, failure.view())
                });
                Cancelled { request: self.cancellation != Abandon, resolution }
            }
            _ => Cancelled::default(),
        }
    }

    fn on_scheduled(&mut self, event: EventRef) -> Result<()> {
        if self.state != State::Created {
            return Err(bad_transition(MACHINE, self.state, event));
        }
        self.state = State::Scheduled;
        self.scheduled_event_id = event.id;
        Ok(())
    }

    fn on_cancel_requested(&self, event: EventRef) -> Result<()> {
        match self.state {
            State::Scheduled | State::Started | State::Detached => Ok(()),
            state => Err(bad_transition(MACHINE, state, event)),
        }
    }

    /// An event that follows the scheduled one: up to two jobs for workflow code, none if
    /// Detached.
    fn on_event(&mut self, seq: u32, event: Attributes, at: EventRef) -> Result<[Option<Resolution>; 2]> {
        use Attributes::*;
        let one = |job: Resolution| Ok([Some(job), None]);
        if self.state == State::Detached {
            return Ok([None, None]);
        }
        match event {
            NexusOperationCancelRequestCompleted(_) => Ok([self.on_cancel_delivered(seq, None, at)?, None]),
            NexusOperationCancelRequestFailed(a) => {
                let none = build(|w: Put<Failure>| w.message(NOT_DELIVERED));
                let cause = a.opt_failure().unwrap_or_else(|| none.view());
                Ok([self.on_cancel_delivered(seq, Some(cause), at)?, None])
            }
            NexusOperationStarted(a) if self.state == State::Scheduled => {
                self.state = State::Started;
                self.identity.get_or_insert_default().token = a.operation_token().into();
                let job = build(|w: Put<ResolveNexusOperationStart>| w.seq(seq).operation_token(a.operation_token()));
                one(Resolution::Start(job))
            }
            NexusOperationCompleted(a) => {
                let started = self.end(State::Closed, at)?;
                let sync = || Resolution::Start(build(|w: Put<ResolveNexusOperationStart>| w.seq(seq).started_sync(|w| w)));
                let result = build(|w: Put<ResolveNexusOperation>| w.seq(seq).completed(|w| w.copy_result(a.opt_result())));
                Ok([(!started).then(sync), Some(Resolution::End(result))])
            }
            NexusOperationFailed(a) => {
                let started = self.end(State::Closed, at)?;
                one(ended(seq, started, false, a.opt_failure(), "Nexus operation failed"))
            }
            NexusOperationTimedOut(a) => {
                let started = self.end(State::Closed, at)?;
                one(ended(seq, started, false, a.opt_failure(), "Nexus operation timed out"))
            }
            NexusOperationCanceled(a) => {
                // Core lets everything follow on it.
                let started = self.end(State::Detached, at)?;
                one(ended(seq, started, true, a.opt_failure(), "Nexus operation was cancelled"))
            }
            NexusOperationStarted(_) => Err(bad_transition(MACHINE, self.state, at)),
            _ => Err(wrong_type(NAME, at)),
        }
    }

    /// The server says what became of the request to cancel. `failure`: it could not be delivered.
    fn on_cancel_delivered(&mut self, seq: u32, failure: Option<View<Failure>>, at: EventRef) -> Result<Option<Resolution>> {
        match self.state {
            State::Started => {}
            State::Closed => return Ok(None),
            state => return Err(bad_transition(MACHINE, state, at)),
        }
        if self.cancellation != NexusOperationCancellationType::WaitCancellationRequested {
            return Ok(None);
        }
        let job = match failure {
            None => Resolution::cancelled(seq, self.cancelled("Nexus operation cancellation request completed").view()),
            Some(cause) => Resolution::failed(seq, self.failure(NOT_DELIVERED, cause).view()),
        };
        self.close(State::Detached);
        Ok(Some(job))
    }

    /// Ends the operation. Returns whether it had started.
    fn end(&mut self, next: State, at: EventRef) -> Result<bool> {
        let started = match self.state {
            State::Scheduled => false,
            State::Started => true,
            state => return Err(bad_transition(MACHINE, state, at)),
        };
        self.close(next);
        Ok(started)
    }

    fn close(&mut self, state: State) {
        self.state = state;
        self.identity = None;
    }

    fn cancelled(&self, message: &str) -> Encoded<Failure> {
        self.failure(message, cancellation("", None).view())
    }

    /// A Failure that wraps another as that of an operation. Those that the server writes come wrapped.
    fn failure(&self, message: &str, cause: View<Failure>) -> Encoded<Failure> {
        build(|w: Put<Failure>| {
            w.message(message).copy_cause(Some(cause)).nexus_operation_execution_failure_info(|w| {
                w.with(self.identity.as_ref(), |w, own| {
                    w.endpoint(&own.endpoint).service(&own.service).operation(&own.operation).operation_token(&own.token)
                })
                .scheduled_event_id(self.scheduled_event_id)
            })
        })
    }
}

const NOT_DELIVERED: &str = "Nexus operation cancellation request failed";

/// An operation that ended without a result.
fn ended(seq: u32, started: bool, canceled: bool, failure: Option<View<Failure>>, what: &str) -> Resolution {
    let none = build(|w: Put<Failure>| w.message(&format!("{what} but failure field was not populated")));
    let failure = failure.unwrap_or_else(|| none.view());
    match (started, canceled) {
        (false, _) => Resolution::failed_start(seq, failure),
        (true, false) => Resolution::failed(seq, failure),
        (true, true) => Resolution::cancelled(seq, failure),
    }
}

impl Wait for Schedule {
    type Own = Machines<Operation>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::ScheduleNexusOperation
    }

    fn command_type(&self) -> CommandType {
        CommandType::ScheduleNexusOperation
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn is_withdrawn(&self, operations: &Machines<Operation>) -> bool {
        operations.get(self.seq).is_some_and(|o| o.state == State::CancelledBeforeSent)
    }

    fn meet(self, event: Attributes, at: EventRef, operations: &mut Machines<Operation>, run: &mut RunState) -> Result<()> {
        let operation = operations.of_event(self.seq, at, NAME)?;
        match event {
            Attributes::NexusOperationScheduled(_) => operation.on_scheduled(at)?,
            Attributes::NexusOperationCancelRequested(_) => return Err(bad_transition(MACHINE, operation.state, at)),
            _ => return Err(wrong_type(NAME, at)),
        }
        run.initiated(at, Initiator::Nexus(self.seq));
        Ok(())
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        let a = self.attributes.view();
        let w = w.schedule_nexus_operation_command_attributes(|w: Put<ScheduleNexusOperationCommandAttributes>| {
            w.endpoint(a.endpoint())
                .service(a.service())
                .operation(a.operation())
                .copy_input(a.opt_input())
                .schedule_to_close_timeout_ms(a.schedule_to_close_timeout_ms())
                .copy_nexus_header(a.nexus_header())
                .schedule_to_start_timeout_ms(a.schedule_to_start_timeout_ms())
                .start_to_close_timeout_ms(a.start_to_close_timeout_ms())
        });
        write_metadata(w, a.opt_summary(), None)
    }
}

impl Wait for CancelRequest {
    type Own = Machines<Operation>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::ScheduleNexusOperation
    }

    fn command_type(&self) -> CommandType {
        CommandType::RequestCancelNexusOperation
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn meet(self, event: Attributes, at: EventRef, operations: &mut Machines<Operation>, _: &mut RunState) -> Result<()> {
        let operation = operations.of_event(self.seq, at, NAME)?;
        match event {
            Attributes::NexusOperationCancelRequested(_) => operation.on_cancel_requested(at),
            Attributes::NexusOperationScheduled(_) => Err(bad_transition(MACHINE, operation.state, at)),
            _ => Err(wrong_type(NAME, at)),
        }
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        w.request_cancel_nexus_operation_command_attributes(|w: Put<RequestCancelNexusOperationCommandAttributes>| {
            w.scheduled_event_id(self.scheduled_event_id)
        })
    }
}

impl Answered for Schedule {
    const KIND: CommandKind = CommandKind::ScheduleNexusOperation;

    fn answered(
        seq: u32,
        event: Attributes,
        at: EventRef,
        operations: &mut Machines<Operation>,
        run: &mut RunState,
    ) -> Result<()> {
        for job in operations.of_event(seq, at, NAME)?.on_event(seq, event, at)?.into_iter().flatten() {
            match job {
                Resolution::Start(job) => run.jobs.of_event(at.id, job),
                Resolution::End(job) => run.jobs.of_event(at.id, job),
            }
        }
        Ok(())
    }
}
