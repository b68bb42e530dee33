//! The few payloads that the engine makes itself.
use super::codec;
use super::wire::wire;

wire! {
    Metadata { 1 key str, 2 value bytes, }
    Payload { 1 metadata reps(Metadata), 2 data bytes, }
    Payloads { 1 payloads reps(Payload), }
}

/// encoded temporal Payloads with one JSON string. `text` must need no escaping.
pub fn text_payloads(text: &str) -> Vec<u8> {
    let metadata = vec![Metadata { key: "encoding".into(), value: b"json/plain".to_vec() }];
    codec::bytes(&Payloads { payloads: vec![Payload { metadata, data: format!("\"{text}\"").into_bytes() }] })
}
