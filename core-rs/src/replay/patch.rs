//! Patches, Temporal's markers for changes of code (docs/dev/semantics/commands.md#patches).
//!
//! A marker `core_patch` says that the new path was taken; the search attribute TemporalChangeVersion lists the run's patches.
//! The first SetPatchMarker of an id queues the marker and, with flag 2, the upsert of the list; further ones queue nothing.
//! Which markers and commands may be skipped while matching is decided in `matching`.

use crate::api::enums::v1::EventType;
use crate::history::event::{Event, event_type};
use crate::replay::json::{self, Json};
use crate::replay::marker;
use crate::sorted::SortedSet;
use crate::wire::{Message, Writer};

pub const MARKER: &str = "core_patch";
pub const CHANGE_VERSION: &str = "TemporalChangeVersion";
/// Machine name in wordings.
pub const NAME: &str = "Change";

/// Lists of patches from this size on are not written: the server limits search attributes to 2 KiB.
const MAX_LIST_BYTES: usize = 2048;

/// What the run knows of its patches.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    /// Ids whose command was given.
    given: SortedSet<String>,
    /// Ids whose marker the look-ahead found, now or earlier.
    seen: SortedSet<String>,
}

impl Patches {
    /// True the first time that the id is given.
    pub fn give(&mut self, id: &str) -> bool {
        self.given.insert(id.to_string())
    }

    /// True the first time that its marker is seen.
    pub fn see(&mut self, id: String) -> bool {
        self.seen.insert(id)
    }

    pub fn was_seen(&self, id: &str) -> bool {
        self.seen.contains(id)
    }

    /// All ids given so far, sorted, as the value of the search attribute; `None` when the list is too long.
    pub fn change_versions(&self) -> Option<Vec<u8>> {
        let mut text = String::from("[");
        for (i, id) in self.given.iter().enumerate() {
            if i > 0 {
                text.push(',');
            }
            json::write_text(&mut text, id);
        }
        text.push(']');
        if text.len() >= MAX_LIST_BYTES {
            return None;
        }
        Some(marker::payload(&text, Some("KeywordList")))
    }
}

/// Details of the marker, as entries of the field.
pub fn write_details(w: &mut Writer, field: u32, id: &str, deprecated: bool) {
    let mut text = String::from("{\"id\":");
    json::write_text(&mut text, id);
    text.push_str(if deprecated { ",\"deprecated\":true}" } else { ",\"deprecated\":false}" });
    marker::write_detail(w, field, "patch-data", Some(&marker::payload(&text, None)));
}

/// Id and deprecation of a patch marker, in today's format or in the first one; `None` when the details are damaged.
pub fn read(marker: Message) -> Option<(String, bool)> {
    if let Some(data) = marker.entry(marker::DETAILS, "patch-data") {
        let data = marker::of_payloads(data)?;
        let deprecated = data.get("deprecated").and_then(Json::bool).unwrap_or(false);
        return Some((data.get("id")?.text()?.to_string(), deprecated));
    }
    let first = |key: &str| marker.entry(marker::DETAILS, key).and_then(marker::first_data);
    let id = std::str::from_utf8(first("patch_id")?).ok()?;
    let deprecated = first("deprecated").is_some_and(|d| d.first().is_some_and(|b| *b != 0));
    Some((id.to_string(), deprecated))
}

/// The event is the upsert of the list of patches that follows a marker.
pub fn is_change_version_upsert(event: &Event) -> bool {
    event_type(event) == Some(EventType::UpsertWorkflowSearchAttributes)
        && event.attributes().is_some_and(|a| a.sub(2).entry(1, CHANGE_VERSION).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Writer;

    fn marker(details: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut w = Writer::new();
        details(&mut w);
        w.finish()
    }

    #[test]
    fn written_details_read_back() {
        let written = marker(|w| write_details(w, 2, "my \"id\"", true));
        assert_eq!(read(Message(&written)), Some(("my \"id\"".into(), true)));
    }

    /// The first format holds plain bytes.
    #[test]
    fn old_marker_format() {
        let plain = |data: &[u8]| {
            let mut w = Writer::new();
            w.data(2, data);
            w.finish()
        };
        let old = marker(|w| {
            marker::write_detail(w, 2, "patch_id", Some(&plain(b"old")));
            marker::write_detail(w, 2, "deprecated", Some(&plain(&[1])));
        });
        assert_eq!(read(Message(&old)), Some(("old".into(), true)));
        assert_eq!(read(Message(&[])), None);
    }

    #[test]
    fn list_is_sorted_typed_and_bounded() {
        let mut p = Patches::default();
        assert!(p.give("b") && p.give("a") && !p.give("b"));
        let list = p.change_versions().unwrap();
        let list = Message(&list);
        assert_eq!(list.bytes(2), Some(&b"[\"a\",\"b\"]"[..]));
        assert_eq!(list.all(1).map(|e| Message(e).text(2)).collect::<Vec<_>>(), ["json/plain", "KeywordList"]);
        p.give(&"x".repeat(MAX_LIST_BYTES));
        assert_eq!(p.change_versions(), None);
    }
}
