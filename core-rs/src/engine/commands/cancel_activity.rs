//! REQUEST_CANCEL_ACTIVITY_TASK. An activity that no worker has is cancelled at once.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::activity::{remove, touched};
use crate::engine::context::Context;
use crate::engine::event::About;
use crate::engine::message::message;
use crate::engine::messages::events::*;
use crate::engine::payloads::text_payloads;
use crate::engine::state::run::Run;

message! {
    CancelActivity: command::RequestCancelActivityTaskCommandAttributes { scheduled_event_id i64, }
}

impl Kind for CancelActivity {
    const CAUSE: Cause = Cause::BadRequestCancelActivityAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        let id = self.scheduled_event_id;
        if id <= 0 {
            return bad(Self::CAUSE, "ScheduledEventId is not set on RequestCancelActivityTaskCommand.");
        }
        let pending = plan.run.activities.get(&id);
        let scheduled_here = plan.scheduled_activities.get(&id);
        let is_first = !plan.cancelled_activities.contains(&id);
        let known = match pending {
            Some(a) => a.state.cancel_requested_id == 0 && (is_first || !a.started()),
            // What has ended but is not in history yet can be canceled, also by an earlier command.
            None => scheduled_here.is_some() || plan.run.buffered_activity_end(id),
        };
        if !known {
            return bad(Self::CAUSE, format!("no activity to cancel with ScheduledEventID: {id}"));
        }
        let waiting = pending.filter(|a| !a.started()).map(|a| &a.attrs.activity_id).or(scheduled_here);
        if let Some(activity_id) = waiting.cloned().filter(|_| is_first) {
            plan.pending_activities = plan.pending_activities.saturating_sub(1);
            plan.activities.insert(activity_id, false);
        }
        plan.cancelled_activities.insert(id);
        Ok(())
    }

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let id = self.scheduled_event_id;
        let attrs = ActivityCancelRequestedAttrs { scheduled_event_id: id, workflow_task_completed_event_id: at.completed_id };
        let requested_id = at.write(run, &attrs);
        let Some(a) = run.activities.get_mut(&id) else { return false };
        a.state.cancel_requested_id = requested_id;
        if a.started() {
            touched(run, id);
            return false;
        }
        remove(run, cx, id);
        let attrs = ActivityCanceledAttrs {
            details: Some(text_payloads("ACTIVITY_ID_NOT_STARTED")),
            latest_cancel_requested_event_id: requested_id,
            scheduled_event_id: id,
            started_event_id: 0,
            identity: at.identity.into(),
        };
        // After the events of all commands, like everything that a server buffers.
        run.buffer_event(at.time, attrs, About::ActivityEnded(id, ActivityCanceledAttrs::STARTED));
        true
    }
}
