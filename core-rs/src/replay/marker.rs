//! Markers, and the JSON payloads that they hold.
use crate::replay::json::Json;
use crate::wire::{Message, Writer};

/// Fields of MarkerRecordedEventAttributes.
pub const NAME: u32 = 1;
pub const DETAILS: u32 = 2;
pub const FAILURE: u32 = 5;

/// A Payload with encoding json/plain, encoded; `kind` is the type of a search attribute.
pub fn payload(json: &str, kind: Option<&str>) -> Vec<u8> {
    let mut w = Writer::new();
    for (key, value) in [("encoding", Some("json/plain")), ("type", kind)] {
        if let Some(value) = value {
            w.nested(1, |w| {
                w.text(1, key).text(2, value);
            });
        }
    }
    w.text(2, json);
    w.finish()
}

/// The data of the first payload of a Payloads.
pub fn first_data(payloads: Message<'_>) -> Option<&[u8]> {
    Some(Message(payloads.all(1).next()?).bytes(2).unwrap_or_default())
}

/// The first payload's data, as JSON.
pub fn of_payloads(payloads: Message) -> Option<Json> {
    Json::parse(first_data(payloads)?)
}

/// One entry of a marker's details: a key and the payloads under it.
pub fn write_detail(w: &mut Writer, field: u32, key: &str, payload: Option<&[u8]>) {
    w.nested(field, |w| {
        w.text(1, key).nested(2, |w| {
            w.optional(1, payload);
        });
    });
}
