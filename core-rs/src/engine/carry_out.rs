//! Carries out orders of a run to other runs: starting children, signals, cancel requests, the
//! report to its parent, ending its children. An order is state of its run until it is carried out;
//! then its effect on the other run and the result in this one are in the same commit, so it
//! happens once, however often the process crashes.
//!
//! Orders are carried out when their batch closes, since a batch that waits for loads stays open.
//! An order whose target cannot be loaded is stored as an item of the run; its row stays `ready`,
//! so it is found after a restart. Orders for one workflow id are carried out in order.
//! after a restart. Orders for one workflow id are carried out in the order in which they were given.
use super::cron::Waiting;
use super::machine::Engine;
use super::messages::events::{CancelRequestedAttrs, StartedAttrs};
use super::messages::orders::*;
use super::rpc::SERVER;
use super::runs::Found;
use super::start::{self, Start};
use super::state::order::Order;
use super::state::run::Run;
use super::time::{SECOND, duration};
use super::{children, close, externals, versioning};
use crate::api::enums::v1::{
    SignalExternalWorkflowExecutionFailedCause as SignalFailed, StartChildWorkflowExecutionFailedCause as StartFailed,
    WorkflowIdConflictPolicy as Conflict, WorkflowIdReusePolicy as Reuse,
};
use crate::sorted::SortedSet;

/// Retry delays of an order whose target is unavailable; other runs may wait for it.
const RETRY_FIRST: i64 = SECOND;
const RETRY_MAX: i64 = 10 * SECOND;

impl Engine {
    /// Carries out what runs have ordered, as far as the runs that it concerns are in memory.
    pub(super) fn carry_out(&mut self) {
        while let Some(slot) = self.cx.orders.pop_front() {
            self.carry_out_of(slot, None);
        }
    }

    /// The host has loaded a run that orders wait for; `available`: it was loaded, or does not
    /// exist.
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
            // All failed orders are retried together: their number must not extend the delay.
            if run.orders.is_empty() || run.orders_deadline.is_some() {
                return;
            }
            run.order_attempts = (run.order_attempts + 1).min(16);
            let wait = (RETRY_FIRST << (run.order_attempts - 1)).min(RETRY_MAX);
            run.set_orders_deadline(Some(cx.now + wait));
        });
    }

    /// `only`: orders for this workflow id. Each response for one of thousands of children must not
    /// scan all of them.
    pub(super) fn carry_out_of(&mut self, slot: u32, only: Option<&str>) {
        let Some(run) = self.runs.get_mut(slot) else { return };
        let (own, own_run_id) = (run.head.workflow_id.clone(), run.head.run_id.clone());
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
            let schedule = order.message.start.as_ref().map(|c| c.cron_schedule.clone()).unwrap_or_default();
            if self.cx.waits_for_cron(&schedule, 0, || Waiting::Orders(own_run_id.clone())) {
                blocked.insert(workflow_id);
                continue;
            }
            // A run may not signal or cancel itself, whichever run of its id it names: as if it were not there.
            let itself = workflow_id == own && matches!(order.message.what, what::SIGNAL | what::CANCEL);
            let target = match if itself { Found::Missing } else { self.runs.find(&workflow_id, &run_id) } {
                Found::Slot(target) => Some(target),
                Found::Missing => None,
                Found::Unknown => {
                    self.runs.want_load(&workflow_id, &run_id);
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
                // The limit of open runs is reached.
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

    /// Returns the order when it has to wait.
    fn carry_out_one(&mut self, slot: u32, order: Outgoing, target: Option<u32>) -> Option<Outgoing> {
        match order.what {
            what::START => return self.start_child(slot, order, target),
            what::SIGNAL => {
                let sender = self.runs.get(slot)?.sender();
                let done = match target {
                    Some(target) => self.with_run(target, |run, cx| externals::signal(run, cx, &order, sender)),
                    None => None,
                };
                let failed = done.unwrap_or(Some(SignalFailed::ExternalWorkflowExecutionNotFound));
                self.with_run(slot, |run, cx| externals::signalled(run, cx, order, failed));
            }
            what::CANCEL => {
                let sender = self.runs.get(slot)?.sender();
                let done = match target {
                    Some(target) => self.with_run(target, |run, cx| externals::cancel(run, cx, &order, sender)),
                    None => None,
                };
                self.with_run(slot, |run, cx| externals::cancel_answered(run, cx, order, done == Some(true)));
            }
            what::TERMINATE_CHILD | what::CANCEL_CHILD => {
                let (parent, bases) = self.runs.get(slot)?.sender();
                self.with_run(target?, |run, cx| {
                    if !run.open() || run.head.first_run_id != order.first_run_id || !run.is_child_of(&parent, &bases) {
                        return;
                    }
                    if order.what == what::TERMINATE_CHILD {
                        return close::terminate(run, cx, "by parent close policy".into(), None, SERVER.into(), Vec::new());
                    }
                    let attrs = CancelRequestedAttrs {
                        external_workflow_execution: Some(parent),
                        identity: SERVER.into(),
                        ..Default::default()
                    };
                    externals::request_cancel(run, cx, "", attrs, Vec::new());
                });
            }
            _ => {
                let target = target?;
                let reset_run_id = self.runs.get(target).filter(|run| !run.open()).map(|run| run.head.reset_run_id.clone());
                if let Some(run_id) = reset_run_id.filter(|id| !id.is_empty()) {
                    // The parent was reset: its new run waits for the child.
                    self.with_run(slot, |run, _| run.order(Outgoing { run_id, ..order }));
                    return None;
                }
                self.with_run(target, |run, cx| children::ended(run, cx, order));
            }
        }
        None
    }

    fn start_child(&mut self, slot: u32, order: Outgoing, target: Option<u32>) -> Option<Outgoing> {
        let parent = self.runs.get(slot)?;
        let mut start = child_start(parent, &self.cx.namespace, &order)?;
        versioning::inherit(parent, &self.cx, &mut start.attrs, 0, true);
        let delay = self.cx.crons.delay(&start.attrs.cron_schedule).unwrap_or(0);
        start.attrs.first_workflow_task_backoff = Some(duration(delay));
        let found = match target.and_then(|target| self.runs.get(target)) {
            None => Ok(start::Found::Free),
            // A parent cannot make room for its child by its own end: no run would wait for the child.
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
                self.with_run(target, |run, cx| close::terminate_for(run, cx, &run_id));
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
        initiator: start::initiator(&c.cron_schedule),
        cron_schedule: c.cron_schedule.clone(),
        memo: c.memo.clone(),
        search_attributes: c.search_attributes.clone(),
        header: c.header.clone(),
        parent_workflow_namespace_id: namespace.into(),
        workflow_id: c.workflow_id.clone(),
        root_workflow_execution: Some(parent.root()),
        priority: merged(&parent.head.priority, &c.priority),
        ..Default::default()
    };
    Some(Start {
        request_id: order.request_id.clone(),
        reuse,
        conflict,
        attrs,
        user_metadata: order.user_metadata.clone(),
        eager: None,
        links: Vec::new(),
        attach: None,
    })
}

/// Concatenated messages merge: fields missing in the child's command come from the parent.
fn merged(base: &Option<Vec<u8>>, over: &Option<Vec<u8>>) -> Option<Vec<u8>> {
    match (base, over) {
        (Some(base), Some(over)) => Some([base.as_slice(), over].concat()),
        (base, over) => over.clone().or_else(|| base.clone()),
    }
}
