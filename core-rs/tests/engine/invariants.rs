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

pub fn check(events: &[HistoryEvent], row: &RunRow) {
    let shape = || super::support::shape(events);
    assert_eq!(row.history_length as usize, events.len());
    assert!(!events.is_empty());
    let mut task = Task::None;
    let mut completed: Option<i64> = None;
    // Still directly behind WorkflowTaskCompleted and its command events.
    let mut in_commands = false;
    let mut activities: BTreeMap<i64, (bool, bool)> = BTreeMap::new();
    let mut activity_ids: BTreeMap<String, i64> = BTreeMap::new();
    let mut started: BTreeMap<i64, i64> = BTreeMap::new();
    let mut timers: BTreeMap<String, i64> = BTreeMap::new();
    let mut accepted: BTreeMap<String, i64> = BTreeMap::new();
    let mut answered: BTreeSet<String> = BTreeSet::new();
    let mut children: BTreeMap<i64, Child> = BTreeMap::new();
    let mut externals: BTreeSet<i64> = BTreeSet::new();
    let mut closed = false;
    for (i, e) in events.iter().enumerate() {
        assert_eq!(e.event_id, i as i64 + 1, "ids are contiguous: {}", shape());
        assert!(e.event_time.is_some(), "every event has a time");
        assert!(!closed, "nothing follows the closing event: {}", shape());
        let kind = E::try_from(e.event_type).expect("a known event type");
        let attrs = e.attributes.as_ref().expect("attributes");
        assert_eq!(i == 0, kind == E::WorkflowExecutionStarted, "Started is the first event and only that");
        if is_command(kind) {
            assert!(in_commands, "event {} {kind:?} does not follow its WorkflowTaskCompleted: {}", e.event_id, shape());
        } else {
            in_commands = kind == E::WorkflowTaskCompleted;
        }
        if matches!(task, Task::Started(..)) {
            assert!(
                matches!(kind, E::WorkflowTaskCompleted | E::WorkflowTaskFailed | E::WorkflowTaskTimedOut),
                "event {} {kind:?} inside a started workflow task: {}",
                e.event_id,
                shape()
            );
        }
        closed = is_close(kind);
        let by = |id: i64| assert_eq!(Some(id), completed, "workflowTaskCompletedEventId of event {}", e.event_id);
        match attrs {
            A::WorkflowTaskScheduledEventAttributes(a) => {
                assert_eq!(task, Task::None, "one workflow task at a time: {}", shape());
                assert!(a.attempt >= 1 && a.task_queue.as_ref().is_some_and(|q| !q.name.is_empty()));
                task = Task::Scheduled(e.event_id);
            }
            A::WorkflowTaskStartedEventAttributes(a) => {
                assert_eq!(task, Task::Scheduled(a.scheduled_event_id));
                assert!(!a.request_id.is_empty());
                task = Task::Started(a.scheduled_event_id, e.event_id);
            }
            A::WorkflowTaskCompletedEventAttributes(a) => {
                assert_eq!(task, Task::Started(a.scheduled_event_id, a.started_event_id));
                completed = Some(e.event_id);
                task = Task::None;
            }
            A::WorkflowTaskFailedEventAttributes(a) => {
                assert_eq!(task, Task::Started(a.scheduled_event_id, a.started_event_id));
                task = Task::None;
            }
            A::WorkflowTaskTimedOutEventAttributes(a) => {
                match task {
                    Task::Scheduled(s) => assert_eq!((s, 0), (a.scheduled_event_id, a.started_event_id)),
                    other => assert_eq!(other, Task::Started(a.scheduled_event_id, a.started_event_id)),
                }
                task = Task::None;
            }
            A::ActivityTaskScheduledEventAttributes(a) => {
                by(a.workflow_task_completed_event_id);
                assert!(activity_ids.insert(a.activity_id.clone(), e.event_id).is_none(), "activity ids are unique while open");
                activities.insert(e.event_id, (false, false));
                assert!(a.retry_policy.is_some() && a.heartbeat_timeout.is_some() && a.schedule_to_close_timeout.is_some());
            }
            A::ActivityTaskCancelRequestedEventAttributes(a) => {
                by(a.workflow_task_completed_event_id);
                assert!(activities.contains_key(&a.scheduled_event_id));
            }
            A::ActivityTaskStartedEventAttributes(a) => {
                let s = activities.get_mut(&a.scheduled_event_id).expect("a scheduled activity");
                assert_eq!(*s, (false, false), "started once: {}", shape());
                s.0 = true;
                started.insert(a.scheduled_event_id, e.event_id);
            }
            A::ActivityTaskCompletedEventAttributes(a) => {
                end(&mut activities, &mut activity_ids, &started, a.scheduled_event_id, a.started_event_id)
            }
            A::ActivityTaskFailedEventAttributes(a) => {
                end(&mut activities, &mut activity_ids, &started, a.scheduled_event_id, a.started_event_id)
            }
            A::ActivityTaskTimedOutEventAttributes(a) => {
                end(&mut activities, &mut activity_ids, &started, a.scheduled_event_id, a.started_event_id)
            }
            A::ActivityTaskCanceledEventAttributes(a) => {
                end(&mut activities, &mut activity_ids, &started, a.scheduled_event_id, a.started_event_id)
            }
            A::TimerStartedEventAttributes(a) => {
                by(a.workflow_task_completed_event_id);
                assert!(timers.insert(a.timer_id.clone(), e.event_id).is_none(), "timer ids are unique while open");
            }
            A::TimerFiredEventAttributes(a) => assert_eq!(timers.remove(&a.timer_id), Some(a.started_event_id), "{}", shape()),
            A::TimerCanceledEventAttributes(a) => {
                by(a.workflow_task_completed_event_id);
                assert_eq!(timers.remove(&a.timer_id), Some(a.started_event_id), "{}", shape());
            }
            A::MarkerRecordedEventAttributes(a) => by(a.workflow_task_completed_event_id),
            A::StartChildWorkflowExecutionInitiatedEventAttributes(a) => {
                by(a.workflow_task_completed_event_id);
                assert!(a.parent_close_policy != 0 && a.workflow_id_reuse_policy != 0 && a.task_queue.is_some());
                children.insert(e.event_id, Child::Initiated);
            }
            A::StartChildWorkflowExecutionFailedEventAttributes(a) => {
                assert_eq!(children.insert(a.initiated_event_id, Child::Ended), Some(Child::Initiated), "{}", shape());
            }
            A::ChildWorkflowExecutionStartedEventAttributes(a) => {
                let now = Child::Started(e.event_id);
                assert_eq!(children.insert(a.initiated_event_id, now), Some(Child::Initiated), "{}", shape());
            }
            A::ChildWorkflowExecutionCompletedEventAttributes(a) => {
                child_end(&mut children, a.initiated_event_id, a.started_event_id)
            }
            A::ChildWorkflowExecutionFailedEventAttributes(a) => {
                child_end(&mut children, a.initiated_event_id, a.started_event_id)
            }
            A::ChildWorkflowExecutionCanceledEventAttributes(a) => {
                child_end(&mut children, a.initiated_event_id, a.started_event_id)
            }
            A::ChildWorkflowExecutionTimedOutEventAttributes(a) => {
                child_end(&mut children, a.initiated_event_id, a.started_event_id)
            }
            A::ChildWorkflowExecutionTerminatedEventAttributes(a) => {
                child_end(&mut children, a.initiated_event_id, a.started_event_id)
            }
            A::SignalExternalWorkflowExecutionInitiatedEventAttributes(a) => {
                by(a.workflow_task_completed_event_id);
                externals.insert(e.event_id);
            }
            A::RequestCancelExternalWorkflowExecutionInitiatedEventAttributes(a) => {
                by(a.workflow_task_completed_event_id);
                externals.insert(e.event_id);
            }
            A::ExternalWorkflowExecutionSignaledEventAttributes(a) => assert!(externals.remove(&a.initiated_event_id)),
            A::SignalExternalWorkflowExecutionFailedEventAttributes(a) => assert!(externals.remove(&a.initiated_event_id)),
            A::ExternalWorkflowExecutionCancelRequestedEventAttributes(a) => assert!(externals.remove(&a.initiated_event_id)),
            A::RequestCancelExternalWorkflowExecutionFailedEventAttributes(a) => assert!(externals.remove(&a.initiated_event_id)),
            A::UpsertWorkflowSearchAttributesEventAttributes(a) => by(a.workflow_task_completed_event_id),
            A::WorkflowPropertiesModifiedEventAttributes(a) => by(a.workflow_task_completed_event_id),
            A::WorkflowExecutionCompletedEventAttributes(a) => by(a.workflow_task_completed_event_id),
            A::WorkflowExecutionFailedEventAttributes(a) => by(a.workflow_task_completed_event_id),
            A::WorkflowExecutionCanceledEventAttributes(a) => by(a.workflow_task_completed_event_id),
            A::WorkflowExecutionContinuedAsNewEventAttributes(a) => by(a.workflow_task_completed_event_id),
            A::WorkflowExecutionUpdateAcceptedEventAttributes(a) => {
                assert!(accepted.insert(a.protocol_instance_id.clone(), e.event_id).is_none(), "accepted once");
                assert!(a.accepted_request.is_some());
            }
            A::WorkflowExecutionUpdateCompletedEventAttributes(a) => {
                let id = a.meta.as_ref().expect("meta").update_id.clone();
                assert_eq!(accepted.get(&id), Some(&a.accepted_event_id));
                assert!(answered.insert(id), "an update is completed once");
            }
            _ => {}
        }
    }
    assert_eq!(closed, row.close_time_ms > 0.0, "row and history agree about the end");
    if closed {
        assert!(!matches!(task, Task::Started(..)));
    }
}

fn end(
    activities: &mut BTreeMap<i64, (bool, bool)>,
    ids: &mut BTreeMap<String, i64>,
    started: &BTreeMap<i64, i64>,
    scheduled_id: i64,
    started_id: i64,
) {
    let s = activities.get_mut(&scheduled_id).expect("a scheduled activity");
    assert!(!s.1, "an activity ends once");
    s.1 = true;
    assert_eq!(started.get(&scheduled_id).copied().unwrap_or(0), started_id, "startedEventId of the end of an activity");
    ids.retain(|_, id| *id != scheduled_id);
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Child {
    Initiated,
    Started(i64),
    Ended,
}

fn child_end(children: &mut BTreeMap<i64, Child>, initiated: i64, started: i64) {
    assert_eq!(children.insert(initiated, Child::Ended), Some(Child::Started(started)), "a started child ends once");
}
