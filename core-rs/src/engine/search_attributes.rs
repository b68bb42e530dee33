//! Types of search attributes. A server attaches the type that a name is registered with to every value that comes without one, and SDKs
//! read the type back from there. A namespace without a register takes every name: it keeps the type that it has in its run, and a new
//! one gets the type that its JSON shows, by the rules of Temporal's SDKs (a list of one is that one).
use super::codec;
use super::message::message;
use super::payloads::{self, Entry, Map, MetadataEntry, PayloadView, unset};
use super::state::run::Run;
use crate::sorted::SortedMap;

const BOOL: &str = "Bool";
const INT: &str = "Int";
const DOUBLE: &str = "Double";
const TEXT: &str = "Text";
const KEYWORD: &str = "Keyword";
const KEYWORD_LIST: &str = "KeywordList";
const DATETIME: &str = "Datetime";

message! {
    AttributeRegister: engine::AttributeRegister { attributes reps(AttributeType), }
    AttributeType: engine::AttributeType { name str, r#type i32, }
}

/// The registered names with their types. Names that this package or a server sets by itself are known without it.
#[derive(Clone)]
pub struct Register {
    types: SortedMap<String, &'static str>,
    namespace: String,
}

/// Names of this package (ts/converter/belonging_names.ts, subscriptions.ts) and of servers.
const OWN: [&str; 6] =
    ["WorkflowEntityId", "WorkflowCorrelationId", TIMERS, "WorkflowSubscription", "BatcherUser", "BatcherNamespace"];

impl Register {
    pub fn new(namespace: &str, register: AttributeRegister) -> Register {
        let mut types = SortedMap::new();
        for AttributeType { name, r#type } in register.attributes {
            let named = [TEXT, KEYWORD, INT, DOUBLE, BOOL, DATETIME, KEYWORD_LIST].get((r#type - 1) as usize);
            types.insert(name, *named.unwrap_or(&KEYWORD));
        }
        Register { types, namespace: namespace.into() }
    }

    fn type_of(&self, name: &str) -> Option<&'static str> {
        self.types.get(name).copied()
    }

    fn check_name(&self, name: &str) -> Result<(), String> {
        let known = self.types.contains_key(name) || LISTS.contains(&name) || OWN.contains(&name) || name.starts_with("Temporal");
        if known {
            return Ok(());
        }
        Err(format!("Namespace {} has no mapping defined for search attribute {name}", self.namespace))
    }
}

/// Names that every server knows, with lists of one that stay lists.
const LISTS: [&str; 3] = ["TemporalChangeVersion", "BuildIds", "BinaryChecksums"];

/// The attribute of a run whose timers fire by hand, with this value; ts/converter/belonging_names.ts has the name.
const TIMERS: &str = "WorkflowTimers";
const MANUAL: &[u8] = b"\"manual\"";

/// Sets the attributes that show the version of a run, if they have changed. An empty value removes its attribute.
pub fn set_versioning(run: &mut Run, values: SortedMap<&'static str, String>) {
    let known = codec::read::<Map>(run.head.search_attributes.as_deref().unwrap_or_default()).unwrap_or_default();
    let mut entries = Vec::new();
    for (name, value) in values {
        let json = json_text(&value);
        let old = known.entries.iter().find(|e| e.key == name).and_then(|e| codec::read::<PayloadView>(e.value.as_deref()?).ok());
        if old.as_ref().map_or(value.is_empty(), |view| view.data == json) {
            continue;
        }
        let entry = |key: &str, value: &str| MetadataEntry { key: key.into(), value: value.as_bytes().to_vec() };
        let metadata = vec![entry("encoding", "json/plain"), entry("type", KEYWORD)];
        let data = if value.is_empty() { b"null".to_vec() } else { json };
        entries.push(Entry { key: name.into(), value: Some(codec::bytes(&PayloadView { metadata, data })) });
    }
    if !entries.is_empty() {
        let upsert = codec::bytes(&Map { entries });
        run.head.search_attributes = payloads::merge(run.head.search_attributes.take(), Some(&upsert));
    }
}

fn json_text(text: &str) -> Vec<u8> {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", c as u32)),
            c => json.push(c),
        }
    }
    json.push('"');
    json.into_bytes()
}

/// Whether a run with these attributes was started with timers that do not fire by themselves.
pub fn timers_by_hand(attributes: Option<&[u8]>) -> bool {
    let Some(Ok(map)) = attributes.map(codec::read::<Map>) else { return false };
    map.entries.iter().any(|e| {
        e.key == TIMERS
            && codec::read::<PayloadView>(e.value.as_deref().unwrap_or_default()).is_ok_and(|view| view.data == MANUAL)
    })
}

/// Names of what a server knows of every run by itself.
const SYSTEM: [&str; 14] = [
    "WorkflowId",
    "RunId",
    "WorkflowType",
    "TaskQueue",
    "ExecutionStatus",
    "StartTime",
    "CloseTime",
    "ExecutionTime",
    "ExecutionDuration",
    "HistoryLength",
    "HistorySizeBytes",
    "StateTransitionCount",
    "ParentWorkflowId",
    "RootWorkflowId",
];
const VALUE_BYTES: usize = 2 * 1024;
const TOTAL_BYTES: usize = 40 * 1024;

/// Why a server rejects the attributes. Without a register a value must fit the type that it comes with.
pub fn check(given: Option<&[u8]>, register: Option<&Register>) -> Result<(), String> {
    let Some(Ok(map)) = given.map(codec::read::<Map>) else { return Ok(()) };
    let mut total = 0;
    for Entry { key, value } in &map.entries {
        if SYSTEM.contains(&key.as_str()) {
            return Err(format!("{key} attribute can't be set in SearchAttributes"));
        }
        if let Some(register) = register {
            register.check_name(key)?;
        }
        let payload = value.as_deref().unwrap_or_default();
        let view = codec::read::<PayloadView>(payload).unwrap_or_default();
        let size = view.data.len();
        if size > VALUE_BYTES {
            return Err(format!("search attribute {key} value size {size} exceeds size limit {VALUE_BYTES}"));
        }
        total += key.len() + size;
        if total > TOTAL_BYTES {
            return Err(format!("total size of search attributes exceeds size limit {TOTAL_BYTES}"));
        }
        if !unset(payload) {
            check_type(key, &view, register.and_then(|r| r.type_of(key)))?;
        }
    }
    Ok(())
}

fn check_type(key: &str, view: &PayloadView, registered: Option<&str>) -> Result<(), String> {
    let has = |key: &str| view.metadata.iter().find(|m| m.key == key).map(|m| String::from_utf8_lossy(&m.value));
    if has("encoding").is_none_or(|encoding| encoding != "json/plain") {
        return Ok(());
    }
    let own = has("type");
    let named = if LISTS.contains(&key) { Some(KEYWORD_LIST) } else { registered.or(own.as_deref()) };
    let Some(kind) = named else { return Ok(()) };
    if fits(&view.data, kind) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&view.data);
    Err(format!("invalid value for search attribute {key} of type {kind}: {}", text.trim_matches('"')))
}

/// Types of other names are not judged.
fn fits(json: &[u8], kind: &str) -> bool {
    let json = json.trim_ascii();
    let (list, single) = match json {
        [b'[', rest @ ..] => (true, !first_of(rest).1),
        _ => (false, true),
    };
    match (kind, shown(json)) {
        (INT, found) => single && found == Some(INT),
        (DOUBLE, found) => single && matches!(found, Some(INT | DOUBLE)),
        (BOOL, found) => single && found == Some(BOOL),
        (DATETIME, found) => single && found == Some(DATETIME),
        (TEXT | KEYWORD, found) => single && matches!(found, Some(KEYWORD | DATETIME)),
        (KEYWORD_LIST, found) => list && matches!(found, Some(KEYWORD | KEYWORD_LIST | DATETIME)),
        _ => true,
    }
}

/// The attributes with a type each, as far as their values show one. `known`: those of the run so far.
pub fn typed(given: Option<Vec<u8>>, known: Option<&[u8]>, register: Option<&Register>) -> Option<Vec<u8>> {
    let bytes = given?;
    let Ok(map) = codec::read::<Map>(&bytes) else { return Some(bytes) };
    let untyped = |e: &Entry| e.value.as_deref().and_then(json_without_type).is_some();
    if !map.entries.iter().any(untyped) {
        return Some(bytes);
    }
    let mut known = types_of(known.unwrap_or_default());
    for (name, kind) in register.iter().flat_map(|r| r.types.iter()) {
        known.insert(name.clone(), (*kind).to_string());
    }
    let entries = map.entries.into_iter().map(|e| with_type(e, &known)).collect();
    Some(codec::bytes(&Map { entries }))
}

fn types_of(attributes: &[u8]) -> SortedMap<String, String> {
    let mut types = SortedMap::new();
    for e in codec::read::<Map>(attributes).map(|m| m.entries).unwrap_or_default() {
        let view = codec::read::<PayloadView>(e.value.as_deref().unwrap_or_default()).unwrap_or_default();
        if let Some(t) = view.metadata.into_iter().find(|m| m.key == "type") {
            types.insert(e.key, String::from_utf8_lossy(&t.value).into_owned());
        }
    }
    types
}

fn with_type(mut e: Entry, known: &SortedMap<String, String>) -> Entry {
    let Some(data) = e.value.as_deref().and_then(json_without_type) else { return e };
    let Some(shown) = shown(&data) else { return e };
    let named = if LISTS.contains(&e.key.as_str()) { Some(KEYWORD_LIST) } else { known.get(&e.key).map(String::as_str) };
    let kind = match (named, shown) {
        (Some(DOUBLE), INT) => DOUBLE,
        (Some(TEXT), KEYWORD | DATETIME) => TEXT,
        (Some(KEYWORD), DATETIME) => KEYWORD,
        (Some(KEYWORD_LIST), KEYWORD | DATETIME) => KEYWORD_LIST,
        _ => shown,
    };
    let entry = MetadataEntry { key: "type".into(), value: kind.as_bytes().to_vec() };
    // After the payload's own bytes, which stay as they came.
    let addition = codec::bytes(&PayloadView { metadata: vec![entry], data: Vec::new() });
    if let Some(value) = &mut e.value {
        value.extend(addition);
    }
    e
}

/// The JSON of a payload that has no type and is not there to unset its attribute.
fn json_without_type(payload: &[u8]) -> Option<Vec<u8>> {
    let view = codec::read::<PayloadView>(payload).ok()?;
    let has = |key: &str| view.metadata.iter().find(|m| m.key == key);
    let plain = has("encoding").is_some_and(|m| m.value == b"json/plain");
    (plain && has("type").is_none() && !unset(payload)).then_some(view.data)
}

/// The type that a JSON value shows; None for what no attribute can hold.
fn shown(json: &[u8]) -> Option<&'static str> {
    let json = json.trim_ascii();
    match json.first()? {
        b't' | b'f' => Some(BOOL),
        b'"' => Some(if is_moment(&json[1..json.len().saturating_sub(1).max(1)]) { DATETIME } else { KEYWORD }),
        b'-' | b'0'..=b'9' => Some(if json.iter().any(|b| matches!(b, b'.' | b'e' | b'E')) { DOUBLE } else { INT }),
        b'[' => {
            let (first, more) = first_of(&json[1..]);
            match shown(first) {
                Some(KEYWORD) if more => Some(KEYWORD_LIST),
                kind => kind,
            }
        }
        _ => None,
    }
}

/// The first element of a list, of which the bracket was taken, and whether there are others. A list in a list shows nothing.
fn first_of(list: &[u8]) -> (&[u8], bool) {
    let (mut text, mut escaped) = (false, false);
    for (i, b) in list.iter().enumerate() {
        match b {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b',' if !text => return (&list[..i], true),
            b']' if !text => return (&list[..i], false),
            b'[' if !text => return (&[], false),
            _ => {}
        }
    }
    (list, false)
}

/// `2026-01-31T12:00:00Z`, with a fraction or a zone if need be: how SDKs write a date.
fn is_moment(text: &[u8]) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let Some((head, mut rest)) = text.split_at_checked(FORM.len()) else { return false };
    if !head.iter().zip(FORM).all(|(c, f)| if *f == b'0' { c.is_ascii_digit() } else { c == f }) {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        let digits = fraction.iter().take_while(|c| c.is_ascii_digit()).count();
        if digits == 0 {
            return false;
        }
        rest = &fraction[digits..];
    }
    match rest {
        b"Z" => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].iter().all(|c| c.is_ascii_digit()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_their_type() {
        for (json, kind, fit) in [
            ("1", INT, true),
            ("[1]", INT, true),
            ("[1,2]", INT, false),
            ("1.5", INT, false),
            ("\"x\"", INT, false),
            ("1", DOUBLE, true),
            ("true", BOOL, true),
            ("1", BOOL, false),
            ("\"2026-01-31T12:00:00Z\"", DATETIME, true),
            ("\"x\"", DATETIME, false),
            ("\"x\"", KEYWORD, true),
            ("\"2026-01-31T12:00:00Z\"", KEYWORD, true),
            ("[\"a\",\"b\"]", KEYWORD, false),
            ("1", TEXT, false),
            ("[\"a\",\"b\"]", KEYWORD_LIST, true),
            ("\"a\"", KEYWORD_LIST, false),
            ("{}", "Other", true),
        ] {
            assert_eq!(fits(json.as_bytes(), kind), fit, "{json} {kind}");
        }
    }

    #[test]
    fn json_shows_its_type() {
        for (json, kind) in [
            ("true", Some(BOOL)),
            ("[false]", Some(BOOL)),
            ("0", Some(INT)),
            ("-12", Some(INT)),
            (" [ 7 ] ", Some(INT)),
            ("1.5", Some(DOUBLE)),
            ("[1e3]", Some(DOUBLE)),
            ("\"a\"", Some(KEYWORD)),
            ("\"\"", Some(KEYWORD)),
            ("\"", Some(KEYWORD)),
            ("[\"a,b]\\\"c\"]", Some(KEYWORD)),
            ("[\"a\",\"b\"]", Some(KEYWORD_LIST)),
            ("[1,2]", Some(INT)),
            ("\"2026-01-31T12:00:00Z\"", Some(DATETIME)),
            ("[\"2026-01-31T12:00:00.123Z\"]", Some(DATETIME)),
            ("\"2026-01-31T12:00:00+01:00\"", Some(DATETIME)),
            ("\"2026-01-31T12:00:00.Z\"", Some(KEYWORD)),
            ("\"2026-01-31\"", Some(KEYWORD)),
            ("[[1]]", None),
            ("[]", None),
            ("[", None),
            ("null", None),
            ("{}", None),
            ("", None),
        ] {
            assert_eq!(shown(json.as_bytes()), kind, "{json}");
        }
    }
}
