//! What an event is to the core: mirror of a command, answer to one, frame of a workflow task, or something of its own.
//!
//! The lists are core-spec 1.2 and 1.1 (points 3-5). An event that is none of these is fatal, unless the server marked it with
//! `worker_may_ignore`.
use crate::api::enums::v1::EventType;
use crate::api::history::v1::HistoryEvent;
use crate::api::history::v1::history_event::Attributes;

/// Where the core sends an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Mirrors a command: it is matched against the front of the command queue.
    Command,
    /// Answers the command whose event has this id.
    Initiated(i64),
    /// Frames a workflow task: scheduled, started, completed, failed or timed out.
    WorkflowTask,
    /// Stands for itself: start of the run, signal, cancel request, admitted update, termination, timeout of the run.
    Standalone,
    /// Not known here, and the server says that a worker may skip it.
    Ignored,
    /// Not known here (or without attributes), and not to be skipped: the history cannot be replayed.
    Unknown,
}

/// The type by name; `None` for the unset type and for numbers that this build does not know.
pub fn event_type(event: &HistoryEvent) -> Option<EventType> {
    EventType::try_from(event.event_type).ok().filter(|t| *t != EventType::Unspecified)
}

/// Where the event goes.
pub fn route(event: &HistoryEvent) -> Route {
    use EventType::*;
    let Some(kind) = event_type(event).filter(|_| event.attributes.is_some()) else {
        return if event.worker_may_ignore { Route::Ignored } else { Route::Unknown };
    };
    if is_command_type(kind) {
        return Route::Command;
    }
    match kind {
        WorkflowTaskScheduled | WorkflowTaskStarted | WorkflowTaskCompleted | WorkflowTaskFailed | WorkflowTaskTimedOut => {
            Route::WorkflowTask
        }
        WorkflowExecutionStarted
        | WorkflowExecutionSignaled
        | WorkflowExecutionCancelRequested
        | WorkflowExecutionUpdateAdmitted
        | WorkflowExecutionTerminated
        | WorkflowExecutionTimedOut => Route::Standalone,
        _ => match initiating_event_id(event) {
            Some(id) => Route::Initiated(id),
            None if event.worker_may_ignore => Route::Ignored,
            None => Route::Unknown,
        },
    }
}

/// The event mirrors a command of a worker.
pub fn is_command_event(event: &HistoryEvent) -> bool {
    event_type(event).is_some_and(is_command_type)
}

fn is_command_type(kind: EventType) -> bool {
    use EventType::*;
    matches!(
        kind,
        ActivityTaskScheduled
            | ActivityTaskCancelRequested
            | MarkerRecorded
            | RequestCancelExternalWorkflowExecutionInitiated
            | SignalExternalWorkflowExecutionInitiated
            | StartChildWorkflowExecutionInitiated
            | TimerStarted
            | TimerCanceled
            | UpsertWorkflowSearchAttributes
            | WorkflowPropertiesModified
            | NexusOperationScheduled
            | NexusOperationCancelRequested
            | WorkflowExecutionCompleted
            | WorkflowExecutionFailed
            | WorkflowExecutionCanceled
            | WorkflowExecutionContinuedAsNew
            | WorkflowExecutionUpdateAccepted
            | WorkflowExecutionUpdateRejected
            | WorkflowExecutionUpdateCompleted
    )
}

/// Nothing may follow this event in its run.
pub fn is_terminal_event(event: &HistoryEvent) -> bool {
    use EventType::*;
    matches!(
        event_type(event),
        Some(
            WorkflowExecutionCompleted
                | WorkflowExecutionFailed
                | WorkflowExecutionCanceled
                | WorkflowExecutionContinuedAsNew
                | WorkflowExecutionTerminated
                | WorkflowExecutionTimedOut
        )
    )
}

/// Id of the event that began what this event goes on with: the scheduled, started or initiated event of its command.
pub fn initiating_event_id(event: &HistoryEvent) -> Option<i64> {
    use Attributes::*;
    Some(match event.attributes.as_ref()? {
        ActivityTaskStartedEventAttributes(a) => a.scheduled_event_id,
        ActivityTaskCompletedEventAttributes(a) => a.scheduled_event_id,
        ActivityTaskFailedEventAttributes(a) => a.scheduled_event_id,
        ActivityTaskTimedOutEventAttributes(a) => a.scheduled_event_id,
        ActivityTaskCancelRequestedEventAttributes(a) => a.scheduled_event_id,
        ActivityTaskCanceledEventAttributes(a) => a.scheduled_event_id,
        TimerFiredEventAttributes(a) => a.started_event_id,
        TimerCanceledEventAttributes(a) => a.started_event_id,
        RequestCancelExternalWorkflowExecutionFailedEventAttributes(a) => a.initiated_event_id,
        ExternalWorkflowExecutionCancelRequestedEventAttributes(a) => a.initiated_event_id,
        SignalExternalWorkflowExecutionFailedEventAttributes(a) => a.initiated_event_id,
        ExternalWorkflowExecutionSignaledEventAttributes(a) => a.initiated_event_id,
        StartChildWorkflowExecutionFailedEventAttributes(a) => a.initiated_event_id,
        ChildWorkflowExecutionStartedEventAttributes(a) => a.initiated_event_id,
        ChildWorkflowExecutionCompletedEventAttributes(a) => a.initiated_event_id,
        ChildWorkflowExecutionFailedEventAttributes(a) => a.initiated_event_id,
        ChildWorkflowExecutionCanceledEventAttributes(a) => a.initiated_event_id,
        ChildWorkflowExecutionTimedOutEventAttributes(a) => a.initiated_event_id,
        ChildWorkflowExecutionTerminatedEventAttributes(a) => a.initiated_event_id,
        WorkflowTaskStartedEventAttributes(a) => a.scheduled_event_id,
        WorkflowTaskCompletedEventAttributes(a) => a.scheduled_event_id,
        WorkflowTaskFailedEventAttributes(a) => a.scheduled_event_id,
        WorkflowTaskTimedOutEventAttributes(a) => a.scheduled_event_id,
        _ => return None,
    })
}

/// Name of an event type as Core shows it ("TimerStarted"); unknown types by their number.
pub fn type_name(event: &HistoryEvent) -> String {
    match EventType::try_from(event.event_type) {
        Ok(kind) => camel(kind.as_str_name().trim_start_matches("EVENT_TYPE_")),
        Err(_) => format!("Unknown({})", event.event_type),
    }
}

/// The event as it stands in error messages.
pub fn display(event: &HistoryEvent) -> String {
    format!("HistoryEvent(id: {}, {})", event.event_id, type_name(event))
}

/// "TimerStarted" for TIMER_STARTED.
pub(crate) fn camel(screaming: &str) -> String {
    let mut out = String::with_capacity(screaming.len());
    for word in screaming.split('_') {
        let (head, tail) = word.split_at(word.len().min(1));
        out.push_str(head);
        out.push_str(&tail.to_ascii_lowercase());
    }
    out
}
