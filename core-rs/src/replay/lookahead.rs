//! Results of the task that is being replayed, read from the events behind it (core-spec 2.4).
//!
//! What workflow code did in activation k is recorded behind the workflow task of k. Code needs some of it while it runs: which
//! patches are on, values of side effects, results of local activities, accepted updates. Flags and SDK metadata of the task's own
//! completion say how the core itself has to behave.
use crate::api::history::v1::HistoryEvent;
use crate::api::history::v1::history_event::Attributes;
use crate::boundary::job::Variant;
use crate::boundary::{NotifyHasPatch, SideEffectValue};
use crate::error::Result;
use crate::replay::event::{EventRef, Place, bad_event};
use crate::replay::update::Incoming;
use crate::replay::workflow::Workflow;
use crate::replay::{local_activity, patch, side_effect};

impl Workflow {
    /// `next`: the events of the sequence behind the one just applied.
    pub fn look_ahead(&mut self, next: &[HistoryEvent]) -> Result<()> {
        let mut completed = false;
        for event in next {
            let at = EventRef::of(event);
            match &event.attributes {
                Some(Attributes::WorkflowTaskCompletedEventAttributes(c)) if !completed => {
                    completed = true;
                    if let Some(metadata) = &c.sdk_metadata {
                        self.flags.record(metadata, &self.known_lang_flags).at_event(at)?;
                    }
                }
                Some(Attributes::MarkerRecordedEventAttributes(marker)) => match marker.marker_name.as_str() {
                    patch::MARKER => {
                        if let Some((patch_id, _)) = patch::read(marker)
                            && self.patches.see(patch_id.clone())
                        {
                            self.jobs.of_event(at.id, Variant::NotifyHasPatch(NotifyHasPatch { patch_id }));
                        }
                    }
                    local_activity::MARKER => self.local_activities.find_ahead(marker, at)?,
                    side_effect::MARKER => {
                        if let Some(id) = side_effect::read_id(marker) {
                            self.side_effects.known.insert(id);
                            let payload = side_effect::read_value(marker);
                            self.jobs.of_event(at.id, Variant::SideEffectValue(SideEffectValue { id, payload }));
                        }
                    }
                    _ => {}
                },
                Some(Attributes::WorkflowExecutionUpdateAcceptedEventAttributes(accepted)) => {
                    let id = &accepted.protocol_instance_id;
                    let own = || {
                        Some(Incoming {
                            protocol_instance_id: id.clone(),
                            message_id: accepted.accepted_request_message_id.clone(),
                            sequencing_id: accepted.accepted_request_sequencing_event_id,
                            request: Box::new(accepted.accepted_request.clone()?),
                        })
                    };
                    let incoming = self.updates.admitted.remove(id).or_else(own);
                    let lacking = || bad_event(at, "update request, and no admitted event brought it");
                    self.request_update(incoming.ok_or_else(lacking)?);
                }
                _ => {}
            }
        }
        Ok(())
    }
}
