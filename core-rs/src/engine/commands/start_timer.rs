//! START_TIMER.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad, over};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::TimerStartedAttrs;
use crate::engine::state::run::Run;
use crate::engine::time::{duration, micros, micros_or_zero};
use crate::engine::timers;

message! {
    StartTimer: command::StartTimerCommandAttributes { timer_id str, start_to_fire_timeout dur, }
}

impl Kind for StartTimer {
    const CAUSE: Cause = Cause::BadStartTimerAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        if self.timer_id.is_empty() {
            return bad(Self::CAUSE, "TimerId is not set on StartTimerCommand.");
        }
        if over(&self.timer_id) {
            return bad(Self::CAUSE, "TimerId on StartTimerCommand exceeds length limit or contains a NUL character.");
        }
        if let Err(why) = micros(&self.start_to_fire_timeout) {
            let text = format!("An invalid StartToFireTimeout is set on StartTimerCommand: {why}. TimerId={}", self.timer_id);
            return bad(Self::CAUSE, text);
        }
        if plan.timer_open(&self.timer_id) {
            return bad(Cause::StartTimerDuplicateId, format!("TimerID: {}", self.timer_id));
        }
        plan.timers.insert(self.timer_id.clone(), true);
        Ok(())
    }

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let length = micros_or_zero(&self.start_to_fire_timeout);
        let attrs = TimerStartedAttrs {
            timer_id: self.timer_id,
            start_to_fire_timeout: Some(self.start_to_fire_timeout.unwrap_or_else(|| duration(0))),
            workflow_task_completed_event_id: at.completed_id,
        };
        let started_id = at.write(run, &attrs);
        timers::insert(run, cx, attrs.timer_id, started_id, at.time + length);
        false
    }
}
