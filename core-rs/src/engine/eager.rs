//! Eager execution: a response carries tasks that were started with what it responds to. A worker gets activities that its
//! completion schedules, a client the first workflow task of a run that it starts. Start and task are in one commit.
use super::activity::{self, PollActivityResponse};
use super::codec;
use super::context::Context;
use super::queues::Poll;
use super::state::run::Run;
use super::task_response::task_response;
use super::workflow_task;

/// Starts the activities that the completion asked for, unless it closed the run.
pub fn activities(run: &mut Run, cx: &mut Context, worker: &Poll) -> Vec<PollActivityResponse> {
    let wanted = std::mem::take(&mut run.eager_activities);
    if !run.open() {
        return Vec::new();
    }
    wanted.into_iter().filter_map(|id| activity::start(run, cx, id, worker)).collect()
}

/// Starts the first workflow task of a new run. Returns the encoded task, with the history up to here.
pub fn first_task(run: &mut Run, cx: &mut Context, identity: String) -> Vec<u8> {
    run.want_task = false;
    let request_id = run.head.create_request_id.clone();
    workflow_task::schedule(run, cx.now, false, None);
    let poll = Poll { request_id: 0, identity, worker_version: None, sticky: false };
    workflow_task::start(run, cx, &poll, request_id, false);
    let (mut task, _) = task_response(run, cx, None, false, false);
    task.history = Some(run.batches.iter().flat_map(|batch| batch.events.iter().copied()).collect());
    let bytes = codec::bytes(&task);
    run.eager_task = Some(bytes.clone());
    bytes
}
