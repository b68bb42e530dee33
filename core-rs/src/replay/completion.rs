//! The bytes that answer a workflow task (docs/dev/semantics/tasks.md#what-a-completion-holds).
use crate::api::enums::v1::{QueryResultType, TaskQueueKind, WorkflowTaskFailedCause};
use crate::boundary::{ErrorKind, EvictionReason, RunOptions};
use crate::error::codes;
use crate::proto::views::common::Payload;
use crate::proto::views::failure::Failure;
use crate::proto::views::workflowservice::{
    RespondQueryTaskCompletedRequest, RespondWorkflowTaskCompletedRequest, RespondWorkflowTaskFailedRequest,
};
use crate::replay::commands::Entry;
use crate::replay::task::{Failed, LEGACY_QUERY, QueryAnswer, Task};
use crate::replay::workflow::Workflow;
use crate::sorted::SortedMap;
use crate::wire::typed::{Encoded, Put, View, build};

/// The completion with all that is queued. Queue entries stay until their events come.
pub fn completed(options: &RunOptions, workflow: &mut Workflow, task: &Task) -> Encoded<RespondWorkflowTaskCompletedRequest> {
    let sticky = !options.sticky_queue.is_empty();
    let metadata = workflow.run.flags.to_write(&options.sdk_name, &options.sdk_version, &options.used_lang_flags);
    let own = &workflow.run.inherited;
    let completion = build(|w: Put<RespondWorkflowTaskCompletedRequest>| {
        let w = w.task_token(&task.token);
        let queued = workflow.queue.iter().filter(|e| !e.command.is_withdrawn(&workflow.machines));
        let w = queued.fold(w, |w, Entry { command, groups }| {
            w.add_commands(|w| command.write(w.command_type(command.command_type()), own).all_of(groups.view()))
        });
        let w = w.identity(&options.identity);
        let w = w.with(sticky.then_some(&options.sticky_queue), |w, queue| {
            w.sticky_attributes(|w| {
                w.worker_task_queue(|w| w.name(queue).kind(TaskQueueKind::Sticky).normal_name(&own.task_queue))
                    .schedule_to_start_timeout_ms(options.sticky_schedule_to_start_timeout_ms)
            })
        });
        // Without a sticky queue, too: the next task continues the local activities that run here.
        let w = w.return_new_workflow_task(sticky || task.heartbeat).force_create_new_workflow_task(task.heartbeat);
        let w = task.answers.iter().fold(w, |w, (id, answer)| {
            w.add_query_results(id, |w| {
                let (kind, payload, message, failure) = parts(answer);
                w.result_type(kind)
                    .with(payload, |w, payload| w.answer(|w| w.add_payloads(|w| w.all_of(payload))))
                    .error_message(message)
                    .copy_failure(failure)
            })
        });
        let w = w.namespace(&options.namespace);
        let w = workflow.run.outgoing.iter().fold(w, |w, message| w.add_messages(|w| w.all_of(message.view())));
        w.copy_sdk_metadata(Some(metadata.view())).capabilities(|w| w.discard_speculative_workflow_task_with_events(true))
    });
    workflow.run.outgoing.clear();
    completion
}

pub fn failed(options: &RunOptions, task: &Task, failed: &Failed) -> Encoded<RespondWorkflowTaskFailedRequest> {
    let failure = failure(failed);
    build(|w: Put<RespondWorkflowTaskFailedRequest>| {
        w.task_token(&task.token)
            .cause(cause(failed))
            .copy_failure(Some(failure.view()))
            .identity(&options.identity)
            .namespace(&options.namespace)
    })
}

/// The response to a task that is a query.
pub fn query_completed(options: &RunOptions, task: &mut Task) -> Encoded<RespondQueryTaskCompletedRequest> {
    let answer = task.answers.remove(LEGACY_QUERY).unwrap_or_else(|| unanswered(LEGACY_QUERY));
    let (kind, payload, message, failure) = parts(&answer);
    build(|w: Put<RespondQueryTaskCompletedRequest>| {
        w.task_token(&task.token)
            .completed_type(kind)
            .with(payload, |w, payload| w.query_result(|w| w.add_payloads(|w| w.all_of(payload))))
            .error_message(message)
            .namespace(&options.namespace)
            .copy_failure(failure)
    })
}

/// The response for a query that could not be run.
pub fn query_failed(options: &RunOptions, task: &Task, failed: &Failed) -> Encoded<RespondQueryTaskCompletedRequest> {
    let failure = failure(failed);
    build(|w: Put<RespondQueryTaskCompletedRequest>| {
        w.task_token(&task.token)
            .completed_type(QueryResultType::Failed)
            .error_message(&failed.error.message)
            .namespace(&options.namespace)
            .copy_failure(Some(failure.view()))
            .cause(cause(failed))
    })
}

/// What a query gets that workflow code passed over.
fn unanswered(id: &str) -> QueryAnswer {
    QueryAnswer::Failed(build(|w: Put<Failure>| w.message(&format!("The worker returned no result for query {id}"))))
}

/// Fills in queries that workflow code passed over.
pub fn fill_unanswered(answers: &mut SortedMap<String, QueryAnswer>, asked: &[String]) {
    for id in asked {
        answers.get_or_insert_with(id.clone(), || unanswered(id));
    }
}

/// Type of the result, its payload, the message of its failure, and the failure.
fn parts(answer: &QueryAnswer) -> (QueryResultType, Option<View<'_, Payload>>, &str, Option<View<'_, Failure>>) {
    match answer {
        QueryAnswer::Succeeded(payload) => (QueryResultType::Answered, Some(payload.view()), "", None),
        QueryAnswer::Failed(failure) => (QueryResultType::Failed, None, failure.view().message(), Some(failure.view())),
    }
}

fn cause(failed: &Failed) -> WorkflowTaskFailedCause {
    match WorkflowTaskFailedCause::try_from(failed.cause) {
        Ok(cause) if cause != WorkflowTaskFailedCause::Unspecified => cause,
        _ if failed.error.kind() == ErrorKind::Nondeterminism => WorkflowTaskFailedCause::NonDeterministicError,
        _ => WorkflowTaskFailedCause::WorkflowWorkerUnhandledFailure,
    }
}

/// Workflow code's failure, or an application failure with the text of the error.
fn failure(failed: &Failed) -> Encoded<Failure> {
    failed
        .failure
        .clone()
        .unwrap_or_else(|| build(|w: Put<Failure>| w.message(&failed.error.message).application_failure_info(|w| w)))
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
