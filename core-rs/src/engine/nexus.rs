//! Nexus operations of a run. The host makes the calls to their handlers (`Flush.nexus_calls`) after the commit and enters what they
//! came to. A call that was lost with its process is made again when the run is loaded: handlers recognize it by its request id.
use super::codec;
use super::context::Context;
use super::event::About;
use super::messages::events::*;
use super::messages::failure::{self, Failure, NexusInfo};
use super::messages::nexus::{NexusCancellation, NexusOutcome, NexusState, cancellation, what};
use super::state::pending::Nexus;
use super::state::run::{Deadline, Run, kind};
use super::time::{Micros, SECOND, micros_or_zero};
use crate::api::enums::v1::TimeoutType;
use crate::boundary::{NexusCall, NexusCallKind};

const RETRY_FIRST: Micros = SECOND;
const RETRY_MAX: Micros = 3600 * SECOND;

/// The back-off after so many attempts.
pub fn backoff(attempts: i32) -> Micros {
    RETRY_FIRST.saturating_mul(1 << (attempts - 1).clamp(0, 20)).min(RETRY_MAX)
}

/// A scheduled operation: its handler is called when the step ends.
pub fn insert(run: &mut Run, attrs: NexusScheduledAttrs, scheduled_id: i64, time: Micros) {
    let state = NexusState { scheduled_id, scheduled_us: time, attrs: Some(attrs), ..Default::default() };
    run.nexus.insert(scheduled_id, Nexus { state, deadline: None, calling: false, canceling: false });
    run.to_call.push(scheduled_id);
    touched(run, scheduled_id);
}

pub fn touched(run: &mut Run, id: i64) {
    restore(run, id);
    run.mark(kind::NEXUS, id.to_string());
}

/// Updates only the deadline.
pub fn restore(run: &mut Run, id: i64) {
    let Some(op) = run.nexus.get_mut(&id) else { return };
    let next = next_deadline(op).map(|(t, _)| t);
    let old = std::mem::replace(&mut op.deadline, next);
    run.set_deadline(Deadline::Nexus(id), old, next);
}

/// A loaded operation: calls that were in flight are made again.
pub fn recover(run: &mut Run, id: i64) {
    restore(run, id);
    if run.nexus.get(&id).is_some_and(wants_call) {
        run.to_call.push(id);
        run.dirty = true;
    }
}

/// Whether a call of the operation is due or in flight.
pub fn wants_call(op: &Nexus) -> bool {
    let s = &op.state;
    let cancel = s.cancellation.as_ref().is_some_and(|c| c.state == cancellation::SCHEDULED);
    if s.started_us == 0 { s.next_attempt_us == 0 } else { cancel }
}

pub fn remove(run: &mut Run, id: i64) -> Option<Nexus> {
    let op = run.nexus.remove(&id)?;
    run.set_deadline(Deadline::Nexus(id), op.deadline, None);
    run.to_call.retain(|each| *each != id);
    run.mark(kind::NEXUS, id.to_string());
    Some(op)
}

enum Due {
    Call,
    Timeout(TimeoutType),
}

fn next_deadline(op: &Nexus) -> Option<(Micros, Due)> {
    let s = &op.state;
    let attrs = s.attrs.as_ref()?;
    let started = s.started_us != 0;
    let mut best: Option<(Micros, Due)> = None;
    let mut consider = |t: Micros, due: Due| {
        if t > 0 && best.as_ref().is_none_or(|(b, _)| t < *b) {
            best = Some((t, due));
        }
    };
    let after = |from: Micros, limit: &Option<prost_types::Duration>| match micros_or_zero(limit) {
        0 => 0,
        limit => from + limit,
    };
    consider(after(s.scheduled_us, &attrs.schedule_to_close_timeout), Due::Timeout(TimeoutType::ScheduleToClose));
    if started {
        consider(after(s.started_us, &attrs.start_to_close_timeout), Due::Timeout(TimeoutType::StartToClose));
        consider(s.cancellation.as_ref().map_or(0, |c| c.next_attempt_us), Due::Call);
    } else {
        consider(after(s.scheduled_us, &attrs.schedule_to_start_timeout), Due::Timeout(TimeoutType::ScheduleToStart));
        consider(s.next_attempt_us, Due::Call);
    }
    best
}

/// Handles the operation's deadline.
pub fn due(run: &mut Run, cx: &mut Context, id: i64) {
    let Some((_, due)) = run.nexus.get(&id).and_then(next_deadline) else { return };
    match due {
        Due::Call => {
            let Some(op) = run.nexus.get_mut(&id) else { return };
            match (&mut op.state.cancellation, op.state.started_us) {
                (Some(c), started) if started != 0 => {
                    c.next_attempt_us = 0;
                    c.state = cancellation::SCHEDULED;
                }
                _ => op.state.next_attempt_us = 0,
            }
            run.to_call.push(id);
            touched(run, id);
        }
        Due::Timeout(kind) => {
            let failure = codec::bytes(&failure::timeout_of_nexus(kind));
            let Some(op) = remove(run, id) else { return };
            let (failure, request_id) = wrapped(&op.state, failure);
            end(run, cx, id, NexusTimedOutAttrs { scheduled_event_id: id, failure, request_id }, Vec::new());
        }
    }
}

/// Hands the calls of the step to the host.
pub fn call(run: &mut Run, cx: &mut Context) {
    let time = run.time(cx.now);
    for id in std::mem::take(&mut run.to_call) {
        let Some(op) = run.nexus.get_mut(&id) else { continue };
        let Some(attrs) = op.state.attrs.as_ref().filter(|_| wants_call(op)) else { continue };
        let limit = micros_or_zero(&attrs.schedule_to_close_timeout);
        let attributes = codec::bytes(attrs);
        let started = op.state.started_us != 0;
        let flag = if started { &mut op.canceling } else { &mut op.calling };
        if std::mem::replace(flag, true) {
            continue;
        }
        let attempt = if started { op.state.cancellation.as_ref().map_or(0, |c| c.attempt) } else { op.state.attempt };
        cx.nexus_calls.push(NexusCall {
            kind: if started { NexusCallKind::Cancel } else { NexusCallKind::Start } as i32,
            workflow_id: run.head.workflow_id.clone(),
            run_id: run.head.run_id.clone(),
            scheduled_id: id as u32,
            attempt: attempt as u32,
            attributes,
            operation_token: op.state.operation_token.clone(),
            remaining_ms: if limit > 0 { ((op.state.scheduled_us + limit - time).max(0)) as f64 / 1000.0 } else { 0.0 },
            outcome: Vec::new(),
        });
    }
}

/// The workflow asks to cancel the operation: the handler is called once it has started the operation.
pub fn request_cancel(run: &mut Run, id: i64, requested_id: i64, time: Micros) {
    let Some(op) = run.nexus.get_mut(&id) else { return };
    let started = op.state.started_us != 0;
    op.state.cancellation = Some(NexusCancellation {
        requested_id,
        requested_us: time,
        state: if started { cancellation::SCHEDULED } else { cancellation::UNSPECIFIED },
        ..Default::default()
    });
    if started {
        run.to_call.push(id);
    }
    touched(run, id);
}

/// What a call of the host came to. An outcome of an operation that has ended since, or of an earlier attempt, changes nothing.
pub fn call_ended(run: &mut Run, cx: &mut Context, o: NexusOutcome, cancel: bool) {
    let id = o.scheduled_id;
    let known = |op: &&mut Nexus| request_id(&op.state) == o.request_id;
    let Some(op) = run.nexus.get_mut(&id).filter(known) else { return };
    if cancel {
        return cancel_ended(run, cx, o);
    }
    if op.state.started_us != 0 || op.state.attempt != o.attempt {
        return;
    }
    op.calling = false;
    match o.what {
        what::STARTED => started(run, cx, &o),
        what::RETRY => {
            let time = run.time(cx.now);
            let Some(op) = run.nexus.get_mut(&id) else { return };
            op.state.attempt += 1;
            op.state.last_complete_us = time;
            op.state.last_failure = o.failure;
            op.state.next_attempt_us = time + backoff(op.state.attempt);
            touched(run, id);
        }
        _ => ended(run, cx, o),
    }
}

fn started(run: &mut Run, cx: &mut Context, o: &NexusOutcome) {
    let id = o.scheduled_id;
    // The start that a callback reports may be before what has happened since.
    let time = run.time(cx.now);
    let attrs = NexusStartedAttrs {
        scheduled_event_id: id,
        operation_id: o.operation_token.clone(),
        request_id: o.request_id.clone(),
        operation_token: o.operation_token.clone(),
    };
    apply_started(run, id, &o.operation_token, time);
    run.add_linked(time, attrs, About::Other, o.links.clone());
    run.want_task = true;
}

/// The operation is started; a cancellation that waits for that is sent.
pub fn apply_started(run: &mut Run, id: i64, token: &str, time: Micros) {
    let Some(op) = run.nexus.get_mut(&id) else { return };
    op.state.started_us = time;
    op.state.operation_token = token.into();
    op.state.next_attempt_us = 0;
    op.calling = false;
    if let Some(c) = &mut op.state.cancellation {
        c.state = cancellation::SCHEDULED;
        run.to_call.push(id);
    }
    touched(run, id);
}

/// The cancellation was sent, or failed for good, in the events that a reset copies.
pub fn cancel_sent(run: &mut Run, id: i64, delivered: bool) {
    if let Some(c) = run.nexus.get_mut(&id).and_then(|op| op.state.cancellation.as_mut()) {
        c.state = if delivered { cancellation::SUCCEEDED } else { cancellation::FAILED };
    }
}

fn cancel_ended(run: &mut Run, cx: &mut Context, o: NexusOutcome) {
    let id = o.scheduled_id;
    let time = run.time(cx.now);
    let Some(op) = run.nexus.get_mut(&id) else { return };
    let Some(c) = op.state.cancellation.as_mut().filter(|c| c.state == cancellation::SCHEDULED && c.attempt == o.attempt) else {
        return;
    };
    op.canceling = false;
    c.attempt += 1;
    c.last_complete_us = time;
    c.last_failure.clone_from(&o.failure);
    let requested_event_id = c.requested_id;
    match o.what {
        what::RETRY => {
            c.state = cancellation::BACKING_OFF;
            c.next_attempt_us = time + backoff(c.attempt);
        }
        what::DELIVERED => {
            c.state = cancellation::SUCCEEDED;
            let attrs = NexusCancelCompletedAttrs { requested_event_id, scheduled_event_id: id };
            run.add(time, attrs, About::Other);
            run.want_task = true;
        }
        _ => {
            c.state = cancellation::FAILED;
            let attrs = NexusCancelFailedAttrs { requested_event_id, failure: o.failure, scheduled_event_id: id };
            run.add(time, attrs, About::Other);
            run.want_task = true;
        }
    }
    touched(run, id);
}

/// A callback reports the end of the operation. Returns whether the run waits for it.
pub fn called_back(run: &mut Run, cx: &mut Context, mut o: NexusOutcome) -> bool {
    let Some(op) = run.nexus.get(&o.scheduled_id).filter(|op| request_id(&op.state) == o.request_id) else { return false };
    if op.state.started_us == 0 {
        // The callback was faster than the response of the handler.
        started(run, cx, &o);
    }
    o.links.clear();
    ended(run, cx, o);
    true
}

fn ended(run: &mut Run, cx: &mut Context, o: NexusOutcome) {
    let id = o.scheduled_id;
    let Some(op) = remove(run, id) else { return };
    if o.what == what::COMPLETED {
        let attrs = NexusCompletedAttrs { scheduled_event_id: id, result: o.result, request_id: o.request_id };
        return end(run, cx, id, attrs, o.links);
    }
    let (failure, request_id) = wrapped(&op.state, o.failure.unwrap_or_default());
    if o.what == what::CANCELED {
        end(run, cx, id, NexusCanceledAttrs { scheduled_event_id: id, failure, request_id }, Vec::new());
    } else {
        end(run, cx, id, NexusFailedAttrs { scheduled_event_id: id, failure, request_id }, Vec::new());
    }
}

fn end<A: Attributes + 'static>(run: &mut Run, cx: &Context, id: i64, attrs: A, links: Vec<Vec<u8>>) {
    let time = run.time(cx.now);
    run.add_linked(time, attrs, About::NexusEnded(id), links);
    run.want_task = true;
}

fn request_id(s: &NexusState) -> &str {
    s.attrs.as_ref().map_or("", |a| &a.request_id)
}

/// The failure of the operation with this cause, and the operation's request id.
fn wrapped(s: &NexusState, cause: Vec<u8>) -> (Option<Vec<u8>>, String) {
    let attrs = s.attrs.clone().unwrap_or_default();
    let failure = Failure {
        message: "nexus operation completed unsuccessfully".into(),
        cause: Some(cause),
        nexus_info: Some(NexusInfo {
            scheduled_event_id: s.scheduled_id,
            endpoint: attrs.endpoint,
            service: attrs.service,
            operation: attrs.operation,
            operation_id: s.operation_token.clone(),
            operation_token: s.operation_token.clone(),
        }),
        ..Default::default()
    };
    (Some(codec::bytes(&failure)), attrs.request_id)
}

/// The run closes: nothing is called any more for its operations.
pub fn run_closed(run: &mut Run) {
    for id in run.nexus.keys().copied().collect::<Vec<_>>() {
        remove(run, id);
    }
}
