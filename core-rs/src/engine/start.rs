//! New runs: StartWorkflowExecution and SignalWithStart with their policies, and the runs that follow others.
use prost_types::Duration;

use super::codec;
use super::cx::Cx;
use super::event::{Event, Extras};
use super::limits;
use super::plan::{check_retry_policy, retry_defaults};
use super::rpc::{self, Rpc};
use super::search_attributes;
use super::state::{Head, Run, kind};
use super::time::{Micros, duration, micros, micros_or_zero, timestamp_opt};
use super::wire::*;
use super::workflow_task::{self, normal_queue};
use crate::api::enums::v1::{
    WorkflowExecutionStatus as Status, WorkflowIdConflictPolicy as Conflict, WorkflowIdReusePolicy as Reuse,
};

/// A run to be created: its started attributes are complete.
pub struct NewRun {
    pub run_id: String,
    pub request_id: String,
    pub attrs: StartedAttrs,
    pub user_metadata: Option<Vec<u8>>,
    /// Start of the first run of the chain; 0: this is it.
    pub first_start_us: Micros,
}

/// Writes WorkflowExecutionStarted and what follows from it, and hands the run to the engine.
pub fn create(cx: &mut Cx, new: NewRun, time: Micros) {
    let a = &new.attrs;
    let execution = micros_or_zero(&a.workflow_execution_timeout);
    let run_timeout = micros_or_zero(&a.workflow_run_timeout);
    let backoff = micros_or_zero(&a.first_workflow_task_backoff);
    let expires = a.workflow_execution_expiration_time.as_ref().map_or(0, |t| t.seconds * 1_000_000 + i64::from(t.nanos) / 1_000);
    let mut run_deadline = if run_timeout > 0 { time + backoff + run_timeout } else { 0 };
    if expires > 0 && (run_deadline == 0 || expires < run_deadline) {
        run_deadline = expires;
    }
    let mut run = Run::new(Head {
        workflow_id: a.workflow_id.clone(),
        run_id: new.run_id.clone(),
        workflow_type: a.workflow_type.as_ref().map(|t| t.name.clone()).unwrap_or_default(),
        task_queue: a.task_queue.as_ref().map(|q| q.name.clone()).unwrap_or_default(),
        status: Status::Running as i32,
        start_us: time,
        next_event_id: 1,
        execution_timeout_us: execution,
        run_timeout_us: run_timeout,
        task_timeout_us: micros_or_zero(&a.workflow_task_timeout),
        execution_deadline_us: expires,
        run_deadline_us: run_deadline,
        first_run_id: a.first_execution_run_id.clone(),
        original_run_id: a.original_execution_run_id.clone(),
        continued_run_id: a.continued_execution_run_id.clone(),
        attempt: a.attempt,
        memo: a.memo.clone(),
        search_attributes: a.search_attributes.clone(),
        create_request_id: new.request_id,
        task_attempt: 1,
        last_time_us: time,
        retry_policy: a.retry_policy.clone(),
        execution_time_us: time + backoff,
        user_metadata: new.user_metadata.clone(),
        priority: a.priority.clone(),
        parent: a.parent_workflow_execution.clone(),
        parent_initiated_id: a.parent_initiated_event_id,
        root: a.root_workflow_execution.clone(),
        first_start_us: if new.first_start_us > 0 { new.first_start_us } else { time },
        ..Default::default()
    });
    run.create = true;
    if a.retry_policy.is_some() {
        run.started_attrs = Some(codec::bytes(a));
        run.mark(kind::STARTED, "");
    }
    let extras = Extras { user_metadata: new.user_metadata, markers: Vec::new() };
    run.write(Event::new(time, &new.attrs).with(&extras));
    run.set_run_deadline((run_deadline > 0).then_some(run_deadline));
    if backoff > 0 {
        run.head.first_task_at_us = time + backoff;
        run.set_first_task_deadline(Some(time + backoff));
    } else {
        run.want_task = true;
    }
    cx.open_runs += 1;
    cx.spawned.push(run);
}

/// Default and bounds of the workflow task timeout.
pub fn task_timeout(asked: Micros, run_timeout: Micros) -> Micros {
    let t = if asked == 0 { limits::DEFAULT_TASK_TIMEOUT } else { asked.min(limits::MAX_TASK_TIMEOUT) };
    if run_timeout > 0 { t.min(run_timeout) } else { t }
}

/// A start request, whichever method brought it.
pub struct Start {
    pub request_id: String,
    pub reuse: Reuse,
    pub conflict: Conflict,
    pub attrs: StartedAttrs,
    pub user_metadata: Option<Vec<u8>>,
}

/// Checks a start request and completes its attributes but for ids and times.
pub fn checked(cx: &Cx, mut r: StartRequest) -> Rpc<Start> {
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
    for (what, id) in
        [("WorkflowId", r.workflow_id.as_str()), ("WorkflowType", type_name), ("TaskQueue", queue), ("RequestId", &r.request_id)]
    {
        if let Some(why) = limits::bad_id(id) {
            return Err(rpc::invalid(format!("{what} {why}")));
        }
    }
    if !r.cron_schedule.is_empty() {
        return Err(rpc::unimplemented("cron schedules are not supported by this engine"));
    }
    if !r.completion_callbacks.is_empty() {
        return Err(rpc::unimplemented("completion callbacks are not supported by this engine"));
    }
    if r.versioning_override.as_ref().is_some_and(|v| !v.is_empty()) {
        return Err(rpc::unimplemented("worker versioning is not supported by this engine"));
    }
    let read = |name: &str, d: &Option<Duration>| micros(d).map_err(|why| rpc::invalid(format!("Invalid {name}: {why}.")));
    let execution = read("WorkflowExecutionTimeoutSeconds", &r.workflow_execution_timeout)?;
    let mut run_timeout = read("WorkflowRunTimeoutSeconds", &r.workflow_run_timeout)?;
    let task = read("WorkflowTaskTimeoutSeconds", &r.workflow_task_timeout)?;
    let delay = read("WorkflowStartDelay", &r.workflow_start_delay)?;
    if execution > 0 && (run_timeout == 0 || run_timeout > execution) {
        run_timeout = execution;
        r.workflow_run_timeout = Some(duration(run_timeout));
    }
    if let Some(policy) = &mut r.retry_policy {
        retry_defaults(policy);
        check_retry_policy(policy).map_err(rpc::invalid)?;
    }
    for (what, size) in [
        ("Input", r.input.as_ref().map_or(0, Vec::len)),
        ("Header", r.header.as_ref().map_or(0, Vec::len)),
        ("SearchAttributes", r.search_attributes.as_ref().map_or(0, Vec::len)),
        ("Memo", r.memo.as_ref().map_or(0, Vec::len)),
        ("UserMetadata", r.user_metadata.as_ref().map_or(0, Vec::len)),
    ] {
        check_size(cx, what, size)?;
    }
    #[allow(deprecated)]
    let (reuse, conflict) = match (
        Reuse::try_from(r.workflow_id_reuse_policy).unwrap_or(Reuse::Unspecified),
        Conflict::try_from(r.workflow_id_conflict_policy).unwrap_or(Conflict::Unspecified),
    ) {
        (Reuse::TerminateIfRunning, Conflict::Unspecified) => (Reuse::AllowDuplicate, Conflict::TerminateExisting),
        (Reuse::TerminateIfRunning, _) => {
            let text = "WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING cannot be used together with a WorkflowIdConflictPolicy.";
            return Err(rpc::invalid(format!("Invalid WorkflowIDReusePolicy: {text}")));
        }
        (Reuse::RejectDuplicate, Conflict::TerminateExisting) => {
            let text = "WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE cannot be used together with WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING.";
            return Err(rpc::invalid(format!("Invalid WorkflowIDReusePolicy: {text}")));
        }
        (Reuse::Unspecified, c) => (Reuse::AllowDuplicate, c),
        pair => pair,
    };
    let attrs = StartedAttrs {
        workflow_type: r.workflow_type,
        task_queue: Some(normal_queue(queue)),
        input: r.input,
        workflow_execution_timeout: r.workflow_execution_timeout,
        workflow_run_timeout: r.workflow_run_timeout,
        workflow_task_timeout: Some(duration(task_timeout(task, run_timeout))),
        continued_failure: r.continued_failure,
        last_completion_result: r.last_completion_result,
        identity: r.identity,
        retry_policy: r.retry_policy,
        attempt: 1,
        first_workflow_task_backoff: Some(duration(delay)),
        memo: r.memo,
        search_attributes: search_attributes::typed(r.search_attributes, None),
        header: r.header,
        workflow_id: r.workflow_id,
        priority: r.priority,
        ..Default::default()
    };
    Ok(Start { request_id: r.request_id, reuse, conflict, attrs, user_metadata: r.user_metadata })
}

pub fn check_size(cx: &Cx, what: &str, size: usize) -> Rpc<()> {
    if size > cx.limits.payload_bytes {
        let e = rpc::invalid(format!("Blob data size exceeds limit. {what}: {size} bytes, at most {}.", cx.limits.payload_bytes));
        return Err(rpc::with(e, "limit", "max_payload_bytes"));
    }
    Ok(())
}

/// What a start finds under its workflow id.
pub enum Found {
    /// Nothing in the way.
    Free,
    /// The same request again: answered with the run that it made.
    Same,
    /// An open run that is to be used instead.
    Existing,
    /// An open run that is to be terminated first.
    Terminate,
}

/// Applies the reuse and conflict policies to the latest run of the workflow id.
pub fn resolve(s: &Start, latest: &Run) -> Rpc<Found> {
    let h = &latest.head;
    if !s.request_id.is_empty() && h.create_request_id == s.request_id {
        return Ok(Found::Same);
    }
    let taken = |text: String| Err(rpc::already_started(text, &h.run_id, &h.create_request_id, &h.first_run_id));
    if latest.open() {
        return match s.conflict {
            Conflict::UseExisting => Ok(Found::Existing),
            Conflict::TerminateExisting => Ok(Found::Terminate),
            Conflict::Fail | Conflict::Unspecified => {
                taken(format!("Workflow execution is already running. WorkflowId: {}, RunId: {}.", h.workflow_id, h.run_id))
            }
        };
    }
    let status = Status::try_from(h.status).unwrap_or(Status::Unspecified);
    match s.reuse {
        Reuse::RejectDuplicate => taken(format!(
            "Workflow execution already finished. WorkflowId: {}, RunId: {}. Workflow Id reuse policy: reject duplicate workflow Id.",
            h.workflow_id, h.run_id
        )),
        Reuse::AllowDuplicateFailedOnly
            if !matches!(status, Status::Failed | Status::Canceled | Status::Terminated | Status::TimedOut) =>
        {
            taken(format!(
                "Workflow execution already finished successfully. WorkflowId: {}, RunId: {}. Workflow Id reuse policy: allow duplicate workflow Id if last run failed.",
                h.workflow_id, h.run_id
            ))
        }
        _ => Ok(Found::Free),
    }
}

/// Whether one more run may be opened.
pub fn check_open_runs(cx: &Cx) -> Rpc<()> {
    if cx.limits.open_runs > 0 && cx.open_runs >= i64::from(cx.limits.open_runs) {
        let text = format!("the limit of {} open runs is reached", cx.limits.open_runs);
        return Err(rpc::exhausted("MaxOpenRuns", "max_open_runs", text));
    }
    Ok(())
}

/// Creates the run of a start request.
pub fn fresh(cx: &mut Cx, s: Start, run_id: &str) {
    let now = cx.now;
    let run_id = run_id.to_string();
    let mut attrs = s.attrs;
    attrs.original_execution_run_id.clone_from(&run_id);
    attrs.first_execution_run_id.clone_from(&run_id);
    let execution = micros_or_zero(&attrs.workflow_execution_timeout);
    if execution > 0 {
        let delay = micros_or_zero(&attrs.first_workflow_task_backoff);
        attrs.workflow_execution_expiration_time = timestamp_opt(now + delay + execution);
    }
    let request_id = if s.request_id.is_empty() { cx.rng.uuid4() } else { s.request_id };
    create(cx, NewRun { run_id, request_id, attrs, user_metadata: s.user_metadata, first_start_us: 0 }, now);
}

impl From<SignalWithStartRequest> for StartRequest {
    fn from(r: SignalWithStartRequest) -> StartRequest {
        StartRequest {
            namespace: r.namespace,
            workflow_id: r.workflow_id,
            workflow_type: r.workflow_type,
            task_queue: r.task_queue,
            input: r.input,
            workflow_execution_timeout: r.workflow_execution_timeout,
            workflow_run_timeout: r.workflow_run_timeout,
            workflow_task_timeout: r.workflow_task_timeout,
            identity: r.identity,
            request_id: r.request_id,
            workflow_id_reuse_policy: r.workflow_id_reuse_policy,
            retry_policy: r.retry_policy,
            cron_schedule: r.cron_schedule,
            memo: r.memo,
            search_attributes: r.search_attributes,
            header: r.header,
            continued_failure: None,
            last_completion_result: None,
            workflow_start_delay: r.workflow_start_delay,
            completion_callbacks: Vec::new(),
            workflow_id_conflict_policy: r.workflow_id_conflict_policy,
            user_metadata: r.user_metadata,
            versioning_override: r.versioning_override,
            priority: r.priority,
        }
    }
}

/// The first task of a run whose backoff is over.
pub fn first_task_due(run: &mut Run) {
    run.head.first_task_at_us = 0;
    run.want_task = true;
    run.dirty = true;
}

/// Schedules the task that the step made necessary, unless there is one or the first one is still held back.
pub fn schedule_if_wanted(run: &mut Run, now: Micros) {
    if !run.want_task {
        return;
    }
    run.want_task = false;
    if run.open() && run.head.task.is_none() && run.head.first_task_at_us == 0 {
        workflow_task::schedule(run, now, false, None);
    }
}
