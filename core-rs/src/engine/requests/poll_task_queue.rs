//! PollWorkflowTaskQueue and PollActivityTaskQueue: the poll stays open until a task comes.
use super::shared::*;
use crate::api::enums::v1::TaskQueueKind;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::queues::{Poll, Side};
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::request::Wait;

message! {
    PollRequest: workflowservice::PollWorkflowTaskQueueRequest {
        namespace str, task_queue msg(TaskQueue), identity str, worker_version_capabilities msg(WorkerVersionCapabilities),
    }
    PollActivityRequest: workflowservice::PollActivityTaskQueueRequest {
        namespace str, task_queue msg(TaskQueue), identity str, worker_version_capabilities msg(WorkerVersionCapabilities),
    }
    WorkerVersionCapabilities: common::WorkerVersionCapabilities { build_id str, use_versioning bool, }
}

pub fn workflow(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: PollRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    poll(engine, Side::Workflow, id, req.task_queue, req.identity, req.worker_version_capabilities);
    Ok(())
}

pub fn activity(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: PollActivityRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    poll(engine, Side::Activity, id, req.task_queue, req.identity, req.worker_version_capabilities);
    Ok(())
}

fn poll(
    engine: &mut Engine,
    side: Side,
    request_id: u32,
    queue: Option<TaskQueue>,
    identity: String,
    capabilities: Option<WorkerVersionCapabilities>,
) {
    let Some(queue) = queue.filter(|q| !q.name.is_empty()) else {
        return engine.cx.fail(request_id, rpc::invalid("missing task queue name"));
    };
    if let Some(why) = limits::bad_queue(&queue.name) {
        return engine.cx.fail(request_id, rpc::invalid(format!("task queue name {why}")));
    }
    let sticky = queue.kind == TaskQueueKind::Sticky as i32;
    let poll = Poll { request_id, identity, worker_version: stamp(capabilities), sticky };
    let now = engine.cx.now;
    let seq = engine.cx.queues.poll(side, &queue.name, poll, now);
    engine.cx.waiting.insert(request_id, Wait::Poll { side, queue: queue.name, seq });
}

/// The build id that a poller shows, as the server stamps it into Started events.
fn stamp(c: Option<WorkerVersionCapabilities>) -> Option<WorkerVersionStamp> {
    c.filter(|c| !c.build_id.is_empty()).map(|c| WorkerVersionStamp { build_id: c.build_id, use_versioning: c.use_versioning })
}
