//! CANCEL_TIMER. A timer whose TimerFired the workflow has not seen can be canceled: that event is
//! removed.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::TimerCanceledAttrs;
use crate::engine::state::run::Run;
use crate::engine::timers;

message! {
    CancelTimer: command::CancelTimerCommandAttributes { timer_id str, }
}

impl Kind for CancelTimer {
    const CAUSE: Cause = Cause::BadCancelTimerAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        if self.timer_id.is_empty() {
            return bad(Self::CAUSE, "TimerId is not set on CancelTimerCommand.");
        }
        if plan.timer_open(&self.timer_id) {
            plan.timers.insert(self.timer_id.clone(), false);
            return Ok(());
        }
        if plan.run.buffered_fire(&self.timer_id).is_some() && plan.unfired.insert(self.timer_id.clone()) {
            return Ok(());
        }
        bad(Self::CAUSE, format!("TimerID: {}", self.timer_id))
    }

    fn apply(self, run: &mut Run, _: &mut Context, at: &At) -> bool {
        let started_event_id = match timers::remove(run, &self.timer_id) {
            Some(timer) => timer.started_id,
            None => run.unfire(&self.timer_id).unwrap_or_default(),
        };
        let attrs = TimerCanceledAttrs {
            timer_id: self.timer_id,
            started_event_id,
            workflow_task_completed_event_id: at.completed_id,
            identity: at.identity.into(),
        };
        at.write(run, &attrs);
        false
    }
}
