//! A fluent builder of histories in the form of a Temporal server's. Ids are contiguous from 1, event times are whole seconds
//! after [`BASE_SECONDS`] (event 5 happens at second 5), and later events find their initiating event by the caller's id.
use std::collections::BTreeMap;

use temporalex_core::api::common::v1::{ActivityType, Payload, Payloads, WorkflowType};
use temporalex_core::api::enums::v1::{EventType, RetryState, TimeoutType, WorkflowTaskFailedCause};
use temporalex_core::api::failure::v1::failure::FailureInfo;
use temporalex_core::api::failure::v1::{Failure, TimeoutFailureInfo};
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::*;
use temporalex_core::api::sdk::v1::WorkflowTaskCompletedMetadata;
use temporalex_core::api::taskqueue::v1::TaskQueue;

pub use super::values::*;

#[derive(Clone, Default)]
pub struct HistoryBuilder {
    pub events: Vec<HistoryEvent>,
    /// (kind, caller's id) -> event id.
    ids: BTreeMap<(&'static str, String), i64>,
    task_scheduled: i64,
    pub task_started: i64,
    pub(super) task_completed: i64,
}

impl HistoryBuilder {
    /// S: WorkflowExecutionStarted.
    pub fn new() -> HistoryBuilder {
        HistoryBuilder::with_start(|_| {})
    }

    pub fn with_start(change: impl FnOnce(&mut WorkflowExecutionStartedEventAttributes)) -> HistoryBuilder {
        let mut attributes = WorkflowExecutionStartedEventAttributes {
            workflow_type: Some(WorkflowType { name: WORKFLOW_TYPE.into() }),
            workflow_id: WORKFLOW_ID.into(),
            task_queue: Some(TaskQueue { name: TASK_QUEUE.into(), ..Default::default() }),
            workflow_task_timeout: Some(prost_types::Duration { seconds: 10, nanos: 0 }),
            original_execution_run_id: RUN_ID.into(),
            first_execution_run_id: RUN_ID.into(),
            attempt: 1,
            ..Default::default()
        };
        change(&mut attributes);
        HistoryBuilder::default()
            .add(EventType::WorkflowExecutionStarted, Attributes::WorkflowExecutionStartedEventAttributes(Box::new(attributes)))
    }

    /// Any event.
    pub fn add(mut self, kind: EventType, attributes: Attributes) -> Self {
        self.push(kind as i32, Some(attributes));
        self
    }

    fn push(&mut self, event_type: i32, attributes: Option<Attributes>) -> i64 {
        let event_id = self.events.len() as i64 + 1;
        let event_time = Some(prost_types::Timestamp { seconds: BASE_SECONDS + event_id, nanos: 0 });
        self.events.push(HistoryEvent { event_id, event_time, event_type, attributes, ..Default::default() });
        event_id
    }

    /// An event whose type number this build does not know.
    pub fn unknown(mut self, worker_may_ignore: bool) -> Self {
        self.push(9_999, None);
        self.last_mut().worker_may_ignore = worker_may_ignore;
        self
    }

    pub fn last_mut(&mut self) -> &mut HistoryEvent {
        self.events.last_mut().expect("the history has an event")
    }

    /// Changes the last event.
    pub fn tweak(mut self, change: impl FnOnce(&mut HistoryEvent)) -> Self {
        change(self.last_mut());
        self
    }

    pub fn last_id(&self) -> i64 {
        self.events.len() as i64
    }

    pub(super) fn remember(mut self, kind: &'static str, id: &str) -> Self {
        self.ids.insert((kind, id.to_string()), self.last_id());
        self
    }

    pub(super) fn recall(&self, kind: &'static str, id: &str) -> i64 {
        *self.ids.get(&(kind, id.to_string())).unwrap_or_else(|| panic!("no {kind} {id} in the history"))
    }

    // ------------------------------------------------------------------------------------------------ workflow tasks

    /// WorkflowTaskScheduled alone.
    pub fn scheduled(mut self) -> Self {
        self.task_scheduled = self.push(
            EventType::WorkflowTaskScheduled as i32,
            Some(Attributes::WorkflowTaskScheduledEventAttributes(WorkflowTaskScheduledEventAttributes {
                task_queue: Some(TaskQueue { name: TASK_QUEUE.into(), ..Default::default() }),
                start_to_close_timeout: Some(prost_types::Duration { seconds: 10, nanos: 0 }),
                attempt: 1,
            })),
        );
        self
    }

    pub fn started(mut self) -> Self {
        let scheduled_event_id = self.task_scheduled;
        self.task_started = self.push(
            EventType::WorkflowTaskStarted as i32,
            Some(Attributes::WorkflowTaskStartedEventAttributes(WorkflowTaskStartedEventAttributes {
                scheduled_event_id,
                identity: "worker".into(),
                ..Default::default()
            })),
        );
        self
    }

    /// w: scheduled and started.
    pub fn w_open(self) -> Self {
        self.scheduled().started()
    }

    pub fn completed(mut self) -> Self {
        let (scheduled_event_id, started_event_id) = (self.task_scheduled, self.task_started);
        self.task_completed = self.push(
            EventType::WorkflowTaskCompleted as i32,
            Some(Attributes::WorkflowTaskCompletedEventAttributes(WorkflowTaskCompletedEventAttributes {
                scheduled_event_id,
                started_event_id,
                identity: "worker".into(),
                ..Default::default()
            })),
        );
        self
    }

    /// W: scheduled, started, completed.
    pub fn w(self) -> Self {
        self.w_open().completed()
    }

    /// sdk_metadata of the last event, which is a WorkflowTaskCompleted.
    pub fn meta(self, core_flags: &[u32], lang_flags: &[u32], name: &str, version: &str) -> Self {
        let metadata = WorkflowTaskCompletedMetadata {
            core_used_flags: core_flags.to_vec(),
            lang_used_flags: lang_flags.to_vec(),
            sdk_name: name.into(),
            sdk_version: version.into(),
        };
        self.tweak(|event| match event.attributes.as_mut() {
            Some(Attributes::WorkflowTaskCompletedEventAttributes(a)) => a.sdk_metadata = Some(metadata),
            other => panic!("not a completed task: {other:?}"),
        })
    }

    /// W as a native worker records its first one: flags 1-3 and the SDK's name.
    pub fn w_native(self) -> Self {
        self.w().meta(&[1, 2, 3], &[], "temporalex-ts", "0.1.0")
    }

    /// wF: scheduled, started, failed.
    pub fn w_failed(self) -> Self {
        self.w_failed_with(WorkflowTaskFailedCause::WorkflowWorkerUnhandledFailure, "")
    }

    /// wF of a reset: the run continues with a new seed.
    pub fn w_reset(self, new_run_id: &str) -> Self {
        self.w_failed_with(WorkflowTaskFailedCause::ResetWorkflow, new_run_id)
    }

    pub fn w_failed_with(self, cause: WorkflowTaskFailedCause, new_run_id: &str) -> Self {
        let open = self.w_open();
        let (scheduled_event_id, started_event_id) = (open.task_scheduled, open.task_started);
        open.add(
            EventType::WorkflowTaskFailed,
            Attributes::WorkflowTaskFailedEventAttributes(Box::new(WorkflowTaskFailedEventAttributes {
                scheduled_event_id,
                started_event_id,
                cause: cause as i32,
                failure: Some(failure("task failed")),
                new_run_id: new_run_id.into(),
                ..Default::default()
            })),
        )
    }

    /// wT: scheduled, started, timed out.
    pub fn w_timed_out(self) -> Self {
        self.w_open().timed_out_task()
    }

    pub fn timed_out_task(self) -> Self {
        let (scheduled_event_id, started_event_id) = (self.task_scheduled, self.task_started);
        self.add(
            EventType::WorkflowTaskTimedOut,
            Attributes::WorkflowTaskTimedOutEventAttributes(WorkflowTaskTimedOutEventAttributes {
                scheduled_event_id,
                started_event_id,
                timeout_type: TimeoutType::StartToClose as i32,
            }),
        )
    }

    // -------------------------------------------------------------------------------------------------------- timers

    pub fn timer_started(self, timer_id: &str) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::TimerStarted,
            Attributes::TimerStartedEventAttributes(TimerStartedEventAttributes {
                timer_id: timer_id.into(),
                start_to_fire_timeout: Some(prost_types::Duration { seconds: 1, nanos: 0 }),
                workflow_task_completed_event_id,
            }),
        )
        .remember("timer", timer_id)
    }

    pub fn timer_fired(self, timer_id: &str) -> Self {
        let started_event_id = self.recall("timer", timer_id);
        self.timer_fired_as(timer_id, started_event_id)
    }

    pub fn timer_fired_as(self, timer_id: &str, started_event_id: i64) -> Self {
        self.add(
            EventType::TimerFired,
            Attributes::TimerFiredEventAttributes(TimerFiredEventAttributes { timer_id: timer_id.into(), started_event_id }),
        )
    }

    pub fn timer_canceled(self, timer_id: &str) -> Self {
        let (started_event_id, workflow_task_completed_event_id) = (self.recall("timer", timer_id), self.task_completed);
        self.add(
            EventType::TimerCanceled,
            Attributes::TimerCanceledEventAttributes(TimerCanceledEventAttributes {
                timer_id: timer_id.into(),
                started_event_id,
                workflow_task_completed_event_id,
                ..Default::default()
            }),
        )
    }

    // ---------------------------------------------------------------------------------------------------- activities

    /// Type "act".
    pub fn act_scheduled(self, activity_id: &str) -> Self {
        self.act_scheduled_as(activity_id, "act")
    }

    pub fn act_scheduled_as(self, activity_id: &str, activity_type: &str) -> Self {
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::ActivityTaskScheduled,
            Attributes::ActivityTaskScheduledEventAttributes(ActivityTaskScheduledEventAttributes {
                activity_id: activity_id.into(),
                activity_type: Some(ActivityType { name: activity_type.into() }),
                task_queue: Some(TaskQueue { name: TASK_QUEUE.into(), ..Default::default() }),
                start_to_close_timeout: Some(prost_types::Duration { seconds: 30, nanos: 0 }),
                workflow_task_completed_event_id,
                ..Default::default()
            }),
        )
        .remember("act", activity_id)
    }

    pub fn act_started(self, activity_id: &str) -> Self {
        let scheduled_event_id = self.recall("act", activity_id);
        self.add(
            EventType::ActivityTaskStarted,
            Attributes::ActivityTaskStartedEventAttributes(ActivityTaskStartedEventAttributes {
                scheduled_event_id,
                identity: "worker".into(),
                attempt: 1,
                ..Default::default()
            }),
        )
        .remember("act started", activity_id)
    }

    pub fn act_completed(self, activity_id: &str, result: Payload) -> Self {
        self.act_completed_with(activity_id, Some(payloads([result])))
    }

    pub fn act_completed_with(self, activity_id: &str, result: Option<Payloads>) -> Self {
        let (scheduled_event_id, started_event_id) = (self.recall("act", activity_id), self.recall("act started", activity_id));
        self.add(
            EventType::ActivityTaskCompleted,
            Attributes::ActivityTaskCompletedEventAttributes(ActivityTaskCompletedEventAttributes {
                result,
                scheduled_event_id,
                started_event_id,
                identity: "worker".into(),
                ..Default::default()
            }),
        )
    }

    /// Started and completed with `"ok"`.
    pub fn act_done(self, activity_id: &str) -> Self {
        self.act_started(activity_id).act_completed(activity_id, json("\"ok\""))
    }

    pub fn act_failed(self, activity_id: &str, why: Failure, retry_state: RetryState) -> Self {
        let (scheduled_event_id, started_event_id) = (self.recall("act", activity_id), self.recall("act started", activity_id));
        self.add(
            EventType::ActivityTaskFailed,
            Attributes::ActivityTaskFailedEventAttributes(ActivityTaskFailedEventAttributes {
                failure: Some(why),
                scheduled_event_id,
                started_event_id,
                identity: "worker".into(),
                retry_state: retry_state as i32,
                ..Default::default()
            }),
        )
    }

    /// Timed out before or after its start, as the history says.
    pub fn act_timed_out(self, activity_id: &str, timeout_type: TimeoutType) -> Self {
        let scheduled_event_id = self.recall("act", activity_id);
        let started_event_id = *self.ids.get(&("act started", activity_id.to_string())).unwrap_or(&0);
        self.add(
            EventType::ActivityTaskTimedOut,
            Attributes::ActivityTaskTimedOutEventAttributes(ActivityTaskTimedOutEventAttributes {
                failure: Some(Failure {
                    message: "activity timeout".into(),
                    failure_info: Some(FailureInfo::TimeoutFailureInfo(TimeoutFailureInfo {
                        timeout_type: timeout_type as i32,
                        ..Default::default()
                    })),
                    ..Default::default()
                }),
                scheduled_event_id,
                started_event_id,
                retry_state: RetryState::Timeout as i32,
            }),
        )
    }

    pub fn act_cancel_requested(self, activity_id: &str) -> Self {
        let (scheduled_event_id, workflow_task_completed_event_id) = (self.recall("act", activity_id), self.task_completed);
        self.add(
            EventType::ActivityTaskCancelRequested,
            Attributes::ActivityTaskCancelRequestedEventAttributes(ActivityTaskCancelRequestedEventAttributes {
                scheduled_event_id,
                workflow_task_completed_event_id,
            }),
        )
        .remember("act cancel", activity_id)
    }

    pub fn act_canceled(self, activity_id: &str, details: Option<Payloads>) -> Self {
        let scheduled_event_id = self.recall("act", activity_id);
        let latest_cancel_requested_event_id = self.recall("act cancel", activity_id);
        let started_event_id = *self.ids.get(&("act started", activity_id.to_string())).unwrap_or(&0);
        self.add(
            EventType::ActivityTaskCanceled,
            Attributes::ActivityTaskCanceledEventAttributes(ActivityTaskCanceledEventAttributes {
                details,
                latest_cancel_requested_event_id,
                scheduled_event_id,
                started_event_id,
                identity: "worker".into(),
                ..Default::default()
            }),
        )
    }

    // ---------------------------------------------------------------------------------- signals, cancellation, updates
}
