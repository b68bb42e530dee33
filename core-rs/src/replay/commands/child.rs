//! A child workflow (docs/dev/semantics/commands.md#children).
//!
//! | state | ...Initiated | cancel | ChildWorkflowExecutionStarted | StartChild...Failed | ...Completed, Failed, TimedOut, Canceled, Terminated |
//! |---|---|---|---|---|---|
//! | Created | Initiated | CancelledBeforeSent: command dropped, start resolved cancelled | fatal | fatal | fatal |
//! | Initiated | fatal | same or Detached: by type, below | Started, start resolved | Closed, start resolved | fatal |
//! | Started | fatal | same or Detached: by type, below | fatal | fatal | Closed, resolved |
//! | Detached | fatal | ignored | same | Closed, no job | Closed, no job |
//! | Closed, CancelledBeforeSent | fatal | ignored | fatal | fatal | fatal |
//!
//! Cancel of an initiated child: TRY_CANCEL queues the request and resolves the child as cancelled at once, ABANDON only resolves
//! it, both WAIT types only queue the request (Core makes no difference between them), once. A child that is resolved before the
//! server told of its start has no other resolution: its start stays unanswered, as with Core.
use crate::api::enums::v1::{CommandType, RetryState, TimeoutType};
use crate::boundary::{ChildWorkflowCancellationType, CommandKind, CoreError};
use crate::error::{Result, codes, nondeterminism};
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{
    CancelChildWorkflow, ChildWorkflowStartFailed, ResolveChildWorkflow, ResolveChildWorkflowStart, StartChildWorkflow,
};
use crate::proto::views::command::{
    Command, RequestCancelExternalWorkflowExecutionCommandAttributes as CancelAttributes,
    StartChildWorkflowExecutionCommandAttributes as StartAttributes,
};
use crate::proto::views::failure::{ChildWorkflowExecutionFailureInfo, Failure};
use crate::proto::views::history::StartChildWorkflowExecutionInitiatedEventAttributes as InitiatedAttributes;
use crate::replay::commands::cancel_external;
use crate::replay::commands::kind::{Answered, Take, Wait};
use crate::replay::commands::machines::{Machines, Numbers};
use crate::replay::commands::shared::{
    bad_value, cancellation, check_retry_policy, or_own, single_payload, stays_with_build, write_metadata, write_retry_policy,
};
use crate::replay::convert::{check_duration, checked};
use crate::replay::event::{EventRef, Place, bad_transition, wrong_type};
use crate::replay::run_state::{Inherited, Initiator, RunState};
use crate::wire::typed::{Encoded, Put, View, build};

const NAME: &str = "Child workflow";
const MACHINE: &str = "ChildWorkflowMachine";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The seq was given out, but its command was cut off behind a terminal one, or was never sent.
    #[default]
    Absent,
    Created,
    Initiated,
    Started,
    Detached,
    Closed,
    CancelledBeforeSent,
}

#[derive(Clone, Debug, Default)]
pub struct Child {
    state: State,
    cancellation: ChildWorkflowCancellationType,
    cancel_requested: bool,
    /// Dropped when the child is over.
    identity: Option<Box<Identity>>,
    initiated_event_id: i64,
    started_event_id: i64,
}

#[derive(Clone, Debug, Default)]
struct Identity {
    namespace: String,
    id: String,
    kind: String,
    run_id: String,
}

/// Given and queued: the child starts.
#[derive(Clone, Debug)]
pub struct Start {
    seq: u32,
    attributes: Encoded<StartChildWorkflow>,
}

/// Given: workflow code cancels.
#[derive(Debug)]
pub struct Cancel {
    seq: u32,
    reason: String,
}

/// Queued: the server is asked to cancel. In the server's form, made when the child was known.
#[derive(Clone, Debug)]
pub struct CancelRequest {
    seq: u32,
    request: Encoded<CancelAttributes>,
}

pub fn read(bytes: &[u8], numbers: &mut Numbers) -> Result<(u32, Start)> {
    let c = checked::<StartChildWorkflow>(bytes)?;
    for (value, what) in [(c.workflow_id(), "workflow_id"), (c.workflow_type(), "workflow_type")] {
        if value.is_empty() {
            return bad_value(format!("StartChildWorkflow: {what} is empty"));
        }
    }
    check_duration("workflow_execution_timeout_ms", c.workflow_execution_timeout_ms())?;
    check_duration("workflow_run_timeout_ms", c.workflow_run_timeout_ms())?;
    check_duration("workflow_task_timeout_ms", c.workflow_task_timeout_ms())?;
    check_retry_policy(c.opt_retry_policy())?;
    if c.parent_close_policy().known().is_none() {
        return bad_value(format!("StartChildWorkflow: unknown parent_close_policy {}", c.parent_close_policy().number));
    }
    if c.workflow_id_reuse_policy().known().is_none() {
        return bad_value(format!(
            "StartChildWorkflow: unknown workflow_id_reuse_policy {}",
            c.workflow_id_reuse_policy().number
        ));
    }
    if c.cancellation_type().known().is_none() {
        return bad_value(format!("StartChildWorkflow: unknown cancellation_type {}", c.cancellation_type().number));
    }
    let seq = numbers.claim(c.seq())?;
    Ok((seq, Start { seq, attributes: c.to_owned() }))
}

pub fn read_cancel(bytes: &[u8]) -> Result<Cancel> {
    let c = checked::<CancelChildWorkflow>(bytes)?;
    Ok(Cancel { seq: c.seq(), reason: c.reason().into() })
}

impl Take for Start {
    type Own = Machines<Child>;
    type Queued = Option<Start>;

    fn take(self, children: &mut Machines<Child>, run: &mut RunState) -> Result<Option<Start>> {
        *children.slot(self.seq) = Child::new(self.attributes.view(), &run.inherited.namespace);
        Ok(Some(self))
    }
}

impl Take for Cancel {
    type Own = Machines<Child>;
    type Queued = Option<CancelRequest>;

    fn take(self, children: &mut Machines<Child>, run: &mut RunState) -> Result<Option<CancelRequest>> {
        let Cancel { seq, reason } = self;
        let child = children.named(seq, "ChildWorkflowStart", CommandKind::StartChildWorkflow)?;
        let cancelled = child.cancel(seq, &reason);
        match cancelled.resolution {
            Some(Resolution::Start(job)) => run.jobs.same_task(job),
            Some(Resolution::End(job)) => run.jobs.same_task(job),
            None => {}
        }
        Ok(cancelled.request.map(|request| CancelRequest { seq, request }))
    }
}

/// A job for workflow code.
#[derive(Debug)]
enum Resolution {
    Start(Encoded<ResolveChildWorkflowStart>),
    End(Encoded<ResolveChildWorkflow>),
}

/// What a cancel asks of the run.
#[derive(Debug, Default)]
struct Cancelled {
    request: Option<Encoded<CancelAttributes>>,
    resolution: Option<Resolution>,
}

impl Child {
    fn new(a: View<StartChildWorkflow>, own_namespace: &str) -> Child {
        let identity = Identity {
            namespace: or_own(a.namespace(), own_namespace).into(),
            id: a.workflow_id().into(),
            kind: a.workflow_type().into(),
            ..Default::default()
        };
        Child {
            state: State::Created,
            cancellation: a.cancellation_type().or_default(),
            identity: Some(Box::new(identity)),
            ..Default::default()
        }
    }

    fn cancel(&mut self, seq: u32, reason: &str) -> Cancelled {
        use ChildWorkflowCancellationType::{Abandon, TryCancel};
        match self.state {
            State::Created => {
                let message = format!("Child Workflow Execution cancelled before scheduled: {reason}");
                let failure = self.cancelled(&message);
                self.close(State::CancelledBeforeSent);
                let job = build(|w: Put<ResolveChildWorkflowStart>| w.seq(seq).cancelled(failure.view()));
                Cancelled { request: None, resolution: Some(Resolution::Start(job)) }
            }
            State::Initiated | State::Started if !self.cancel_requested => {
                self.cancel_requested = true;
                let request = (self.cancellation != Abandon).then(|| self.cancel_request(reason));
                let at_once = matches!(self.cancellation, Abandon | TryCancel);
                let resolution = at_once.then(|| {
                    let job = self.resolve_cancelled(seq);
                    self.close(State::Detached);
                    Resolution::End(job)
                });
                Cancelled { request, resolution }
            }
            _ => Cancelled::default(),
        }
    }

    /// `check`: id and type are compared (flag 1).
    fn on_initiated(&mut self, a: View<InitiatedAttributes>, check: bool, event: EventRef) -> Result<()> {
        if self.state != State::Created {
            return Err(bad_transition(MACHINE, self.state, event));
        }
        if check && let Some(own) = &self.identity {
            let (id, kind) = (a.workflow_id(), a.workflow_type().name());
            if id != own.id {
                return Err(differs("id", codes::CHILD_ID, id, &own.id));
            }
            if kind != own.kind {
                return Err(differs("type", codes::CHILD_TYPE, kind, &own.kind));
            }
        }
        self.state = State::Initiated;
        self.initiated_event_id = event.id;
        Ok(())
    }

    /// The start succeeded or failed. `Some`: a job for workflow code.
    fn on_start(&mut self, seq: u32, event: Attributes, at: EventRef) -> Result<Option<Encoded<ResolveChildWorkflowStart>>> {
        match self.state {
            State::Initiated => {}
            State::Detached => {
                if !matches!(event, Attributes::ChildWorkflowExecutionStarted(_)) {
                    self.state = State::Closed;
                }
                return Ok(None);
            }
            state => return Err(bad_transition(MACHINE, state, at)),
        }
        let own = self.identity.get_or_insert_default();
        match event {
            Attributes::ChildWorkflowExecutionStarted(a) => {
                self.state = State::Started;
                self.started_event_id = at.id;
                own.run_id = a.workflow_execution().run_id().into();
                Ok(Some(build(|w: Put<ResolveChildWorkflowStart>| w.seq(seq).started(|w| w.run_id(&own.run_id)))))
            }
            Attributes::StartChildWorkflowExecutionFailed(a) => {
                let failed = build(|w: Put<ChildWorkflowStartFailed>| {
                    w.workflow_id(&own.id).workflow_type(&own.kind).cause(a.cause().into())
                });
                self.close(State::Closed);
                Ok(Some(build(|w: Put<ResolveChildWorkflowStart>| w.seq(seq).copy_failed(Some(failed.view())))))
            }
            _ => Err(wrong_type(NAME, at)),
        }
    }

    /// The child ended. `Some`: a job for workflow code.
    fn on_end(&mut self, seq: u32, event: Attributes, at: EventRef) -> Result<Option<Encoded<ResolveChildWorkflow>>> {
        match self.state {
            State::Started => {}
            State::Detached => {
                self.state = State::Closed;
                return Ok(None);
            }
            state => return Err(bad_transition(MACHINE, state, at)),
        }
        let final_state = RetryState::NonRetryableFailure as i32;
        let failed = |failure: Encoded<Failure>| build(|w: Put<ResolveChildWorkflow>| w.seq(seq).failed(failure.view()));
        let job = match event {
            Attributes::ChildWorkflowExecutionCompleted(a) => {
                let result = single_payload("child workflow", a.opt_result())?;
                build(|w: Put<ResolveChildWorkflow>| w.seq(seq).completed(|w| w.copy_result(result)))
            }
            Attributes::ChildWorkflowExecutionFailed(a) => {
                failed(self.failure("Child Workflow execution failed", a.opt_failure(), a.retry_state().into()))
            }
            Attributes::ChildWorkflowExecutionTimedOut(a) => {
                let cause = build(|w: Put<Failure>| {
                    w.message("Timed out").timeout_failure_info(|w| w.timeout_type(TimeoutType::StartToClose))
                });
                failed(self.failure("Child Workflow execution timed out", Some(cause.view()), a.retry_state().into()))
            }
            Attributes::ChildWorkflowExecutionTerminated(_) => {
                let cause = build(|w: Put<Failure>| w.message("Terminated").terminated_failure_info(|w| w));
                failed(self.failure("Child Workflow execution terminated", Some(cause.view()), final_state))
            }
            Attributes::ChildWorkflowExecutionCanceled(_) => self.resolve_cancelled(seq),
            _ => return Err(wrong_type(NAME, at)),
        };
        self.close(State::Closed);
        Ok(Some(job))
    }

    fn close(&mut self, state: State) {
        self.state = state;
        self.identity = None;
    }

    fn resolve_cancelled(&self, seq: u32) -> Encoded<ResolveChildWorkflow> {
        let failure = self.cancelled("Child Workflow execution cancelled");
        build(|w: Put<ResolveChildWorkflow>| w.seq(seq).cancelled(failure.view()))
    }

    /// A Failure that wraps another as that of a child.
    fn failure(&self, message: &str, cause: Option<View<Failure>>, retry_state: i32) -> Encoded<Failure> {
        build(|w: Put<Failure>| {
            w.message(message)
                .copy_cause(cause)
                .child_workflow_execution_failure_info(|w| self.write_info(w).retry_state(retry_state))
        })
    }

    fn write_info<'w>(&self, w: Put<'w, ChildWorkflowExecutionFailureInfo>) -> Put<'w, ChildWorkflowExecutionFailureInfo> {
        w.with(self.identity.as_ref(), |w, own| {
            w.namespace(&own.namespace)
                .workflow_execution(|w| w.workflow_id(&own.id).run_id(&own.run_id))
                .workflow_type(|w| w.name(&own.kind))
        })
        .initiated_event_id(self.initiated_event_id)
        .started_event_id(self.started_event_id)
    }

    fn cancelled(&self, message: &str) -> Encoded<Failure> {
        let cause = cancellation("", None);
        self.failure(message, Some(cause.view()), RetryState::NonRetryableFailure as i32)
    }

    fn cancel_request(&self, reason: &str) -> Encoded<CancelAttributes> {
        build(|w: Put<CancelAttributes>| {
            w.with(self.identity.as_ref(), |w, own| w.namespace(&own.namespace).workflow_id(&own.id).run_id(&own.run_id))
                .child_workflow_only(true)
                .reason(reason)
        })
    }
}

fn differs(what: &str, code: u32, expected: &str, actual: &str) -> Box<CoreError> {
    let text = format!(
        "Child workflow {what} of scheduled event '{expected}' does not match child workflow {what} of command '{actual}'"
    );
    nondeterminism(code, text).differing(&format!("workflow_{what}"), expected, actual)
}

impl Wait for Start {
    type Own = Machines<Child>;

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::StartChildWorkflow
    }

    fn command_type(&self) -> CommandType {
        CommandType::StartChildWorkflowExecution
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn is_withdrawn(&self, children: &Machines<Child>) -> bool {
        children.get(self.seq).is_some_and(|c| c.state == State::CancelledBeforeSent)
    }

    fn meet(self, event: Attributes, at: EventRef, children: &mut Machines<Child>, run: &mut RunState) -> Result<()> {
        let Attributes::StartChildWorkflowExecutionInitiated(a) = event else { return Err(wrong_type(NAME, at)) };
        let check = run.checks_identity();
        children.of_event(self.seq, at, "child workflow")?.on_initiated(a, check, at)?;
        run.initiated(at, Initiator::Child(self.seq));
        Ok(())
    }

    fn write<'w>(&self, w: Put<'w, Command>, run: &Inherited) -> Put<'w, Command> {
        let a = self.attributes.view();
        let w = w.start_child_workflow_execution_command_attributes(|w| write_start(w, a, run));
        write_metadata(w, a.opt_summary(), a.opt_details())
    }
}

fn write_start<'w>(w: Put<'w, StartAttributes>, a: View<StartChildWorkflow>, run: &Inherited) -> Put<'w, StartAttributes> {
    let queue = or_own(a.task_queue(), &run.task_queue);
    w.namespace(or_own(a.namespace(), &run.namespace))
        .workflow_id(a.workflow_id())
        .workflow_type(|w| w.name(a.workflow_type()))
        .task_queue(|w| w.name(queue))
        .input_of(a.arguments())
        .workflow_execution_timeout_ms(a.workflow_execution_timeout_ms())
        .workflow_run_timeout_ms(a.workflow_run_timeout_ms())
        .workflow_task_timeout_ms(a.workflow_task_timeout_ms())
        .parent_close_policy(a.parent_close_policy())
        .workflow_id_reuse_policy(a.workflow_id_reuse_policy())
        .with(a.opt_retry_policy(), |w, policy| w.retry_policy(|w| write_retry_policy(w, policy)))
        .cron_schedule(a.cron_schedule())
        .header_of(a.headers())
        .memo_of(a.memo())
        .search_attributes_of(a.search_attributes())
        .inherit_build_id(stays_with_build(a.versioning_intent(), queue == run.task_queue))
        .copy_priority(a.opt_priority())
}

impl Wait for CancelRequest {
    type Own = ();

    fn machine(&self) -> &'static str {
        cancel_external::NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::CancelChildWorkflow
    }

    fn command_type(&self) -> CommandType {
        CommandType::RequestCancelExternalWorkflowExecution
    }

    fn seq(&self) -> u32 {
        self.seq
    }

    fn meet(self, event: Attributes, at: EventRef, _: &mut (), run: &mut RunState) -> Result<()> {
        if !matches!(event, Attributes::RequestCancelExternalWorkflowExecutionInitiated(_)) {
            return Err(wrong_type(self.machine(), at));
        }
        run.initiated(at, Initiator::CancelChild(self.seq));
        Ok(())
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        w.copy_request_cancel_external_workflow_execution_command_attributes(Some(self.request.view()))
    }
}

impl Answered for Start {
    const KIND: CommandKind = CommandKind::StartChildWorkflow;

    fn answered(seq: u32, event: Attributes, at: EventRef, children: &mut Machines<Child>, run: &mut RunState) -> Result<()> {
        use Attributes::*;
        let child = children.of_event(seq, at, "child workflow")?;
        match event {
            ChildWorkflowExecutionStarted(_) | StartChildWorkflowExecutionFailed(_) => {
                if let Some(job) = child.on_start(seq, event, at)? {
                    run.jobs.of_event(at.id, job);
                }
            }
            ChildWorkflowExecutionCompleted(_)
            | ChildWorkflowExecutionFailed(_)
            | ChildWorkflowExecutionTimedOut(_)
            | ChildWorkflowExecutionTerminated(_)
            | ChildWorkflowExecutionCanceled(_) => {
                if let Some(job) = child.on_end(seq, event, at)? {
                    run.jobs.of_event(at.id, job);
                }
            }
            _ => return Err(wrong_type(NAME, at)),
        }
        Ok(())
    }
}

impl Answered for CancelRequest {
    const KIND: CommandKind = CommandKind::CancelChildWorkflow;

    /// The result of the request is ignored: the child ends, or does not.
    fn answered(_: u32, event: Attributes, at: EventRef, _: &mut (), _: &mut RunState) -> Result<()> {
        cancel_external::check_answer(event, at)
    }
}
