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

pub static ANY: Schema = Schema(&[]);
static METADATA_ENTRY: Schema = Schema(&[(1, Text), (2, Bytes)]);
static EXTERNAL: Schema = Schema(&[(1, Varint)]);
pub static PAYLOAD: Schema = Schema(&[(1, Message(&METADATA_ENTRY)), (2, Bytes), (3, Message(&EXTERNAL))]);
pub static PAYLOADS: Schema = Schema(&[(1, Message(&PAYLOAD))]);
pub static PAYLOAD_ENTRY: Schema = Schema(&[(1, Text), (2, Message(&PAYLOAD))]);
/// Header, Memo and SearchAttributes alike.
pub static PAYLOAD_MAP: Schema = Schema(&[(1, Message(&PAYLOAD_ENTRY))]);
pub static PAYLOADS_ENTRY: Schema = Schema(&[(1, Text), (2, Message(&PAYLOADS))]);
pub static USER_METADATA: Schema = Schema(&[(1, Message(&PAYLOAD)), (2, Message(&PAYLOAD))]);
pub static SDK_METADATA: Schema = Schema(&[(1, Numbers), (2, Numbers), (3, Text), (4, Text)]);
pub static METERING: Schema = Schema(&[(13, Varint)]);
pub static PRIORITY: Schema = Schema(&[(1, Varint), (2, Text), (3, Fixed32)]);
pub static QUERY: Schema = Schema(&[(1, Text), (2, Message(&PAYLOADS)), (3, Message(&PAYLOAD_MAP))]);
pub static META: Schema = Schema(&[(1, Text), (2, Text)]);
static UPDATE_INPUT: Schema = Schema(&[(1, Message(&PAYLOAD_MAP)), (2, Text), (3, Message(&PAYLOADS))]);
pub static UPDATE_REQUEST: Schema =
    Schema(&[(1, Message(&META)), (2, Message(&UPDATE_INPUT)), (3, Text), (4, Bytes), (5, Bytes)]);
pub static OUTCOME: Schema = Schema(&[(1, Message(&PAYLOADS)), (2, Message(&FAILURE))]);
pub static DURATION: Schema = Schema(&[(1, Varint), (2, Varint)]);
pub static EXECUTION: Schema = Schema(&[(1, Text), (2, Text)]);
pub static NAMED: Schema = Schema(&[(1, Text)]);
static APPLICATION: Schema = Schema(&[(1, Text), (2, Varint), (3, Message(&PAYLOADS)), (4, Message(&DURATION)), (5, Varint)]);
static TIMEOUT: Schema = Schema(&[(1, Varint), (2, Message(&PAYLOADS))]);
static CANCELED: Schema = Schema(&[(1, Message(&PAYLOADS)), (2, Text)]);
static FLAG: Schema = Schema(&[(1, Varint)]);
static DETAILS: Schema = Schema(&[(1, Message(&PAYLOADS))]);
static ACTIVITY: Schema = Schema(&[(1, Varint), (2, Varint), (3, Text), (4, Message(&NAMED)), (5, Text), (6, Varint)]);
static CHILD: Schema =
    Schema(&[(1, Text), (2, Message(&EXECUTION)), (3, Message(&NAMED)), (4, Varint), (5, Varint), (6, Varint)]);
static NEXUS_OPERATION: Schema = Schema(&[(1, Varint), (2, Text), (3, Text), (4, Text), (5, Text), (6, Text)]);
static NEXUS_HANDLER: Schema = Schema(&[(1, Text), (2, Varint)]);
pub static FAILURE: Schema = Schema(&[
    (1, Text),
    (2, Text),
    (3, Text),
    (4, Message(&FAILURE)),
    (5, Message(&APPLICATION)),
    (6, Message(&TIMEOUT)),
    (7, Message(&CANCELED)),
    (8, Message(&NAMED)),
    (9, Message(&FLAG)),
    (10, Message(&DETAILS)),
    (11, Message(&ACTIVITY)),
    (12, Message(&CHILD)),
    (13, Message(&NEXUS_OPERATION)),
    (14, Message(&NEXUS_HANDLER)),
    (20, Message(&PAYLOAD)),
]);

pub fn varint(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0u64;
    for (i, &b) in bytes.iter().enumerate().take(10) {
        value |= u64::from(b & 0x7f) << (7 * i);
        if b < 0x80 {
            *bytes = &bytes[i + 1..];
            return Ok(value);
        }
    }
    Err("a number does not end")
}

pub fn take<'a>(bytes: &mut &'a [u8], len: u64) -> Result<&'a [u8], &'static str> {
    let len = usize::try_from(len).map_err(|_| "a length runs past the end")?;
    if len > bytes.len() {
        return Err("a length runs past the end");
    }
    let (head, tail) = bytes.split_at(len);
    *bytes = tail;
    Ok(head)
}

/// Field number and wire type.
pub fn key(bytes: &mut &[u8]) -> Result<(u32, u8), &'static str> {
    let key = varint(bytes)?;
    if key > u64::from(u32::MAX) || key >> 3 == 0 {
        return Err("a field number is out of range");
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

/// Walks one message. `depth`: how deep it lies in others.
pub fn message(mut bytes: &[u8], schema: &Schema, depth: u32) -> Result<(), &'static str> {
    if depth > MAX_DEPTH {
        return Err("nested too deep");
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
