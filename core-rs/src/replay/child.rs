//! A child workflow (docs/dev/semantics/commands.md#children).
//!
//! | state | ...Initiated | cancel | ChildWorkflowExecutionStarted | StartChild...Failed | ...Completed, Failed, TimedOut, Canceled, Terminated |
//! |---|---|---|---|---|---|
//! | Created | Initiated | CancelledBeforeSent: command dropped, start resolved cancelled | fatal | fatal | fatal |
//! | Initiated | fatal | by type, below | Started, start resolved | Closed, start resolved | fatal |
//! | Started | fatal | by type, below | fatal | fatal | Closed, resolved |
//! | Detached (TRY, ABANDON) | fatal | ignored | same | Closed, swallowed | Closed, swallowed |
//! | Closed | fatal | ignored | fatal | fatal | fatal |
//!
//! Cancel of an initiated child: TRY_CANCEL queues the request and resolves the child as cancelled at once, ABANDON only resolves
//! it, both WAIT types only queue the request (Core makes no difference between them), once. A child that is resolved before the
//! server told of its start has no other resolution: its start stays unanswered, as with Core.
use crate::api::enums::v1::{EventType, ParentClosePolicy, RetryState, TimeoutType, WorkflowIdReusePolicy};
use crate::boundary::{ChildWorkflowCancellationType, CoreError};
use crate::error::{Result, codes, misuse, nondeterminism};
use crate::replay::activity::{CANCELED_FAILURE, CAUSE, single_payload};
use crate::replay::convert::{check_duration, check_retry_policy, write_retry_policy, write_wrapped};
use crate::replay::event::{EventRef, Place, bad_transition, wrong_type};
use crate::replay::given::RETRY_POLICY;
use crate::replay::jobs::Variant;
use crate::replay::terminal::Inherited;
use crate::wire::schema::Kind::{Message as Sub, Text, Varint};
use crate::wire::schema::{PAYLOAD, PAYLOAD_ENTRY, PRIORITY, Schema};
use crate::wire::{Message, Writer};

/// Fields of a Failure that say what kind it is.
const TIMEOUT_FAILURE: u32 = 6;
const TERMINATED_FAILURE: u32 = 8;
const CHILD_FAILURE: u32 = 12;

/// Variants of boundary.ResolveChildWorkflowStart and boundary.ResolveChildWorkflow by field number.
const START_STARTED: u32 = 2;
const START_FAILED: u32 = 3;
const START_CANCELLED: u32 = 4;
const COMPLETED: u32 = 2;
const FAILED: u32 = 3;
const CANCELLED: u32 = 4;

pub static START_CHILD_WORKFLOW: Schema = Schema(&[
    (1, Text),
    (2, Text),
    (3, Text),
    (4, Text),
    (5, Sub(&PAYLOAD)),
    (9, Varint),
    (10, Varint),
    (11, Sub(&RETRY_POLICY)),
    (12, Text),
    (13, Sub(&PAYLOAD_ENTRY)),
    (14, Sub(&PAYLOAD_ENTRY)),
    (15, Sub(&PAYLOAD_ENTRY)),
    (16, Varint),
    (17, Sub(&PRIORITY)),
    (18, Sub(&PAYLOAD)),
    (19, Sub(&PAYLOAD)),
    (20, Varint),
]);
pub static CANCEL_CHILD_WORKFLOW: Schema = Schema(&[(1, Varint), (2, Text)]);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
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
    pub state: State,
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

/// Machine name in wordings.
pub const NAME: &str = "Child workflow";
const MACHINE: &str = "ChildWorkflowMachine";

/// What a cancel asks of the run.
#[derive(Debug, Default, PartialEq)]
pub struct Cancelled {
    /// RequestCancelExternalWorkflowExecutionCommandAttributes that have to be queued.
    pub request: Option<Vec<u8>>,
    /// A job for workflow code.
    pub resolution: Option<(Variant, Vec<u8>)>,
}

impl Child {
    /// Of a boundary.StartChildWorkflow.
    pub fn new(a: Message, own_namespace: &str) -> Child {
        let namespace = if a.text(1).is_empty() { own_namespace } else { a.text(1) };
        let identity =
            Identity { namespace: namespace.into(), id: a.text(2).into(), kind: a.text(3).into(), ..Default::default() };
        Child {
            state: State::Created,
            cancellation: ChildWorkflowCancellationType::try_from(a.int32(16)).unwrap_or_default(),
            identity: Some(Box::new(identity)),
            ..Default::default()
        }
    }

    pub fn cancel(&mut self, seq: u32, reason: &str) -> Cancelled {
        use ChildWorkflowCancellationType::{Abandon, TryCancel};
        match self.state {
            State::Created => {
                let message = format!("Child Workflow Execution cancelled before scheduled: {reason}");
                let failure = self.cancelled(&message);
                self.close(State::CancelledBeforeSent);
                let resolution = (Variant::ResolveChildWorkflowStart, answer(seq, START_CANCELLED, &failure));
                Cancelled { request: None, resolution: Some(resolution) }
            }
            State::Initiated | State::Started if !self.cancel_requested => {
                self.cancel_requested = true;
                let request = (self.cancellation != Abandon).then(|| self.cancel_request(reason));
                let at_once = matches!(self.cancellation, Abandon | TryCancel);
                let resolution = at_once.then(|| {
                    let failure = self.cancelled("Child Workflow execution cancelled");
                    self.close(State::Detached);
                    (Variant::ResolveChildWorkflow, answer(seq, CANCELLED, &failure))
                });
                Cancelled { request, resolution }
            }
            _ => Cancelled::default(),
        }
    }

    /// `check`: id and type are compared (flag 1).
    pub fn on_initiated(&mut self, a: Message, check: bool, event: EventRef) -> Result<()> {
        if self.state != State::Created {
            return Err(bad_transition(MACHINE, self.state, event));
        }
        if check && let Some(own) = &self.identity {
            let (id, kind) = (a.text(2), a.sub(3).text(1));
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

    /// An event that answers the initiated one. `Some`: a job for workflow code.
    pub fn on_event(&mut self, seq: u32, kind: EventType, a: Message, event: EventRef) -> Result<Option<(Variant, Vec<u8>)>> {
        use EventType::*;
        let is_start = match kind {
            ChildWorkflowExecutionStarted | StartChildWorkflowExecutionFailed => true,
            ChildWorkflowExecutionCompleted
            | ChildWorkflowExecutionFailed
            | ChildWorkflowExecutionTimedOut
            | ChildWorkflowExecutionTerminated
            | ChildWorkflowExecutionCanceled => false,
            _ => return Err(wrong_type(NAME, event)),
        };
        match self.state {
            State::Initiated if is_start => self.on_start(seq, kind, a, event).map(Some),
            State::Started if !is_start => {
                let job = self.end(seq, kind, a, event)?;
                self.close(State::Closed);
                Ok(Some((Variant::ResolveChildWorkflow, job)))
            }
            State::Detached => {
                if kind != ChildWorkflowExecutionStarted {
                    self.state = State::Closed;
                }
                Ok(None)
            }
            state => Err(bad_transition(MACHINE, state, event)),
        }
    }

    fn on_start(&mut self, seq: u32, kind: EventType, a: Message, event: EventRef) -> Result<(Variant, Vec<u8>)> {
        let own = self.identity.get_or_insert_default();
        let mut w = Writer::new();
        let variant = if kind == EventType::ChildWorkflowExecutionStarted {
            self.state = State::Started;
            self.started_event_id = event.id;
            own.run_id = a.sub(3).text(2).into();
            w.text(1, &own.run_id);
            START_STARTED
        } else {
            w.text(1, &own.id).text(2, &own.kind).int(3, a.int(4));
            self.close(State::Closed);
            START_FAILED
        };
        Ok((Variant::ResolveChildWorkflowStart, answer(seq, variant, &w.finish())))
    }

    /// boundary.ResolveChildWorkflow.
    fn end(&self, seq: u32, kind: EventType, a: Message, event: EventRef) -> Result<Vec<u8>> {
        let final_state = RetryState::NonRetryableFailure as i64;
        Ok(match kind {
            EventType::ChildWorkflowExecutionCompleted => {
                let mut w = Writer::new();
                w.optional(1, single_payload("child workflow", a.get(1)).at_event(event)?);
                answer(seq, COMPLETED, &w.finish())
            }
            EventType::ChildWorkflowExecutionFailed => {
                answer(seq, FAILED, &self.failure("Child Workflow execution failed", a.bytes(1), a.int(7)))
            }
            EventType::ChildWorkflowExecutionTimedOut => {
                let cause = cause("Timed out", TIMEOUT_FAILURE, TimeoutType::StartToClose as i64);
                answer(seq, FAILED, &self.failure("Child Workflow execution timed out", Some(&cause), a.int(6)))
            }
            EventType::ChildWorkflowExecutionTerminated => {
                let cause = cause("Terminated", TERMINATED_FAILURE, 0);
                answer(seq, FAILED, &self.failure("Child Workflow execution terminated", Some(&cause), final_state))
            }
            _ => answer(seq, CANCELLED, &self.cancelled("Child Workflow execution cancelled")),
        })
    }

    fn close(&mut self, state: State) {
        self.state = state;
        self.identity = None;
    }

    /// A Failure that wraps another as that of a child.
    fn failure(&self, message: &str, cause: Option<&[u8]>, retry_state: i64) -> Vec<u8> {
        let mut w = Writer::new();
        w.text(1, message).optional(CAUSE, cause).nested(CHILD_FAILURE, |w| {
            if let Some(own) = &self.identity {
                w.text(1, &own.namespace).nested(2, |w| {
                    w.text(1, &own.id).text(2, &own.run_id);
                });
                w.named(3, &own.kind);
            }
            w.int(4, self.initiated_event_id).int(5, self.started_event_id).int(6, retry_state);
        });
        w.finish()
    }

    fn cancelled(&self, message: &str) -> Vec<u8> {
        self.failure(message, Some(&cause("", CANCELED_FAILURE, 0)), RetryState::NonRetryableFailure as i64)
    }

    fn cancel_request(&self, reason: &str) -> Vec<u8> {
        let mut w = Writer::new();
        if let Some(own) = &self.identity {
            w.text(1, &own.namespace).text(2, &own.id).text(3, &own.run_id);
        }
        w.flag(5, true).text(6, reason);
        w.finish()
    }
}

/// A Failure without more than a message and its kind, whose field 1 is a number.
fn cause(message: &str, kind: u32, number: i64) -> Vec<u8> {
    let mut w = Writer::new();
    w.text(1, message).nested(kind, |w| {
        w.int(1, number);
    });
    w.finish()
}

/// boundary.ResolveChildWorkflowStart or boundary.ResolveChildWorkflow.
fn answer(seq: u32, variant: u32, body: &[u8]) -> Vec<u8> {
    let mut w = Writer::new();
    w.uint(1, u64::from(seq)).message(variant, body);
    w.finish()
}

fn differs(what: &str, code: u32, expected: &str, actual: &str) -> Box<CoreError> {
    let text = format!(
        "Child workflow {what} of scheduled event '{expected}' does not match child workflow {what} of command '{actual}'"
    );
    nondeterminism(code, text).differing(&format!("workflow_{what}"), expected, actual)
}

/// boundary.StartChildWorkflow.
pub fn check(c: Message) -> Result<()> {
    let bad = |text: String| Err(misuse(codes::BAD_VALUE, text));
    for (field, what) in [(2, "an id"), (3, "a type")] {
        if c.text(field).is_empty() {
            return bad(format!("a child workflow needs {what}"));
        }
    }
    check_duration("workflow_execution_timeout_ms", c.double(6))?;
    check_duration("workflow_run_timeout_ms", c.double(7))?;
    check_duration("workflow_task_timeout_ms", c.double(8))?;
    check_retry_policy(c.get(11))?;
    if ParentClosePolicy::try_from(c.int32(9)).is_err() {
        return bad(format!("unknown parent close policy {}", c.int(9)));
    }
    if WorkflowIdReusePolicy::try_from(c.int32(10)).is_err() {
        return bad(format!("unknown workflow id reuse policy {}", c.int(10)));
    }
    if ChildWorkflowCancellationType::try_from(c.int32(16)).is_err() {
        return bad(format!("unknown cancellation type {}", c.int(16)));
    }
    Ok(())
}

/// StartChildWorkflowExecutionCommandAttributes of a boundary.StartChildWorkflow.
pub fn write_start(w: &mut Writer, a: Message, own: &Inherited) {
    let (namespace, queue) = (a.text(1), a.text(4));
    let queue = if queue.is_empty() { &own.task_queue } else { queue };
    w.text(1, if namespace.is_empty() { &own.namespace } else { namespace });
    w.text(2, a.text(2)).named(3, a.text(3)).named(4, queue);
    write_wrapped(w, 5, a.all(5));
    w.duration_ms(6, a.double(6)).duration_ms(7, a.double(7)).duration_ms(8, a.double(8)).int(9, a.int(9)).int(11, a.int(10));
    if let Some(policy) = a.get(11) {
        write_retry_policy(w, 12, policy);
    }
    w.text(13, a.text(12));
    for (to, from) in [(14, 13), (15, 14), (16, 15)] {
        write_wrapped(w, to, a.all(from));
    }
    // inherit_build_id: on the run's own queue the child begins with its version.
    w.flag(17, queue == own.task_queue).data(18, a.bytes(17).unwrap_or_default());
}
