//! Payloads that the engine reads or creates: maps of them (memo, search attributes) as encoded
//! bytes, where an upsert replaces entries and drops those set to null.
use super::codec;
use super::message::message;
use crate::sorted::SortedMap;

message! {
    Map: common::Memo { entries = fields reps(Entry), }
    Entry: common::MemoFieldsEntry { key str, value raw(ANY), }
    MetadataEntry: common::PayloadMetadataEntry { key str, value bytes, }
    PayloadView: common::Payload { metadata reps(MetadataEntry), data bytes, }
    Payloads: common::Payloads { payloads reps(PayloadView), }
    Carried: common::Payloads { payloads raws(PAYLOAD), }
}

/// Null, or an empty list: how SDKs unset a search attribute; `binary/null` unsets a memo field.
pub fn unset(payload: &[u8]) -> bool {
    let Ok(view) = codec::read::<PayloadView>(payload) else { return false };
    let encoding = view.metadata.iter().find(|m| m.key == "encoding").map(|m| m.value.as_slice());
    encoding == Some(b"binary/null") || encoding == Some(b"json/plain") && (view.data == b"null" || view.data == b"[]")
}

/// `upsert` over `base`; None when nothing is left.
pub fn merge(base: Option<Vec<u8>>, upsert: Option<&[u8]>) -> Option<Vec<u8>> {
    let Some(upsert) = upsert else { return base };
    let entries = |bytes: &[u8]| codec::read::<Map>(bytes).map(|m| m.entries).unwrap_or_default();
    let mut map: SortedMap<String, Vec<u8>> = SortedMap::new();
    for e in entries(base.as_deref().unwrap_or_default()).into_iter().chain(entries(upsert)) {
        let value = e.value.unwrap_or_default();
        if unset(&value) {
            map.remove(&e.key);
        } else {
            map.insert(e.key, value);
        }
    }
    if map.is_empty() {
        return None;
    }
    Some(codec::bytes(&Map { entries: map.into_iter().map(|(key, value)| Entry { key, value: Some(value) }).collect() }))
}

/// The first of encoded Payloads, encoded.
pub fn first(payloads: &[u8]) -> Option<Vec<u8>> {
    codec::read::<Carried>(payloads).ok()?.payloads.into_iter().next()
}

/// encoded temporal Payloads with one JSON string. `text` must need no escaping.
pub fn text_payloads(text: &str) -> Vec<u8> {
    let metadata = vec![MetadataEntry { key: "encoding".into(), value: b"json/plain".to_vec() }];
    codec::bytes(&Payloads { payloads: vec![PayloadView { metadata, data: format!("\"{text}\"").into_bytes() }] })
}
