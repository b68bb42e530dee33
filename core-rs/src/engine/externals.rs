//! Signals and cancel requests of one run to another: at the target, and their result in the run that sent them.
use super::context::Context;
use super::event::About;
use super::messages::common::*;
use super::messages::events::*;
use super::messages::orders::Outgoing;
use super::new_run;
use super::rpc::SERVER;
use super::state::run::Run;
use super::updates;
use crate::api::enums::v1::{
    CancelExternalWorkflowExecutionFailedCause as CancelFailed, SignalExternalWorkflowExecutionFailedCause as SignalFailed,
};

/// The run that sent a message, and the runs whose events it copied in resets.
pub type Sender = (WorkflowExecution, Vec<String>);

/// The signal at its target; returns why it fails.
pub fn signal(run: &mut Run, cx: &mut Context, order: &Outgoing, (sender, bases): Sender) -> Option<SignalFailed> {
    let c = order.signal.as_ref()?;
    if !run.open() || (c.child_workflow_only && !run.is_child_of(&sender, &bases)) {
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

/// And its result in the run that sent it.
pub fn signalled(run: &mut Run, cx: &mut Context, order: Outgoing, failed: Option<SignalFailed>) {
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
pub fn cancel(run: &mut Run, cx: &mut Context, order: &Outgoing, (sender, bases): Sender) -> bool {
    let Some(c) = &order.cancel else { return false };
    if run.open() && c.child_workflow_only && !run.is_child_of(&sender, &bases) {
        return false;
    }
    let attrs = CancelRequestedAttrs {
        cause: c.reason.clone(),
        external_initiated_event_id: order.initiated_id,
        external_workflow_execution: Some(sender),
        identity: SERVER.into(),
    };
    request_cancel(run, cx, "", attrs, Vec::new());
    true
}

/// And its result in the run that sent it.
pub fn cancel_answered(run: &mut Run, cx: &mut Context, order: Outgoing, done: bool) {
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

/// A cancel request for a run; a second one changes nothing.
pub fn request_cancel(run: &mut Run, cx: &Context, request_id: &str, attrs: CancelRequestedAttrs, links: Vec<Vec<u8>>) {
    if run.open() && !run.head.cancel_requested {
        let time = run.time(cx.now);
        run.head.cancel_requested = true;
        run.head.cancel_request_id = request_id.into();
        run.add_linked(time, attrs, About::Other, links);
        // As on servers, the request does not wait for the delay of the first task.
        run.set_first_task_deadline(None);
        new_run::first_task_due(run);
    }
}
