//! The few payloads that the engine makes itself.
use prost::Message;

use crate::api::common::v1::{Payload, Payloads};

/// encoded temporal Payloads with one JSON string. `text` must need no escaping.
pub fn text_payloads(text: &str) -> Vec<u8> {
    let metadata = [("encoding".to_string(), b"json/plain".to_vec())].into();
    let payload = Payload { metadata, data: format!("\"{text}\"").into_bytes() };
    Payloads { payloads: vec![payload] }.encode_to_vec()
}
