//! Side effects, our own marker (core-spec 1.13): a value that workflow code computed once and that replay reads back.
//!
//! Name and keys are those of the Go SDK's marker, so that user interfaces show it. The look-ahead hands the values of a task to
//! the activation that will ask for them; the command given on replay must carry an id that was handed over.

use crate::api::common::v1::{Payload, Payloads};
use crate::api::history::v1::MarkerRecordedEventAttributes;
use crate::replay::json;
use crate::sorted::SortedSet;

pub const MARKER: &str = "SideEffect";
/// Machine name in wordings.
pub const NAME: &str = "Side effect";

const ID_KEY: &str = "side-effect-id";
const DATA_KEY: &str = "data";

/// Ids of the values handed over for the current workflow task.
#[derive(Clone, Debug, Default)]
pub struct SideEffects {
    pub known: SortedSet<u32>,
}

pub fn details(id: u32, payload: &Option<Payload>) -> std::collections::BTreeMap<String, Payloads> {
    let data = Payloads { payloads: payload.iter().cloned().collect() };
    let id = Payloads { payloads: vec![json::payload(id.to_string())] };
    [(ID_KEY.to_string(), id), (DATA_KEY.to_string(), data)].into()
}

/// Id of a side-effect marker; `None` when its details are damaged.
pub fn read_id(marker: &MarkerRecordedEventAttributes) -> Option<u32> {
    json::of_payloads(marker.details.get(ID_KEY)?)?.integer()
}

pub fn read_value(marker: &MarkerRecordedEventAttributes) -> Option<Payload> {
    marker.details.get(DATA_KEY).and_then(|p| p.payloads.first()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_details_read_back() {
        let value = Some(json::payload("42"));
        let details = details(7, &value);
        let marker = MarkerRecordedEventAttributes { details, ..Default::default() };
        assert_eq!(read_id(&marker), Some(7));
        assert_eq!(read_value(&marker), value);
        assert_eq!(read_id(&MarkerRecordedEventAttributes::default()), None);
    }
}
