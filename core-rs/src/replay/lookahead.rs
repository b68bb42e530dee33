//! Results of the task that is being replayed, read from the events behind it
//! (docs/dev/semantics/history.md#look-ahead).
//!
//! What workflow code did in activation k is recorded behind the workflow task of k. Code needs some of it while it runs: which
//! patches are on, values of side effects, results of local activities, accepted updates. Flags and SDK metadata of the task's own
//! completion say how the core itself has to behave.
use crate::error::Result;
use crate::history::event::Event;
use crate::proto::views::Attributes;
use crate::proto::views::boundary::NotifyHasPatch;
use crate::proto::views::history::{MarkerRecordedEventAttributes, WorkflowExecutionUpdateAcceptedEventAttributes};
use crate::replay::commands::update::Incoming;
use crate::replay::commands::{marker, patch, side_effect};
use crate::replay::event::{EventRef, Place, bad_event};
use crate::replay::workflow::Workflow;
use crate::wire::typed::{Put, View, build};

impl Workflow {
    /// `next`: the events of the sequence behind the one just applied.
    pub fn look_ahead(&mut self, next: &[Event]) -> Result<()> {
        let mut completed = false;
        self.run.flags.begin_task();
        for event in next {
            let at = EventRef::of(event);
            match event.attributes() {
                Some(Attributes::WorkflowTaskCompleted(a)) if !completed => {
                    completed = true;
                    self.run.flags.completed_by(a);
                    self.record_metadata(a).at_event(at)?;
                }
                Some(Attributes::MarkerRecorded(a)) => self.see_marker(a, at)?,
                Some(Attributes::WorkflowExecutionUpdateAccepted(a)) => self.see_accepted(a, at)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn see_marker(&mut self, recorded: View<MarkerRecordedEventAttributes>, at: EventRef) -> Result<()> {
        match recorded.marker_name() {
            marker::PATCH => {
                if let Some((patch_id, _)) = patch::read(recorded)
                    && self.machines.patches.see(patch_id.clone())
                {
                    self.run.jobs.of_event(at.id, build(|w: Put<NotifyHasPatch>| w.patch_id(&patch_id)));
                }
            }
            marker::LOCAL_ACTIVITY => self.machines.local_activities.find_ahead(recorded, at)?,
            marker::SIDE_EFFECT => {
                if let Some(id) = side_effect::read_id(recorded) {
                    self.machines.side_effects.known.insert(id);
                    self.run.jobs.of_event(at.id, side_effect::value(recorded, id));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn see_accepted(&mut self, accepted: View<WorkflowExecutionUpdateAcceptedEventAttributes>, at: EventRef) -> Result<()> {
        let id = accepted.protocol_instance_id();
        let own = || {
            Some(Incoming {
                protocol_instance_id: id.into(),
                message_id: accepted.accepted_request_message_id().into(),
                sequencing_id: accepted.accepted_request_sequencing_event_id(),
                request: accepted.opt_accepted_request()?.to_owned(),
            })
        };
        let incoming = self.machines.updates.admitted.remove(id).or_else(own);
        let lacking = || bad_event(at, "accepted_request, and no UpdateAdmitted event has the request");
        self.request_update(incoming.ok_or_else(lacking)?);
        Ok(())
    }
}
