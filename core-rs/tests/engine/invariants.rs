//! What holds of every history that a Temporal server writes
//! (docs/dev/semantics/engine.md#what-holds-of-every-history).
use std::collections::{BTreeMap, BTreeSet};

use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::{HistoryEvent, history_event::Attributes as A};
use temporalex_core::boundary::RunRow;

fn is_command(kind: E) -> bool {
    matches!(
        kind,
        E::ActivityTaskScheduled
            | E::ActivityTaskCancelRequested
            | E::MarkerRecorded
            | E::TimerStarted
            | E::TimerCanceled
            | E::UpsertWorkflowSearchAttributes
            | E::StartChildWorkflowExecutionInitiated
            | E::SignalExternalWorkflowExecutionInitiated
            | E::RequestCancelExternalWorkflowExecutionInitiated
            | E::WorkflowPropertiesModified
            | E::WorkflowExecutionCompleted
            | E::WorkflowExecutionFailed
            | E::WorkflowExecutionCanceled
            | E::WorkflowExecutionContinuedAsNew
            | E::WorkflowExecutionUpdateAccepted
            | E::WorkflowExecutionUpdateCompleted
    )
}

fn is_close(kind: E) -> bool {
    matches!(
        kind,
        E::WorkflowExecutionCompleted
            | E::WorkflowExecutionFailed
            | E::WorkflowExecutionCanceled
            | E::WorkflowExecutionContinuedAsNew
            | E::WorkflowExecutionTerminated
            | E::WorkflowExecutionTimedOut
    )
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Task {
    None,
    Scheduled(i64),
    Started(i64, i64),
}

/// What the events so far have made of the run.
struct Seen<'a> {
    events: &'a [HistoryEvent],
    task: Task,
    completed: Option<i64>,
    /// Still directly after WorkflowTaskCompleted and its command events.
    in_commands: bool,
    /// Started, ended.
    activities: BTreeMap<i64, (bool, bool)>,
    activity_ids: BTreeMap<String, i64>,
    started: BTreeMap<i64, i64>,
    timers: BTreeMap<String, i64>,
    accepted: BTreeMap<String, i64>,
    completed_updates: BTreeSet<String>,
    admitted: BTreeSet<String>,
    children: BTreeMap<i64, Child>,
    externals: BTreeSet<i64>,
    closed: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Child {
    Initiated,
    Started(i64),
    Ended,
}

pub fn check(events: &[HistoryEvent], row: &RunRow) {
    assert_eq!(row.history_length as usize, events.len());
    assert!(!events.is_empty());
    let mut seen = Seen {
        events,
        task: Task::None,
        completed: None,
        in_commands: false,
        activities: BTreeMap::new(),
        activity_ids: BTreeMap::new(),
        started: BTreeMap::new(),
        timers: BTreeMap::new(),
        accepted: BTreeMap::new(),
        completed_updates: BTreeSet::new(),
        admitted: BTreeSet::new(),
        children: BTreeMap::new(),
        externals: BTreeSet::new(),
        closed: false,
    };
    for (i, e) in events.iter().enumerate() {
        seen.place(i, e);
        let attrs = e.attributes.as_ref().expect("attributes");
        seen.workflow_task(e, attrs);
        seen.activity(e, attrs);
        seen.child_or_external(e, attrs);
        seen.other(e, attrs);
    }
    assert_eq!(seen.closed, row.close_time_ms > 0.0, "row and history agree about the end");
    if seen.closed {
        assert!(!matches!(seen.task, Task::Started(..)));
    }
}

impl Seen<'_> {
    fn shape(&self) -> String {
        super::support::shape(self.events)
    }

    /// The event names the WorkflowTaskCompleted that it belongs to.
    fn by(&self, e: &HistoryEvent, id: i64) {
        assert_eq!(Some(id), self.completed, "workflowTaskCompletedEventId of event {}", e.event_id);
    }

    /// Where an event of its type may stand.
    fn place(&mut self, i: usize, e: &HistoryEvent) {
        assert_eq!(e.event_id, i as i64 + 1, "ids are contiguous: {}", self.shape());
        assert!(e.event_time.is_some(), "every event has a time");
        assert!(!self.closed, "nothing follows the closing event: {}", self.shape());
        let kind = E::try_from(e.event_type).expect("a known event type");
        assert_eq!(i == 0, kind == E::WorkflowExecutionStarted, "Started is the first event and only that");
        if is_command(kind) {
            assert!(
                self.in_commands,
                "event {} {kind:?} does not follow its WorkflowTaskCompleted: {}",
                e.event_id,
                self.shape()
            );
        } else {
            self.in_commands = kind == E::WorkflowTaskCompleted;
        }
        if matches!(self.task, Task::Started(..)) {
            assert!(
                matches!(kind, E::WorkflowTaskCompleted | E::WorkflowTaskFailed | E::WorkflowTaskTimedOut),
                "event {} {kind:?} inside a started workflow task: {}",
                e.event_id,
                self.shape()
            );
        }
        self.closed = is_close(kind);
    }

    /// One workflow task at a time; its events name each other.
    fn workflow_task(&mut self, e: &HistoryEvent, attrs: &A) {
        match attrs {
            A::WorkflowTaskScheduledEventAttributes(a) => {
                assert_eq!(self.task, Task::None, "one workflow task at a time: {}", self.shape());
                assert!(a.attempt >= 1 && a.task_queue.as_ref().is_some_and(|q| !q.name.is_empty()));
                self.task = Task::Scheduled(e.event_id);
            }
            A::WorkflowTaskStartedEventAttributes(a) => {
                assert_eq!(self.task, Task::Scheduled(a.scheduled_event_id));
                assert!(!a.request_id.is_empty());
                self.task = Task::Started(a.scheduled_event_id, e.event_id);
            }
            A::WorkflowTaskCompletedEventAttributes(a) => {
                assert_eq!(self.task, Task::Started(a.scheduled_event_id, a.started_event_id));
                self.completed = Some(e.event_id);
                self.task = Task::None;
            }
            A::WorkflowTaskFailedEventAttributes(a) => {
                assert_eq!(self.task, Task::Started(a.scheduled_event_id, a.started_event_id));
                self.task = Task::None;
            }
            A::WorkflowTaskTimedOutEventAttributes(a) => {
                match self.task {
                    Task::Scheduled(s) => assert_eq!((s, 0), (a.scheduled_event_id, a.started_event_id)),
                    other => assert_eq!(other, Task::Started(a.scheduled_event_id, a.started_event_id)),
                }
                self.task = Task::None;
            }
            _ => {}
        }
    }

    /// An activity is scheduled, starts at most once, and ends at most once.
    fn activity(&mut self, e: &HistoryEvent, attrs: &A) {
        match attrs {
            A::ActivityTaskScheduledEventAttributes(a) => {
                self.by(e, a.workflow_task_completed_event_id);
                assert!(
                    self.activity_ids.insert(a.activity_id.clone(), e.event_id).is_none(),
                    "activity ids are unique while open"
                );
                self.activities.insert(e.event_id, (false, false));
                assert!(a.retry_policy.is_some() && a.heartbeat_timeout.is_some() && a.schedule_to_close_timeout.is_some());
            }
            A::ActivityTaskCancelRequestedEventAttributes(a) => {
                self.by(e, a.workflow_task_completed_event_id);
                assert!(self.activities.contains_key(&a.scheduled_event_id));
                // Without a worker the activity ends at once; its event follows those of the commands.
                self.activity_ids.retain(|_, scheduled| *scheduled != a.scheduled_event_id);
            }
            A::ActivityTaskStartedEventAttributes(a) => {
                let before = self.activities.insert(a.scheduled_event_id, (true, false)).expect("a scheduled activity");
                assert_eq!(before, (false, false), "started once: {}", self.shape());
                self.started.insert(a.scheduled_event_id, e.event_id);
            }
            A::ActivityTaskCompletedEventAttributes(a) => self.end_activity(a.scheduled_event_id, a.started_event_id),
            A::ActivityTaskFailedEventAttributes(a) => self.end_activity(a.scheduled_event_id, a.started_event_id),
            A::ActivityTaskTimedOutEventAttributes(a) => self.end_activity(a.scheduled_event_id, a.started_event_id),
            A::ActivityTaskCanceledEventAttributes(a) => self.end_activity(a.scheduled_event_id, a.started_event_id),
            _ => {}
        }
    }

    /// What reaches beyond the run is initiated, and gets at most one result.
    fn child_or_external(&mut self, e: &HistoryEvent, attrs: &A) {
        match attrs {
            A::StartChildWorkflowExecutionInitiatedEventAttributes(a) => {
                self.by(e, a.workflow_task_completed_event_id);
                assert!(a.parent_close_policy != 0 && a.workflow_id_reuse_policy != 0 && a.task_queue.is_some());
                self.children.insert(e.event_id, Child::Initiated);
            }
            A::StartChildWorkflowExecutionFailedEventAttributes(a) => {
                assert_eq!(self.children.insert(a.initiated_event_id, Child::Ended), Some(Child::Initiated), "{}", self.shape());
            }
            A::ChildWorkflowExecutionStartedEventAttributes(a) => {
                let now = Child::Started(e.event_id);
                assert_eq!(self.children.insert(a.initiated_event_id, now), Some(Child::Initiated), "{}", self.shape());
            }
            A::ChildWorkflowExecutionCompletedEventAttributes(a) => self.end_child(a.initiated_event_id, a.started_event_id),
            A::ChildWorkflowExecutionFailedEventAttributes(a) => self.end_child(a.initiated_event_id, a.started_event_id),
            A::ChildWorkflowExecutionCanceledEventAttributes(a) => self.end_child(a.initiated_event_id, a.started_event_id),
            A::ChildWorkflowExecutionTimedOutEventAttributes(a) => self.end_child(a.initiated_event_id, a.started_event_id),
            A::ChildWorkflowExecutionTerminatedEventAttributes(a) => self.end_child(a.initiated_event_id, a.started_event_id),
            A::SignalExternalWorkflowExecutionInitiatedEventAttributes(a) => {
                self.by(e, a.workflow_task_completed_event_id);
                self.externals.insert(e.event_id);
            }
            A::RequestCancelExternalWorkflowExecutionInitiatedEventAttributes(a) => {
                self.by(e, a.workflow_task_completed_event_id);
                self.externals.insert(e.event_id);
            }
            A::ExternalWorkflowExecutionSignaledEventAttributes(a) => assert!(self.externals.remove(&a.initiated_event_id)),
            A::SignalExternalWorkflowExecutionFailedEventAttributes(a) => assert!(self.externals.remove(&a.initiated_event_id)),
            A::ExternalWorkflowExecutionCancelRequestedEventAttributes(a) => {
                assert!(self.externals.remove(&a.initiated_event_id))
            }
            A::RequestCancelExternalWorkflowExecutionFailedEventAttributes(a) => {
                assert!(self.externals.remove(&a.initiated_event_id))
            }
            _ => {}
        }
    }

    /// Timers, updates, and the other commands.
    fn other(&mut self, e: &HistoryEvent, attrs: &A) {
        match attrs {
            A::TimerStartedEventAttributes(a) => {
                self.by(e, a.workflow_task_completed_event_id);
                assert!(self.timers.insert(a.timer_id.clone(), e.event_id).is_none(), "timer ids are unique while open");
            }
            A::TimerFiredEventAttributes(a) => {
                assert_eq!(self.timers.remove(&a.timer_id), Some(a.started_event_id), "{}", self.shape())
            }
            A::TimerCanceledEventAttributes(a) => {
                self.by(e, a.workflow_task_completed_event_id);
                assert_eq!(self.timers.remove(&a.timer_id), Some(a.started_event_id), "{}", self.shape());
            }
            A::MarkerRecordedEventAttributes(a) => self.by(e, a.workflow_task_completed_event_id),
            A::UpsertWorkflowSearchAttributesEventAttributes(a) => self.by(e, a.workflow_task_completed_event_id),
            A::WorkflowPropertiesModifiedEventAttributes(a) => self.by(e, a.workflow_task_completed_event_id),
            A::WorkflowExecutionCompletedEventAttributes(a) => self.by(e, a.workflow_task_completed_event_id),
            A::WorkflowExecutionFailedEventAttributes(a) => self.by(e, a.workflow_task_completed_event_id),
            A::WorkflowExecutionCanceledEventAttributes(a) => self.by(e, a.workflow_task_completed_event_id),
            A::WorkflowExecutionContinuedAsNewEventAttributes(a) => self.by(e, a.workflow_task_completed_event_id),
            A::WorkflowExecutionUpdateAdmittedEventAttributes(a) => {
                let id = a.request.as_ref().and_then(|r| r.meta.as_ref()).expect("an update id").update_id.clone();
                assert!(self.admitted.insert(id), "admitted once");
            }
            A::WorkflowExecutionUpdateAcceptedEventAttributes(a) => {
                assert!(self.accepted.insert(a.protocol_instance_id.clone(), e.event_id).is_none(), "accepted once");
                let admitted = self.admitted.contains(&a.protocol_instance_id);
                assert_eq!(a.accepted_request.is_some(), !admitted, "the request is in history once");
            }
            A::WorkflowExecutionUpdateCompletedEventAttributes(a) => {
                let id = a.meta.as_ref().expect("meta").update_id.clone();
                assert_eq!(self.accepted.get(&id), Some(&a.accepted_event_id));
                assert!(self.completed_updates.insert(id), "an update is completed once");
            }
            _ => {}
        }
    }

    fn end_activity(&mut self, scheduled_id: i64, started_id: i64) {
        let s = self.activities.get_mut(&scheduled_id).expect("a scheduled activity");
        assert!(!s.1, "an activity ends once");
        s.1 = true;
        let started = self.started.get(&scheduled_id).copied().unwrap_or(0);
        assert_eq!(started, started_id, "startedEventId of the end of an activity");
        self.activity_ids.retain(|_, id| *id != scheduled_id);
    }

    fn end_child(&mut self, initiated: i64, started: i64) {
        assert_eq!(self.children.insert(initiated, Child::Ended), Some(Child::Started(started)), "a started child ends once");
    }
}
