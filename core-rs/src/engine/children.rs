//! A parent's side of its children: started (or not), ended; and what becomes of them when the parent closes.
//!
//! A child is pending from its Initiated event until its end is reported. Its end is reported once, by its last run: a run that continues as new
//! or is retried hands the link to its parent on (`Head.parent`), and the parent knows the child by its first run.
use super::context::Context;
use super::event::About;
use super::messages::common::*;
use super::messages::events::*;
use super::messages::orders::{Outgoing, what};
use super::state::run::Run;
use crate::api::enums::v1::{
    ParentClosePolicy, StartChildWorkflowExecutionFailedCause as StartFailed, WorkflowExecutionStatus as Status,
};

/// The child has a run.
pub fn started(run: &mut Run, cx: &mut Context, order: &Outgoing, run_id: &str) {
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

pub fn start_failed(run: &mut Run, cx: &mut Context, order: &Outgoing, cause: StartFailed) {
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

/// A report of the child's last run, at its parent. It is ignored when the child is not pending any more.
pub fn ended(run: &mut Run, cx: &mut Context, report: Outgoing) {
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
    fn add<A: Ending + 'static>(run: &mut Run, time: i64, initiated: i64, attrs: A) {
        run.add(time, attrs, About::ChildEnded(initiated, A::STARTED));
        run.want_task = true;
    }
    macro_rules! report {
        ($attrs:ident { $($more:ident $(: $value:expr)?),* }) => {
            add(run, time, initiated_event_id, $attrs {
                namespace, workflow_execution, workflow_type, initiated_event_id, started_event_id, namespace_id,
                $($more $(: $value)?),*
            })
        };
    }
    match Status::try_from(report.status) {
        Ok(Status::Completed) => report!(ChildCompletedAttrs { result: report.result }),
        Ok(Status::Failed) => report!(ChildFailedAttrs { failure: report.failure, retry_state }),
        Ok(Status::Canceled) => report!(ChildCanceledAttrs { details: report.result }),
        Ok(Status::TimedOut) => report!(ChildTimedOutAttrs { retry_state }),
        _ => report!(ChildTerminatedAttrs {}),
    }
}

/// How a run ended, as its parent sees it.
#[derive(Default)]
pub struct End {
    /// Result, or details of a cancellation.
    pub payloads: Option<Vec<u8>>,
    pub failure: Option<Vec<u8>>,
    pub retry_state: i32,
    /// The run was reset: the run that follows it reports to the parent.
    pub reset: bool,
    /// All children stay with that run.
    pub keeps_children: bool,
    /// Children that stay with that run: ids of their Initiated events and of their first runs.
    pub kept: Vec<(i64, String)>,
}

/// The run closes: orders that were not begun are dropped (as on a server), its parent gets a report if this was its last run,
/// and its open children are treated by their policy.
pub fn run_closed(run: &mut Run, status: Status, last: bool, end: End) {
    run.drop_orders();
    if let (Some(parent), true) = (run.head.parent.clone(), last && !end.reset) {
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
        let kept = end.keeps_children || end.kept.iter().any(|(initiated, run)| *initiated == id && *run == child.run_id);
        if !child.run_id.is_empty() && !kept {
            run.order(Outgoing { what, workflow_id: child.workflow_id, first_run_id: child.run_id, ..Default::default() });
        }
    }
}
