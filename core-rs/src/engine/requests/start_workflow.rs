//! StartWorkflowExecution, by itself or as the first half of an update-with-start.
use super::completion_callbacks;
use super::shared::*;
use super::update_workflow;
use crate::api::enums::v1::{WorkflowIdConflictPolicy as Conflict, WorkflowIdReusePolicy as Reuse};
use crate::engine::context::Context;
use crate::engine::cron::Waiting;
use crate::engine::limits;
use crate::engine::machine::Engine;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::StartedAttrs;
use crate::engine::messages::versioning::DeploymentOptions;
use crate::engine::new_run::task_timeout;
use crate::engine::queues::Poll;
use crate::engine::retry;
use crate::engine::rpc::{self, Rpc};
use crate::engine::search_attributes;
use crate::engine::start::{Attach, Start, initiator};
use crate::engine::state::request::Again;
use crate::engine::time::{duration, micros};
use crate::engine::versioning;
use prost_types::Duration;

message! {
    StartRequest: workflowservice::StartWorkflowExecutionRequest {
        namespace str, workflow_id str, workflow_type msg(Named), task_queue msg(TaskQueue), input payloads,
        workflow_execution_timeout dur, workflow_run_timeout dur, workflow_task_timeout dur, identity str, request_id str,
        workflow_id_reuse_policy i32, retry_policy msg(RetryPolicy), cron_schedule str, memo fields, search_attributes fields,
        header fields, request_eager_execution bool, continued_failure failure, last_completion_result payloads, workflow_start_delay dur,
        completion_callbacks raws(CALLBACK), workflow_id_conflict_policy i32, user_metadata meta, links raws(LINK),
        versioning_override raw(ANY), on_conflict_options msg(Attach), priority raw(PRIORITY),
        eager_worker_deployment_options msg(DeploymentOptions),
    }
}

pub fn handle(engine: &mut Engine, r: &Again) -> Rpc<()> {
    let id = r.request_id;
    let req: StartRequest = decode(&r.body)?;
    engine.namespace(&req.namespace)?;
    if engine.cx.waits_for_cron(&req.cron_schedule, 0, || Waiting::Request(r.clone())) {
        return Ok(());
    }
    let start = checked(&engine.cx, req)?;
    let update = match engine.cx.pairs.get(&id) {
        Some(pair) => Some(update_workflow::check_pair(engine, id, &start, pair.update.clone())?),
        None => None,
    };
    // A repeated call finds its update before the policies of the start are applied: the first call may be what made the run.
    if let Some(existing) = update.as_ref().and_then(|update| update_workflow::run_with(engine, update)) {
        engine.use_existing(r, existing);
    } else {
        engine.start(r, start, None)?;
    }
    // Not yet when the start waits for the store: then it comes by here again.
    let started = engine.cx.pairs.get(&id).is_some_and(|pair| pair.started.is_some());
    if let (true, Some(update)) = (started, update) {
        update_workflow::update(engine, update);
    }
    Ok(())
}

/// Checks a start request and completes its attributes but for ids and times.
pub fn checked(cx: &Context, mut r: StartRequest) -> Rpc<Start> {
    if r.workflow_id.is_empty() {
        return Err(rpc::invalid("WorkflowId is not set on request."));
    }
    let type_name = r.workflow_type.as_ref().map_or("", |t| &t.name);
    if type_name.is_empty() {
        return Err(rpc::invalid("WorkflowType is not set on request."));
    }
    let queue = r.task_queue.as_ref().map_or("", |q| &q.name);
    if queue.is_empty() {
        return Err(rpc::invalid("missing task queue name"));
    }
    if let Some(why) = limits::bad_queue(queue) {
        return Err(rpc::invalid(format!("task queue name {why}")));
    }
    for (what, id) in [("WorkflowId", r.workflow_id.as_str()), ("WorkflowType", type_name), ("RequestId", &r.request_id)] {
        if let Some(why) = limits::bad_id(id) {
            return Err(rpc::invalid(format!("{what} {why}")));
        }
    }
    if r.on_conflict_options.as_ref().is_some_and(|o| o.attach_completion_callbacks && !o.attach_request_id) {
        return Err(rpc::invalid("attaching request ID is required for attaching completion callbacks"));
    }
    let links = completion_callbacks::check(&r.completion_callbacks, r.links)?;
    versioning::check_override(cx, r.versioning_override.as_deref(), queue)?;
    let version = versioning::version_of_worker(cx, r.eager_worker_deployment_options.take())?;
    let read = |name: &str, d: &Option<Duration>| micros(d).map_err(|why| rpc::invalid(format!("Invalid {name}: {why}.")));
    let execution = read("WorkflowExecutionTimeoutSeconds", &r.workflow_execution_timeout)?;
    let mut run_timeout = read("WorkflowRunTimeoutSeconds", &r.workflow_run_timeout)?;
    let task = read("WorkflowTaskTimeoutSeconds", &r.workflow_task_timeout)?;
    let mut delay = read("WorkflowStartDelay", &r.workflow_start_delay)?;
    if !r.cron_schedule.is_empty() {
        if r.workflow_start_delay.is_some() {
            return Err(rpc::invalid("CronSchedule and WorkflowStartDelay may not be used together."));
        }
        delay = cx.crons.delay(&r.cron_schedule).map_err(rpc::invalid)?;
    }
    if execution > 0 && (run_timeout == 0 || run_timeout > execution) {
        run_timeout = execution;
        r.workflow_run_timeout = Some(duration(run_timeout));
    }
    if let Some(policy) = &mut r.retry_policy {
        retry::fill_defaults(policy);
        retry::check(policy).map_err(rpc::invalid)?;
    }
    for (what, size) in [
        ("Input", r.input.as_ref().map_or(0, Vec::len)),
        ("SearchAttributes", r.search_attributes.as_ref().map_or(0, Vec::len)),
        ("Memo", r.memo.as_ref().map_or(0, Vec::len)),
        ("UserMetadata", r.user_metadata.as_ref().map_or(0, Vec::len)),
    ] {
        check_size(cx, what, size)?;
    }
    check_header(r.header.as_ref())?;
    check_priority(r.priority.as_deref())?;
    search_attributes::check(r.search_attributes.as_deref(), cx.attributes.as_ref()).map_err(rpc::invalid)?;
    let (reuse, conflict) = policies(r.workflow_id_reuse_policy, r.workflow_id_conflict_policy)?;
    let eager = r.request_eager_execution && delay == 0;
    let mut attrs = StartedAttrs {
        workflow_type: r.workflow_type,
        task_queue: Some(normal_queue(queue)),
        input: r.input,
        workflow_execution_timeout: r.workflow_execution_timeout,
        workflow_run_timeout: r.workflow_run_timeout,
        workflow_task_timeout: Some(duration(task_timeout(task, run_timeout))),
        initiator: initiator(&r.cron_schedule),
        cron_schedule: r.cron_schedule,
        continued_failure: r.continued_failure,
        last_completion_result: r.last_completion_result,
        identity: r.identity,
        retry_policy: r.retry_policy,
        attempt: 1,
        first_workflow_task_backoff: Some(duration(delay)),
        memo: r.memo,
        search_attributes: search_attributes::typed(r.search_attributes, None, cx.attributes.as_ref()),
        header: r.header,
        workflow_id: r.workflow_id,
        completion_callbacks: r.completion_callbacks,
        versioning_override: r.versioning_override,
        priority: r.priority,
        ..Default::default()
    };
    attrs.eager_execution_accepted = eager && versioning::starts_on(cx, &attrs, version.as_ref());
    let worker = Poll { request_id: 0, identity: attrs.identity.clone(), worker_version: None, version, sticky: false };
    let eager = attrs.eager_execution_accepted.then_some(worker);
    Ok(Start {
        request_id: r.request_id,
        reuse,
        conflict,
        attrs,
        user_metadata: r.user_metadata,
        eager,
        links,
        attach: r.on_conflict_options,
    })
}

#[allow(deprecated)]
fn policies(reuse: i32, conflict: i32) -> Rpc<(Reuse, Conflict)> {
    Ok(
        match (
            Reuse::try_from(reuse).unwrap_or(Reuse::Unspecified),
            Conflict::try_from(conflict).unwrap_or(Conflict::Unspecified),
        ) {
            (Reuse::TerminateIfRunning, Conflict::Unspecified) => (Reuse::AllowDuplicate, Conflict::TerminateExisting),
            (Reuse::TerminateIfRunning, _) => {
                let text =
                    "WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING cannot be used together with a WorkflowIdConflictPolicy.";
                return Err(rpc::invalid(format!("Invalid WorkflowIDReusePolicy: {text}")));
            }
            (Reuse::RejectDuplicate, Conflict::TerminateExisting) => {
                let text = "WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE cannot be used together with WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING.";
                return Err(rpc::invalid(format!("Invalid WorkflowIDReusePolicy: {text}")));
            }
            (Reuse::Unspecified, c) => (Reuse::AllowDuplicate, c),
            pair => pair,
        },
    )
}
