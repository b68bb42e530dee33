//! Results of the task that is being replayed, read from the events behind it
//! (docs/dev/semantics/history.md#look-ahead).
//!
//! What workflow code did in activation k is recorded behind the workflow task of k. Code needs some of it while it runs: which
//! patches are on, values of side effects, results of local activities, accepted updates. Flags and SDK metadata of the task's own
//! completion say how the core itself has to behave.
use crate::api::enums::v1::EventType;
use crate::error::Result;
use crate::history::event::{Event, event_type};
use crate::replay::event::{EventRef, Place, bad_event};
use crate::replay::jobs::{Variant, text};
use crate::replay::update::Incoming;
use crate::replay::workflow::Workflow;
use crate::replay::{local_activity, marker, patch, side_effect};
use crate::wire::Message;

impl Workflow {
    /// `next`: the events of the sequence behind the one just applied.
    pub fn look_ahead(&mut self, next: &[Event]) -> Result<()> {
        let mut completed = false;
        for event in next {
            let at = EventRef::of(event);
            let Some(attributes) = event.attributes() else { continue };
            match event_type(event) {
                Some(EventType::WorkflowTaskCompleted) if !completed => {
                    completed = true;
                    self.record_metadata(attributes).at_event(at)?;
                }
                Some(EventType::MarkerRecorded) => self.see_marker(attributes, at)?,
                Some(EventType::WorkflowExecutionUpdateAccepted) => self.see_accepted(attributes, at)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn see_marker(&mut self, marker: Message, at: EventRef) -> Result<()> {
        match marker.text(marker::NAME) {
            patch::MARKER => {
                if let Some((patch_id, _)) = patch::read(marker)
                    && self.patches.see(patch_id.clone())
                {
                    self.jobs.of_event(at.id, Variant::NotifyHasPatch, text(&patch_id));
                }
            }
            local_activity::MARKER => self.local_activities.find_ahead(marker, at)?,
            side_effect::MARKER => {
                if let Some(id) = side_effect::read_id(marker) {
                    self.side_effects.known.insert(id);
                    self.jobs.of_event(at.id, Variant::SideEffectValue, side_effect::value(marker, id));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// WorkflowExecutionUpdateAcceptedEventAttributes.
    fn see_accepted(&mut self, accepted: Message, at: EventRef) -> Result<()> {
        let id = accepted.text(1);
        let own = || {
            Some(Incoming {
                protocol_instance_id: id.into(),
                message_id: accepted.text(2).into(),
                sequencing_id: accepted.int(3),
                request: accepted.bytes(4)?.to_vec(),
            })
        };
        let incoming = self.updates.admitted.remove(id).or_else(own);
        let lacking = || bad_event(at, "update request, and no admitted event brought it");
        self.request_update(incoming.ok_or_else(lacking)?);
        Ok(())
    }
}
