//! SCHEDULE_NEXUS_OPERATION: an operation becomes pending, and the host calls its handler.
use super::kind::{At, Kind};
use super::plan::Plan;
use super::refusal::{Reject, bad};
use crate::api::enums::v1::WorkflowTaskFailedCause as Cause;
use crate::engine::codec;
use crate::engine::context::Context;
use crate::engine::message::message;
use crate::engine::messages::events::NexusScheduledAttrs;
use crate::engine::nexus;
use crate::engine::state::run::Run;
use crate::engine::time::{duration, micros};

const COMMAND: &str = "ScheduleNexusOperationCommandAttributes";
const NO_NEXUS: &str = "Nexus operations need a Temporal cluster or temporalex dev, and this is the embedded engine: connect the \
    worker to one (temporalex worker --address <host:port>), or call an activity instead";
/// The figures of a server.
const NAME_BYTES: usize = 1000;
const HEADER_BYTES: usize = 4096;
const PENDING: usize = 30;
/// Headers that the service sets itself.
const DISALLOWED: [&str; 6] =
    ["request-timeout", "xdc-redirection-api", "xdc-redirection", "caller-name", "caller-type", "call-initiation"];

message! {
    ScheduleNexus: command::ScheduleNexusOperationCommandAttributes {
        endpoint str, service str, operation str, input raw(PAYLOAD), schedule_to_close_timeout dur, nexus_header raws(TEXT_ENTRY),
        schedule_to_start_timeout dur, start_to_close_timeout dur,
    }
    TextEntry: command::ScheduleNexusOperationCommandAttributesNexusHeaderEntry { key str, value str, }
}

impl Kind for ScheduleNexus {
    const CAUSE: Cause = Cause::BadScheduleNexusOperationAttributes;

    fn check(&mut self, plan: &mut Plan) -> Result<(), Reject> {
        let Some(endpoints) = plan.endpoints else { return bad(Cause::FeatureDisabled, NO_NEXUS) };
        if !endpoints.contains_key(&self.endpoint) {
            return bad(Self::CAUSE, format!("endpoint {:?} not found", self.endpoint));
        }
        for (what, name) in [("Service", &self.service), ("Operation", &self.operation)] {
            if name.len() > NAME_BYTES {
                return bad(Self::CAUSE, format!("{COMMAND}.{what} exceeds length limit of {NAME_BYTES}"));
            }
        }
        let times = [
            ("ScheduleToCloseTimeout", &self.schedule_to_close_timeout),
            ("ScheduleToStartTimeout", &self.schedule_to_start_timeout),
            ("StartToCloseTimeout", &self.start_to_close_timeout),
        ];
        for (what, time) in times {
            if let Err(why) = micros(time) {
                return bad(Self::CAUSE, format!("{COMMAND}.{what} is invalid: {why}"));
            }
        }
        plan.size(&format!("{COMMAND}.Input"), self.input.as_ref().map_or(0, Vec::len))?;
        let mut bytes = 0;
        for entry in &self.nexus_header {
            let entry: TextEntry = codec::read(entry).unwrap_or_default();
            bytes += entry.key.len() + entry.value.len();
            if DISALLOWED.contains(&entry.key.to_lowercase().as_str()) {
                return bad(Self::CAUSE, format!("{COMMAND}.NexusHeader contains a disallowed header key: {:?}", entry.key));
            }
        }
        if bytes > HEADER_BYTES {
            return bad(Self::CAUSE, format!("{COMMAND}.NexusHeader exceeds size limit"));
        }
        if plan.run.nexus.len() + plan.nexus.len() >= PENDING {
            let text = format!("workflow has reached the pending nexus operation limit of {PENDING} for this namespace");
            return bad(Cause::PendingNexusOperationsLimitExceeded, text);
        }
        plan.nexus.insert(plan.next_id);
        let limit = plan.run.head.run_timeout_us;
        let asked = micros(&self.schedule_to_close_timeout).unwrap_or(0);
        if limit > 0 && (asked == 0 || asked > limit) {
            self.schedule_to_close_timeout = Some(duration(limit));
        }
        Ok(())
    }

    fn apply(self, run: &mut Run, cx: &mut Context, at: &At) -> bool {
        let endpoint_id = cx.endpoints.as_ref().and_then(|e| e.get(&self.endpoint)).cloned().unwrap_or_default();
        let attrs = NexusScheduledAttrs {
            endpoint: self.endpoint,
            service: self.service,
            operation: self.operation,
            input: self.input,
            schedule_to_close_timeout: self.schedule_to_close_timeout,
            nexus_header: self.nexus_header,
            workflow_task_completed_event_id: at.completed_id,
            request_id: cx.rng.uuid4(),
            endpoint_id,
            schedule_to_start_timeout: self.schedule_to_start_timeout,
            start_to_close_timeout: self.start_to_close_timeout,
        };
        let scheduled_id = at.write(run, &attrs);
        nexus::insert(run, attrs, scheduled_id, at.time);
        false
    }
}
