//! Side effects, our own marker (docs/dev/semantics/commands.md#side-effects): a value that
//! workflow code computed once and that replay reads back.
//!
//! Name and keys are those of the Go SDK's marker, so that user interfaces show it. The look-ahead hands the values of a task to
//! the activation that will ask for them; the command given on replay must carry an id that was handed over.
use crate::api::enums::v1::CommandType;
use crate::boundary::CommandKind;
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::proto::views::Attributes;
use crate::proto::views::boundary::{RecordSideEffect, SideEffectValue};
use crate::proto::views::command::{Command, RecordMarkerCommandAttributes};
use crate::proto::views::common::Payload;
use crate::proto::views::history::MarkerRecordedEventAttributes;
use crate::replay::commands::kind::{Take, Wait};
use crate::replay::commands::marker;
use crate::replay::convert::checked;
use crate::replay::event::{EventRef, Place, wrong_type};
use crate::replay::run_state::{Inherited, RunState};
use crate::sorted::SortedSet;
use crate::wire::typed::{Encoded, Put, View, build};

const NAME: &str = "Side effect";
const ID_KEY: &str = "side-effect-id";
const DATA_KEY: &str = "data";

/// Ids of the values handed over for the current workflow task.
#[derive(Clone, Debug, Default)]
pub struct SideEffects {
    pub known: SortedSet<u32>,
}

#[derive(Clone, Debug)]
pub struct Record {
    id: u32,
    payload: Option<Encoded<Payload>>,
}

pub fn read(bytes: &[u8]) -> Result<Record> {
    let c = checked::<RecordSideEffect>(bytes)?;
    Ok(Record { id: c.id(), payload: c.opt_payload().map(View::to_owned) })
}

impl Take for Record {
    type Own = SideEffects;
    type Queued = Option<Record>;

    fn take(self, side_effects: &mut SideEffects, run: &mut RunState) -> Result<Option<Record>> {
        let id = self.id;
        if run.replaying && !side_effects.known.contains(&id) {
            let text = format!("No side effect marker in history for side effect id {id}");
            return Err(nondeterminism(codes::SIDE_EFFECT_MISSING, text).of_command(CommandKind::RecordSideEffect, id));
        }
        Ok(Some(self))
    }
}

impl Wait for Record {
    type Own = ();

    fn machine(&self) -> &'static str {
        NAME
    }

    fn kind(&self) -> CommandKind {
        CommandKind::RecordSideEffect
    }

    fn command_type(&self) -> CommandType {
        CommandType::RecordMarker
    }

    fn seq(&self) -> u32 {
        self.id
    }

    fn meet(self, event: Attributes, at: EventRef, _: &mut (), _: &mut RunState) -> Result<()> {
        let Attributes::MarkerRecorded(recorded) = event else { return Err(wrong_type(NAME, at)) };
        if recorded.marker_name() != marker::SIDE_EFFECT {
            return Err(wrong_type(NAME, at));
        }
        let damaged = || fatal(codes::BAD_MARKER, format!("{at}: the side effect marker has no ID"));
        let recorded = read_id(recorded).ok_or_else(damaged)?;
        if recorded != self.id {
            let text = format!("Side effect id {recorded} does not match expected id {}", self.id);
            let e = nondeterminism(codes::SIDE_EFFECT_ID, text);
            return Err(e.differing("side_effect_id", recorded.to_string(), self.id.to_string()));
        }
        Ok(())
    }

    fn write<'w>(&self, w: Put<'w, Command>, _: &Inherited) -> Put<'w, Command> {
        w.record_marker_command_attributes(|w| {
            write_details(w.marker_name(marker::SIDE_EFFECT), self.id, self.payload.as_ref().map(Encoded::view))
        })
    }
}

fn write_details<'w>(
    w: Put<'w, RecordMarkerCommandAttributes>,
    id: u32,
    payload: Option<View<Payload>>,
) -> Put<'w, RecordMarkerCommandAttributes> {
    let w = marker::detail(w, DATA_KEY, payload);
    marker::detail(w, ID_KEY, Some(marker::payload(&id.to_string(), None).view()))
}

/// Id of a side-effect marker; `None` when its details are damaged.
pub fn read_id(recorded: View<MarkerRecordedEventAttributes>) -> Option<u32> {
    marker::of_payloads(recorded.details().get(ID_KEY)?)?.integer()
}

/// The value that the marker holds, for workflow code.
pub fn value(recorded: View<MarkerRecordedEventAttributes>, id: u32) -> Encoded<SideEffectValue> {
    let payload = recorded.details().get(DATA_KEY).and_then(|p| p.payloads().views().last());
    build(|w: Put<SideEffectValue>| w.id(id).copy_payload(payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Message;

    #[test]
    fn written_details_read_back() {
        let payload = marker::payload("42", None);
        let written = build(|w: Put<RecordMarkerCommandAttributes>| write_details(w, 7, Some(payload.view()))).into_bytes();
        // The event repeats name and details in the same fields as the command.
        let recorded = View::of(Message(&written));
        assert_eq!(read_id(recorded), Some(7));
        assert_eq!(value(recorded, 7), build(|w: Put<SideEffectValue>| w.id(7).copy_payload(Some(payload.view()))));
        assert_eq!(read_id(View::default()), None);
    }
}
