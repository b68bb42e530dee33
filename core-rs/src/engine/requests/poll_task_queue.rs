//! PollWorkflowTaskQueue and PollActivityTaskQueue: the poll stays open until a task comes.
use super::shared::*;
use crate::api::enums::v1::TaskQueueKind;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::versioning::DeploymentOptions;
use crate::engine::queues::{Poll, Side};
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::request::Wait;
use crate::engine::versioning;

message! {
    PollRequest: workflowservice::PollWorkflowTaskQueueRequest {
        namespace str, task_queue msg(TaskQueue), identity str, worker_version_capabilities msg(WorkerVersionCapabilities),
        deployment_options msg(DeploymentOptions),
    }
    PollActivityRequest: workflowservice::PollActivityTaskQueueRequest {
        namespace str, task_queue msg(TaskQueue), identity str, task_queue_metadata msg(TaskQueueMetadata),
        worker_version_capabilities msg(WorkerVersionCapabilities),
        deployment_options msg(DeploymentOptions),
    }
    TaskQueueMetadata: taskqueue::TaskQueueMetadata { max_tasks_per_second msg(Rate), }
    Rate: google::DoubleValue { value double, }
    WorkerVersionCapabilities: common::WorkerVersionCapabilities { build_id str, use_versioning bool, }
}

pub fn workflow(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: PollRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let worker =
        Worker { identity: req.identity, capabilities: req.worker_version_capabilities, options: req.deployment_options };
    poll(engine, Side::Workflow, id, req.task_queue, worker)
}

pub fn activity(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: PollActivityRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let name = req.task_queue.as_ref().map(|q| q.name.clone()).unwrap_or_default();
    let rate = req.task_queue_metadata.and_then(|m| m.max_tasks_per_second).map(|rate| rate.value);
    let now = engine.cx.now;
    engine.cx.queues.limit(&name, rate, now);
    let worker =
        Worker { identity: req.identity, capabilities: req.worker_version_capabilities, options: req.deployment_options };
    poll(engine, Side::Activity, id, req.task_queue, worker)
}

/// The worker that polls.
struct Worker {
    identity: String,
    capabilities: Option<WorkerVersionCapabilities>,
    options: Option<DeploymentOptions>,
}

fn poll(engine: &mut Engine, side: Side, request_id: u32, queue: Option<TaskQueue>, worker: Worker) -> Rpc<()> {
    let Some(queue) = queue.filter(|q| !q.name.is_empty()) else {
        return Err(rpc::invalid("missing task queue name"));
    };
    if let Some(why) = limits::bad_queue(&queue.name) {
        return Err(rpc::invalid(format!("task queue name {why}")));
    }
    let sticky = queue.kind == TaskQueueKind::Sticky as i32;
    let version = versioning::version_of_worker(&engine.cx, worker.options)?;
    // Versioned workers of hosts without deployments show a build id only.
    let worker_version = if version.is_none() { stamp(worker.capabilities) } else { None };
    let name = if sticky { queue.name } else { versioning::place(&queue.name, version.as_ref()) };
    let poll = Poll { request_id, identity: worker.identity, worker_version, version, sticky };
    let now = engine.cx.now;
    let seq = engine.cx.queues.poll(side, &name, poll, now);
    engine.cx.waiting.insert(request_id, Wait::Poll { side, queue: name, seq });
    Ok(())
}

/// The build id that a poller shows, as the server stamps it into Started events.
fn stamp(c: Option<WorkerVersionCapabilities>) -> Option<WorkerVersionStamp> {
    c.filter(|c| !c.build_id.is_empty()).map(|c| WorkerVersionStamp { build_id: c.build_id, use_versioning: c.use_versioning })
}
