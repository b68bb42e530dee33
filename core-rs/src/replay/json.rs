//! The little JSON that markers hold: patch data, side-effect ids, local-activity data, lists of patches.
//!
//! Reading never fails on shape, only on syntax (answer `None`) and on nesting beyond 32; numbers are doubles. Writing escapes
//! what RFC 8259 demands and nothing else, with no spaces, as the official SDKs do.

use crate::sorted::SortedMap;

const MAX_DEPTH: u32 = 32;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(SortedMap<String, Json>),
}

impl Json {
    pub fn parse(bytes: &[u8]) -> Option<Json> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut reader = Reader { rest: text };
        let value = reader.value(0)?;
        reader.space();
        reader.rest.is_empty().then_some(value)
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.get(key).filter(|v| **v != Json::Null),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        if let Json::Text(s) = self { Some(s) } else { None }
    }

    pub fn number(&self) -> Option<f64> {
        if let Json::Number(n) = self { Some(*n) } else { None }
    }

    /// A number that is a u32.
    pub fn integer(&self) -> Option<u32> {
        self.number().filter(|n| n.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(n)).map(|n| n as u32)
    }

    pub fn bool(&self) -> Option<bool> {
        if let Json::Bool(b) = self { Some(*b) } else { None }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest;
        true
    }

    fn value(&mut self, depth: u32) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.space();
        match self.rest.as_bytes().first()? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => self.string().map(Json::Text),
            b't' => self.eat("true").then_some(Json::Bool(true)),
            b'f' => self.eat("false").then_some(Json::Bool(false)),
            b'n' => self.eat("null").then_some(Json::Null),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: u32) -> Option<Json> {
        let mut fields = SortedMap::new();
        self.eat("{");
        if self.eat("}") {
            return Some(Json::Object(fields));
        }
        loop {
            self.space();
            let key = self.string()?;
            if !self.eat(":") {
                return None;
            }
            fields.insert(key, self.value(depth + 1)?);
            if self.eat("}") {
                return Some(Json::Object(fields));
            }
            if !self.eat(",") {
                return None;
            }
        }
    }

    fn list(&mut self, depth: u32) -> Option<Json> {
        let mut items = Vec::new();
        self.eat("[");
        if self.eat("]") {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.eat("]") {
                return Some(Json::List(items));
            }
            if !self.eat(",") {
                return None;
            }
        }
    }

    fn number(&mut self) -> Option<Json> {
        let end = self.rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let number: f64 = digits.parse().ok()?;
        self.rest = rest;
        number.is_finite().then_some(Json::Number(number))
    }

    fn string(&mut self) -> Option<String> {
        self.rest = self.rest.strip_prefix('"')?;
        let mut out = String::new();
        loop {
            let end = self.rest.find(['"', '\\'])?;
            out.push_str(&self.rest[..end]);
            let quote = self.rest.as_bytes()[end] == b'"';
            self.rest = &self.rest[end + 1..];
            if quote {
                return Some(out);
            }
            out.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = match chars.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            c @ ('"' | '\\' | '/') => c,
            'u' => {
                self.rest = chars.as_str();
                return self.unicode();
            }
            _ => return None,
        };
        self.rest = chars.as_str();
        Some(c)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4)?;
        let unit = u32::from_str_radix(digits, 16).ok()?;
        self.rest = &self.rest[4..];
        Some(unit)
    }

    /// A lone surrogate becomes the replacement character.
    fn unicode(&mut self) -> Option<char> {
        let high = self.hex()?;
        if !(0xd800..0xdc00).contains(&high) {
            return Some(char::from_u32(high).unwrap_or('\u{fffd}'));
        }
        let Some(rest) = self.rest.strip_prefix("\\u") else { return Some('\u{fffd}') };
        self.rest = rest;
        let low = self.hex()?;
        if !(0xdc00..0xe000).contains(&low) {
            return Some('\u{fffd}');
        }
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
    }
}

/// The text as a JSON string, appended.
pub fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_markers_hold() {
        let j = Json::parse(br#" {"id":"a\"\u00e9\ud83d\ude00","deprecated":true,"n":[1,-2.5e3,null],"o":{}} "#).unwrap();
        assert_eq!(j.get("id").and_then(Json::text), Some("a\"\u{e9}\u{1f600}"));
        assert_eq!(j.get("deprecated").and_then(Json::bool), Some(true));
        assert_eq!(j.get("n"), Some(&Json::List(vec![Json::Number(1.0), Json::Number(-2500.0), Json::Null])));
        assert_eq!(Json::parse(b"17").and_then(|j| j.integer()), Some(17));
    }

    #[test]
    fn refuses_bad_syntax_and_deep_nesting() {
        for bad in ["", "{", "{\"a\"}", "[1,]", "\"\\x\"", "\"\\u12\"", "1 2", "nul", "\"\\u00é0\"", "--1", "1e999"] {
            assert_eq!(Json::parse(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(Json::parse("[".repeat(100_000).as_bytes()), None);
        assert_eq!(Json::parse(&[0xff, 0xfe]), None);
    }

    #[test]
    fn written_text_reads_back() {
        for text in ["", "plain", "q\" b\\ n\n \u{1} \u{1f600}"] {
            let mut out = String::new();
            write_text(&mut out, text);
            assert_eq!(Json::parse(out.as_bytes()), Some(Json::Text(text.into())));
        }
    }
}
