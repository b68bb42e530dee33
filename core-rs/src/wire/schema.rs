//! Schema check of carried and read messages: a walk over the wire format that builds nothing. It accepts what a protobuf decoder
//! would accept for the fields it knows and skips well-formed unknown fields, so that bytes from outside never make a history
//! unreadable.

/// What a known field must be.
pub enum Kind {
    Varint,
    Fixed32,
    Text,
    Bytes,
    /// Varints, packed or not.
    Numbers,
    Message(&'static Schema),
}
/// The fields that a message may have.
pub struct Schema(pub &'static [(u32, Kind)]);

use Kind::{Bytes, Fixed32, Message, Numbers, Text, Varint};

/// Failures nest through `cause`; decoders of other languages give up at about 100 levels.
const MAX_DEPTH: u32 = 64;

/// Nothing is known of the fields: they are only walked over.
pub static ANY: Schema = Schema(&[]);

/// An entry of a map from text to text.
pub static TEXT_ENTRY: Schema = Schema(&[(1, Text), (2, Text)]);

/// A temporal Callback.
pub static CALLBACK: Schema = Schema(&[(2, Message(&CALLBACK_NEXUS)), (3, Message(&ANY)), (100, Message(&LINK))]);
static CALLBACK_NEXUS: Schema = Schema(&[(1, Text), (2, Message(&TEXT_ENTRY))]);
/// A temporal Link; only workflow events are known.
pub static LINK: Schema = Schema(&[(1, Message(&LINK_EVENT))]);
static LINK_EVENT: Schema =
    Schema(&[(1, Text), (2, Text), (3, Text), (100, Message(&LINK_REFERENCE)), (101, Message(&LINK_REQUEST))]);
static LINK_REFERENCE: Schema = Schema(&[(1, Varint), (2, Varint)]);
static LINK_REQUEST: Schema = Schema(&[(1, Text), (2, Varint)]);

/// What the engine carries, by the names that it has for them.
pub use crate::proto::views::checks::{
    COMMON_HEADER as PAYLOAD_MAP, COMMON_METERING_METADATA as METERING, COMMON_PAYLOAD as PAYLOAD, COMMON_PAYLOADS as PAYLOADS,
    COMMON_PRIORITY as PRIORITY, FAILURE_FAILURE as FAILURE, MAP_TO_COMMON_PAYLOADS as PAYLOADS_ENTRY,
    QUERY_WORKFLOW_QUERY as QUERY, SDK_USER_METADATA as USER_METADATA, SDK_WORKFLOW_TASK_COMPLETED_METADATA as SDK_METADATA,
    UPDATE_OUTCOME as OUTCOME, UPDATE_REQUEST,
};

pub fn varint(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0u64;
    for (i, &b) in bytes.iter().enumerate().take(10) {
        value |= u64::from(b & 0x7f) << (7 * i);
        if b < 0x80 {
            *bytes = &bytes[i + 1..];
            return Ok(value);
        }
    }
    Err("a varint is cut off or longer than 10 bytes")
}

pub fn take<'a>(bytes: &mut &'a [u8], len: u64) -> Result<&'a [u8], &'static str> {
    let len = usize::try_from(len).map_err(|_| "a length exceeds the remaining bytes")?;
    if len > bytes.len() {
        return Err("a length exceeds the remaining bytes");
    }
    let (head, tail) = bytes.split_at(len);
    *bytes = tail;
    Ok(head)
}

/// Field number and wire type.
pub fn key(bytes: &mut &[u8]) -> Result<(u32, u8), &'static str> {
    let key = varint(bytes)?;
    if key > u64::from(u32::MAX) || key >> 3 == 0 {
        return Err("a field number is out of range (1 to 2^29 - 1)");
    }
    Ok(((key >> 3) as u32, (key & 7) as u8))
}

/// Passes over a value. Groups are not part of proto3.
pub fn skip(bytes: &mut &[u8], wire_type: u8) -> Result<(), &'static str> {
    let len = match wire_type {
        0 => {
            varint(bytes)?;
            return Ok(());
        }
        1 => 8,
        5 => 4,
        2 => varint(bytes)?,
        _ => return Err("a field has the wrong wire type"),
    };
    take(bytes, len)?;
    Ok(())
}

/// Walks one message. `depth`: its depth of nesting.
pub fn message(mut bytes: &[u8], schema: &Schema, depth: u32) -> Result<(), &'static str> {
    if depth > MAX_DEPTH {
        return Err("nested too deeply (limit: 64)");
    }
    while !bytes.is_empty() {
        let (field, wire_type) = key(&mut bytes)?;
        let Some((_, kind)) = schema.0.iter().find(|(n, _)| *n == field) else {
            skip(&mut bytes, wire_type)?;
            continue;
        };
        match (wire_type, kind) {
            (0, Varint | Numbers) | (5, Fixed32) => skip(&mut bytes, wire_type)?,
            (2, _) => {
                let len = varint(&mut bytes)?;
                let value = take(&mut bytes, len)?;
                match kind {
                    Bytes => {}
                    Text => {
                        std::str::from_utf8(value).map_err(|_| "text is not UTF-8")?;
                    }
                    Numbers => {
                        let mut rest = value;
                        while !rest.is_empty() {
                            varint(&mut rest)?;
                        }
                    }
                    Message(inner) => message(value, inner, depth + 1)?,
                    Varint | Fixed32 => return Err("a field has the wrong wire type"),
                }
            }
            _ => return Err("a field has the wrong wire type"),
        }
    }
    Ok(())
}
