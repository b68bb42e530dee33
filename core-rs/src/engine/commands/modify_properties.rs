//! MODIFY_WORKFLOW_PROPERTIES: an upsert of the memo.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::PropertiesModifiedAttrs;
use crate::engine::payloads;
use crate::engine::state::run::Run;

message! {
    ModifyProperties: command::ModifyWorkflowPropertiesCommandAttributes { upserted_memo fields, }
}

impl Kind for ModifyProperties {
    const CAUSE: Cause = Cause::BadModifyWorkflowPropertiesAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        match &self.upserted_memo {
            None => bad(Self::CAUSE, "UpsertedMemo is not set on ModifyWorkflowPropertiesCommand."),
            Some(b) if b.is_empty() => bad(Self::CAUSE, "UpsertedMemo.Fields is not set on ModifyWorkflowPropertiesCommand."),
            Some(_) => plan.payloads("ModifyWorkflowPropertiesCommandAttributes.UpsertedMemo", &self.upserted_memo),
        }
    }

    fn apply(self, run: &mut Run, _: &mut Context, at: &At) -> bool {
        let upserted_memo = self.upserted_memo;
        run.head.memo = payloads::merge(run.head.memo.take(), upserted_memo.as_deref());
        at.write(run, &PropertiesModifiedAttrs { workflow_task_completed_event_id: at.completed_id, upserted_memo });
        false
    }
}
