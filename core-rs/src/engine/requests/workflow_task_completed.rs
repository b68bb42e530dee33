//! RespondWorkflowTaskCompleted: what a worker reports of a workflow task becomes events.
//!
//! Order in history: (Scheduled, Started of a task that was outside,) Completed, the events of the commands in their order, then what
//! was buffered, then the next Scheduled. A speculative task completed with rejections only leaves nothing.
use super::shared::*;
use crate::api::enums::v1::{TimeoutType, WorkflowTaskFailedCause as Cause};
use crate::boundary::{RpcError, TransactCall, TransactTask};
use crate::engine::activity::PollActivityResponse;
use crate::engine::codec;
use crate::engine::commands::plan::Reducers;
use crate::engine::commands::refusal::{Reject, TaskFailure};
use crate::engine::commands::update_message::UpdateBody;
use crate::engine::commands::{self, Command, Planned, Step};
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::*;
use crate::engine::messages::failure::{Failure, FlagInfo};
use crate::engine::messages::tasks::ProtocolMessage;
use crate::engine::messages::versioning::DeploymentOptions;
use crate::engine::queries::{self, QueryResultEntry};
use crate::engine::queues::Poll;
use crate::engine::rpc::{self, Rpc};
use crate::engine::state::request::Again;
use crate::engine::state::run::{Run, TaskState};
use crate::engine::task_events::write_outside_events;
use crate::engine::task_response::task_response;
use crate::engine::time::{Micros, micros_or_zero};
use crate::engine::tokens::{self, TaskToken};
use crate::engine::{eager, reset_points, updates, versioning, workflow_task};

message! {
    TaskCompletedRequest: workflowservice::RespondWorkflowTaskCompletedRequest {
        task_token bytes, commands reps(Command), identity str, sticky_attributes msg(StickyExecutionAttributes),
        return_new_workflow_task bool, force_create_new_workflow_task bool, binary_checksum str,
        query_results reps(QueryResultEntry), namespace str, worker_version_stamp msg(WorkerVersionStamp),
        messages reps(ProtocolMessage), sdk_metadata raw(SDK_METADATA), metering_metadata raw(METERING),
        capabilities msg(Capabilities), versioning_behavior i32, deployment_options msg(DeploymentOptions), page_number i32,
        intermediate_page bool,
    }
    Capabilities: workflowservice::RespondWorkflowTaskCompletedRequestCapabilities {
        discard_speculative_workflow_task_with_events bool,
    }
    StickyExecutionAttributes: taskqueue::StickyExecutionAttributes {
        worker_task_queue msg(TaskQueue), schedule_to_start_timeout dur,
    }
    TaskCompletedResponse: workflowservice::RespondWorkflowTaskCompletedResponse {
        workflow_task raw(ANY), activity_tasks reps(PollActivityResponse), reset_history_event_id i64,
    }
}

/// What the Started event of a task shows that was handed out in the response to the one before.
const INLINE_REQUEST_ID: &str = "request-from-RespondWorkflowTaskCompleted";

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: TaskCompletedRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    let token = tokens::task(&req.task_token)?;
    engine.on_run(r, &token.workflow_id, &token.run_id, |run, cx| {
        if commands::wait_for_cron(&req.commands, run, cx, r) {
            return Ok(());
        }
        match completed(run, cx, &token, req)? {
            Completed::Done(response) => cx.reply(id, &response),
            Completed::Reduce(calls) => {
                let (workflow_id, run_id) = (run.head.workflow_id.clone(), run.head.run_id.clone());
                let workflow_type = run.head.workflow_type.clone();
                cx.reducing.tasks.push(TransactTask { request_id: id, workflow_id, run_id, workflow_type, calls });
                cx.reducing.requests.insert(id, r.clone());
            }
        }
        Ok(())
    });
    Ok(())
}

enum Completed {
    Done(TaskCompletedResponse),
    /// The host runs these first; then the request is handled again.
    Reduce(Vec<TransactCall>),
}

/// Errors go to the worker, state changes made on the way stay.
fn completed(run: &mut Run, cx: &mut Context, token: &TaskToken, mut req: TaskCompletedRequest) -> Rpc<Completed> {
    if !workflow_task::holds(run, token) {
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
        return Err(end_heartbeats(run, cx, time));
    }

    // SDKs without versioning by build id send the checksum of their binary as the build id.
    if req.worker_version_stamp.is_none() && !req.binary_checksum.is_empty() {
        let build_id = req.binary_checksum.clone();
        req.worker_version_stamp = Some(WorkerVersionStamp { build_id, use_versioning: false });
    }
    let commands = std::mem::take(&mut req.commands);
    let messages = std::mem::take(&mut req.messages);
    let no_commands = commands.is_empty();
    let reducers = match cx.reducing.outcome.take() {
        None => Reducers::Asking(Vec::new()),
        Some(outcome) if !outcome.failure.is_empty() => return Err(reducer_failed(run, cx, outcome.failure, &req)),
        Some(outcome) => Reducers::Ended(outcome.results.into_iter()),
    };
    let Planned { steps, calls, awaited } = match commands::plan(run, cx, commands, messages, reducers) {
        Ok(planned) => planned,
        Err(Reject::Request(e)) => return Err(e),
        Err(Reject::Task(failure)) => return Err(refuse(run, cx, &failure, &req)),
        Err(Reject::Reducer(failure)) => return Err(reducer_failed(run, cx, failure, &req)),
    };

    if !calls.is_empty() {
        return Ok(Completed::Reduce(calls));
    }
    cx.reducing.taken = true;
    if discards(run, &task, &req, no_commands, &steps) {
        return Ok(Completed::Done(discard(run, cx, &req, steps)));
    }

    // The task stops being pending before anything is written, so that nothing of what follows is buffered.
    write_outside_events(run, Some(&req.identity));
    let Some(task) = workflow_task::remove(run, cx) else { return Err(rpc::task_not_found()) };
    let version = versioning::version_of_worker(cx, req.deployment_options.clone()).unwrap_or_default();
    let attrs = TaskCompletedAttrs {
        scheduled_event_id: task.scheduled_id,
        started_event_id: task.started_id,
        identity: req.identity.clone(),
        binary_checksum: std::mem::take(&mut req.binary_checksum),
        worker_version: req.worker_version_stamp.clone(),
        sdk_metadata: req.sdk_metadata.take(),
        metering_metadata: req.metering_metadata.take(),
        versioning_behavior: if version.is_some() { req.versioning_behavior } else { 0 },
        worker_deployment_version: version.as_ref().map(versioning::old_text).unwrap_or_default(),
        worker_deployment_name: deployment_name(cx, &req),
        deployment_version: version,
    };
    let completed_id = run.append(time, &attrs);
    reset_points::add(run, &attrs, completed_id, time);
    run.head.last_completed_started_id = task.started_id;
    run.reset_attempts();
    run.head.inbox_signals = run.head.inbox_signals.saturating_sub(task.inbox_delivered);
    if req.worker_version_stamp.is_some() {
        run.head.worker_version = req.worker_version_stamp.clone();
    }
    set_sticky(run, cx, &req);
    versioning::completed(run, cx, &attrs);

    let mut wanted = heartbeat || awaited || versioning::is_moving(run);
    for step in steps {
        wanted |= commands::apply(run, cx, step, completed_id, &req.identity);
    }
    if run.open() && !heartbeat {
        updates::reject_unprocessed(run, cx);
    }
    queries::answer(run, cx, std::mem::take(&mut req.query_results));
    updates::settle(run, cx);
    let worker = worker_of(cx, &req, false);
    let activity_tasks = eager::activities(run, cx, &worker);
    let since = (heartbeat && no_commands).then_some(task.original_scheduled_us);
    let new_task = run.open() && (wanted || !run.buffer.is_empty() || run.want_task || updates::undecided(run));
    let response = next_task(run, cx, &req, new_task, wanted || !run.buffer.is_empty() || run.want_task, since);
    Ok(Completed::Done(TaskCompletedResponse { activity_tasks, ..response }))
}

/// A task that only sends heartbeats is over after a time; another worker gets the next one.
fn end_heartbeats(run: &mut Run, cx: &mut Context, time: Micros) -> Box<RpcError> {
    write_outside_events(run, None);
    if let Some(task) = workflow_task::remove(run, cx) {
        let attrs = TaskTimedOutAttrs {
            scheduled_event_id: task.scheduled_id,
            started_event_id: task.started_id,
            timeout_type: TimeoutType::StartToClose as i32,
        };
        run.append(time, &attrs);
    }
    run.clear_sticky();
    run.reset_attempts();
    run.want_task = true;
    rpc::not_found("workflow task heartbeat timeout")
}

/// The worker that completes the task, as one that polls.
fn worker_of(cx: &Context, req: &TaskCompletedRequest, sticky: bool) -> Poll {
    let version = versioning::version_of_worker(cx, req.deployment_options.clone()).unwrap_or_default();
    let worker_version = req.worker_version_stamp.clone().filter(|_| version.is_none());
    Poll { request_id: 0, identity: req.identity.clone(), worker_version, version, sticky }
}

fn deployment_name(cx: &Context, req: &TaskCompletedRequest) -> String {
    let options = req.deployment_options.as_ref().filter(|_| cx.routing.is_some());
    options.map(|o| o.deployment_name.clone()).unwrap_or_default()
}

/// A reducer that nothing waits for has thrown: the task fails, as where its code had thrown, and is tried again later.
fn reducer_failed(run: &mut Run, cx: &mut Context, failure: Vec<u8>, req: &TaskCompletedRequest) -> Box<RpcError> {
    let text = codec::read::<Failure>(&failure).map(|f| f.message).unwrap_or_default();
    let cause = Cause::WorkflowWorkerUnhandledFailure;
    workflow_task::fail_with_backoff(run, cx, cause, Some(failure), &req.identity, &req.binary_checksum);
    rpc::with(rpc::invalid(text), "cause", cause.as_str_name())
}

/// The commands are wrong: the task fails, and the worker gets the reason. Updates that the task carried are aborted, because the
/// next attempt would report the same of them.
fn refuse(run: &mut Run, cx: &mut Context, failure: &TaskFailure, req: &TaskCompletedRequest) -> Box<RpcError> {
    let text = failure.text();
    let body = Failure { message: text.clone(), server_info: Some(FlagInfo::default()), ..Default::default() };
    let body = Some(codec::bytes(&body));
    if failure.cause == Cause::UnhandledCommand {
        workflow_task::fail(run, cx, failure.cause, body, &req.identity, &req.binary_checksum);
    } else {
        updates::abort_sent(run, cx);
        workflow_task::fail_with_backoff(run, cx, failure.cause, body, &req.identity, &req.binary_checksum);
    }
    rpc::with(rpc::invalid(text), "cause", failure.cause.as_str_name())
}

/// A speculative task whose completion changes nothing is dropped without a trace.
fn discards(run: &Run, task: &TaskState, req: &TaskCompletedRequest, no_commands: bool, steps: &[Step]) -> bool {
    if !task.speculative || !no_commands || req.force_create_new_workflow_task {
        return false;
    }
    let shipped = run.head.next_event_id - (run.head.last_completed_started_id + 2);
    let again = req.capabilities.as_ref().is_some_and(|c| c.discard_speculative_workflow_task_with_events);
    if shipped > if again { limits::SPECULATIVE_EVENTS } else { 0 } {
        return false;
    }
    steps.iter().all(|s| matches!(s, Step::Message(m) if matches!(m.body, UpdateBody::Reject(_))))
}

fn discard(run: &mut Run, cx: &mut Context, req: &TaskCompletedRequest, steps: Vec<Step>) -> TaskCompletedResponse {
    workflow_task::remove(run, cx);
    set_sticky(run, cx, req);
    for step in steps {
        commands::apply(run, cx, step, 0, &req.identity);
    }
    updates::reject_unprocessed(run, cx);
    queries::answer(run, cx, req.query_results.clone());
    updates::settle(run, cx);
    let new_task = updates::undecided(run);
    let mut response = next_task(run, cx, req, new_task, false, None);
    response.reset_history_event_id = run.head.last_completed_started_id;
    response
}

fn set_sticky(run: &mut Run, cx: &Context, req: &TaskCompletedRequest) {
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
    cx: &mut Context,
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
        let moves = versioning::is_moving(run) || versioning::leaves_worker(run, cx);
        let inline = req.return_new_workflow_task && run.recent.is_some() && !moves;
        workflow_task::schedule(run, cx.now, !normal && inline, since);
        if inline {
            let poll = worker_of(cx, req, true);
            // The worker has the run: the task is partial even where it asked for no sticky queue.
            let delivered = workflow_task::start(run, cx, &poll, INLINE_REQUEST_ID.into(), true);
            let (task, splice) = task_response(run, cx, delivered, true, req.force_create_new_workflow_task);
            debug_assert!(splice.is_none());
            response.workflow_task = Some(codec::bytes(&task));
        }
    } else {
        queries::unblock(run, cx);
    }
    response
}
