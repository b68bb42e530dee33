//! RespondWorkflowTaskCompleted and RespondWorkflowTaskFailed: a worker's answer to a workflow task becomes events.
//!
//! Order in history: (Scheduled, Started of a task that was outside,) Completed, the events of the commands in their order, then what
//! was buffered, then the next Scheduled. A speculative task answered with rejections only leaves nothing.
use super::codec;
use super::cx::Cx;
use super::dispatch;
use super::limits;
use super::plan::{self, Reject, Step, TaskFailure};
use super::queues::Poll;
use super::rpc::{self, Rpc};
use super::state::Run;
use super::time::micros_or_zero;
use super::tokens::TaskToken;
use super::wire::*;
use super::{apply, queries, updates, workflow_task};
use crate::api::enums::v1::{TimeoutType, WorkflowTaskFailedCause as Cause};

/// What the Started event of a task shows that was handed out in the response to the one before.
const INLINE_REQUEST_ID: &str = "request-from-RespondWorkflowTaskCompleted";

/// The token is that of the started task.
fn holds(run: &Run, token: &TaskToken) -> bool {
    run.open() && run.head.task.as_ref().is_some_and(|t| t.started_id != 0 && t.nonce == token.nonce)
}

/// Answers the response body; errors go to the worker, state changes made on the way stay.
pub fn completed(run: &mut Run, cx: &mut Cx, token: &TaskToken, mut req: TaskCompletedRequest) -> Rpc<TaskCompletedResponse> {
    if !holds(run, token) {
        return Err(rpc::task_not_found());
    }
    if req.intermediate_page || req.page_number > 0 {
        return Err(rpc::failed_precondition("FailedPrecondition", "workflow task completion pagination is not supported"));
    }
    let heartbeat = req.force_create_new_workflow_task;
    let Some(task) = run.head.task.clone() else { return Err(rpc::task_not_found()) };
    let time = run.time(cx.now);
    if heartbeat
        && req.commands.is_empty()
        && req.messages.is_empty()
        && time > task.original_scheduled_us + limits::TASK_HEARTBEAT
    {
        workflow_task::write_outside_events(run, None);
        if let Some(task) = workflow_task::remove(run, cx) {
            let attrs = TaskTimedOutAttrs {
                scheduled_event_id: task.scheduled_id,
                started_event_id: task.started_id,
                timeout_type: TimeoutType::StartToClose as i32,
            };
            run.append(time, &attrs);
        }
        run.clear_sticky();
        run.head.task_attempt = 1;
        run.want_task = true;
        return Err(rpc::not_found("workflow task heartbeat timeout"));
    }

    let commands = std::mem::take(&mut req.commands);
    let messages = std::mem::take(&mut req.messages);
    let no_commands = commands.is_empty();
    let steps = match plan::plan(run, cx, commands, messages) {
        Ok(steps) => steps,
        Err(Reject::Request(e)) => return Err(e),
        Err(Reject::Task(failure)) => return Err(refuse(run, cx, &task, &failure, &req)),
    };

    if discards(run, &task, &req, no_commands, &steps) {
        return Ok(discard(run, cx, &req, steps));
    }

    // The task stops being pending before anything is written, so that nothing of what follows is buffered.
    workflow_task::write_outside_events(run, Some(&req.identity));
    let Some(task) = workflow_task::remove(run, cx) else { return Err(rpc::task_not_found()) };
    let attrs = TaskCompletedAttrs {
        scheduled_event_id: task.scheduled_id,
        started_event_id: task.started_id,
        identity: req.identity.clone(),
        binary_checksum: std::mem::take(&mut req.binary_checksum),
        worker_version: req.worker_version_stamp.clone(),
        sdk_metadata: req.sdk_metadata.take(),
        metering_metadata: req.metering_metadata.take(),
    };
    let completed_id = run.append(time, &attrs);
    run.head.last_completed_started_id = task.started_id;
    run.head.task_attempt = 1;
    run.head.inbox_signals = run.head.inbox_signals.saturating_sub(task.inbox_delivered);
    if req.worker_version_stamp.is_some() {
        run.head.worker_version = req.worker_version_stamp.clone();
    }
    set_sticky(run, cx, &req);

    let mut wanted = heartbeat;
    for step in steps {
        wanted |= apply::step(run, cx, step, completed_id, &req.identity);
    }
    if run.open() && !heartbeat {
        updates::reject_unprocessed(run, cx);
    }
    queries::answer(run, cx, std::mem::take(&mut req.query_results));
    updates::settle(run, cx);
    let since = (heartbeat && no_commands).then_some(task.original_scheduled_us);
    let new_task = run.open() && (wanted || !run.buffer.is_empty() || run.want_task || updates::undecided(run));
    Ok(next_task(run, cx, &req, new_task, wanted || !run.buffer.is_empty() || run.want_task, since))
}

/// The commands are wrong: the task fails (once; later attempts are left to time out), and the worker is told why.
fn refuse(
    run: &mut Run,
    cx: &mut Cx,
    task: &super::state::TaskState,
    failure: &TaskFailure,
    req: &TaskCompletedRequest,
) -> Box<crate::boundary::RpcError> {
    let text = failure.text();
    if task.attempt <= 1 || failure.cause == Cause::UnhandledCommand {
        let body = Failure { message: text.clone(), server_info: Some(FlagInfo::default()), ..Default::default() };
        let body = Some(codec::bytes(&body));
        workflow_task::fail(run, cx, failure.cause, body, &req.identity, &req.binary_checksum);
    }
    rpc::with(rpc::invalid(text), "cause", failure.cause.as_str_name())
}

/// A speculative task whose answer changes nothing is dropped without a trace.
fn discards(run: &Run, task: &super::state::TaskState, req: &TaskCompletedRequest, no_commands: bool, steps: &[Step]) -> bool {
    if !task.speculative || !no_commands || req.force_create_new_workflow_task {
        return false;
    }
    let shipped = run.head.next_event_id - (run.head.last_completed_started_id + 2);
    let again = req.capabilities.as_ref().is_some_and(|c| c.discard_speculative_workflow_task_with_events);
    if shipped > if again { limits::SPECULATIVE_EVENTS } else { 0 } {
        return false;
    }
    steps.iter().all(|s| matches!(s, Step::Message(m) if matches!(m.body, plan::UpdateBody::Reject(_))))
}

fn discard(run: &mut Run, cx: &mut Cx, req: &TaskCompletedRequest, steps: Vec<Step>) -> TaskCompletedResponse {
    workflow_task::remove(run, cx);
    set_sticky(run, cx, req);
    for step in steps {
        apply::step(run, cx, step, 0, &req.identity);
    }
    updates::reject_unprocessed(run, cx);
    queries::answer(run, cx, req.query_results.clone());
    updates::settle(run, cx);
    let new_task = updates::undecided(run);
    let mut response = next_task(run, cx, req, new_task, false, None);
    response.reset_history_event_id = run.head.last_completed_started_id;
    response
}

fn set_sticky(run: &mut Run, cx: &Cx, req: &TaskCompletedRequest) {
    match req.sticky_attributes.as_ref().and_then(|s| s.worker_task_queue.as_ref().map(|q| (q, s))) {
        Some((queue, sticky)) if !queue.name.is_empty() => {
            run.head.sticky_queue.clone_from(&queue.name);
            run.head.sticky_timeout_us = micros_or_zero(&sticky.schedule_to_start_timeout);
            run.head.sticky_life = cx.life;
            run.dirty = true;
        }
        _ => run.clear_sticky(),
    }
}

/// Schedules the next task if there is a reason for one, and hands it to this very worker if it asked for that.
fn next_task(
    run: &mut Run,
    cx: &mut Cx,
    req: &TaskCompletedRequest,
    wanted: bool,
    normal: bool,
    since: Option<i64>,
) -> TaskCompletedResponse {
    run.want_task = false;
    let mut response = TaskCompletedResponse::default();
    if !run.open() {
        queries::unblock(run, cx);
        return response;
    }
    if wanted {
        let inline = req.return_new_workflow_task && run.recent.is_some();
        workflow_task::schedule(run, cx.now, !normal && inline, since);
        if inline {
            let poll = Poll {
                request_id: 0,
                identity: req.identity.clone(),
                worker_version: req.worker_version_stamp.clone(),
                sticky: true,
            };
            // The worker has the run: the task is partial even where it asked for no sticky queue.
            let delivered = workflow_task::start(run, cx, &poll, INLINE_REQUEST_ID.into(), true);
            let (task, splice) = dispatch::task_response(run, cx, delivered, true, req.force_create_new_workflow_task);
            debug_assert!(splice.is_none());
            response.workflow_task = Some(codec::bytes(&task));
        }
    } else {
        queries::unblock(run, cx);
    }
    response
}

/// RespondWorkflowTaskFailed. A repeated failure changes nothing: the task is left to time out, which is the back-off.
pub fn failed(run: &mut Run, cx: &mut Cx, token: &TaskToken, req: TaskFailedRequest) -> Rpc<()> {
    if !run.open() {
        return Err(rpc::workflow_completed());
    }
    if !holds(run, token) {
        return Err(rpc::task_not_found());
    }
    if run.head.task.as_ref().is_some_and(|t| t.attempt > 1) {
        return Ok(());
    }
    let cause = Cause::try_from(req.cause).unwrap_or(Cause::Unspecified);
    workflow_task::fail(run, cx, cause, req.failure, &req.identity, &req.binary_checksum);
    Ok(())
}
