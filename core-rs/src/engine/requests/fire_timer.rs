//! FireTimer, which servers do not have: an open timer fires, due or not. For tests, on an engine whose timers do not fire by themselves.
use super::shared::*;
use super::signal_workflow::SignalRequest;
use crate::engine::machine::Engine;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::timers;

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: SignalRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let timer_id = req.signal_name;
    let (workflow_id, run_id) = target(&req.workflow_execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        if !run.open() {
            return Err(rpc::workflow_completed());
        }
        let Some(started_id) = run.timers.get(&timer_id).map(|timer| timer.started_id) else {
            return Err(rpc::not_found(format!("the workflow has no open timer with the id {timer_id}")));
        };
        timers::fired(run, cx, started_id);
        cx.reply_bytes(id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}
