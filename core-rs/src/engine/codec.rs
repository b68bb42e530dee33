//! One protobuf codec for all messages of the engine. A message shows where its fields lie ([`Wire::slot`], [`Wire::view`]); reading
//! and writing are interpreted here. Derived code per message would be five times the module's size.
//!
//! Carried fields (payloads, headers, failures) are checked against their schema while they are read, so what enters a history can
//! be decoded by any reader of that history. As protobuf wants it, a message field that occurs twice is merged.
use prost_types::{Duration, Timestamp};

use crate::proto::fields::google;
use crate::wire::schema::{self as check, Schema};
use crate::wire::{Value, Writer};

/// Why a message is refused: the carried field and what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bad(pub String);

/// Where a field's value goes.
pub enum Slot<'a> {
    Text(&'a mut String),
    Texts(&'a mut Vec<String>),
    Bytes(&'a mut Vec<u8>),
    /// An encoded message that the engine only carries; the name is for errors.
    Raw(&'a mut Option<Vec<u8>>, &'static Schema, &'static str),
    Raws(&'a mut Vec<Vec<u8>>, &'static Schema, &'static str),
    I32(&'a mut i32),
    I64(&'a mut i64),
    U32(&'a mut u32),
    Bool(&'a mut bool),
    Fixed(&'a mut u64),
    Double(&'a mut f64),
    Numbers(&'a mut Vec<u32>),
    Duration(&'a mut Option<Duration>),
    Timestamp(&'a mut Option<Timestamp>),
    Message(&'a mut dyn Wire),
}

/// A field's value to be written; the default value of its kind is left out.
pub enum View<'a> {
    Texts(&'a [String]),
    /// Text too.
    Bytes(&'a [u8]),
    Raw(&'a Option<Vec<u8>>),
    Raws(&'a [Vec<u8>]),
    Int(i64),
    Fixed(u64),
    Double(f64),
    Numbers(&'a [u32]),
    /// Duration and Timestamp: seconds, nanoseconds.
    Time(Option<(i64, i32)>),
    Message(Option<&'a dyn Wire>),
    Messages(&'a dyn Sequence),
}

/// A message.
pub trait Wire {
    /// None: not a field of this message, or one that the engine has no use for.
    fn slot(&mut self, field: u32) -> Option<Slot<'_>>;
    /// The fields in ascending order, by position; None after the last.
    fn view(&self, position: usize) -> Option<(u32, View<'_>)>;
}

pub trait Sequence {
    fn at(&self, i: usize) -> Option<&dyn Wire>;
}

impl<T: Wire> Sequence for Vec<T> {
    fn at(&self, i: usize) -> Option<&dyn Wire> {
        self.get(i).map(|m| m as &dyn Wire)
    }
}

/// Whether the fields of a message are listed by number.
pub const fn ascending(fields: &[u32]) -> bool {
    let mut i = 1;
    while i < fields.len() {
        if fields[i] <= fields[i - 1] {
            return false;
        }
        i += 1;
    }
    true
}

/// Reads a whole message.
pub fn read<T: Wire + Default>(bytes: &[u8]) -> Result<T, Bad> {
    let mut message = T::default();
    merge(&mut message, bytes)?;
    Ok(message)
}

fn bad(what: &'static str) -> Bad {
    Bad(what.into())
}

/// Keys of seconds and nanoseconds, the same in Duration and Timestamp: both are varints.
const SECONDS: u64 = (google::Duration::seconds as u64) << 3;
const NANOS: u64 = (google::Duration::nanos as u64) << 3;

fn time(bytes: &[u8]) -> Result<(i64, i32), &'static str> {
    let mut rest = bytes;
    let (mut seconds, mut nanos) = (0, 0);
    while !rest.is_empty() {
        match (check::varint(&mut rest)?, check::varint(&mut rest)?) {
            (SECONDS, v) => seconds = v as i64,
            (NANOS, v) => nanos = v as i32,
            _ => return Err("a field has the wrong wire type"),
        }
    }
    Ok((seconds, nanos))
}

/// Adds the fields in `bytes` to a message. An error begins with the path of field numbers.
pub fn merge(message: &mut dyn Wire, mut bytes: &[u8]) -> Result<(), Bad> {
    while !bytes.is_empty() {
        let (field, wire_type) = check::key(&mut bytes).map_err(bad)?;
        merge_field(message, field, wire_type, &mut bytes).map_err(|e| Bad(format!("field {field}: {}", e.0)))?;
    }
    Ok(())
}

fn merge_field(message: &mut dyn Wire, field: u32, wire_type: u8, bytes: &mut &[u8]) -> Result<(), Bad> {
    let Some(slot) = message.slot(field) else { return check::skip(bytes, wire_type).map_err(bad) };
    match (wire_type, slot) {
        (0, slot) => {
            let v = check::varint(bytes).map_err(bad)?;
            match slot {
                Slot::I32(x) => *x = v as i32,
                Slot::I64(x) => *x = v as i64,
                Slot::U32(x) => *x = v as u32,
                Slot::Bool(x) => *x = v != 0,
                Slot::Numbers(list) => list.push(v as u32),
                _ => return Err(bad("wrong wire type")),
            }
        }
        (1, slot) => {
            let v = check::take(bytes, 8).map_err(bad)?;
            let v = v.iter().rev().fold(0u64, |a, b| a << 8 | u64::from(*b));
            match slot {
                Slot::Fixed(x) => *x = v,
                Slot::Double(x) => *x = f64::from_bits(v),
                _ => return Err(bad("wrong wire type")),
            }
        }
        (2, slot) => {
            let len = check::varint(bytes).map_err(bad)?;
            let value = check::take(bytes, len).map_err(bad)?;
            delimited(slot, value)?;
        }
        _ => return Err(bad("wrong wire type")),
    }
    Ok(())
}

fn text(value: &[u8]) -> Result<String, Bad> {
    std::str::from_utf8(value).map(str::to_string).map_err(|_| bad("text is not UTF-8"))
}

fn delimited(slot: Slot, value: &[u8]) -> Result<(), Bad> {
    let named = |name: &str, e: &str| Bad(format!("{name}: {e}"));
    match slot {
        Slot::Text(x) => *x = text(value)?,
        Slot::Texts(list) => list.push(text(value)?),
        Slot::Bytes(x) => *x = value.to_vec(),
        Slot::Raw(x, schema, name) => {
            check::message(value, schema, 0).map_err(|e| named(name, e))?;
            x.get_or_insert_default().extend_from_slice(value);
        }
        Slot::Raws(list, schema, name) => {
            check::message(value, schema, 0).map_err(|e| named(name, e))?;
            list.push(value.to_vec());
        }
        Slot::Numbers(list) => {
            let mut rest = value;
            while !rest.is_empty() {
                list.push(check::varint(&mut rest).map_err(bad)? as u32);
            }
        }
        Slot::Duration(x) => {
            let (seconds, nanos) = time(value).map_err(bad)?;
            *x = Some(Duration { seconds, nanos });
        }
        Slot::Timestamp(x) => {
            let (seconds, nanos) = time(value).map_err(bad)?;
            *x = Some(Timestamp { seconds, nanos });
        }
        Slot::Message(x) => merge(x, value)?,
        _ => return Err(bad("wrong wire type")),
    }
    Ok(())
}

/// Appends a message's fields.
pub fn write(message: &dyn Wire, w: &mut Writer) {
    let mut position = 0;
    while let Some((field, view)) = message.view(position) {
        position += 1;
        match view {
            View::Bytes(b) => {
                w.data(field, b);
            }
            View::Texts(list) => list.iter().for_each(|s| {
                w.message(field, s.as_bytes());
            }),
            View::Raw(b) => {
                w.optional(field, b.as_deref());
            }
            View::Raws(list) => list.iter().for_each(|b| {
                w.message(field, b);
            }),
            View::Int(v) => {
                w.int(field, v);
            }
            View::Fixed(0) => {}
            View::Fixed(v) => {
                w.value(field, Value::Fixed64(v));
            }
            View::Double(v) => {
                w.double(field, v);
            }
            View::Numbers(list) => {
                w.numbers(field, list);
            }
            View::Time(t) => {
                if let Some(t) = t {
                    put_time(w, field, t);
                }
            }
            View::Message(m) => {
                if let Some(m) = m {
                    put_message(w, field, m);
                }
            }
            View::Messages(list) => {
                let mut i = 0;
                while let Some(m) = list.at(i) {
                    put_message(w, field, m);
                    i += 1;
                }
            }
        }
    }
}

/// A message as a field of another.
pub fn put_message(w: &mut Writer, field: u32, message: &dyn Wire) {
    w.nested(field, |w| write(message, w));
}

/// A Duration or Timestamp field.
pub fn put_time(w: &mut Writer, field: u32, (seconds, nanos): (i64, i32)) {
    w.nested(field, |w| {
        w.int(google::Duration::seconds, seconds).int(google::Duration::nanos, i64::from(nanos));
    });
}

/// A message by itself.
pub fn bytes(message: &dyn Wire) -> Vec<u8> {
    let mut w = Writer::new();
    write(message, &mut w);
    w.finish()
}
