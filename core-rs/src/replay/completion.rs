//! The bytes that answer a workflow task (core-spec 2.10, 4.7).

use crate::sorted::SortedMap;
use prost::Message;

use crate::api::common::v1::Payloads;
use crate::api::enums::v1::{QueryResultType, TaskQueueKind, WorkflowTaskFailedCause};
use crate::api::failure::v1::failure::FailureInfo;
use crate::api::failure::v1::{ApplicationFailureInfo, Failure};
use crate::api::query::v1::WorkflowQueryResult;
use crate::api::taskqueue::v1::{StickyExecutionAttributes, TaskQueue};
use crate::api::workflowservice::v1::respond_workflow_task_completed_request::Capabilities;
use crate::api::workflowservice::v1::{
    RespondQueryTaskCompletedRequest, RespondWorkflowTaskCompletedRequest, RespondWorkflowTaskFailedRequest,
};
use crate::boundary::{ErrorKind, EvictionReason, RunOptions, query_result};
use crate::error::{codes, decode};
use crate::replay::convert::optional_duration;
use crate::replay::task::{Failed, LEGACY_QUERY, Task};
use crate::replay::workflow::Workflow;

/// RespondWorkflowTaskCompletedRequest with all that is queued. Queue entries stay until their events come.
pub fn completed(options: &RunOptions, workflow: &mut Workflow, task: &mut Task) -> Vec<u8> {
    let commands = workflow.queue.iter().filter(|c| !workflow.is_withdrawn(c)).map(|c| c.to_api(&workflow.inherited)).collect();
    let sticky = !options.sticky_queue.is_empty();
    let query_results = std::mem::take(&mut task.answers).into_iter().map(|(id, r)| (id, query_answer(r))).collect();
    let request = RespondWorkflowTaskCompletedRequest {
        task_token: std::mem::take(&mut task.token),
        commands,
        messages: std::mem::take(&mut workflow.outgoing),
        identity: options.identity.clone(),
        namespace: options.namespace.clone(),
        sticky_attributes: sticky.then(|| StickyExecutionAttributes {
            worker_task_queue: Some(TaskQueue {
                name: options.sticky_queue.clone(),
                kind: TaskQueueKind::Sticky as i32,
                normal_name: workflow.inherited.task_queue.clone(),
            }),
            schedule_to_start_timeout: optional_duration(options.sticky_schedule_to_start_timeout_ms),
        }),
        return_new_workflow_task: sticky,
        query_results,
        sdk_metadata: Some(workflow.flags.to_write(&options.sdk_name, &options.sdk_version, &options.used_lang_flags)),
        capabilities: Some(Capabilities { discard_speculative_workflow_task_with_events: true }),
        ..Default::default()
    };
    request.encode_to_vec()
}

/// RespondWorkflowTaskFailedRequest.
pub fn failed(options: &RunOptions, task: &mut Task, failed: &Failed) -> Vec<u8> {
    let request = RespondWorkflowTaskFailedRequest {
        task_token: std::mem::take(&mut task.token),
        cause: cause(failed) as i32,
        failure: Some(failure(failed)),
        identity: options.identity.clone(),
        namespace: options.namespace.clone(),
        ..Default::default()
    };
    request.encode_to_vec()
}

/// RespondQueryTaskCompletedRequest with the answer of workflow code.
pub fn query_completed(options: &RunOptions, task: &mut Task) -> Vec<u8> {
    let answer = task.answers.remove(LEGACY_QUERY).unwrap_or_else(|| unanswered(LEGACY_QUERY));
    let answer = query_answer(answer);
    let request = RespondQueryTaskCompletedRequest {
        task_token: std::mem::take(&mut task.token),
        completed_type: answer.result_type,
        query_result: answer.answer,
        error_message: answer.error_message,
        failure: answer.failure,
        namespace: options.namespace.clone(),
        ..Default::default()
    };
    request.encode_to_vec()
}

/// RespondQueryTaskCompletedRequest for a query that could not be answered.
pub fn query_failed(options: &RunOptions, task: &mut Task, failed: &Failed) -> Vec<u8> {
    let request = RespondQueryTaskCompletedRequest {
        task_token: std::mem::take(&mut task.token),
        completed_type: QueryResultType::Failed as i32,
        error_message: failed.error.message.clone(),
        failure: Some(failure(failed)),
        cause: cause(failed) as i32,
        namespace: options.namespace.clone(),
        ..Default::default()
    };
    request.encode_to_vec()
}

/// What a query gets that workflow code passed over.
pub fn unanswered(id: &str) -> query_result::Result {
    let failure = Failure { message: format!("Workflow code did not answer query {id}"), ..Default::default() };
    query_result::Result::Failed(failure.encode_to_vec())
}

/// Fills in queries that workflow code passed over.
pub fn fill_unanswered(answers: &mut SortedMap<String, query_result::Result>, asked: &[String]) {
    for id in asked {
        answers.get_or_insert_with(id.clone(), || unanswered(id));
    }
}

fn query_answer(result: query_result::Result) -> WorkflowQueryResult {
    match result {
        query_result::Result::Succeeded(payload) => WorkflowQueryResult {
            result_type: QueryResultType::Answered as i32,
            answer: Some(Payloads { payloads: vec![payload] }),
            ..Default::default()
        },
        query_result::Result::Failed(bytes) => {
            // Checked when it was given; bytes that do not decode cannot come here.
            let failure = Failure::decode(bytes.as_slice()).unwrap_or_default();
            WorkflowQueryResult {
                result_type: QueryResultType::Failed as i32,
                error_message: failure.message.clone(),
                failure: Some(failure),
                ..Default::default()
            }
        }
    }
}

/// A failed answer must hold a Failure.
pub fn check_answer(result: &query_result::Result) -> crate::error::Result<()> {
    match result {
        query_result::Result::Failed(bytes) => decode::<Failure>("Failure", bytes).map(|_| ()),
        query_result::Result::Succeeded(_) => Ok(()),
    }
}

fn cause(failed: &Failed) -> WorkflowTaskFailedCause {
    match WorkflowTaskFailedCause::try_from(failed.cause) {
        Ok(cause) if cause != WorkflowTaskFailedCause::Unspecified => cause,
        _ if failed.error.kind() == ErrorKind::Nondeterminism => WorkflowTaskFailedCause::NonDeterministicError,
        _ => WorkflowTaskFailedCause::WorkflowWorkerUnhandledFailure,
    }
}

fn failure(failed: &Failed) -> Failure {
    failed.failure.clone().unwrap_or_else(|| Failure {
        message: failed.error.message.clone(),
        failure_info: Some(FailureInfo::ApplicationFailureInfo(ApplicationFailureInfo::default())),
        ..Default::default()
    })
}

/// Why the run leaves the cache when its task failed.
pub fn eviction_of(failed: &Failed) -> EvictionReason {
    match (failed.error.code, failed.error.kind()) {
        (codes::HISTORY_FETCH | codes::HISTORY_INCOMPLETE, _) => EvictionReason::PaginationOrHistoryFetch,
        (_, ErrorKind::Nondeterminism) => EvictionReason::Nondeterminism,
        (_, ErrorKind::Lang) => EvictionReason::LangFail,
        _ => EvictionReason::Fatal,
    }
}
