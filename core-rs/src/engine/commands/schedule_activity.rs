//! SCHEDULE_ACTIVITY_TASK: an activity becomes pending and waits for a worker.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad, bad_queue, over};
use crate::api::enums::v1::TaskQueueKind;
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::activity;
use crate::engine::context::Context;
use crate::engine::limits;
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::ActivityScheduledAttrs;
use crate::engine::retry;
use crate::engine::state::run::Run;
use crate::engine::time::{Micros, duration, micros};

message! {
    ScheduleActivity: command::ScheduleActivityTaskCommandAttributes {
        activity_id str, activity_type msg(Named), task_queue msg(TaskQueue), header fields, input payloads,
        schedule_to_close_timeout dur, schedule_to_start_timeout dur, start_to_close_timeout dur, heartbeat_timeout dur,
        retry_policy msg(RetryPolicy), request_eager_execution bool, use_workflow_build_id bool, priority raw(PRIORITY),
    }
}

impl Kind for ScheduleActivity {
    const CAUSE: Cause = Cause::BadScheduleActivityAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        if self.activity_id.is_empty() {
            return bad(Self::CAUSE, "activityId is not set");
        }
        let kind = self.activity_type.as_ref().map_or("", |t| &t.name);
        if kind.is_empty() {
            return bad(Self::CAUSE, "activityType is not set");
        }
        if over(&self.activity_id) || over(kind) {
            return bad(Self::CAUSE, "activityId or activityType exceeds length limit or contains a NUL character");
        }
        let queue = self.task_queue.get_or_insert_default();
        if queue.name.is_empty() {
            queue.name = plan.run.head.task_queue.clone();
        }
        if let Some(why) = bad_queue(&queue.name) {
            return bad(Self::CAUSE, why);
        }
        if let Some(why) = limits::bad_priority(self.priority.as_deref()) {
            return bad(Self::CAUSE, why);
        }
        queue.kind = TaskQueueKind::Normal as i32;
        queue.normal_name.clear();
        if let Err(why) = normalize_timeouts(self, plan.run.head.run_timeout_us) {
            return bad(Self::CAUSE, why);
        }
        let policy = self.retry_policy.get_or_insert_default();
        retry::fill_defaults(policy);
        if let Err(why) = retry::check(policy) {
            return bad(Self::CAUSE, why);
        }
        let input = &self.input;
        plan.payloads("ScheduleActivityTaskCommandAttributes.Input", input)?;
        if plan.pending_activities >= limits::PENDING_ACTIVITIES {
            let text = format!("the number of pending activities has reached the limit of {}", limits::PENDING_ACTIVITIES);
            return bad(Cause::PendingActivitiesLimitExceeded, text);
        }
        if plan.activity_open(&self.activity_id) {
            return bad(Cause::ScheduleActivityDuplicateId, format!("activity ID {} is already in use", self.activity_id));
        }
        plan.pending_activities += 1;
        plan.activities.insert(self.activity_id.clone(), true);
        plan.scheduled_activities.insert(plan.next_id, self.activity_id.clone());
        Ok(())
    }

    fn apply(self, run: &mut Run, _: &mut Context, at: &At) -> bool {
        let attrs = ActivityScheduledAttrs {
            activity_id: self.activity_id,
            activity_type: self.activity_type,
            task_queue: self.task_queue,
            header: self.header,
            input: self.input,
            schedule_to_close_timeout: self.schedule_to_close_timeout,
            schedule_to_start_timeout: self.schedule_to_start_timeout,
            start_to_close_timeout: self.start_to_close_timeout,
            heartbeat_timeout: self.heartbeat_timeout,
            workflow_task_completed_event_id: at.completed_id,
            retry_policy: self.retry_policy,
            use_workflow_build_id: self.use_workflow_build_id,
            priority: self.priority,
        };
        let scheduled_id = at.write(run, &attrs);
        activity::insert(run, attrs, scheduled_id, at.time);
        if self.request_eager_execution {
            run.eager_activities.push(scheduled_id);
        }
        false
    }
}

/// Fills the timeouts of an activity that were left out, as a server does; unset ones become explicit zeros.
pub fn normalize_timeouts(a: &mut ScheduleActivity, run_timeout: Micros) -> Result<(), String> {
    let read = |name: &str, d| micros(d).map_err(|why| format!("invalid {name}: {why}"));
    let mut close = read("ScheduleToCloseTimeout", &a.schedule_to_close_timeout)?;
    let mut start = read("ScheduleToStartTimeout", &a.schedule_to_start_timeout)?;
    let mut run = read("StartToCloseTimeout", &a.start_to_close_timeout)?;
    let mut beat = read("HeartbeatTimeout", &a.heartbeat_timeout)?;
    if close > 0 {
        start = if start > 0 { start.min(close) } else { close };
        run = if run > 0 { run.min(close) } else { close };
    } else if run > 0 {
        close = run_timeout;
        start = if start > 0 { start } else { run_timeout };
    } else {
        return Err(format!(
            "a valid StartToCloseTimeout or ScheduleToCloseTimeout must be set on the activity. ActivityId={} ActivityType={}",
            a.activity_id,
            a.activity_type.as_ref().map_or("", |t| &t.name)
        ));
    }
    if run_timeout > 0 {
        for t in [&mut close, &mut start, &mut run, &mut beat] {
            *t = (*t).min(run_timeout);
        }
    }
    beat = beat.min(run);
    a.schedule_to_close_timeout = Some(duration(close));
    a.schedule_to_start_timeout = Some(duration(start));
    a.start_to_close_timeout = Some(duration(run));
    a.heartbeat_timeout = Some(duration(beat));
    Ok(())
}
