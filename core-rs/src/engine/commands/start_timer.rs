//! START_TIMER.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad, over};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::TimerStartedAttrs;
use crate::engine::state::pending::TimerState;
use crate::engine::state::run::Run;
use crate::engine::state::run::{Deadline, kind};
use crate::engine::time::{duration, micros, micros_or_zero};

message! {
    StartTimer: command::StartTimerCommandAttributes { timer_id str, start_to_fire_timeout dur, }
}

impl Kind for StartTimer {
    const CAUSE: Cause = Cause::BadStartTimerAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        let a = self;
        if a.timer_id.is_empty() {
            return bad(Self::CAUSE, "TimerId is not set on StartTimerCommand.");
        }
        if over(&a.timer_id) {
            return bad(Self::CAUSE, "TimerId on StartTimerCommand exceeds length limit or contains a NUL character.");
        }
        if let Err(why) = micros(&a.start_to_fire_timeout) {
            let text = format!("An invalid StartToFireTimeout is set on StartTimerCommand: {why}. TimerId={}", a.timer_id);
            return bad(Self::CAUSE, text);
        }
        if plan.timer_open(&a.timer_id) {
            return bad(Cause::StartTimerDuplicateId, format!("TimerID: {}", a.timer_id));
        }
        plan.timers.insert(a.timer_id.clone(), true);
        Ok(())
    }

    fn apply(self, run: &mut Run, _: &mut Context, at: &At) -> bool {
        let a = self;
        let length = micros_or_zero(&a.start_to_fire_timeout);
        let attrs = TimerStartedAttrs {
            timer_id: a.timer_id,
            start_to_fire_timeout: Some(a.start_to_fire_timeout.unwrap_or_else(|| duration(0))),
            workflow_task_completed_event_id: at.completed_id,
        };
        let started_id = at.write(run, &attrs);
        let timer_id = attrs.timer_id;
        let fire_us = at.time + length;
        run.set_deadline(Deadline::Timer(started_id), None, Some(fire_us));
        run.timer_ids.insert(started_id, timer_id.clone());
        run.mark(kind::TIMER, timer_id.clone());
        run.timers.insert(timer_id.clone(), TimerState { timer_id, started_id, fire_us });
        false
    }
}
