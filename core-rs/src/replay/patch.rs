//! Patches, Temporal's markers for changes of code (core-spec 1.9).
//!
//! A marker `core_patch` says that the new path was taken; the search attribute TemporalChangeVersion lists the run's patches.
//! The first SetPatchMarker of an id queues the marker and, with flag 2, the upsert of the list; further ones queue nothing.
//! Which markers and commands may be skipped while matching is decided in `matching`.

use crate::api::common::v1::{Payload, Payloads};
use crate::api::history::v1::history_event::Attributes;
use crate::api::history::v1::{HistoryEvent, MarkerRecordedEventAttributes};
use crate::replay::json::{self, Json};
use crate::sorted::SortedSet;

pub const MARKER: &str = "core_patch";
pub const CHANGE_VERSION: &str = "TemporalChangeVersion";
/// Machine names in wordings.
pub const NAME: &str = "Change";
pub const UPSERT_NAME: &str = "UpsertWorkflowSearchAttributesMachine";

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
    pub fn change_versions(&self) -> Option<Payload> {
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
        let mut payload = json::payload(text);
        payload.metadata.insert("type".into(), b"KeywordList".to_vec());
        Some(payload)
    }
}

/// Details of the marker.
pub fn details(id: &str, deprecated: bool) -> std::collections::BTreeMap<String, Payloads> {
    let mut text = String::from("{\"id\":");
    json::write_text(&mut text, id);
    text.push_str(if deprecated { ",\"deprecated\":true}" } else { ",\"deprecated\":false}" });
    [("patch-data".to_string(), Payloads { payloads: vec![json::payload(text)] })].into()
}

/// Id and deprecation of a patch marker, in today's format or in the first one; `None` when the details are damaged.
pub fn read(marker: &MarkerRecordedEventAttributes) -> Option<(String, bool)> {
    if let Some(data) = marker.details.get("patch-data") {
        let data = json::of_payloads(data)?;
        let deprecated = data.get("deprecated").and_then(Json::bool).unwrap_or(false);
        return Some((data.get("id")?.text()?.to_string(), deprecated));
    }
    let first = |key: &str| marker.details.get(key).and_then(|p| p.payloads.first()).map(|p| p.data.as_slice());
    let id = std::str::from_utf8(first("patch_id")?).ok()?;
    let deprecated = first("deprecated").is_some_and(|d| d.first().is_some_and(|b| *b != 0));
    Some((id.to_string(), deprecated))
}

/// The event is the upsert of the list of patches that follows a marker.
pub fn is_change_version_upsert(event: &HistoryEvent) -> bool {
    match event.attributes.as_ref() {
        Some(Attributes::UpsertWorkflowSearchAttributesEventAttributes(a)) => {
            a.search_attributes.as_ref().is_some_and(|s| s.indexed_fields.contains_key(CHANGE_VERSION))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(details: std::collections::BTreeMap<String, Payloads>) -> MarkerRecordedEventAttributes {
        MarkerRecordedEventAttributes { marker_name: MARKER.into(), details, ..Default::default() }
    }

    #[test]
    fn written_details_read_back() {
        assert_eq!(read(&marker(details("my \"id\"", true))), Some(("my \"id\"".into(), true)));
    }

    /// Case 83: the first format holds plain bytes.
    #[test]
    fn case_083_old_marker_format() {
        let plain = |data: &[u8]| Payloads { payloads: vec![Payload { data: data.to_vec(), ..Default::default() }] };
        let old = [("patch_id".to_string(), plain(b"old")), ("deprecated".to_string(), plain(&[1]))].into();
        assert_eq!(read(&marker(old)), Some(("old".into(), true)));
        assert_eq!(read(&marker(Default::default())), None);
    }

    #[test]
    fn list_is_sorted_typed_and_bounded() {
        let mut p = Patches::default();
        assert!(p.give("b") && p.give("a") && !p.give("b"));
        let list = p.change_versions().unwrap();
        assert_eq!(list.data, b"[\"a\",\"b\"]");
        assert_eq!(list.metadata["type"], b"KeywordList");
        p.give(&"x".repeat(MAX_LIST_BYTES));
        assert_eq!(p.change_versions(), None);
    }
}
