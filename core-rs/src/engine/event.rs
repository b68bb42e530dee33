//! History events as the engine writes them, encoded straight into a History's bytes.
use super::codec::{self, Wire};
use super::time::Micros;
use super::wire::*;
use crate::api::enums::v1::EventType;
use crate::wire::Writer;

/// Attributes of one type of event.
pub trait Attributes: Wire {
    const KIND: EventType;
    /// Their field in HistoryEvent.
    const FIELD: u32;
}

macro_rules! attributes {
    ($($kind:ident($attrs:ident) = $field:literal),* $(,)?) => {
        $(impl Attributes for $attrs {
            const KIND: EventType = EventType::$kind;
            const FIELD: u32 = $field;
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
    RequestCancelExternalWorkflowExecutionInitiated(CancelInitiatedAttrs) = 30,
    RequestCancelExternalWorkflowExecutionFailed(CancelFailedAttrs) = 31,
    ExternalWorkflowExecutionCancelRequested(ExternalCancelRequestedAttrs) = 32,
    StartChildWorkflowExecutionInitiated(ChildInitiatedAttrs) = 34,
    StartChildWorkflowExecutionFailed(ChildStartFailedAttrs) = 35,
    ChildWorkflowExecutionStarted(ChildStartedAttrs) = 36,
    ChildWorkflowExecutionCompleted(ChildCompletedAttrs) = 37,
    ChildWorkflowExecutionFailed(ChildFailedAttrs) = 38,
    ChildWorkflowExecutionCanceled(ChildCanceledAttrs) = 39,
    ChildWorkflowExecutionTimedOut(ChildTimedOutAttrs) = 40,
    ChildWorkflowExecutionTerminated(ChildTerminatedAttrs) = 41,
    SignalExternalWorkflowExecutionInitiated(SignalInitiatedAttrs) = 42,
    SignalExternalWorkflowExecutionFailed(SignalFailedAttrs) = 43,
    ExternalWorkflowExecutionSignaled(ExternalSignaledAttrs) = 44,
    UpsertWorkflowSearchAttributes(UpsertAttrs) = 45,
    WorkflowExecutionUpdateAccepted(UpdateAcceptedAttrs) = 46,
    WorkflowExecutionUpdateCompleted(UpdateCompletedAttrs) = 48,
    WorkflowPropertiesModified(PropertiesModifiedAttrs) = 51,
}

/// An event's attributes with their type, about to be written.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    pub time: Micros,
    pub kind: EventType,
    pub field: u32,
    pub attrs: &'a dyn Wire,
    /// What the command that made it carries besides.
    pub extras: Option<&'a Extras>,
}

/// encoded temporal UserMetadata and EventGroupMarkers
#[derive(Default)]
pub struct Extras {
    pub user_metadata: Option<Vec<u8>>,
    pub markers: Vec<Vec<u8>>,
}

impl<'a> Event<'a> {
    pub fn new<A: Attributes>(time: Micros, attrs: &'a A) -> Event<'a> {
        Event { time, kind: A::KIND, field: A::FIELD, attrs, extras: None }
    }

    pub fn with(self, extras: &'a Extras) -> Event<'a> {
        Event { extras: Some(extras), ..self }
    }

    /// The event with this id, encoded as an element of a History.
    pub fn to_bytes(self, id: i64) -> Vec<u8> {
        let time = (self.time.div_euclid(1_000_000), (self.time.rem_euclid(1_000_000) * 1_000) as i32);
        let mut w = Writer::new();
        w.nested(1, |w| {
            w.int(1, id);
            codec::put_time(w, 2, time);
            w.int(3, i64::from(self.kind as i32));
            codec::put_message(w, self.field, self.attrs);
            if let Some(x) = self.extras {
                w.optional(301, x.user_metadata.as_deref());
                x.markers.iter().for_each(|m| {
                    w.message(304, m);
                });
            }
        });
        w.finish()
    }
}

/// What links buffered events with each other and with the run.
#[derive(Debug, Clone, PartialEq)]
pub enum About {
    Other,
    /// A timer fired: its id and the id of its TimerStarted.
    Timer(String, i64),
    /// An attempt of this activity (id of its ActivityTaskScheduled) started.
    ActivityStarted(i64),
    /// And ended; the field of its attributes that names the Started event.
    ActivityEnded(i64, u32),
    /// The same of a child: the id of its StartChildWorkflowExecutionInitiated.
    ChildStarted(i64),
    ChildEnded(i64, u32),
}

/// An event without an id, while a workflow task is started. Only what arrives from outside is ever buffered.
pub struct Buffered {
    pub seq: i64,
    pub time: Micros,
    pub kind: EventType,
    pub field: u32,
    pub attrs: Box<dyn Wire>,
    pub about: About,
}

wire! {
    BufferedState { 1 time_us i64, 2 kind i32, 3 attrs bytes, 4 timer_id str, 5 about_id i64, }
}

impl Buffered {
    pub fn new<A: Attributes + 'static>(seq: i64, time: Micros, attrs: A, about: About) -> Buffered {
        Buffered { seq, time, kind: A::KIND, field: A::FIELD, attrs: Box::new(attrs), about }
    }

    pub fn event(&self) -> Event<'_> {
        Event { time: self.time, kind: self.kind, field: self.field, attrs: &*self.attrs, extras: None }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let (timer_id, about_id) = match &self.about {
            About::Other => (String::new(), 0),
            About::Timer(id, started) => (id.clone(), *started),
            About::ActivityStarted(id) | About::ActivityEnded(id, _) | About::ChildStarted(id) | About::ChildEnded(id, _) => {
                (String::new(), *id)
            }
        };
        let attrs = codec::bytes(&*self.attrs);
        codec::bytes(&BufferedState { time_us: self.time, kind: self.kind as i32, attrs, timer_id, about_id })
    }

    pub fn from_bytes(seq: i64, bytes: &[u8]) -> Option<Buffered> {
        fn blank<A: Attributes + Default + 'static>() -> (u32, Box<dyn Wire>) {
            (A::FIELD, Box::new(A::default()))
        }
        let s: BufferedState = codec::read(bytes).ok()?;
        let kind = EventType::try_from(s.kind).ok()?;
        let ended = |field| About::ActivityEnded(s.about_id, field);
        let child_ended = |field| About::ChildEnded(s.about_id, field);
        let ((field, mut attrs), about) = match kind {
            EventType::WorkflowExecutionSignaled => (blank::<SignaledAttrs>(), About::Other),
            EventType::WorkflowExecutionCancelRequested => (blank::<CancelRequestedAttrs>(), About::Other),
            EventType::TimerFired => (blank::<TimerFiredAttrs>(), About::Timer(s.timer_id, s.about_id)),
            EventType::ActivityTaskStarted => (blank::<ActivityStartedAttrs>(), About::ActivityStarted(s.about_id)),
            EventType::ActivityTaskCompleted => (blank::<ActivityCompletedAttrs>(), ended(3)),
            EventType::ActivityTaskFailed => (blank::<ActivityFailedAttrs>(), ended(3)),
            EventType::ActivityTaskTimedOut => (blank::<ActivityTimedOutAttrs>(), ended(3)),
            EventType::ActivityTaskCanceled => (blank::<ActivityCanceledAttrs>(), ended(4)),
            EventType::StartChildWorkflowExecutionFailed => (blank::<ChildStartFailedAttrs>(), About::Other),
            EventType::ChildWorkflowExecutionStarted => (blank::<ChildStartedAttrs>(), About::ChildStarted(s.about_id)),
            EventType::ChildWorkflowExecutionCompleted => (blank::<ChildCompletedAttrs>(), child_ended(6)),
            EventType::ChildWorkflowExecutionFailed => (blank::<ChildFailedAttrs>(), child_ended(6)),
            EventType::ChildWorkflowExecutionCanceled => (blank::<ChildCanceledAttrs>(), child_ended(6)),
            EventType::ChildWorkflowExecutionTimedOut => (blank::<ChildTimedOutAttrs>(), child_ended(5)),
            EventType::ChildWorkflowExecutionTerminated => (blank::<ChildTerminatedAttrs>(), child_ended(5)),
            EventType::ExternalWorkflowExecutionSignaled => (blank::<ExternalSignaledAttrs>(), About::Other),
            EventType::ExternalWorkflowExecutionCancelRequested => (blank::<ExternalCancelRequestedAttrs>(), About::Other),
            EventType::SignalExternalWorkflowExecutionFailed => (blank::<SignalFailedAttrs>(), About::Other),
            EventType::RequestCancelExternalWorkflowExecutionFailed => (blank::<CancelFailedAttrs>(), About::Other),
            _ => return None,
        };
        codec::merge(&mut *attrs, &s.attrs).ok()?;
        Some(Buffered { seq, time: s.time_us, kind, field, attrs, about })
    }
}
