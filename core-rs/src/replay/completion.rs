//! The bytes that answer a workflow task (docs/dev/semantics/tasks.md#what-a-completion-holds).
use prost::Message as _;

use crate::api::enums::v1::{QueryResultType, TaskQueueKind, WorkflowTaskFailedCause};
use crate::boundary::{ErrorKind, EvictionReason, RunOptions};
use crate::error::codes;
use crate::replay::convert::write_wrapped;
use crate::replay::task::{Failed, LEGACY_QUERY, QueryAnswer, Task};
use crate::replay::workflow::Workflow;
use crate::sorted::SortedMap;
use crate::wire::{Message, Writer};

/// RespondWorkflowTaskCompletedRequest with all that is queued. Queue entries stay until their events come.
pub fn completed(options: &RunOptions, workflow: &mut Workflow, task: &Task) -> Vec<u8> {
    let sticky = !options.sticky_queue.is_empty();
    let mut w = Writer::new();
    w.data(1, &task.token);
    for command in workflow.queue.iter().filter(|c| !workflow.is_withdrawn(c)) {
        w.nested(2, |w| command.write(w, &workflow.inherited));
    }
    w.text(3, &options.identity);
    if sticky {
        w.nested(4, |w| {
            w.nested(1, |w| {
                let queue = w.text(1, &options.sticky_queue).int(2, TaskQueueKind::Sticky as i64);
                queue.text(3, &workflow.inherited.task_queue);
            });
            w.duration_ms(2, options.sticky_schedule_to_start_timeout_ms);
        });
    }
    // return_new_workflow_task
    w.flag(5, sticky);
    for (id, answer) in &task.answers {
        w.nested(8, |w| {
            w.text(1, id).nested(2, |w| {
                let (kind, payload, message, failure) = parts(answer);
                w.int(1, kind as i64);
                write_wrapped(w, 2, payload.into_iter());
                w.text(3, message).optional(4, failure);
            });
        });
    }
    w.text(9, &options.namespace).each(11, workflow.outgoing.iter().map(Vec::as_slice));
    w.message(12, &workflow.flags.to_write(&options.sdk_name, &options.sdk_version, &options.used_lang_flags).encode_to_vec());
    // capabilities.discard_speculative_workflow_task_with_events
    w.nested(14, |w| {
        w.flag(1, true);
    });
    workflow.outgoing.clear();
    w.finish()
}

/// RespondWorkflowTaskFailedRequest.
pub fn failed(options: &RunOptions, task: &Task, failed: &Failed) -> Vec<u8> {
    let mut w = Writer::new();
    w.data(1, &task.token).int(2, cause(failed) as i64).message(3, &failure(failed));
    w.text(4, &options.identity).text(6, &options.namespace);
    w.finish()
}

/// RespondQueryTaskCompletedRequest with the answer of workflow code.
pub fn query_completed(options: &RunOptions, task: &mut Task) -> Vec<u8> {
    let answer = task.answers.remove(LEGACY_QUERY).unwrap_or_else(|| unanswered(LEGACY_QUERY));
    let (kind, payload, message, failure) = parts(&answer);
    let mut w = Writer::new();
    w.data(1, &task.token).int(2, kind as i64);
    write_wrapped(&mut w, 3, payload.into_iter());
    w.text(4, message).text(6, &options.namespace).optional(7, failure);
    w.finish()
}

/// RespondQueryTaskCompletedRequest for a query that could not be answered.
pub fn query_failed(options: &RunOptions, task: &Task, failed: &Failed) -> Vec<u8> {
    let mut w = Writer::new();
    w.data(1, &task.token).int(2, QueryResultType::Failed as i64).text(4, &failed.error.message);
    w.text(6, &options.namespace).message(7, &failure(failed)).int(8, cause(failed) as i64);
    w.finish()
}

/// What a query gets that workflow code passed over.
fn unanswered(id: &str) -> QueryAnswer {
    let mut failure = Writer::new();
    failure.text(1, &format!("Workflow code did not answer query {id}"));
    QueryAnswer::Failed(failure.finish())
}

/// Fills in queries that workflow code passed over.
pub fn fill_unanswered(answers: &mut SortedMap<String, QueryAnswer>, asked: &[String]) {
    for id in asked {
        answers.get_or_insert_with(id.clone(), || unanswered(id));
    }
}

/// Type of the answer, its payload, the message of its failure, and the failure.
fn parts(answer: &QueryAnswer) -> (QueryResultType, Option<&[u8]>, &str, Option<&[u8]>) {
    match answer {
        QueryAnswer::Succeeded(payload) => (QueryResultType::Answered, Some(payload), "", None),
        QueryAnswer::Failed(failure) => (QueryResultType::Failed, None, Message(failure).text(1), Some(failure)),
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
fn failure(failed: &Failed) -> Vec<u8> {
    failed.failure.clone().unwrap_or_else(|| {
        let mut w = Writer::new();
        w.text(1, &failed.error.message).message(5, &[]);
        w.finish()
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
