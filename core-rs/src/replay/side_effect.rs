//! Side effects, our own marker (docs/dev/semantics/commands.md#side-effects): a value that
//! workflow code computed once and that replay reads back.
//!
//! Name and keys are those of the Go SDK's marker, so that user interfaces show it. The look-ahead hands the values of a task to
//! the activation that will ask for them; the command given on replay must carry an id that was handed over.
use crate::replay::marker;
use crate::sorted::SortedSet;
use crate::wire::{Message, Writer};

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

/// Details of the marker, as entries of the field.
pub fn write_details(w: &mut Writer, field: u32, id: u32, payload: Option<&[u8]>) {
    marker::write_detail(w, field, DATA_KEY, payload);
    marker::write_detail(w, field, ID_KEY, Some(&marker::payload(&id.to_string(), None)));
}

/// Id of a side-effect marker; `None` when its details are damaged.
pub fn read_id(marker: Message) -> Option<u32> {
    marker::of_payloads(marker.entry(marker::DETAILS, ID_KEY)?)?.integer()
}

/// boundary.SideEffectValue for the marker.
pub fn value(marker: Message, id: u32) -> Vec<u8> {
    let payload = marker.entry(marker::DETAILS, DATA_KEY).and_then(|p| p.bytes(1));
    let mut w = Writer::new();
    w.uint(1, u64::from(id)).optional(2, payload);
    w.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_details_read_back() {
        let payload = marker::payload("42", None);
        let mut w = Writer::new();
        write_details(&mut w, marker::DETAILS, 7, Some(&payload));
        let marker = w.finish();
        assert_eq!(read_id(Message(&marker)), Some(7));
        assert_eq!(Message(&value(Message(&marker), 7)).bytes(2), Some(payload.as_slice()));
        assert_eq!(read_id(Message(&[])), None);
    }
}
