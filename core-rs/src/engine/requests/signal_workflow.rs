//! SignalWorkflowExecution.
use super::links;
use super::shared::*;
use crate::engine::context::Context;
use crate::engine::event::About;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::SignaledAttrs;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::{Run, kind};
use crate::engine::time::Micros;
use crate::engine::updates;

message! {
    SignalRequest: workflowservice::SignalWorkflowExecutionRequest {
        namespace str, workflow_execution msg(WorkflowExecution), signal_name str, input payloads, identity str, request_id str,
        header fields, links raws(LINK),
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: SignalRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    check_signal(&engine.cx, &req)?;
    let execution = req.workflow_execution.clone();
    let (workflow_id, run_id) = target(&execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        signal(run, cx, req)?;
        cx.reply_bytes(id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}

pub fn check_signal(cx: &Context, req: &SignalRequest) -> Rpc<()> {
    if req.signal_name.is_empty() {
        return Err(rpc::invalid("SignalName is not set on request."));
    }
    if let Some(why) = limits::bad_id(&req.signal_name).or_else(|| limits::bad_id(&req.request_id)) {
        return Err(rpc::invalid(format!("SignalName or RequestId {why}")));
    }
    check_size(cx, "Signal input", req.input.as_ref().map_or(0, Vec::len))?;
    check_header(req.header.as_ref())?;
    links::check(&req.links)
}

fn signaled(req: SignalRequest) -> SignaledAttrs {
    SignaledAttrs {
        signal_name: req.signal_name,
        input: req.input,
        identity: req.identity,
        header: req.header,
        ..Default::default()
    }
}

/// A signal to a run that exists; the same request id is delivered once.
pub fn signal(run: &mut Run, cx: &mut Context, mut req: SignalRequest) -> Rpc<()> {
    if !run.open() {
        return Err(rpc::workflow_completed());
    }
    if !req.request_id.is_empty() && run.request_ids.contains(&req.request_id) {
        return Ok(());
    }
    updates::check_inbox(run, cx)?;
    remember(run, &req.request_id);
    let time = run.time(cx.now);
    run.head.inbox_signals += 1;
    let links = std::mem::take(&mut req.links);
    run.add_linked(time, signaled(req), About::Other, links);
    run.want_task = true;
    Ok(())
}

/// The signal that comes with the start of its run: between Started and the first WorkflowTaskScheduled.
pub fn new_signal(run: &mut Run, now: Micros, mut req: SignalRequest) {
    remember(run, &req.request_id);
    run.head.inbox_signals += 1;
    let links = std::mem::take(&mut req.links);
    run.add_linked(now, signaled(req), About::Other, links);
}

fn remember(run: &mut Run, request_id: &str) {
    if !request_id.is_empty() {
        run.request_ids.insert(request_id.into());
        run.mark(kind::REQUEST, request_id);
    }
}
