//! ResetStickyTaskQueue and ShutdownWorker: tasks leave the sticky queue of a worker.
use super::shared::*;
use crate::engine::context::Context;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::queries;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::Run;

message! {
    ResetStickyRequest: workflowservice::ResetStickyTaskQueueRequest { namespace str, execution msg(WorkflowExecution), }
    ShutdownWorkerRequest: workflowservice::ShutdownWorkerRequest { namespace str, sticky_task_queue str, identity str, }
}

pub fn reset(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: ResetStickyRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let (workflow_id, run_id) = target(&req.execution);
    engine.on_run(r, workflow_id, run_id, |run, cx| {
        if !run.open() {
            return Err(rpc::workflow_completed());
        }
        run.clear_sticky();
        leave_sticky_queue(run, cx);
        cx.reply_bytes(id, Vec::new(), None);
        Ok(())
    });
    Ok(())
}

pub fn shut_down(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: ShutdownWorkerRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    if !req.sticky_task_queue.is_empty() {
        let (slots, polls) = engine.cx.queues.shut(&req.sticky_task_queue);
        for poll in polls {
            engine.cx.reply_bytes(poll, Vec::new(), None);
        }
        for slot in slots {
            engine.with_run(slot, leave_sticky_queue);
        }
    }
    engine.cx.reply_bytes(id, Vec::new(), None);
    Ok(())
}

/// A task that waits on a sticky queue goes to the normal one.
fn leave_sticky_queue(run: &mut Run, cx: &mut Context) {
    if let Some(key) = run.task_queued.take() {
        cx.queues.remove(&key);
        // Taken in again when the step ends.
    }
    for id in run.queries.keys().copied().collect::<Vec<_>>() {
        queries::due(run, cx, id);
    }
}
