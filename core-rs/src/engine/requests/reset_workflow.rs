//! ResetWorkflowExecution: a new run continues from an earlier workflow task of an open or closed one; the current run ends.
//!
//! The events come from the store, so the request is parked until the host has read them (`LoadRequest.history`).
use super::shared::*;
use crate::api::enums::v1::{EventType, ResetReapplyExcludeType as X, ResetReapplyType};
use crate::engine::children::End;
use crate::engine::close;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::ContinuedAsNewAttrs;
use crate::engine::reset::{self, Reset};
use crate::engine::reset_reapply::{Exclude, reapply};
use crate::engine::rpc::{self, Rpc};
use crate::engine::runs::Found;
use crate::engine::start;
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;

message! {
    ResetRequest: workflowservice::ResetWorkflowExecutionRequest {
        namespace str, workflow_execution msg(WorkflowExecution), reason str, workflow_task_finish_event_id i64, request_id str,
        reset_reapply_type i32, reset_reapply_exclude_types u32s, post_reset_operations raws(ANY),
    }
    ResetResponse: workflowservice::ResetWorkflowExecutionResponse { run_id str, }
}

/// A run whose events are needed, and those that the store has.
struct Source {
    slot: u32,
    stored: Vec<u8>,
}

impl Source {
    /// The events up to now, uncommitted ones included.
    fn history(&self, engine: &Engine) -> Vec<u8> {
        let mut bytes = self.stored.clone();
        for batch in engine.runs.get(self.slot).map(|run| run.batches.as_slice()).unwrap_or_default() {
            bytes.extend_from_slice(&batch.events);
        }
        bytes
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let req: ResetRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let exclude = check(&req)?;
    let done = reset(engine, r, req, exclude);
    // A request that waits for the store keeps what was read for it.
    if !engine.cx.waiting.contains_key(&r.request_id) {
        engine.runs.histories.remove(&r.request_id);
    }
    done
}

/// None: nothing is applied again.
fn check(req: &ResetRequest) -> Rpc<Option<Exclude>> {
    if req.request_id.is_empty() {
        return Err(rpc::invalid("RequestId is not set on request."));
    }
    if let Some(why) = limits::bad_id(&req.request_id) {
        return Err(rpc::invalid(format!("RequestId {why}")));
    }
    if !req.post_reset_operations.is_empty() {
        return Err(rpc::unimplemented("operations after a reset (post_reset_operations) are not supported by this engine"));
    }
    let has = |x: X| req.reset_reapply_exclude_types.contains(&(x as u32));
    let kind = ResetReapplyType::try_from(req.reset_reapply_type);
    let Ok(kind) = kind else {
        return Err(rpc::invalid(format!("unknown reset reapply type: {}", req.reset_reapply_type)));
    };
    #[allow(deprecated)]
    let (no_signals, no_updates) = match kind {
        ResetReapplyType::None => (true, true),
        ResetReapplyType::Signal => (false, true),
        _ => (false, false),
    };
    #[allow(deprecated)]
    let has_all = has(X::Nexus) && has(X::CancelRequest);
    let exclude = Exclude { signals: no_signals || has(X::Signal), updates: no_updates || has(X::Update) };
    let all = exclude.signals && exclude.updates && has_all;
    Ok((!all).then_some(exclude))
}

fn reset(engine: &mut Engine, r: &Again, req: ResetRequest, exclude: Option<Exclude>) -> Rpc<()> {
    let (workflow_id, run_id) = target(&req.workflow_execution);
    let Some(base) = engine.resolve(workflow_id, run_id, r) else { return Ok(()) };
    let Some(current) = engine.resolve(workflow_id, "", r) else { return Ok(()) };
    let (Some(base_run), Some(current_run)) = (engine.runs.get(base), engine.runs.get(current)) else { return Ok(()) };
    let finish_id = req.workflow_task_finish_event_id;
    if finish_id <= 1 || finish_id >= base_run.head.next_event_id {
        return Err(rpc::invalid("Workflow task finish ID must be > 1 && <= workflow last event ID."));
    }
    if current_run.head.create_request_id == req.request_id {
        let run_id = current_run.head.run_id.clone();
        engine.cx.reply(r.request_id, &ResetResponse { run_id });
        return Ok(());
    }
    let open = current_run.open();
    // Runs of another chain with this id have their own parent.
    let reports_later = current_run.head.first_run_id == base_run.head.first_run_id;
    let all = exclude.is_some_and(|e| !(e.signals && e.updates));
    let Some(sources) = sources(engine, r, base, all) else { return Ok(()) };
    let Some(first) = sources.first() else { return Ok(()) };
    if !open {
        start::check_open_runs(&engine.cx)?;
    }
    let new_id = engine.cx.rng.uuid7(engine.cx.now);
    let history = first.history(engine);
    let past = reset::events(&history);
    let Some(base_run) = engine.runs.get(base) else { return Ok(()) };
    let plan =
        Reset { base: base_run, run_id: new_id.clone(), request_id: req.request_id, reason: req.reason.clone(), finish_id };
    let mut run = reset::rebuild(&mut engine.cx, &plan, &past)?;
    engine.with_run(base, |run, _| {
        run.head.reset_run_id.clone_from(&new_id);
        run.dirty = true;
    });
    if open {
        let kept = run.children.iter().map(|(id, child)| (*id, child.run_id.clone())).collect();
        let end = End { reset: reports_later, keeps_children: current == base, kept, ..End::default() };
        engine.with_run(current, |run, cx| close::terminate_for_reset(run, cx, req.reason, end));
    }
    if let Some(exclude) = exclude {
        apply_again(engine, &mut run, &sources, finish_id, exclude);
    }
    engine.cx.open_runs += 1;
    engine.cx.spawned.push(run);
    engine.take_spawned();
    engine.cx.reply(r.request_id, &ResetResponse { run_id: new_id });
    Ok(())
}

fn apply_again(engine: &Engine, run: &mut Run, sources: &[Source], finish_id: i64, exclude: Exclude) {
    for (i, source) in sources.iter().enumerate() {
        let history = source.history(engine);
        let mut past = reset::events(&history);
        if i == 0 {
            past.retain(|e| e.id >= finish_id);
        }
        reapply(run, &engine.cx, &past, i == 0, exclude);
    }
}

/// The base and, if `all`, the runs that continued it as new. None: the request waits for the store, or was rejected.
fn sources(engine: &mut Engine, r: &Again, base: u32, all: bool) -> Option<Vec<Source>> {
    let mut sources = Vec::new();
    let mut slot = base;
    loop {
        let source = source(engine, r, slot)?;
        let history = source.history(engine);
        let next = reset::events(&history).pop().filter(|e| e.kind == EventType::WorkflowExecutionContinuedAsNew);
        let next = next.map(|e| e.attrs::<ContinuedAsNewAttrs>().new_execution_run_id);
        sources.push(source);
        let Some(next) = next.filter(|_| all) else { return Some(sources) };
        let workflow_id = engine.runs.get(slot)?.head.workflow_id.clone();
        slot = match engine.runs.find(&workflow_id, &next) {
            // Imported runs may be without their successors, or name each other.
            Found::Slot(slot) if sources.iter().all(|source| source.slot != slot) => slot,
            Found::Slot(_) | Found::Missing => return Some(sources),
            Found::Unknown => {
                engine.park(&workflow_id, &next, r.clone());
                return None;
            }
        };
    }
}

fn source(engine: &mut Engine, r: &Again, slot: u32) -> Option<Source> {
    let run = engine.runs.get(slot)?;
    if run.create {
        return Some(Source { slot, stored: Vec::new() });
    }
    let (workflow_id, run_id) = (run.head.workflow_id.clone(), run.head.run_id.clone());
    let read = engine.runs.histories.get(&r.request_id).and_then(|all| all.iter().find(|(id, _)| *id == run_id));
    let Some((_, stored)) = read else {
        engine.park_for_history(&workflow_id, &run_id, r);
        return None;
    };
    Some(Source { slot, stored: stored.clone() })
}
