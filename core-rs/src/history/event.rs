//! An event as the worker's side needs it, and its role for the core: mirror of a command, response
//! to one, frame of a workflow task, or standalone.
//!
//! Head fields are read when a history comes in; the attributes stay encoded and checked, and are
//! decoded when the event is applied. The lists are in
//! docs/dev/semantics/history.md#events-and-their-routes. An event without one of these roles is
//! fatal, unless the server marked it with `worker_may_ignore`.
use std::ops::Range;
use std::rc::Rc;

use crate::api::enums::v1::EventType;
use crate::error::{Result, codes, misuse};
use crate::proto::views::google::Timestamp;
use crate::proto::views::history::{history, history_event};
use crate::proto::views::{Attributes, attributes_field, check_of_attributes};
use crate::wire::{Message, Value, schema, typed};

/// One event of a history. The encoded attributes are a part of the bytes that the history came in.
#[derive(Clone, Default)]
pub struct Event {
    pub event_id: i64,
    /// The number of the type, also of one that is not known here.
    pub event_type: i32,
    /// Whole milliseconds since the Unix epoch; parts of a millisecond are cut off, as the official SDKs do.
    pub time_ms: Option<f64>,
    pub worker_may_ignore: bool,
    /// Field number of the attributes; 0: none.
    field: u32,
    bytes: Rc<[u8]>,
    attributes: Range<usize>,
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&display(self))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        let head = |e: &Event| (e.event_id, e.event_type, e.time_ms, e.worker_may_ignore, e.field);
        head(self) == head(other) && self.attribute_bytes() == other.attribute_bytes()
    }
}

impl Event {
    /// The attributes, if they are those of the event's type.
    pub fn attributes(&self) -> Option<Attributes<'_>> {
        Attributes::of(event_type(self)?, self.attribute_bytes()?)
    }

    fn attribute_bytes(&self) -> Option<Message<'_>> {
        let wanted = attributes_field(event_type(self)?);
        (self.field != 0 && self.field == wanted).then(|| self.bytes.get(self.attributes.clone()).map(Message)).flatten()
    }
}

/// Decodes the events of an encoded History. Damaged bytes are misuse: the caller gets the error
/// before anything is applied.
pub fn decode_history(bytes: &[u8]) -> Result<Vec<Event>> {
    let bytes: Rc<[u8]> = bytes.into();
    let mut events = Vec::new();
    let mut fields = Message(&bytes).fields();
    for (field, value) in fields.by_ref() {
        if field == history::EVENTS {
            let Value::Bytes(event) = value else { return Err(damaged("an event is not a message")) };
            events.push(decode_event(&bytes, event)?);
        }
    }
    if fields.is_done() { Ok(events) } else { Err(damaged("the bytes end in the middle")) }
}

fn damaged(what: &str) -> Box<crate::boundary::CoreError> {
    misuse(codes::BAD_BYTES, format!("cannot decode the history: {what}"))
}

/// Attributes lie in the fields from the first type's to this one; those of types that came later, too.
const FIRST_ATTRIBUTES: u32 = history_event::WORKFLOW_EXECUTION_STARTED_EVENT_ATTRIBUTES;
const LAST_ATTRIBUTES: u32 = history_event::WORKER_MAY_IGNORE - 1;

/// `event` is a part of `bytes`.
fn decode_event(bytes: &Rc<[u8]>, event: &[u8]) -> Result<Event> {
    let mut out = Event { bytes: bytes.clone(), ..Event::default() };
    let mut fields = Message(event).fields();
    let mut attributes: &[u8] = &[];
    for (field, value) in fields.by_ref() {
        match (field, value) {
            (history_event::EVENT_ID, Value::Number(n)) => out.event_id = n as i64,
            (history_event::EVENT_TIME, Value::Bytes(time)) => out.time_ms = Some(timestamp_ms(time)?),
            (history_event::EVENT_TYPE, Value::Number(n)) => out.event_type = n as i32,
            (history_event::WORKER_MAY_IGNORE, Value::Number(n)) => out.worker_may_ignore = n != 0,
            (FIRST_ATTRIBUTES..=LAST_ATTRIBUTES, Value::Bytes(body)) => {
                out.field = field;
                attributes = body;
            }
            (history_event::EVENT_ID..=history_event::EVENT_TYPE | FIRST_ATTRIBUTES..=history_event::WORKER_MAY_IGNORE, _) => {
                return Err(damaged("a field of an event has the wrong wire type"));
            }
            _ => {}
        }
    }
    if !fields.is_done() {
        return Err(damaged("an event ends in the middle"));
    }
    let check = check_of_attributes(out.field).unwrap_or(&schema::ANY);
    schema::message(attributes, check, 0).map_err(|what| damaged(&format!("event {}: {what}", out.event_id)))?;
    let start = (attributes.as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize);
    out.attributes = start..start.saturating_add(attributes.len());
    Ok(out)
}

fn timestamp_ms(time: &[u8]) -> Result<f64> {
    let time = typed::read::<Timestamp>(time).map_err(damaged)?;
    Ok(time.seconds() as f64 * 1000.0 + f64::from(time.nanos().div_euclid(1_000_000)))
}

/// Where the core sends an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Mirrors a command: it is matched against the front of the command queue.
    Command,
    /// Resolves the command whose event has this id.
    Initiated(i64),
    /// Frames a workflow task: scheduled, started, completed, failed or timed out.
    WorkflowTask,
    /// Belongs to no command: start of the run, signal, cancel request, admitted update,
    /// termination, timeout of the run.
    Standalone,
    /// Not known here, and the server says that a worker may skip it.
    Ignored,
    /// Not known here (or without attributes), and not to be skipped: the history cannot be replayed.
    Unknown,
}

/// The type by name; `None` for the unset type and for numbers that this build does not know.
pub fn event_type(event: &Event) -> Option<EventType> {
    EventType::try_from(event.event_type).ok().filter(|t| *t != EventType::Unspecified)
}

/// Where the event goes.
pub fn route(event: &Event) -> Route {
    use EventType::*;
    let Some(kind) = event_type(event).filter(|_| event.attributes().is_some()) else {
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
pub fn is_command_event(event: &Event) -> bool {
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
pub fn is_terminal_event(event: &Event) -> bool {
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

/// Id of the scheduled, started or initiated event of the command to which this event belongs.
pub fn initiating_event_id(event: &Event) -> Option<i64> {
    use Attributes::*;
    Some(match event.attributes()? {
        ActivityTaskStarted(a) => a.scheduled_event_id(),
        ActivityTaskCancelRequested(a) => a.scheduled_event_id(),
        ActivityTaskCompleted(a) => a.scheduled_event_id(),
        ActivityTaskFailed(a) => a.scheduled_event_id(),
        ActivityTaskTimedOut(a) => a.scheduled_event_id(),
        ActivityTaskCanceled(a) => a.scheduled_event_id(),
        WorkflowTaskStarted(a) => a.scheduled_event_id(),
        WorkflowTaskCompleted(a) => a.scheduled_event_id(),
        WorkflowTaskFailed(a) => a.scheduled_event_id(),
        WorkflowTaskTimedOut(a) => a.scheduled_event_id(),
        TimerFired(a) => a.started_event_id(),
        TimerCanceled(a) => a.started_event_id(),
        ExternalWorkflowExecutionCancelRequested(a) => a.initiated_event_id(),
        ExternalWorkflowExecutionSignaled(a) => a.initiated_event_id(),
        RequestCancelExternalWorkflowExecutionFailed(a) => a.initiated_event_id(),
        SignalExternalWorkflowExecutionFailed(a) => a.initiated_event_id(),
        StartChildWorkflowExecutionFailed(a) => a.initiated_event_id(),
        ChildWorkflowExecutionStarted(a) => a.initiated_event_id(),
        ChildWorkflowExecutionCompleted(a) => a.initiated_event_id(),
        ChildWorkflowExecutionFailed(a) => a.initiated_event_id(),
        ChildWorkflowExecutionCanceled(a) => a.initiated_event_id(),
        ChildWorkflowExecutionTimedOut(a) => a.initiated_event_id(),
        ChildWorkflowExecutionTerminated(a) => a.initiated_event_id(),
        NexusOperationStarted(a) => a.scheduled_event_id(),
        NexusOperationCompleted(a) => a.scheduled_event_id(),
        NexusOperationFailed(a) => a.scheduled_event_id(),
        NexusOperationCanceled(a) => a.scheduled_event_id(),
        NexusOperationTimedOut(a) => a.scheduled_event_id(),
        NexusOperationCancelRequested(a) => a.scheduled_event_id(),
        NexusOperationCancelRequestCompleted(a) => a.scheduled_event_id(),
        NexusOperationCancelRequestFailed(a) => a.scheduled_event_id(),
        _ => return None,
    })
}

/// Name of an event type as Core shows it ("TimerStarted"); unknown types by their number.
pub fn type_name(event: &Event) -> String {
    name_of_type(event.event_type)
}

pub fn name_of_type(event_type: i32) -> String {
    match EventType::try_from(event_type) {
        Ok(kind) => camel(kind.as_str_name().trim_start_matches("EVENT_TYPE_")),
        Err(_) => format!("Unknown({event_type})"),
    }
}

/// The event as error messages show it.
pub fn display(event: &Event) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::history::v1::history_event::Attributes;
    use crate::api::history::v1::*;
    use prost::Message as _;

    /// An event of the type with attributes in which every initiating id is 7 and every other id is something else.
    fn event(kind: EventType, attributes: Attributes) -> Event {
        let event = HistoryEvent { event_id: 9, event_type: kind as i32, attributes: Some(attributes), ..Default::default() };
        decode_history(&History { events: vec![event] }.encode_to_vec()).unwrap().remove(0)
    }

    /// The field numbers written by hand above are those of the generated messages.
    #[test]
    fn field_numbers_are_those_of_the_api() {
        macro_rules! check {
            ($($kind:ident $attributes:ident { $($id:ident)? };)*) => {$(
                let e = event(EventType::$kind, Attributes::$attributes(Into::into($attributes { $($id: 7,)? ..Default::default() })));
                assert!(e.attributes().is_some(), stringify!($kind));
                #[allow(unused_mut, unused_assignments)]
                let mut expected = None;
                $( let _ = stringify!($id); expected = Some(7); )?
                assert_eq!(initiating_event_id(&e), expected, stringify!($kind));
            )*};
        }
        check! {
            WorkflowExecutionStarted WorkflowExecutionStartedEventAttributes {};
            WorkflowExecutionCompleted WorkflowExecutionCompletedEventAttributes {};
            WorkflowExecutionFailed WorkflowExecutionFailedEventAttributes {};
            WorkflowExecutionTimedOut WorkflowExecutionTimedOutEventAttributes {};
            WorkflowTaskScheduled WorkflowTaskScheduledEventAttributes {};
            WorkflowTaskStarted WorkflowTaskStartedEventAttributes { scheduled_event_id };
            WorkflowTaskCompleted WorkflowTaskCompletedEventAttributes { scheduled_event_id };
            WorkflowTaskTimedOut WorkflowTaskTimedOutEventAttributes { scheduled_event_id };
            WorkflowTaskFailed WorkflowTaskFailedEventAttributes { scheduled_event_id };
            ActivityTaskScheduled ActivityTaskScheduledEventAttributes {};
            ActivityTaskStarted ActivityTaskStartedEventAttributes { scheduled_event_id };
            ActivityTaskCompleted ActivityTaskCompletedEventAttributes { scheduled_event_id };
            ActivityTaskFailed ActivityTaskFailedEventAttributes { scheduled_event_id };
            ActivityTaskTimedOut ActivityTaskTimedOutEventAttributes { scheduled_event_id };
            ActivityTaskCancelRequested ActivityTaskCancelRequestedEventAttributes { scheduled_event_id };
            ActivityTaskCanceled ActivityTaskCanceledEventAttributes { scheduled_event_id };
            TimerStarted TimerStartedEventAttributes {};
            TimerFired TimerFiredEventAttributes { started_event_id };
            TimerCanceled TimerCanceledEventAttributes { started_event_id };
            MarkerRecorded MarkerRecordedEventAttributes {};
            WorkflowExecutionSignaled WorkflowExecutionSignaledEventAttributes {};
            WorkflowExecutionTerminated WorkflowExecutionTerminatedEventAttributes {};
            WorkflowExecutionCancelRequested WorkflowExecutionCancelRequestedEventAttributes {};
            WorkflowExecutionCanceled WorkflowExecutionCanceledEventAttributes {};
            RequestCancelExternalWorkflowExecutionInitiated RequestCancelExternalWorkflowExecutionInitiatedEventAttributes {};
            RequestCancelExternalWorkflowExecutionFailed RequestCancelExternalWorkflowExecutionFailedEventAttributes { initiated_event_id };
            ExternalWorkflowExecutionCancelRequested ExternalWorkflowExecutionCancelRequestedEventAttributes { initiated_event_id };
            WorkflowExecutionContinuedAsNew WorkflowExecutionContinuedAsNewEventAttributes {};
            StartChildWorkflowExecutionInitiated StartChildWorkflowExecutionInitiatedEventAttributes {};
            StartChildWorkflowExecutionFailed StartChildWorkflowExecutionFailedEventAttributes { initiated_event_id };
            ChildWorkflowExecutionStarted ChildWorkflowExecutionStartedEventAttributes { initiated_event_id };
            ChildWorkflowExecutionCompleted ChildWorkflowExecutionCompletedEventAttributes { initiated_event_id };
            ChildWorkflowExecutionFailed ChildWorkflowExecutionFailedEventAttributes { initiated_event_id };
            ChildWorkflowExecutionCanceled ChildWorkflowExecutionCanceledEventAttributes { initiated_event_id };
            ChildWorkflowExecutionTimedOut ChildWorkflowExecutionTimedOutEventAttributes { initiated_event_id };
            ChildWorkflowExecutionTerminated ChildWorkflowExecutionTerminatedEventAttributes { initiated_event_id };
            SignalExternalWorkflowExecutionInitiated SignalExternalWorkflowExecutionInitiatedEventAttributes {};
            SignalExternalWorkflowExecutionFailed SignalExternalWorkflowExecutionFailedEventAttributes { initiated_event_id };
            ExternalWorkflowExecutionSignaled ExternalWorkflowExecutionSignaledEventAttributes { initiated_event_id };
            UpsertWorkflowSearchAttributes UpsertWorkflowSearchAttributesEventAttributes {};
            WorkflowExecutionUpdateAccepted WorkflowExecutionUpdateAcceptedEventAttributes {};
            WorkflowExecutionUpdateRejected WorkflowExecutionUpdateRejectedEventAttributes {};
            WorkflowExecutionUpdateCompleted WorkflowExecutionUpdateCompletedEventAttributes {};
            WorkflowPropertiesModified WorkflowPropertiesModifiedEventAttributes {};
            WorkflowExecutionUpdateAdmitted WorkflowExecutionUpdateAdmittedEventAttributes {};
            NexusOperationScheduled NexusOperationScheduledEventAttributes {};
            NexusOperationStarted NexusOperationStartedEventAttributes { scheduled_event_id };
            NexusOperationCompleted NexusOperationCompletedEventAttributes { scheduled_event_id };
            NexusOperationFailed NexusOperationFailedEventAttributes { scheduled_event_id };
            NexusOperationCanceled NexusOperationCanceledEventAttributes { scheduled_event_id };
            NexusOperationTimedOut NexusOperationTimedOutEventAttributes { scheduled_event_id };
            NexusOperationCancelRequested NexusOperationCancelRequestedEventAttributes { scheduled_event_id };
            NexusOperationCancelRequestCompleted NexusOperationCancelRequestCompletedEventAttributes { scheduled_event_id };
            NexusOperationCancelRequestFailed NexusOperationCancelRequestFailedEventAttributes { scheduled_event_id };
        }
    }

    #[test]
    fn attributes_of_another_type_are_none() {
        let timer = Attributes::TimerStartedEventAttributes(TimerStartedEventAttributes::default());
        let e = event(EventType::ActivityTaskScheduled, timer);
        assert!(e.attributes().is_none());
        assert_eq!(route(&e), Route::Unknown);
    }

    #[test]
    fn times_are_cut_downwards_to_milliseconds() {
        let at = |seconds, nanos| {
            let event_time = Some(prost_types::Timestamp { seconds, nanos });
            let event = HistoryEvent { event_time, ..Default::default() };
            decode_history(&History { events: vec![event] }.encode_to_vec()).unwrap()[0].time_ms
        };
        assert_eq!(at(1, 1_999_999), Some(1001.0));
        assert_eq!(at(-1, 500_000_000), Some(-500.0));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let text = |bytes: &[u8]| decode_history(bytes).unwrap_err().message;
        assert_eq!(text(&[10]), "cannot decode the history: the bytes end in the middle");
        assert_eq!(text(&[8, 1]), "cannot decode the history: an event is not a message");
        assert_eq!(text(&[10, 2, 10, 0]), "cannot decode the history: a field of an event has the wrong wire type");
        assert_eq!(text(&[10, 1, 8]), "cannot decode the history: an event ends in the middle");
        // Event 5, TimerStarted whose timer id is not UTF-8.
        assert_eq!(text(&[10, 10, 8, 5, 24, 17, 162, 1, 3, 10, 1, 255]), "cannot decode the history: event 5: text is not UTF-8");
    }
}
