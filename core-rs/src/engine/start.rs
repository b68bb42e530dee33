//! A start and what it finds under its workflow id: the reuse and conflict policies.
use super::context::Context;
use super::message::message;
use super::messages::events::StartedAttrs;
use super::new_run::{NewRun, create};
use super::queues::Poll;
use super::rpc::{self, Rpc};
use super::state::run::Run;
use super::time::{micros_or_zero, timestamp_opt};
use crate::api::enums::v1::{
    ContinueAsNewInitiator, WorkflowExecutionStatus as Status, WorkflowIdConflictPolicy as Conflict,
    WorkflowIdReusePolicy as Reuse,
};

message! {
    Attach: workflow::OnConflictOptions { attach_request_id bool, attach_completion_callbacks bool, attach_links bool, }
}

/// A checked start, of a client or of a parent.
pub struct Start {
    pub request_id: String,
    pub reuse: Reuse,
    pub conflict: Conflict,
    pub attrs: StartedAttrs,
    pub user_metadata: Option<Vec<u8>>,
    /// The response is to carry the first workflow task, which does not wait for a back-off, to this worker.
    pub eager: Option<Poll>,
    /// encoded Links of the first event
    pub links: Vec<Vec<u8>>,
    /// What is attached to an open run that is used instead.
    pub attach: Option<Attach>,
}

/// What a start finds under its workflow id.
pub enum Found {
    /// Nothing in the way.
    Free,
    /// The same request again: its reply is the run that it made.
    Same,
    /// The same request again: it was attached to the run.
    Attached,
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
    if latest.attached.contains_key(&s.request_id) {
        return Ok(Found::Attached);
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

/// What begins the first run of a chain, as its start shows it.
pub fn initiator(cron_schedule: &str) -> i32 {
    if cron_schedule.is_empty() { 0 } else { ContinueAsNewInitiator::CronSchedule as i32 }
}

/// Whether one more run may be opened.
pub fn check_open_runs(cx: &Context) -> Rpc<()> {
    if cx.limits.open_runs > 0 && cx.open_runs >= i64::from(cx.limits.open_runs) {
        let text = format!(
            "cannot start a workflow: the limit of {} open runs (openRuns) is reached; retry when a run has closed",
            cx.limits.open_runs
        );
        return Err(rpc::exhausted("MaxOpenRuns", "max_open_runs", text));
    }
    Ok(())
}

/// Creates the run of a start request.
pub fn fresh(cx: &mut Context, s: Start, run_id: &str) {
    let now = cx.now;
    let run_id = run_id.to_string();
    let mut attrs = s.attrs;
    attrs.original_execution_run_id.clone_from(&run_id);
    attrs.first_execution_run_id.clone_from(&run_id);
    let execution = micros_or_zero(&attrs.workflow_execution_timeout);
    if execution > 0 {
        // As on servers, the delay of a cron schedule counts.
        let delay = if attrs.cron_schedule.is_empty() { micros_or_zero(&attrs.first_workflow_task_backoff) } else { 0 };
        attrs.workflow_execution_expiration_time = timestamp_opt(now + delay + execution);
    }
    let request_id = if s.request_id.is_empty() { cx.rng.uuid4() } else { s.request_id };
    create(cx, NewRun { run_id, request_id, attrs, user_metadata: s.user_metadata, links: s.links, first_start_us: 0 }, now);
}
