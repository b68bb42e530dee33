//! Writes messages field by field. Fields are to be written in ascending order; defaults are left out.
//!
//! What is not generic is kept out of line: the generated writers call it for every field, and the module is smaller by 3 %.
use crate::wire::read::{Message, Value};

/// Longest duration that protobuf allows, in milliseconds (10,000 years).
const MAX_DURATION_MS: f64 = 315_576_000_000_000.0;

#[derive(Clone, Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub fn new() -> Writer {
        Writer::default()
    }

    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.out.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.out.push(n as u8);
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    #[inline(never)]
    pub fn uint(&mut self, field: u32, n: u64) -> &mut Writer {
        if n != 0 {
            self.key(field, 0);
            self.varint(n);
        }
        self
    }

    /// int32, int64 and enums: negative numbers take ten bytes.
    pub fn int(&mut self, field: u32, n: i64) -> &mut Writer {
        self.uint(field, n as u64)
    }

    pub fn flag(&mut self, field: u32, on: bool) -> &mut Writer {
        self.uint(field, u64::from(on))
    }

    #[inline(never)]
    pub fn double(&mut self, field: u32, x: f64) -> &mut Writer {
        if x != 0.0 {
            self.key(field, 1);
            self.out.extend_from_slice(&x.to_le_bytes());
        }
        self
    }

    #[inline(never)]
    pub fn text(&mut self, field: u32, text: &str) -> &mut Writer {
        self.data(field, text.as_bytes())
    }

    /// Bytes; left out when empty.
    #[inline(never)]
    pub fn data(&mut self, field: u32, bytes: &[u8]) -> &mut Writer {
        if bytes.is_empty() { self } else { self.message(field, bytes) }
    }

    /// An encoded message, or an element of a repeated field: written also when empty.
    #[inline(never)]
    pub fn message(&mut self, field: u32, bytes: &[u8]) -> &mut Writer {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
        self
    }

    #[inline(never)]
    pub fn optional(&mut self, field: u32, message: Option<&[u8]>) -> &mut Writer {
        if let Some(bytes) = message {
            self.message(field, bytes);
        }
        self
    }

    /// The elements of a repeated field of another message.
    #[inline(never)]
    pub fn copy(&mut self, field: u32, from: Message, from_field: u32) -> &mut Writer {
        for bytes in from.all(from_field) {
            self.message(field, bytes);
        }
        self
    }

    #[inline(never)]
    pub fn numbers(&mut self, field: u32, numbers: &[u32]) -> &mut Writer {
        if !numbers.is_empty() {
            self.nested(field, |w| numbers.iter().for_each(|n| w.varint(u64::from(*n))));
        }
        self
    }

    /// A message that holds only these elements in field 1 (Payloads, Header, Memo,
    /// SearchAttributes); left out when empty, as Core sends it.
    #[inline(never)]
    pub fn wrapped(&mut self, field: u32, from: Message, from_field: u32) -> &mut Writer {
        if from.all(from_field).next().is_some() {
            self.nested(field, |w| {
                w.copy(1, from, from_field);
            });
        }
        self
    }

    /// A message written in place.
    pub fn nested(&mut self, field: u32, fill: impl FnOnce(&mut Writer)) -> &mut Writer {
        let start = self.open(field);
        fill(self);
        self.put_length(start);
        self
    }

    /// Leaves one byte for the length; returns where the body begins.
    #[inline(never)]
    fn open(&mut self, field: u32) -> usize {
        self.key(field, 2);
        self.out.push(0);
        self.out.len()
    }

    /// Into the byte that was left for it before `start`, or more of them.
    #[inline(never)]
    fn put_length(&mut self, start: usize) {
        let body = self.out.len() - start;
        if body < 0x80 {
            self.out[start - 1] = body as u8;
        } else {
            let mut length = Writer::default();
            length.varint(body as u64);
            self.out.splice(start - 1..start, length.out);
        }
    }

    /// A Duration of milliseconds; left out when 0. A value above protobuf's maximum, which means
    /// "for ever", is written as the maximum.
    #[inline(never)]
    pub fn duration_ms(&mut self, field: u32, ms: f64) -> &mut Writer {
        if ms > 0.0 {
            let ms = ms.min(MAX_DURATION_MS);
            let seconds = (ms / 1000.0).trunc();
            let nanos = ((ms - seconds * 1000.0) * 1e6).round();
            self.nested(field, |w| {
                w.int(1, seconds as i64).int(2, nanos as i64);
            });
        }
        self
    }

    /// A field as it was read, defaults included.
    pub fn value(&mut self, field: u32, value: Value) -> &mut Writer {
        match value {
            Value::Number(n) => {
                self.key(field, 0);
                self.varint(n);
            }
            Value::Fixed64(bits) => {
                self.key(field, 1);
                self.out.extend_from_slice(&bits.to_le_bytes());
            }
            Value::Fixed32(bits) => {
                self.key(field, 5);
                self.out.extend_from_slice(&bits.to_le_bytes());
            }
            Value::Bytes(bytes) => {
                self.message(field, bytes);
            }
        }
        self
    }

    pub fn extend(&mut self, encoded: &[u8]) -> &mut Writer {
        self.out.extend_from_slice(encoded);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::command::v1::StartTimerCommandAttributes;
    use crate::api::common::v1::{Header, Payload};
    use prost::Message as _;

    #[test]
    fn writes_what_an_encoder_writes() {
        let duration = prost_types::Duration { seconds: 1, nanos: 500_000_000 };
        let expected = StartTimerCommandAttributes { timer_id: "7".into(), start_to_fire_timeout: Some(duration) };
        let mut w = Writer::new();
        w.text(1, "7").duration_ms(2, 1500.0);
        assert_eq!(w.finish(), expected.encode_to_vec());
    }

    #[test]
    fn durations_round_trip_to_the_nanosecond() {
        for ms in [0.5, 1.0, 999.0, 1000.0, 86_400_000.25] {
            let mut w = Writer::new();
            w.duration_ms(1, ms);
            assert_eq!(Message(&w.finish()).sub(1).duration_ms(), ms);
        }
        assert_eq!(Message::default().duration_ms(), 0.0);
        let mut longest = Writer::new();
        longest.duration_ms(1, f64::MAX);
        assert_eq!(Message(&longest.finish()).sub(1).seconds_and_nanos(), (315_576_000_000, 0));
    }

    #[test]
    fn nested_messages_of_every_length() {
        for len in [0usize, 1, 120, 127, 128, 300, 20_000] {
            let payload = Payload { data: vec![7; len], ..Default::default() };
            let expected = Header { fields: [("k".to_string(), payload)].into() }.encode_to_vec();
            let mut w = Writer::new();
            w.nested(1, |w| {
                w.text(1, "k").nested(2, |w| {
                    w.data(2, &vec![7; len]);
                });
            });
            // An empty value of a map entry may be left out or written.
            let written = w.finish();
            assert_eq!(Header::decode(written.as_slice()).unwrap(), Header::decode(expected.as_slice()).unwrap());
        }
    }

    #[test]
    fn numbers_are_packed_and_defaults_left_out() {
        let mut w = Writer::new();
        w.uint(1, 0).flag(2, false).double(3, 0.0).text(4, "").numbers(5, &[]).int(6, -1).numbers(7, &[1, 300]);
        assert_eq!(w.finish(), [48, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 58, 3, 1, 172, 2]);
    }
}
