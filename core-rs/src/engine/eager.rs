//! Eager execution: a response carries tasks that were started with what it responds to. A worker gets activities that its
//! completion schedules, a client the first workflow task of a run that it starts. Start and task are in one commit.
use super::activity::{self, PollActivityResponse};
use super::codec;
use super::context::Context;
use super::queues::Poll;
use super::state::run::Run;
use super::task_response::task_response;
use super::{versioning, workflow_task};

/// Starts the activities that the completion asked for, unless it closed the run.
pub fn activities(run: &mut Run, cx: &mut Context, worker: &Poll) -> Vec<PollActivityResponse> {
    let wanted = std::mem::take(&mut run.eager_activities);
    if !run.open() {
        return Vec::new();
    }
    let may_start = |run: &Run, cx: &Context, id: i64| {
        let queue = run.activities.get(&id).and_then(|a| a.attrs.task_queue.as_ref());
        queue.is_some_and(|queue| versioning::may_be_eager(run, cx, &queue.name, worker.version.as_ref()))
    };
    wanted.into_iter().filter_map(|id| if may_start(run, cx, id) { activity::start(run, cx, id, worker) } else { None }).collect()
}

/// Starts the first workflow task of a new run. Returns the encoded task, with the history up to here.
pub fn first_task(run: &mut Run, cx: &mut Context, worker: &Poll) -> Vec<u8> {
    run.want_task = false;
    let request_id = run.head.create_request_id.clone();
    workflow_task::schedule(run, cx.now, false, None);
    workflow_task::start(run, cx, worker, request_id, false);
    versioning::workflow_task_taken(run, cx, worker);
    let (mut task, _) = task_response(run, cx, None, false, false);
    task.history = Some(run.batches.iter().flat_map(|batch| batch.events.iter().copied()).collect());
    let bytes = codec::bytes(&task);
    run.eager_task = Some(bytes.clone());
    bytes
}
