//! Fields of a message whose wire format has been checked by [`super::schema`].
//!
//! A lookup walks the message; they are small and most are asked for two or three fields. Of a field that occurs twice the last
//! one counts. Bytes that were not checked read as if they ended where they stop making sense: nothing here fails or panics.
use std::marker::PhantomData;

/// The value of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Number(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// The number of an enum, which may be one that this build does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open<E> {
    pub number: i32,
    name: PhantomData<fn() -> E>,
}

impl<E: TryFrom<i32>> Open<E> {
    pub fn of(number: i32) -> Self {
        Open { number, name: PhantomData }
    }

    pub fn known(self) -> Option<E> {
        E::try_from(self.number).ok()
    }

    pub fn or_default(self) -> E
    where
        E: Default,
    {
        self.known().unwrap_or_default()
    }
}

impl<E> From<Open<E>> for i32 {
    fn from(value: Open<E>) -> i32 {
        value.number
    }
}

/// An encoded message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Message<'a>(pub &'a [u8]);

impl<'a> Message<'a> {
    pub fn fields(self) -> Fields<'a> {
        Fields { rest: self.0 }
    }

    fn last(self, field: u32) -> Option<Value<'a>> {
        self.fields().filter(|(n, _)| *n == field).last().map(|(_, v)| v)
    }

    /// Any integer, enum or bool; 0 when absent.
    pub fn int(self, field: u32) -> i64 {
        if let Some(Value::Number(n)) = self.last(field) { n as i64 } else { 0 }
    }

    pub fn int32(self, field: u32) -> i32 {
        self.int(field) as i32
    }

    pub fn flag(self, field: u32) -> bool {
        self.int(field) != 0
    }

    pub fn double(self, field: u32) -> f64 {
        if let Some(Value::Fixed64(bits)) = self.last(field) { f64::from_bits(bits) } else { 0.0 }
    }

    /// A string, bytes or an encoded message.
    pub fn bytes(self, field: u32) -> Option<&'a [u8]> {
        if let Some(Value::Bytes(b)) = self.last(field) { Some(b) } else { None }
    }

    /// Empty when absent. Checked text is UTF-8.
    pub fn text(self, field: u32) -> &'a str {
        self.bytes(field).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or_default()
    }

    pub fn get(self, field: u32) -> Option<Message<'a>> {
        self.bytes(field).map(Message)
    }

    /// The message, or an empty one.
    pub fn sub(self, field: u32) -> Message<'a> {
        self.get(field).unwrap_or_default()
    }

    /// Every occurrence of a repeated field of strings, bytes or messages; also the entries of a map.
    pub fn all(self, field: u32) -> impl Iterator<Item = &'a [u8]> {
        self.fields().filter_map(move |(n, v)| if let Value::Bytes(b) = v { (n == field).then_some(b) } else { None })
    }

    /// The value under a key of a map of strings to messages.
    pub fn entry(self, field: u32, key: &str) -> Option<Message<'a>> {
        self.all(field).map(Message).filter(|e| e.text(1) == key).last().map(|e| e.sub(2))
    }

    /// As `entry`, of a map of strings to bytes; absent bytes are empty.
    pub fn entry_bytes(self, field: u32, key: &str) -> Option<&'a [u8]> {
        self.all(field).map(Message).filter(|e| e.text(1) == key).last().map(|e| e.bytes(2).unwrap_or_default())
    }

    /// Which of these fields, the variants of a oneof, occurs last.
    pub fn last_of(self, fields: &[u32]) -> Option<u32> {
        self.fields().map(|(n, _)| n).filter(|n| fields.contains(n)).last()
    }

    /// Milliseconds of a Duration.
    pub fn duration_ms(self) -> f64 {
        let (seconds, nanos) = self.seconds_and_nanos();
        seconds as f64 * 1000.0 + f64::from(nanos) / 1e6
    }

    /// Seconds and nanoseconds of a Timestamp or Duration.
    pub fn seconds_and_nanos(self) -> (i64, i32) {
        (self.int(1), self.int32(2))
    }
}

/// The fields of a message in the order of their bytes.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl Fields<'_> {
    /// Nothing is left: the walk did not stop at a damaged field.
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u32, Value<'a>);

    fn next(&mut self) -> Option<(u32, Value<'a>)> {
        let mut rest = self.rest;
        let field = field(&mut rest)?;
        // A damaged field is left where it is, so that the walk is not done.
        self.rest = rest;
        Some(field)
    }
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u32, Value<'a>)> {
    let key = varint(rest)?;
    let value = match key & 7 {
        0 => Value::Number(varint(rest)?),
        1 => Value::Fixed64(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?)),
        2 => {
            let len = varint(rest)?;
            Value::Bytes(take(rest, len)?)
        }
        5 => Value::Fixed32(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?)),
        _ => return None,
    };
    Some(((key >> 3) as u32, value))
}

/// A number, and the bytes behind it; `None` when it does not end.
pub fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(u64::from(first));
    }
    let mut value = 0u64;
    for (i, &b) in bytes.iter().enumerate().take(10) {
        value |= u64::from(b & 0x7f) << (7 * i);
        if b < 0x80 {
            *bytes = bytes.get(i + 1..)?;
            return Some(value);
        }
    }
    None
}

pub fn take<'a>(bytes: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
    *bytes = tail;
    Some(head)
}

/// Numbers of a repeated field, packed or not.
pub fn numbers(message: Message, field: u32) -> Vec<u32> {
    let mut out = Vec::new();
    for (_, value) in message.fields().filter(|(n, _)| *n == field) {
        match value {
            Value::Number(n) => out.push(n as u32),
            Value::Bytes(mut packed) => out.extend(std::iter::from_fn(|| varint(&mut packed)).map(|n| n as u32)),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::history::v1::{TimerFiredEventAttributes, WorkflowExecutionSignaledEventAttributes};
    use prost::Message as _;

    #[test]
    fn reads_what_an_encoder_wrote() {
        let fired = TimerFiredEventAttributes { timer_id: "7".into(), started_event_id: 300 }.encode_to_vec();
        let m = Message(&fired);
        assert_eq!((m.text(1), m.int(2), m.int(3), m.bytes(9)), ("7", 300, 0, None));
        let signaled =
            WorkflowExecutionSignaledEventAttributes { skip_generate_workflow_task: true, ..Default::default() }.encode_to_vec();
        assert!(Message(&signaled).flag(5));
    }

    #[test]
    fn negative_numbers_and_last_occurrences_count() {
        assert_eq!(Message(&[8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).int(1), -1);
        assert_eq!(Message(&[8, 1, 8, 2]).int(1), 2);
        assert_eq!(numbers(Message(&[8, 1, 10, 2, 2, 3]), 1), [1, 2, 3]);
    }

    #[test]
    fn damaged_bytes_end_early() {
        for bytes in [&[8u8][..], &[10, 5, 1], &[9, 1], &[15, 0], &[0xff; 20], &[13, 0]] {
            let mut fields = Message(bytes).fields();
            assert_eq!(fields.by_ref().count(), 0, "{bytes:?}");
            assert!(!fields.is_done(), "{bytes:?}");
        }
    }
}
