//! UPSERT_WORKFLOW_SEARCH_ATTRIBUTES.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::UpsertAttrs;
use crate::engine::state::run::Run;
use crate::engine::{payloads, search_attributes};

message! {
    UpsertSearchAttributes: command::UpsertWorkflowSearchAttributesCommandAttributes { search_attributes fields, }
}

impl Kind for UpsertSearchAttributes {
    const CAUSE: Cause = Cause::BadSearchAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        match &self.search_attributes {
            None => bad(Self::CAUSE, "SearchAttributes is not set on UpsertWorkflowSearchAttributesCommand."),
            Some(b) if b.is_empty() => bad(Self::CAUSE, "IndexedFields is not set on UpsertWorkflowSearchAttributesCommand."),
            Some(given) => {
                search_attributes::check(Some(given), plan.attributes).or_else(|why| bad(Self::CAUSE, why))?;
                plan.payloads("UpsertWorkflowSearchAttributesCommandAttributes", &self.search_attributes)
            }
        }
    }

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let known = run.head.search_attributes.as_deref();
        let search_attributes = search_attributes::typed(self.search_attributes, known, cx.attributes.as_ref());
        run.head.search_attributes = payloads::merge(run.head.search_attributes.take(), search_attributes.as_deref());
        at.write(run, &UpsertAttrs { workflow_task_completed_event_id: at.completed_id, search_attributes });
        false
    }
}
