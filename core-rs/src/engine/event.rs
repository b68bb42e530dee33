//! History events as the engine writes them, encoded straight into a History's bytes, and those that wait for their id while a
//! workflow task is started.
use super::codec::{self, Wire};
use super::message::message;
use super::messages::events::*;
use super::time::{Micros, SECOND};
use crate::api::enums::v1::EventType;
use crate::proto::fields::history::{History, HistoryEvent};
use crate::wire::Writer;

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

/// encoded temporal UserMetadata, EventGroupMarkers and Links
#[derive(Default)]
pub struct Extras {
    pub user_metadata: Option<Vec<u8>>,
    pub markers: Vec<Vec<u8>>,
    pub links: Vec<Vec<u8>>,
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
        let time = (self.time.div_euclid(SECOND), (self.time.rem_euclid(SECOND) * 1_000) as i32);
        let mut w = Writer::new();
        w.nested(History::events, |w| {
            w.int(HistoryEvent::event_id, id);
            codec::put_time(w, HistoryEvent::event_time, time);
            w.int(HistoryEvent::event_type, i64::from(self.kind as i32));
            codec::put_message(w, self.field, self.attrs);
            // Workers of older SDKs do not know these.
            let may_ignore = matches!(
                self.kind,
                EventType::NexusOperationCancelRequestCompleted
                    | EventType::NexusOperationCancelRequestFailed
                    | EventType::WorkflowExecutionOptionsUpdated
            );
            w.int(HistoryEvent::worker_may_ignore, i64::from(may_ignore));
            if let Some(x) = self.extras {
                w.optional(HistoryEvent::user_metadata, x.user_metadata.as_deref());
                x.links.iter().for_each(|link| {
                    w.message(HistoryEvent::links, link);
                });
                x.markers.iter().for_each(|m| {
                    w.message(HistoryEvent::event_group_markers, m);
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
    /// A Nexus operation ended, by its NexusOperationScheduled.
    NexusEnded(i64),
    /// A request was attached to the run, by its id.
    Attached(String),
}

/// An event without an id, while a workflow task is started. Only what arrives from outside is ever buffered.
pub struct Buffered {
    pub seq: i64,
    pub time: Micros,
    pub kind: EventType,
    pub field: u32,
    pub attrs: Box<dyn Wire>,
    pub about: About,
    pub extras: Extras,
}

message! {
    BufferedState: engine::BufferedState { time_us i64, kind i32, attrs bytes, timer_id str, about_id i64, links raws(LINK), }
}

impl Buffered {
    pub fn new<A: Attributes + 'static>(seq: i64, time: Micros, attrs: A, about: About) -> Buffered {
        Buffered { seq, time, kind: A::KIND, field: A::FIELD, attrs: Box::new(attrs), about, extras: Extras::default() }
    }

    pub fn event(&self) -> Event<'_> {
        Event { time: self.time, kind: self.kind, field: self.field, attrs: &*self.attrs, extras: Some(&self.extras) }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let (timer_id, about_id) = match &self.about {
            About::Other => (String::new(), 0),
            About::Timer(id, started) => (id.clone(), *started),
            About::Attached(id) => (id.clone(), 0),
            About::ActivityStarted(id)
            | About::ActivityEnded(id, _)
            | About::ChildStarted(id)
            | About::ChildEnded(id, _)
            | About::NexusEnded(id) => (String::new(), *id),
        };
        let attrs = codec::bytes(&*self.attrs);
        let links = self.extras.links.clone();
        codec::bytes(&BufferedState { time_us: self.time, kind: self.kind as i32, attrs, timer_id, about_id, links })
    }

    pub fn from_bytes(seq: i64, bytes: &[u8]) -> Option<Buffered> {
        fn blank<A: Attributes + Default + 'static>() -> (u32, Box<dyn Wire>) {
            (A::FIELD, Box::new(A::default()))
        }
        fn ended<A: Ending + Default + 'static>(id: i64, about: fn(i64, u32) -> About) -> ((u32, Box<dyn Wire>), About) {
            (blank::<A>(), about(id, A::STARTED))
        }
        let s: BufferedState = codec::read(bytes).ok()?;
        let kind = EventType::try_from(s.kind).ok()?;
        let ((field, mut attrs), about) = match kind {
            EventType::WorkflowExecutionSignaled => (blank::<SignaledAttrs>(), About::Other),
            EventType::WorkflowExecutionCancelRequested => (blank::<CancelRequestedAttrs>(), About::Other),
            EventType::WorkflowExecutionOptionsUpdated => {
                let about = if s.timer_id.is_empty() { About::Other } else { About::Attached(s.timer_id) };
                (blank::<OptionsUpdatedAttrs>(), about)
            }
            EventType::TimerFired => (blank::<TimerFiredAttrs>(), About::Timer(s.timer_id, s.about_id)),
            EventType::ActivityTaskStarted => (blank::<ActivityStartedAttrs>(), About::ActivityStarted(s.about_id)),
            EventType::ActivityTaskCompleted => ended::<ActivityCompletedAttrs>(s.about_id, About::ActivityEnded),
            EventType::ActivityTaskFailed => ended::<ActivityFailedAttrs>(s.about_id, About::ActivityEnded),
            EventType::ActivityTaskTimedOut => ended::<ActivityTimedOutAttrs>(s.about_id, About::ActivityEnded),
            EventType::ActivityTaskCanceled => ended::<ActivityCanceledAttrs>(s.about_id, About::ActivityEnded),
            EventType::StartChildWorkflowExecutionFailed => (blank::<ChildStartFailedAttrs>(), About::Other),
            EventType::ChildWorkflowExecutionStarted => (blank::<ChildStartedAttrs>(), About::ChildStarted(s.about_id)),
            EventType::ChildWorkflowExecutionCompleted => ended::<ChildCompletedAttrs>(s.about_id, About::ChildEnded),
            EventType::ChildWorkflowExecutionFailed => ended::<ChildFailedAttrs>(s.about_id, About::ChildEnded),
            EventType::ChildWorkflowExecutionCanceled => ended::<ChildCanceledAttrs>(s.about_id, About::ChildEnded),
            EventType::ChildWorkflowExecutionTimedOut => ended::<ChildTimedOutAttrs>(s.about_id, About::ChildEnded),
            EventType::ChildWorkflowExecutionTerminated => ended::<ChildTerminatedAttrs>(s.about_id, About::ChildEnded),
            EventType::ExternalWorkflowExecutionSignaled => (blank::<ExternalSignaledAttrs>(), About::Other),
            EventType::ExternalWorkflowExecutionCancelRequested => (blank::<ExternalCancelRequestedAttrs>(), About::Other),
            EventType::SignalExternalWorkflowExecutionFailed => (blank::<SignalFailedAttrs>(), About::Other),
            EventType::RequestCancelExternalWorkflowExecutionFailed => (blank::<CancelFailedAttrs>(), About::Other),
            EventType::NexusOperationStarted => (blank::<NexusStartedAttrs>(), About::Other),
            EventType::NexusOperationCompleted => (blank::<NexusCompletedAttrs>(), About::NexusEnded(s.about_id)),
            EventType::NexusOperationFailed => (blank::<NexusFailedAttrs>(), About::NexusEnded(s.about_id)),
            EventType::NexusOperationCanceled => (blank::<NexusCanceledAttrs>(), About::NexusEnded(s.about_id)),
            EventType::NexusOperationTimedOut => (blank::<NexusTimedOutAttrs>(), About::NexusEnded(s.about_id)),
            EventType::NexusOperationCancelRequestCompleted => (blank::<NexusCancelCompletedAttrs>(), About::Other),
            EventType::NexusOperationCancelRequestFailed => (blank::<NexusCancelFailedAttrs>(), About::Other),
            _ => return None,
        };
        codec::merge(&mut *attrs, &s.attrs).ok()?;
        let extras = Extras { links: s.links, ..Extras::default() };
        Some(Buffered { seq, time: s.time_us, kind, field, attrs, about, extras })
    }
}

/// Zero-padded, so that the order of keys is the order of arrival.
pub fn sequence_key(seq: i64) -> String {
    format!("{seq:012}")
}
