//! History events as the engine writes them: one enum of attributes, encoded straight into a History's bytes.
use prost::Message;
use prost::encoding::{self, WireType};

use super::time::{Micros, timestamp};
use super::wire::*;
use crate::api::enums::v1::EventType;

macro_rules! attributes {
    ($($kind:ident($attrs:ident) = $tag:literal),* $(,)?) => {
        /// Attributes of one event; the variant is its type.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Attrs { $($kind(Box<$attrs>),)* }

        impl Attrs {
            pub fn event_type(&self) -> EventType {
                match self { $(Attrs::$kind(_) => EventType::$kind,)* }
            }

            fn encoded_len(&self) -> usize {
                match self { $(Attrs::$kind(a) => encoding::message::encoded_len($tag, a.as_ref()),)* }
            }

            fn encode(&self, out: &mut Vec<u8>) {
                match self { $(Attrs::$kind(a) => encoding::message::encode($tag, a.as_ref(), out),)* }
            }
        }

        $(impl From<$attrs> for Attrs {
            fn from(a: $attrs) -> Attrs {
                Attrs::$kind(Box::new(a))
            }
        })*
    };
}

attributes! {
    WorkflowExecutionStarted(StartedAttrs) = 6,
    WorkflowExecutionCompleted(CompletedAttrs) = 7,
    WorkflowExecutionFailed(FailedAttrs) = 8,
    WorkflowExecutionTimedOut(TimedOutAttrs) = 9,
    WorkflowTaskScheduled(TaskScheduledAttrs) = 10,
    WorkflowTaskStarted(TaskStartedAttrs) = 11,
    WorkflowTaskCompleted(TaskCompletedAttrs) = 12,
    WorkflowTaskTimedOut(TaskTimedOutAttrs) = 13,
    WorkflowTaskFailed(TaskFailedAttrs) = 14,
    ActivityTaskScheduled(ActivityScheduledAttrs) = 15,
    ActivityTaskStarted(ActivityStartedAttrs) = 16,
    ActivityTaskCompleted(ActivityCompletedAttrs) = 17,
    ActivityTaskFailed(ActivityFailedAttrs) = 18,
    ActivityTaskTimedOut(ActivityTimedOutAttrs) = 19,
    TimerStarted(TimerStartedAttrs) = 20,
    TimerFired(TimerFiredAttrs) = 21,
    ActivityTaskCancelRequested(ActivityCancelRequestedAttrs) = 22,
    ActivityTaskCanceled(ActivityCanceledAttrs) = 23,
    TimerCanceled(TimerCanceledAttrs) = 24,
    MarkerRecorded(MarkerAttrs) = 25,
    WorkflowExecutionSignaled(SignaledAttrs) = 26,
    WorkflowExecutionTerminated(TerminatedAttrs) = 27,
    WorkflowExecutionCancelRequested(CancelRequestedAttrs) = 28,
    WorkflowExecutionCanceled(CanceledAttrs) = 29,
    WorkflowExecutionContinuedAsNew(ContinuedAsNewAttrs) = 33,
    UpsertWorkflowSearchAttributes(UpsertAttrs) = 45,
    WorkflowExecutionUpdateAccepted(UpdateAcceptedAttrs) = 46,
    WorkflowExecutionUpdateCompleted(UpdateCompletedAttrs) = 48,
    WorkflowPropertiesModified(PropertiesModifiedAttrs) = 51,
}

/// An event before it has an id: new, or buffered while a workflow task is started.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub time: Micros,
    pub attrs: Attrs,
    /// encoded temporal UserMetadata
    pub user_metadata: Option<Vec<u8>>,
    /// encoded temporal EventGroupMarkers
    pub markers: Vec<Vec<u8>>,
}

impl Event {
    pub fn new(time: Micros, attrs: impl Into<Attrs>) -> Event {
        Event { time, attrs: attrs.into(), user_metadata: None, markers: Vec::new() }
    }

    /// Appends the event, with this id, to an encoded History; answers how many bytes were added.
    pub fn append_to(&self, id: i64, history: &mut Vec<u8>) -> usize {
        let before = history.len();
        let time = timestamp(self.time);
        let kind = self.attrs.event_type() as i32;
        let mut len = encoding::int64::encoded_len(1, &id)
            + encoding::message::encoded_len(2, &time)
            + encoding::int32::encoded_len(3, &kind)
            + self.attrs.encoded_len()
            + self.user_metadata.as_ref().map_or(0, |m| encoding::bytes::encoded_len(301, m));
        len += self.markers.iter().map(|m| encoding::bytes::encoded_len(304, m)).sum::<usize>();
        encoding::encode_key(1, WireType::LengthDelimited, history);
        encoding::encode_varint(len as u64, history);
        encoding::int64::encode(1, &id, history);
        encoding::message::encode(2, &time, history);
        encoding::int32::encode(3, &kind, history);
        self.attrs.encode(history);
        if let Some(meta) = &self.user_metadata {
            encoding::bytes::encode(301, meta, history);
        }
        for marker in &self.markers {
            encoding::bytes::encode(304, marker, history);
        }
        history.len() - before
    }
}

wire! {
    /// A buffered event at rest: one of the event types that arrive from outside a workflow task.
    BufferedEvent {
        1 time_us i64, 2 signaled sub(SignaledAttrs), 3 cancel_requested sub(CancelRequestedAttrs), 4 timer_fired sub(TimerFiredAttrs),
        5 activity_started sub(ActivityStartedAttrs), 6 activity_completed sub(ActivityCompletedAttrs),
        7 activity_failed sub(ActivityFailedAttrs), 8 activity_timed_out sub(ActivityTimedOutAttrs),
        9 activity_canceled sub(ActivityCanceledAttrs),
    }
}

impl Event {
    /// None for a type that is never buffered.
    pub fn to_buffered(&self) -> Option<BufferedEvent> {
        let mut b = BufferedEvent { time_us: self.time, ..Default::default() };
        match self.attrs.clone() {
            Attrs::WorkflowExecutionSignaled(a) => b.signaled = Some(*a),
            Attrs::WorkflowExecutionCancelRequested(a) => b.cancel_requested = Some(*a),
            Attrs::TimerFired(a) => b.timer_fired = Some(*a),
            Attrs::ActivityTaskStarted(a) => b.activity_started = Some(*a),
            Attrs::ActivityTaskCompleted(a) => b.activity_completed = Some(*a),
            Attrs::ActivityTaskFailed(a) => b.activity_failed = Some(*a),
            Attrs::ActivityTaskTimedOut(a) => b.activity_timed_out = Some(*a),
            Attrs::ActivityTaskCanceled(a) => b.activity_canceled = Some(*a),
            _ => return None,
        }
        Some(b)
    }

    pub fn from_buffered(bytes: &[u8]) -> Option<Event> {
        let b = BufferedEvent::decode(bytes).ok()?;
        let attrs: Attrs = if let Some(a) = b.signaled {
            a.into()
        } else if let Some(a) = b.cancel_requested {
            a.into()
        } else if let Some(a) = b.timer_fired {
            a.into()
        } else if let Some(a) = b.activity_started {
            a.into()
        } else if let Some(a) = b.activity_completed {
            a.into()
        } else if let Some(a) = b.activity_failed {
            a.into()
        } else if let Some(a) = b.activity_timed_out {
            a.into()
        } else {
            b.activity_canceled?.into()
        };
        Some(Event::new(b.time_us, attrs))
    }
}
