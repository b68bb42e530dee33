//! What the host enters of Nexus: the endpoints, the ends of its calls, and the ends of operations that their callbacks report.
use super::shared::*;
use crate::boundary::NexusCallKind;
use crate::engine::callbacks;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::nexus::{NexusEndpoints, NexusOutcome};
use crate::engine::nexus;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;

message! {
    CallEnded: engine::NexusCallEnded { kind i32, outcome msg(NexusOutcome), }
}

pub fn set_endpoints(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let known: NexusEndpoints = decode(&r.body)?;
    engine.cx.endpoints = Some(known.endpoints.into_iter().map(|e| (e.name, e.id)).collect());
    Ok(())
}

pub fn call_ended(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let CallEnded { kind, outcome } = decode(&r.body)?;
    let outcome = outcome.unwrap_or_default();
    let (id, workflow_id, run_id) = (r.request_id, outcome.workflow_id.clone(), outcome.run_id.clone());
    engine.on_run(r, &workflow_id, &run_id, |run, cx| {
        if kind == NexusCallKind::Callback as i32 {
            callbacks::call_ended(run, cx, outcome);
        } else {
            nexus::call_ended(run, cx, outcome, kind == NexusCallKind::Cancel as i32);
        }
        cx.reply_bytes(id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}

/// The run that scheduled the operation, or the one that follows it by a reset.
pub fn operation_ended(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let o: NexusOutcome = decode(&r.body)?;
    let Some(own) = engine.resolve(&o.workflow_id, &o.run_id, r) else { return Ok(()) };
    let waits = |engine: &Engine, slot| engine.runs.get(slot).is_some_and(|run| run.nexus.contains_key(&o.scheduled_id));
    let mut slot = own;
    if !waits(engine, own) {
        let Some(latest) = engine.resolve(&o.workflow_id, "", r) else { return Ok(()) };
        slot = latest;
    }
    let id = r.request_id;
    let done = engine.with_run(slot, |run, cx| {
        if !nexus::called_back(run, cx, o) {
            return Err(rpc::not_found("operation not found"));
        }
        cx.reply_bytes(id, Vec::new(), None);
        Ok(())
    });
    done.unwrap_or(Ok(()))
}
