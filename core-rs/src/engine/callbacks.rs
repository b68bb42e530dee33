//! Callbacks of a run: when its last run has closed, the host delivers the outcome to the callers.
use super::children::End;
use super::codec;
use super::context::Context;
use super::links;
use super::messages::failure::{self, Failure};
use super::messages::nexus::{CallbackState, NexusOutcome, callback, what};
use super::nexus::backoff;
use super::payloads::first;
use super::state::pending::Callback;
use super::state::run::{Deadline, Run, kind};
use super::time::Micros;
use crate::api::enums::v1::{TimeoutType, WorkflowExecutionStatus as Status};
use crate::boundary::{NexusCall, NexusCallKind};

pub const MAX: usize = 32;

/// Adds callbacks of an open run.
/// `request_id`: of the request that attached them to a running workflow.
pub fn add(run: &mut Run, callbacks: &[Vec<u8>], time: Micros, request_id: &str) {
    for each in callbacks {
        let id = run.callbacks.len() as i64;
        let state = CallbackState {
            callback: Some(each.clone()),
            registered_us: time,
            state: callback::STANDBY,
            request_id: request_id.into(),
            ..Default::default()
        };
        run.callbacks.insert(id, Callback { state, deadline: None, calling: false });
        run.mark(kind::CALLBACK, id.to_string());
    }
}

/// Callbacks that the run which continues this one inherits.
pub fn carried(run: &Run) -> Vec<Vec<u8>> {
    run.callbacks.values().filter_map(|c| c.state.callback.clone()).collect()
}

/// The last run of a chain has closed.
pub fn run_closed(run: &mut Run, cx: &mut Context, status: Status, end: &End) {
    if run.callbacks.is_empty() {
        return;
    }
    let outcome = outcome(run, status, end);
    let (namespace, execution) = (cx.namespace.clone(), run.execution());
    for id in run.callbacks.keys().copied().collect::<Vec<_>>() {
        let Some(c) = run.callbacks.get_mut(&id) else { continue };
        let mut outcome = outcome.clone();
        if !c.state.request_id.is_empty() {
            outcome.request_id.clone_from(&c.state.request_id);
            let link = links::to_attached(&namespace, &execution.workflow_id, &execution.run_id, &outcome.request_id);
            outcome.links.push(codec::bytes(&link));
        }
        c.state.outcome = Some(outcome);
        c.state.state = callback::SCHEDULED;
        touched(run, id);
        call(run, cx, id);
    }
}

fn outcome(run: &Run, status: Status, end: &End) -> NexusOutcome {
    let (what, failure) = match status {
        Status::Completed => (what::COMPLETED, None),
        Status::Failed => (what::FAILED, end.failure.clone()),
        Status::Canceled => (what::CANCELED, Some(failure::canceled("operation canceled", end.payloads.clone()))),
        Status::TimedOut => {
            let failure = failure::timeout("operation exceeded internal timeout", TimeoutType::StartToClose);
            (what::FAILED, Some(codec::bytes(&Failure { source: String::new(), ..failure })))
        }
        _ => (what::FAILED, Some(failure::terminated("operation terminated"))),
    };
    NexusOutcome {
        workflow_id: run.head.workflow_id.clone(),
        run_id: run.head.run_id.clone(),
        what,
        result: if what == what::COMPLETED { end.payloads.as_deref().and_then(first) } else { None },
        failure,
        request_id: run.head.create_request_id.clone(),
        started_us: run.head.start_us,
        ..Default::default()
    }
}

fn touched(run: &mut Run, id: i64) {
    restore(run, id);
    run.mark(kind::CALLBACK, id.to_string());
}

fn restore(run: &mut Run, id: i64) {
    let Some(c) = run.callbacks.get_mut(&id) else { return };
    let next = (c.state.next_attempt_us > 0).then_some(c.state.next_attempt_us);
    let old = std::mem::replace(&mut c.deadline, next);
    run.set_deadline(Deadline::Callback(id), old, next);
}

/// A loaded callback: one that was in flight is delivered again.
pub fn recover(run: &mut Run, cx: &mut Context, id: i64) {
    restore(run, id);
    if run.callbacks.get(&id).is_some_and(|c| c.state.state == callback::SCHEDULED) {
        call(run, cx, id);
        run.dirty = true;
    }
}

/// The back-off is over.
pub fn due(run: &mut Run, cx: &mut Context, id: i64) {
    let Some(c) = run.callbacks.get_mut(&id) else { return };
    c.state.next_attempt_us = 0;
    c.state.state = callback::SCHEDULED;
    touched(run, id);
    call(run, cx, id);
}

fn call(run: &mut Run, cx: &mut Context, id: i64) {
    let Some(c) = run.callbacks.get_mut(&id) else { return };
    if std::mem::replace(&mut c.calling, true) {
        return;
    }
    cx.nexus_calls.push(NexusCall {
        kind: NexusCallKind::Callback as i32,
        workflow_id: run.head.workflow_id.clone(),
        run_id: run.head.run_id.clone(),
        scheduled_id: id as u32,
        attempt: c.state.attempt as u32,
        attributes: c.state.callback.clone().unwrap_or_default(),
        outcome: c.state.outcome.as_ref().map(|o| codec::bytes(o)).unwrap_or_default(),
        ..Default::default()
    });
}

/// What the delivery came to.
pub fn call_ended(run: &mut Run, cx: &mut Context, o: NexusOutcome) {
    let time = run.time(cx.now);
    let known = |c: &&mut Callback| c.state.state == callback::SCHEDULED && c.state.attempt == o.attempt;
    let Some(c) = run.callbacks.get_mut(&o.scheduled_id).filter(known) else { return };
    c.calling = false;
    c.state.attempt += 1;
    c.state.last_complete_us = time;
    c.state.last_failure = o.failure;
    match o.what {
        what::RETRY => {
            c.state.state = callback::BACKING_OFF;
            c.state.next_attempt_us = time + backoff(c.state.attempt);
        }
        what::DELIVERED => c.state.state = callback::SUCCEEDED,
        what::REJECTED => c.state.state = callback::FAILED,
        _ => return,
    }
    if o.what != what::RETRY {
        c.state.outcome = None;
    }
    touched(run, o.scheduled_id);
}
