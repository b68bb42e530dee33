//! What a run has ordered of other runs: children to start, signals, cancel requests, the report to its parent, and the end of its
//! children. An order is state of the run that gave it until it is carried out; then its effect on the other run and the answer in this
//! one are written by the same commit, so it happens once however often the process dies, with no request ids to compare.
//!
//! Orders are carried out when a batch closes, in the batch in which they were given, because a batch that waits for loads stays open.
//! Only what the host cannot load now survives its batch, as an item of the run; its row is `ready` meanwhile, so it is found again
//! after a restart. Orders for one workflow id are carried out in the order in which they were given.
use super::Engine;
use super::children;
use super::cx::Cx;
use super::event::About;
use super::history::buffer_id;
use super::runs::Found;
use super::start::{self, Start};
use super::state::{Deadline, Run, kind};
use super::time::SECOND;
use super::wire::*;
use super::{close, updates};
use crate::api::enums::v1::{
    CancelExternalWorkflowExecutionFailedCause as CancelFailed, SignalExternalWorkflowExecutionFailedCause as SignalFailed,
    StartChildWorkflowExecutionFailedCause as StartFailed, WorkflowIdConflictPolicy as Conflict, WorkflowIdReusePolicy as Reuse,
};
use crate::sorted::SortedSet;

/// Who acts where no client does, as a server names it.
pub const SERVER: &str = "history-service";
/// An order whose target cannot be had is tried again after this, then ever later; others may be waiting for what it does.
const RETRY_FIRST: i64 = SECOND;
const RETRY_MAX: i64 = 10 * SECOND;

/// Kinds of orders. Numbers are stored: never reuse one.
pub mod what {
    pub const START: i32 = 1;
    pub const SIGNAL: i32 = 2;
    pub const CANCEL: i32 = 3;
    pub const TERMINATE_CHILD: i32 = 4;
    pub const CANCEL_CHILD: i32 = 5;
    pub const REPORT: i32 = 6;
}

wire! {
    /// `first_run_id` is that of the child, where a child is meant.
    Outgoing {
        1 what i32, 2 workflow_id str, 3 run_id str, 4 first_run_id str, 5 initiated_id i64, 6 request_id str,
        7 start msg(StartChild), 8 user_metadata meta, 9 signal msg(SignalExternal), 10 cancel msg(CancelExternal),
        11 status i32, 12 result payloads, 13 failure failure, 14 retry_state i32, 15 child_run_id str,
    }
}

/// An order in memory.
pub struct Order {
    pub message: Outgoing,
    pub stored: bool,
    /// Looked at since it was given or loaded.
    pub tried: bool,
}

impl Run {
    pub fn order(&mut self, message: Outgoing) {
        self.head.order_seq += 1;
        self.orders.insert(self.head.order_seq, Order { message, stored: false, tried: false });
        self.dirty = true;
    }

    fn take_order(&mut self, seq: i64) -> Option<Outgoing> {
        let order = self.orders.remove(&seq)?;
        if order.stored {
            self.mark(kind::ORDER, buffer_id(seq));
        }
        self.dirty = true;
        Some(order.message)
    }

    /// The run closes: what it has asked for itself is not carried out any more.
    pub fn drop_orders(&mut self) {
        for seq in self.orders.keys().copied().collect::<Vec<_>>() {
            self.take_order(seq);
        }
        self.set_orders_deadline(None);
    }

    fn set_orders_deadline(&mut self, new: Option<i64>) {
        self.set_deadline(Deadline::Orders, self.orders_deadline, new);
        self.orders_deadline = new;
    }

    /// Orders that wait, of one kind; for the limits.
    pub fn orders_of(&self, what: i32) -> usize {
        self.orders.values().filter(|o| o.message.what == what).count()
    }
}

/// SIGNAL_EXTERNAL_WORKFLOW_EXECUTION.
pub fn signal_initiated(run: &mut Run, cx: &mut Cx, c: SignalExternal, at: &super::apply::At) {
    let attrs = SignalInitiatedAttrs {
        workflow_task_completed_event_id: at.completed_id,
        namespace: cx.namespace.clone(),
        workflow_execution: c.execution.clone(),
        signal_name: c.signal_name.clone(),
        input: c.input.clone(),
        control: c.control.clone(),
        child_workflow_only: c.child_workflow_only,
        header: c.header.clone(),
        namespace_id: cx.namespace.clone(),
    };
    let initiated_id = at.write(run, &attrs);
    let WorkflowExecution { workflow_id, run_id } = c.execution.clone().unwrap_or_default();
    run.order(Outgoing { what: what::SIGNAL, workflow_id, run_id, initiated_id, signal: Some(c), ..Default::default() });
}

/// REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION.
pub fn cancel_initiated(run: &mut Run, cx: &mut Cx, c: CancelExternal, at: &super::apply::At) {
    let execution = WorkflowExecution { workflow_id: c.workflow_id.clone(), run_id: c.run_id.clone() };
    let attrs = CancelInitiatedAttrs {
        workflow_task_completed_event_id: at.completed_id,
        namespace: cx.namespace.clone(),
        workflow_execution: Some(execution.clone()),
        control: c.control.clone(),
        child_workflow_only: c.child_workflow_only,
        reason: c.reason.clone(),
        namespace_id: cx.namespace.clone(),
    };
    let initiated_id = at.write(run, &attrs);
    let WorkflowExecution { workflow_id, run_id } = execution;
    run.order(Outgoing { what: what::CANCEL, workflow_id, run_id, initiated_id, cancel: Some(c), ..Default::default() });
}

/// A cancel request for a run; a second one changes nothing.
pub fn request_cancel(run: &mut Run, cx: &Cx, request_id: &str, attrs: CancelRequestedAttrs) {
    if run.open() && !run.head.cancel_requested {
        let time = run.time(cx.now);
        run.head.cancel_requested = true;
        run.head.cancel_request_id = request_id.into();
        run.add(time, attrs, About::Other);
        run.want_task = true;
    }
}

/// The order could not be tried: later.
pub fn due(run: &mut Run, cx: &mut Cx) {
    run.orders_deadline = None;
    cx.orders.push_back(run.slot);
}

/// After a step: orders that nobody has looked at.
pub fn announce(run: &Run, cx: &mut Cx) {
    if run.orders.values().any(|o| !o.tried) {
        cx.orders.push_back(run.slot);
    }
}

impl Engine {
    /// Carries out what runs have ordered, as far as the runs that it concerns are in memory.
    pub(super) fn carry_out(&mut self) {
        while let Some(slot) = self.cx.orders.pop_front() {
            self.carry_out_of(slot, None);
        }
    }

    /// The host has answered for a run that orders wait for; `available`: it could tell.
    pub(super) fn orders_answered(&mut self, workflow_id: &str, run_id: &str, available: bool) {
        for slot in self.runs.ordered.remove(&(workflow_id.to_string(), run_id.to_string())).unwrap_or_default() {
            if available {
                self.carry_out_of(slot, Some(workflow_id));
            } else {
                self.retry_orders(slot);
            }
        }
    }

    fn retry_orders(&mut self, slot: u32) {
        self.with_run(slot, |run, cx| {
            // All orders that cannot be carried out now are tried again together: that they are many is no reason to wait longer.
            if run.orders.is_empty() || run.orders_deadline.is_some() {
                return;
            }
            run.order_attempts = (run.order_attempts + 1).min(16);
            let wait = (RETRY_FIRST << (run.order_attempts - 1)).min(RETRY_MAX);
            run.set_orders_deadline(Some(cx.now + wait));
        });
    }

    /// `only`: the orders for this workflow id. Each of the others waits for an answer of its own, and one that comes for every child of
    /// thousands must not look at them all.
    fn carry_out_of(&mut self, slot: u32, only: Option<&str>) {
        let Some(run) = self.runs.get_mut(slot) else { return };
        let own = run.head.workflow_id.clone();
        let mut blocked: SortedSet<String> = SortedSet::new();
        let mut seqs: Vec<i64> = Vec::new();
        for (seq, order) in run.orders.iter_mut() {
            if only.is_none_or(|id| id == order.message.workflow_id) {
                order.tried = true;
                seqs.push(*seq);
            }
        }
        for seq in seqs {
            let Some(order) = self.runs.get_mut(slot).and_then(|run| run.orders.get_mut(&seq)) else { continue };
            let (workflow_id, run_id) = (order.message.workflow_id.clone(), order.message.run_id.clone());
            if blocked.contains(&workflow_id) {
                continue;
            }
            // A run may not signal or cancel itself, whichever run of its id it names: as if it were not there.
            let itself = workflow_id == own && matches!(order.message.what, what::SIGNAL | what::CANCEL);
            let target = match if itself { Found::Missing } else { self.runs.find(&workflow_id, &run_id) } {
                Found::Slot(target) => Some(target),
                Found::Missing => None,
                Found::Unknown => {
                    self.want_load(&workflow_id, &run_id);
                    let waiting = self.runs.ordered.get_or_insert_with((workflow_id.clone(), run_id), Vec::new);
                    if !waiting.contains(&slot) {
                        waiting.push(slot);
                    }
                    blocked.insert(workflow_id);
                    continue;
                }
            };
            let Some(order) = self.runs.get_mut(slot).and_then(|run| run.take_order(seq)) else { continue };
            if let Some(order) = self.carry_out_one(slot, order, target) {
                // There is no room for one more run.
                if let Some(run) = self.runs.get_mut(slot) {
                    run.orders.insert(seq, Order { message: order, stored: false, tried: true });
                }
                self.retry_orders(slot);
                blocked.insert(workflow_id);
            } else if let Some(run) = self.runs.get_mut(slot) {
                run.order_attempts = 0;
            }
        }
        // The state of the run follows also where nothing was written into its history.
        self.with_run(slot, |_, _| ());
    }

    /// Answers the order when it has to wait.
    fn carry_out_one(&mut self, slot: u32, order: Outgoing, target: Option<u32>) -> Option<Outgoing> {
        match order.what {
            what::START => return self.start_child(slot, order, target),
            what::SIGNAL => {
                let sender = self.runs.get(slot)?.execution();
                let done = match target {
                    Some(target) => self.with_run(target, |run, cx| signal(run, cx, &order, sender)),
                    None => None,
                };
                let failed = done.unwrap_or(Some(SignalFailed::ExternalWorkflowExecutionNotFound));
                self.with_run(slot, |run, cx| signalled(run, cx, order, failed));
            }
            what::CANCEL => {
                let sender = self.runs.get(slot)?.execution();
                let done = match target {
                    Some(target) => self.with_run(target, |run, cx| cancel(run, cx, &order, sender)),
                    None => None,
                };
                self.with_run(slot, |run, cx| cancel_answered(run, cx, order, done == Some(true)));
            }
            what::TERMINATE_CHILD | what::CANCEL_CHILD => {
                let parent = self.runs.get(slot)?.execution();
                self.with_run(target?, |run, cx| {
                    if !run.open() || run.head.first_run_id != order.first_run_id || !run.is_child_of(&parent) {
                        return;
                    }
                    if order.what == what::TERMINATE_CHILD {
                        return close::terminate(run, cx, "by parent close policy".into(), None, SERVER.into());
                    }
                    let attrs = CancelRequestedAttrs {
                        external_workflow_execution: Some(parent),
                        identity: SERVER.into(),
                        ..Default::default()
                    };
                    request_cancel(run, cx, "", attrs);
                });
            }
            _ => {
                self.with_run(target?, |run, cx| children::ended(run, cx, order));
            }
        }
        None
    }

    fn start_child(&mut self, slot: u32, order: Outgoing, target: Option<u32>) -> Option<Outgoing> {
        let parent = self.runs.get(slot)?;
        let start = child_start(parent, &self.cx.namespace, &order)?;
        let found = match target.and_then(|target| self.runs.get(target)) {
            None => Ok(start::Found::Free),
            // A parent cannot make room for its child by its own end: nobody would wait for the child.
            Some(_) if target == Some(slot) => Ok(start::Found::Existing),
            Some(run) => start::resolve(&start, run),
        };
        let run_id = match (found, target) {
            (Err(_) | Ok(start::Found::Existing), _) => {
                let cause = StartFailed::WorkflowAlreadyExists;
                self.with_run(slot, |run, cx| children::start_failed(run, cx, &order, cause));
                return None;
            }
            (Ok(start::Found::Same), Some(target)) => self.runs.get(target)?.head.run_id.clone(),
            (Ok(start::Found::Terminate), Some(target)) => {
                let run_id = self.cx.rng.uuid7(self.cx.now);
                let details = super::payload::text_payloads(&format!("terminated by new runID: {run_id}"));
                let reason = "TerminateIfRunning WorkflowIdReusePolicy".to_string();
                self.with_run(target, |run, cx| close::terminate(run, cx, reason, Some(details), SERVER.into()));
                start::fresh(&mut self.cx, start, &run_id);
                run_id
            }
            _ => {
                if start::check_open_runs(&self.cx).is_err() {
                    return Some(order);
                }
                let run_id = self.cx.rng.uuid7(self.cx.now);
                start::fresh(&mut self.cx, start, &run_id);
                run_id
            }
        };
        self.take_spawned();
        self.with_run(slot, |run, cx| children::started(run, cx, &order, &run_id));
        None
    }
}

/// The start request of a child, as it follows from the command and from its parent.
fn child_start(parent: &Run, namespace: &str, order: &Outgoing) -> Option<Start> {
    let c = order.start.as_ref()?;
    #[allow(deprecated)]
    let (reuse, conflict) = match Reuse::try_from(c.workflow_id_reuse_policy) {
        Ok(Reuse::TerminateIfRunning) => (Reuse::AllowDuplicate, Conflict::TerminateExisting),
        Ok(Reuse::Unspecified) | Err(_) => (Reuse::AllowDuplicate, Conflict::Fail),
        Ok(reuse) => (reuse, Conflict::Fail),
    };
    let attrs = StartedAttrs {
        workflow_type: c.workflow_type.clone(),
        parent_workflow_namespace: namespace.into(),
        parent_workflow_execution: Some(parent.execution()),
        parent_initiated_event_id: order.initiated_id,
        task_queue: c.task_queue.clone(),
        input: c.input.clone(),
        workflow_execution_timeout: c.workflow_execution_timeout,
        workflow_run_timeout: c.workflow_run_timeout,
        workflow_task_timeout: c.workflow_task_timeout,
        retry_policy: c.retry_policy.clone(),
        attempt: 1,
        first_workflow_task_backoff: Some(super::time::duration(0)),
        memo: c.memo.clone(),
        search_attributes: c.search_attributes.clone(),
        header: c.header.clone(),
        parent_workflow_namespace_id: namespace.into(),
        workflow_id: c.workflow_id.clone(),
        root_workflow_execution: Some(parent.root()),
        priority: merged(&parent.head.priority, &c.priority),
        ..Default::default()
    };
    Some(Start { request_id: order.request_id.clone(), reuse, conflict, attrs, user_metadata: order.user_metadata.clone() })
}

/// Messages merge by being put behind each other: what the child's command leaves out comes from the parent.
fn merged(base: &Option<Vec<u8>>, over: &Option<Vec<u8>>) -> Option<Vec<u8>> {
    match (base, over) {
        (Some(base), Some(over)) => Some([base.as_slice(), over].concat()),
        (base, over) => over.clone().or_else(|| base.clone()),
    }
}

/// The signal at its target; what it fails with.
fn signal(run: &mut Run, cx: &mut Cx, order: &Outgoing, sender: WorkflowExecution) -> Option<SignalFailed> {
    let c = order.signal.as_ref()?;
    if !run.open() || (c.child_workflow_only && !run.is_child_of(&sender)) {
        return Some(SignalFailed::ExternalWorkflowExecutionNotFound);
    }
    if updates::check_inbox(run, cx).is_err() {
        return Some(SignalFailed::SignalCountLimitExceeded);
    }
    let time = run.time(cx.now);
    run.head.inbox_signals += 1;
    let attrs = SignaledAttrs {
        signal_name: c.signal_name.clone(),
        input: c.input.clone(),
        identity: SERVER.into(),
        header: c.header.clone(),
        external_workflow_execution: Some(sender),
    };
    run.add(time, attrs, About::Other);
    run.want_task = true;
    None
}

/// And what its sender hears of it.
fn signalled(run: &mut Run, cx: &mut Cx, order: Outgoing, failed: Option<SignalFailed>) {
    if !run.open() {
        return;
    }
    let time = run.time(cx.now);
    let (namespace, namespace_id) = (cx.namespace.clone(), cx.namespace.clone());
    let workflow_execution = Some(WorkflowExecution { workflow_id: order.workflow_id, run_id: order.run_id });
    let control = order.signal.map(|c| c.control).unwrap_or_default();
    let initiated_event_id = order.initiated_id;
    match failed {
        None => {
            let attrs = ExternalSignaledAttrs { initiated_event_id, namespace, workflow_execution, control, namespace_id };
            run.add(time, attrs, About::Other);
        }
        Some(cause) => {
            let attrs = SignalFailedAttrs {
                cause: cause as i32,
                workflow_task_completed_event_id: 0,
                namespace,
                workflow_execution,
                initiated_event_id,
                control,
                namespace_id,
            };
            run.add(time, attrs, About::Other);
        }
    }
    run.want_task = true;
}

/// The cancel request at its target. What has ended need not be cancelled any more: that is a success.
fn cancel(run: &mut Run, cx: &mut Cx, order: &Outgoing, sender: WorkflowExecution) -> bool {
    let Some(c) = &order.cancel else { return false };
    if run.open() && c.child_workflow_only && !run.is_child_of(&sender) {
        return false;
    }
    let attrs = CancelRequestedAttrs {
        cause: c.reason.clone(),
        external_initiated_event_id: order.initiated_id,
        external_workflow_execution: Some(sender),
        identity: SERVER.into(),
    };
    request_cancel(run, cx, "", attrs);
    true
}

fn cancel_answered(run: &mut Run, cx: &mut Cx, order: Outgoing, done: bool) {
    if !run.open() {
        return;
    }
    let time = run.time(cx.now);
    let (namespace, namespace_id) = (cx.namespace.clone(), cx.namespace.clone());
    let workflow_execution = Some(WorkflowExecution { workflow_id: order.workflow_id, run_id: order.run_id });
    let initiated_event_id = order.initiated_id;
    if done {
        let attrs = ExternalCancelRequestedAttrs { initiated_event_id, namespace, workflow_execution, namespace_id };
        run.add(time, attrs, About::Other);
    } else {
        let attrs = CancelFailedAttrs {
            cause: CancelFailed::ExternalWorkflowExecutionNotFound as i32,
            workflow_task_completed_event_id: 0,
            namespace,
            workflow_execution,
            initiated_event_id,
            control: order.cancel.map(|c| c.control).unwrap_or_default(),
            namespace_id,
        };
        run.add(time, attrs, About::Other);
    }
    run.want_task = true;
}
