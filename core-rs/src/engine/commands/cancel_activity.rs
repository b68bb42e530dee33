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
        let known = match plan.run.activities.get(&id) {
            Some(a) => a.state.cancel_requested_id == 0,
            None => plan.run.buffered_activity_end(id),
        };
        if !known || !plan.cancelled_activities.insert(id) {
            return bad(Self::CAUSE, format!("no activity to cancel with ScheduledEventID: {id}"));
        }
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
