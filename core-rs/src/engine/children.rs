//! A parent's side of its children: initiated, started (or not), ended; and what becomes of them when the parent closes.
//!
//! A child is pending from its Initiated event until its end is told. Its end is told once, by its last run: a run that continues as new
//! or is retried hands the link to its parent on (`Head.parent`), and the parent knows the child by its first run.
use super::apply::At;
use super::cx::Cx;
use super::event::{About, Attributes};
use super::outgoing::{Outgoing, what};
use super::search_attributes;
use super::state::{ChildState, Run, kind};
use super::wire::*;
use crate::api::enums::v1::{
    ParentClosePolicy, StartChildWorkflowExecutionFailedCause as StartFailed, WorkflowExecutionStatus as Status,
};

/// START_CHILD_WORKFLOW_EXECUTION: the event, the pending child, and the order to start it.
pub fn initiated(run: &mut Run, cx: &mut Cx, mut c: StartChild, at: &At) {
    c.search_attributes = search_attributes::typed(c.search_attributes.take(), None);
    c.namespace.clone_from(&cx.namespace);
    let attrs = ChildInitiatedAttrs {
        namespace: c.namespace.clone(),
        workflow_id: c.workflow_id.clone(),
        workflow_type: c.workflow_type.clone(),
        task_queue: c.task_queue.clone(),
        input: c.input.clone(),
        workflow_execution_timeout: c.workflow_execution_timeout,
        workflow_run_timeout: c.workflow_run_timeout,
        workflow_task_timeout: c.workflow_task_timeout,
        parent_close_policy: c.parent_close_policy,
        control: c.control.clone(),
        workflow_task_completed_event_id: at.completed_id,
        workflow_id_reuse_policy: c.workflow_id_reuse_policy,
        retry_policy: c.retry_policy.clone(),
        cron_schedule: c.cron_schedule.clone(),
        header: c.header.clone(),
        memo: c.memo.clone(),
        search_attributes: c.search_attributes.clone(),
        namespace_id: cx.namespace.clone(),
        inherit_build_id: c.inherit_build_id,
        priority: c.priority.clone(),
    };
    let initiated_id = at.write(run, &attrs);
    let child = ChildState {
        initiated_id,
        workflow_id: c.workflow_id.clone(),
        workflow_type: c.workflow_type.as_ref().map(|t| t.name.clone()).unwrap_or_default(),
        parent_close_policy: c.parent_close_policy,
        ..Default::default()
    };
    run.mark(kind::CHILD, initiated_id.to_string());
    run.children.insert(initiated_id, child);
    let order = Outgoing {
        what: what::START,
        workflow_id: c.workflow_id.clone(),
        initiated_id,
        request_id: cx.rng.uuid4(),
        user_metadata: at.extras.user_metadata.clone(),
        start: Some(c),
        ..Default::default()
    };
    run.order(order);
}

/// The child has a run.
pub fn started(run: &mut Run, cx: &mut Cx, order: &Outgoing, run_id: &str) {
    let (Some(child), Some(c)) = (run.children.get_mut(&order.initiated_id), &order.start) else { return };
    child.run_id = run_id.into();
    let attrs = ChildStartedAttrs {
        namespace: cx.namespace.clone(),
        initiated_event_id: order.initiated_id,
        workflow_execution: Some(WorkflowExecution { workflow_id: c.workflow_id.clone(), run_id: run_id.into() }),
        workflow_type: c.workflow_type.clone(),
        header: c.header.clone(),
        namespace_id: cx.namespace.clone(),
    };
    let time = run.time(cx.now);
    let id = run.add(time, attrs, About::ChildStarted(order.initiated_id));
    run.child_started_as(order.initiated_id, id);
    run.want_task = true;
}

pub fn start_failed(run: &mut Run, cx: &mut Cx, order: &Outgoing, cause: StartFailed) {
    if run.remove_child(order.initiated_id).is_none() {
        return;
    }
    let attrs = ChildStartFailedAttrs {
        namespace: cx.namespace.clone(),
        workflow_id: order.workflow_id.clone(),
        workflow_type: order.start.as_ref().and_then(|c| c.workflow_type.clone()),
        cause: cause as i32,
        control: order.start.as_ref().map(|c| c.control.clone()).unwrap_or_default(),
        initiated_event_id: order.initiated_id,
        workflow_task_completed_event_id: 0,
        namespace_id: cx.namespace.clone(),
    };
    let time = run.time(cx.now);
    run.add(time, attrs, About::Other);
    run.want_task = true;
}

/// A report of the child's last run, at its parent. Nothing happens when nobody waits for it any more.
pub fn ended(run: &mut Run, cx: &mut Cx, report: Outgoing) {
    let initiated_event_id = report.initiated_id;
    let known = run.children.get(&initiated_event_id).is_some_and(|c| c.run_id == report.first_run_id);
    if !run.open() || !known {
        return;
    }
    let Some(child) = run.remove_child(initiated_event_id) else { return };
    let started_event_id = child.started_id;
    let workflow_execution = Some(WorkflowExecution { workflow_id: child.workflow_id, run_id: report.child_run_id });
    let workflow_type = Some(Named { name: child.workflow_type });
    let (namespace, namespace_id, retry_state) = (cx.namespace.clone(), cx.namespace.clone(), report.retry_state);
    let time = run.time(cx.now);
    fn add<A: Attributes + 'static>(run: &mut Run, time: i64, initiated: i64, started_field: u32, attrs: A) {
        run.add(time, attrs, About::ChildEnded(initiated, started_field));
        run.want_task = true;
    }
    macro_rules! tell {
        ($field:literal, $attrs:ident { $($more:ident $(: $value:expr)?),* }) => {
            add(run, time, initiated_event_id, $field, $attrs {
                namespace, workflow_execution, workflow_type, initiated_event_id, started_event_id, namespace_id,
                $($more $(: $value)?),*
            })
        };
    }
    match Status::try_from(report.status) {
        Ok(Status::Completed) => tell!(6, ChildCompletedAttrs { result: report.result }),
        Ok(Status::Failed) => tell!(6, ChildFailedAttrs { failure: report.failure, retry_state }),
        Ok(Status::Canceled) => tell!(6, ChildCanceledAttrs { details: report.result }),
        Ok(Status::TimedOut) => tell!(5, ChildTimedOutAttrs { retry_state }),
        _ => tell!(5, ChildTerminatedAttrs {}),
    }
}

/// How a run ended, as its parent is told.
#[derive(Default)]
pub struct End {
    /// Result, or details of a cancellation.
    pub payloads: Option<Vec<u8>>,
    pub failure: Option<Vec<u8>>,
    pub retry_state: i32,
}

/// The run closes: what it has ordered and nobody has begun is dropped (as on a server), its parent is told if this was its last run,
/// and its open children are treated by their policy.
pub fn run_closed(run: &mut Run, status: Status, last: bool, end: End) {
    run.drop_orders();
    if let (Some(parent), true) = (run.head.parent.clone(), last) {
        run.order(Outgoing {
            what: what::REPORT,
            workflow_id: parent.workflow_id,
            run_id: parent.run_id,
            initiated_id: run.head.parent_initiated_id,
            first_run_id: run.head.first_run_id.clone(),
            child_run_id: run.head.run_id.clone(),
            status: status as i32,
            result: end.payloads,
            failure: end.failure,
            retry_state: end.retry_state,
            ..Default::default()
        });
    }
    for id in run.children.keys().copied().collect::<Vec<_>>() {
        let Some(child) = run.remove_child(id) else { continue };
        let what = match ParentClosePolicy::try_from(child.parent_close_policy) {
            Ok(ParentClosePolicy::Terminate) => what::TERMINATE_CHILD,
            Ok(ParentClosePolicy::RequestCancel) => what::CANCEL_CHILD,
            _ => continue,
        };
        // One that has not been started never will be.
        if !child.run_id.is_empty() {
            run.order(Outgoing { what, workflow_id: child.workflow_id, first_run_id: child.run_id, ..Default::default() });
        }
    }
}

impl Run {
    /// Takes a child out of the pending ones.
    pub fn remove_child(&mut self, initiated_id: i64) -> Option<ChildState> {
        let child = self.children.remove(&initiated_id)?;
        self.mark(kind::CHILD, initiated_id.to_string());
        Some(child)
    }

    /// The id of a child's Started event; 0 while that event is buffered.
    pub fn child_started_as(&mut self, initiated_id: i64, event_id: i64) {
        if let Some(child) = self.children.get_mut(&initiated_id) {
            child.started_id = event_id;
            self.mark(kind::CHILD, initiated_id.to_string());
        }
    }

    /// Whether the run is a child of this very run.
    pub fn is_child_of(&self, parent: &WorkflowExecution) -> bool {
        self.head.parent.as_ref().is_some_and(|p| p.workflow_id == parent.workflow_id && p.run_id == parent.run_id)
    }

    pub fn execution(&self) -> WorkflowExecution {
        WorkflowExecution { workflow_id: self.head.workflow_id.clone(), run_id: self.head.run_id.clone() }
    }

    /// The first of the runs that this one descends from, by chains and by parents.
    pub fn root(&self) -> WorkflowExecution {
        let own = || WorkflowExecution { workflow_id: self.head.workflow_id.clone(), run_id: self.head.first_run_id.clone() };
        self.head.root.clone().unwrap_or_else(own)
    }
}
