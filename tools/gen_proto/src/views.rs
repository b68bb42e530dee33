//! Emits core-rs/src/proto/views.rs: readers, writers and checks by field name for the messages in `core_messages`.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

use crate::names::{camel, check_name, messages, method, path, place, short, snake};
use crate::core_messages::{MEANS, NUMBERS, ONEOFS, READ, VARIANTS, WRITTEN};

const ENUM_PACKAGES: [(&str, &str); 2] = [
    ("temporal.api.enums.v1.", "crate::api::enums::v1::"),
    ("temporalex.boundary.v1.", "crate::boundary::"),
];

struct Field<'a> {
    proto: &'a FieldDescriptorProto,
    /// Short name of the message or enum that it is or means.
    of: Option<String>,
    /// Bytes that hold a message.
    means_message: bool,
    /// The value type of a map.
    map_value: Option<&'a FieldDescriptorProto>,
}

pub struct Views<'a> {
    messages: BTreeMap<String, &'a DescriptorProto>,
    /// Full names of the enums that the Rust code has.
    enums: &'a BTreeSet<String>,
    read: BTreeMap<String, Vec<(String, bool)>>,
    out: BTreeMap<String, String>,
    maps: BTreeSet<String>,
}

/// The text of views.rs. `enums`: full names of the enums that prost generates.
pub fn generate(set: &FileDescriptorSet, enums: &BTreeSet<String>) -> String {
    let messages = messages(set, |_| true);
    let split = |fields: &str| {
        fields
            .split_whitespace()
            .map(|f| (f.trim_end_matches('!').to_string(), f.ends_with('!')))
            .collect::<Vec<_>>()
    };
    let read = READ.iter().map(|(name, fields)| (name.to_string(), split(fields))).collect();
    let mut views = Views { messages, enums, read, out: BTreeMap::new(), maps: BTreeSet::new() };
    views.everything()
}

impl<'a> Views<'a> {
    fn message(&self, name: &str) -> &'a DescriptorProto {
        self.messages.get(name).unwrap_or_else(|| panic!("gen-proto: unknown message {name}"))
    }

    fn field(&self, message: &str, proto: &'a FieldDescriptorProto) -> Field<'a> {
        let key = format!("{message}.{}", proto.name());
        let means = MEANS.iter().find(|(k, _)| *k == key).map(|(_, v)| v.to_string());
        let is_message = proto.r#type() == Type::Message;
        let map = is_message
            .then(|| self.message(&short(proto.type_name())))
            .filter(|m| m.options.as_ref().is_some_and(|o| o.map_entry()));
        Field {
            proto,
            means_message: means.is_some() && proto.r#type() == Type::Bytes,
            of: means.or_else(|| (!proto.type_name().is_empty()).then(|| short(proto.type_name()))),
            map_value: map.and_then(|m| m.field.iter().find(|f| f.name() == "value")),
        }
    }

    fn enum_path(&self, short_name: &str) -> Option<String> {
        for (package, path) in ENUM_PACKAGES {
            let (module, name) = short_name.split_once('.')?;
            let full = if module == "enums" { format!("temporal.api.enums.v1.{name}") } else { format!("temporalex.{module}.v1.{name}") };
            if full.starts_with(package) && self.enums.contains(&full) {
                return Some(format!("{path}{name}"));
            }
        }
        None
    }

    fn everything(&mut self) -> String {
        let mut types = BTreeSet::new();
        let mut checks = String::new();
        let read: Vec<(String, Vec<(String, bool)>)> = READ.iter().map(|(n, _)| (n.to_string(), self.read[*n].clone())).collect();
        for (name, fields) in &read {
            types.insert(name.clone());
            self.reader(name, fields, &mut checks, &mut types);
        }
        for name in WRITTEN {
            types.insert(name.to_string());
            self.writer(name, &mut types);
        }
        for name in VARIANTS {
            self.variants(name);
        }
        for name in NUMBERS {
            self.numbers(name);
        }
        for map in self.maps.clone() {
            let row = match map.as_str() {
                "" => "Bytes".to_string(),
                TEXT => TEXT.to_string(),
                value => format!("Message(&{})", check_name(value)),
            };
            let _ = writeln!(checks, "pub static {}: Schema = Schema(&[(1, Text), (2, {row})]);", map_check(&map));
        }
        for name in &types {
            let (package, message) = place(name);
            let _ = writeln!(self.out.entry(package).or_default(), "pub struct {message};");
        }
        let mut text = String::from(
            "//! The messages that the replay core reads and writes, by field name.\n#![allow(dead_code)]\n\n",
        );
        let _ = writeln!(
            text,
            "/// What is checked of each message before it is read or carried.\npub mod checks {{\nuse crate::wire::schema::Kind::{{Bytes, Fixed32, Message, Numbers, Text, Varint}};\nuse crate::wire::schema::Schema;\n{checks}}}"
        );
        for (package, body) in &self.out {
            let _ = writeln!(
                text,
                "pub mod {package} {{\n#[allow(unused_imports)]\nuse super::*;\n#[allow(unused_imports)]\nuse crate::wire::typed::{{Checked, Each, Entry, Put, Text, VariantOf, View}};\n#[allow(unused_imports)]\nuse crate::wire::Open;\n{body}}}"
            );
        }
        text.push_str(&self.attributes());
        text
    }

    fn reader(&mut self, name: &str, fields: &[(String, bool)], checks: &mut String, types: &mut BTreeSet<String>) {
        let message = self.message(name);
        let (mut rows, mut methods) = (String::new(), String::new());
        for (field_name, raw) in fields {
            let proto = message
                .field
                .iter()
                .find(|f| f.name() == field_name)
                .unwrap_or_else(|| panic!("gen-proto: {name} has no field {field_name}"));
            let field = self.field(name, proto);
            if let Some(of) = &field.of
                && (proto.r#type() == Type::Message || field.means_message)
                && field.map_value.is_none()
            {
                types.insert(of.clone());
            }
            if let Some(kind) = self.row(name, &field, *raw) {
                let _ = write!(rows, "({}, {kind}), ", proto.number());
            }
            self.read_method(&field, *raw, &mut methods);
        }
        let oneofs: Vec<String> =
            ONEOFS.iter().filter_map(|o| o.strip_prefix(&format!("{name}."))).map(str::to_string).collect();
        let (package, rust_name) = place(name);
        let mut enums = String::new();
        for oneof in oneofs {
            self.oneof(name, &oneof, &mut enums, &mut methods);
        }
        let check = check_name(name);
        let _ = writeln!(checks, "pub static {check}: Schema = Schema(&[{rows}]);");
        let out = self.out.entry(package).or_default();
        let proto_name = message.name();
        let _ = writeln!(
            out,
            "impl Checked for {rust_name} {{\nconst NAME: &'static str = \"{proto_name}\";\nconst SCHEMA: &'static crate::wire::schema::Schema = &checks::{check};\n}}\nimpl<'a> View<'a, {rust_name}> {{\n{methods}}}\n{enums}"
        );
    }

    /// The row of the check; doubles are not checked: eight bytes of them are never refused.
    fn row(&mut self, message: &str, field: &Field, raw: bool) -> Option<String> {
        let repeated = field.proto.label() == Label::Repeated;
        Some(match field.proto.r#type() {
            _ if raw => "Bytes".into(),
            Type::Double => return None,
            Type::Float => "Fixed32".into(),
            Type::String => "Text".into(),
            Type::Message => match field.map_value {
                Some(value) => {
                    let value = map_value(value);
                    self.maps.insert(value.clone());
                    format!("Message(&{})", map_check(&value))
                }
                None => self.listed(message, field),
            },
            Type::Bytes if field.means_message => self.listed(message, field),
            Type::Bytes => "Bytes".into(),
            _ if repeated => "Numbers".into(),
            _ => "Varint".into(),
        })
    }

    fn listed(&self, message: &str, field: &Field) -> String {
        let of = field.of.as_deref().unwrap_or_default();
        assert!(self.read.contains_key(of), "gen-proto: {message}.{} holds {of}, which is not listed", field.proto.name());
        format!("Message(&{})", check_name(of))
    }

    fn read_method(&self, field: &Field, raw: bool, out: &mut String) {
        let (name, n) = (method(field.proto.name()), field.proto.number());
        let repeated = field.proto.label() == Label::Repeated;
        let of = field.of.as_deref().unwrap_or_default();
        let _ = match field.proto.r#type() {
            Type::Float => Ok(()),
            Type::Message if field.map_value.is_some() => {
                let value = field.map_value.unwrap();
                if value.r#type() == Type::Message {
                    let value = path(&short(value.type_name()));
                    writeln!(out, "pub fn {name}(self) -> Each<'a, Entry<{value}>> {{ Each::of(self.message, {n}) }}")
                } else if value.r#type() == Type::String {
                    writeln!(out, "pub fn {name}(self) -> Each<'a, Entry<Text>> {{ Each::of(self.message, {n}) }}")
                } else {
                    writeln!(out, "pub fn {name}_value(self, key: &str) -> Option<&'a [u8]> {{ self.message.entry_bytes({n}, key) }}")
                }
            }
            Type::Message if of == "google.protobuf.Duration" => {
                writeln!(out, "pub fn {name}_ms(self) -> f64 {{ self.message.sub({n}).duration_ms() }}")
            }
            Type::Message if repeated || raw => {
                let item = if self.read.contains_key(of) || !raw { path(of) } else { "()".into() };
                writeln!(out, "pub fn {name}(self) -> Each<'a, {item}> {{ Each::of(self.message, {n}) }}")
            }
            Type::Message => writeln!(
                out,
                "pub fn {name}(self) -> View<'a, {0}> {{ View::of(self.message.sub({n})) }}\npub fn opt_{1}(self) -> Option<View<'a, {0}>> {{ self.message.get({n}).map(View::of) }}",
                path(of),
                field.proto.name()
            ),
            Type::Bytes if field.means_message => writeln!(
                out,
                "pub fn {name}(self) -> View<'a, {0}> {{ View::of(self.message.sub({n})) }}\npub fn opt_{name}(self) -> Option<View<'a, {0}>> {{ self.message.get({n}).filter(|m| !m.0.is_empty()).map(View::of) }}",
                path(of)
            ),
            Type::String if repeated => {
                writeln!(out, "pub fn {name}(self) -> Each<'a, Text> {{ Each::of(self.message, {n}) }}")
            }
            Type::String => writeln!(out, "pub fn {name}(self) -> &'a str {{ self.message.text({n}) }}"),
            Type::Bytes => writeln!(out, "pub fn {name}(self) -> &'a [u8] {{ self.message.bytes({n}).unwrap_or_default() }}"),
            Type::Double => writeln!(out, "pub fn {name}(self) -> f64 {{ self.message.double({n}) }}"),
            Type::Bool => writeln!(out, "pub fn {name}(self) -> bool {{ self.message.flag({n}) }}"),
            _ if repeated => {
                writeln!(out, "pub fn {name}(self) -> Vec<u32> {{ crate::wire::read::numbers(self.message, {n}) }}")
            }
            _ if let Some(path) = self.enum_path(of) => {
                writeln!(out, "pub fn {name}(self) -> Open<{path}> {{ Open::of(self.message.int32({n})) }}")
            }
            Type::Uint32 => writeln!(out, "pub fn {name}(self) -> u32 {{ self.message.int({n}) as u32 }}"),
            Type::Int32 | Type::Enum => writeln!(out, "pub fn {name}(self) -> i32 {{ self.message.int32({n}) }}"),
            _ => writeln!(out, "pub fn {name}(self) -> i64 {{ self.message.int({n}) }}"),
        };
    }

    fn oneof(&self, name: &str, oneof: &str, enums: &mut String, methods: &mut String) {
        let message = self.message(name);
        let index = message.oneof_decl.iter().position(|o| o.name() == oneof).unwrap() as i32;
        let (_, rust_name) = place(name);
        let enum_name = format!("{rust_name}{}", camel(oneof));
        let (mut variants, mut arms, mut numbers) = (String::new(), String::new(), String::new());
        for proto in message.field.iter().filter(|f| f.oneof_index == Some(index)) {
            let field = self.field(name, proto);
            let of = field.of.as_deref().unwrap_or_default();
            let ty = match proto.r#type() {
                Type::Message => format!("View<'a, {}>", path(of)),
                Type::Bytes if field.means_message => format!("View<'a, {}>", path(of)),
                Type::Int64 => "i64".into(),
                other => panic!("gen-proto: {name}.{oneof} has a variant of type {other:?}"),
            };
            let variant = camel(proto.name());
            let _ = writeln!(variants, "{variant}({ty}),");
            let _ = writeln!(arms, "{} => {enum_name}::{variant}(self.{}()),", proto.number(), method(proto.name()));
            let _ = write!(numbers, "{}, ", proto.number());
        }
        let borrows = variants.contains("'a");
        let lifetime = if borrows { "<'a>" } else { "" };
        let _ = writeln!(enums, "#[derive(Clone, Copy, Debug)]\npub enum {enum_name}{lifetime} {{\n{variants}}}");
        let _ = writeln!(
            methods,
            "pub fn {oneof}(self) -> Option<{enum_name}{lifetime}> {{\nSome(match self.message.last_of(&[{numbers}])? {{\n{arms}_ => return None,\n}})\n}}"
        );
    }

    fn writer(&mut self, name: &str, types: &mut BTreeSet<String>) {
        let message = self.message(name);
        let mut methods = String::new();
        for proto in &message.field {
            let field = self.field(name, proto);
            if let Some(of) = &field.of
                && (proto.r#type() == Type::Message || field.means_message)
            {
                match field.map_value {
                    None => types.insert(of.clone()),
                    Some(value) if value.r#type() == Type::Message => types.insert(short(value.type_name())),
                    Some(_) => false,
                };
            }
            self.write_method(&field, &mut methods);
        }
        let (package, rust_name) = place(name);
        let _ = writeln!(self.out.entry(package).or_default(), "impl<'w> Put<'w, {rust_name}> {{\n{methods}}}");
    }

    fn write_method(&self, field: &Field, out: &mut String) {
        let (name, n) = (method(field.proto.name()), field.proto.number());
        let plain = field.proto.name();
        let repeated = field.proto.label() == Label::Repeated;
        let of = field.of.as_deref().unwrap_or_default();
        let put = |out: &mut String, name: &str, argument: &str, call: &str| {
            let _ = writeln!(out, "pub fn {name}(self, {argument}) -> Self {{ self.writer.{call}; self }}");
        };
        let copy = |of: &str| format!("copy({n}, {of}.raw().0, {of}.raw().1)");
        let nested = |out: &mut String, name: &str, of: &str| {
            let _ = writeln!(
                out,
                "pub fn {name}(self, fill: impl FnOnce(Put<'_, {0}>) -> Put<'_, {0}>) -> Self {{ self.writer.nested({n}, |w| {{ fill(Put::of(w)); }}); self }}",
                path(of)
            );
        };
        match field.proto.r#type() {
            Type::Message if field.map_value.is_some() => {
                let value = field.map_value.unwrap();
                if value.r#type() == Type::String {
                    put(out, &format!("copy_{plain}"), "entries: Each<'_, Entry<Text>>", &copy("entries"));
                } else if value.r#type() == Type::Bytes {
                    put(out, &format!("add_{plain}"), "key: &str, value: &[u8]", &format!("nested({n}, |w| {{ w.text(1, key).data(2, value); }})"));
                } else {
                    let value = path(&short(value.type_name()));
                    put(out, &format!("push_{plain}"), &format!("entry: View<'_, Entry<{value}>>"), &format!("message({n}, entry.bytes())"));
                    put(out, &format!("copy_{plain}"), &format!("entries: Each<'_, Entry<{value}>>"), &copy("entries"));
                    let _ = writeln!(
                        out,
                        "pub fn add_{plain}(self, key: &str, fill: impl FnOnce(Put<'_, {value}>) -> Put<'_, {value}>) -> Self {{ self.writer.nested({n}, |w| {{ w.text(1, key).nested(2, |w| {{ fill(Put::of(w)); }}); }}); self }}"
                    );
                }
            }
            Type::Message if of == "google.protobuf.Duration" => {
                put(out, &format!("{plain}_ms"), "ms: f64", &format!("duration_ms({n}, ms)"));
            }
            Type::Message if repeated => {
                put(out, &format!("copy_{plain}"), &format!("elements: Each<'_, {}>", path(of)), &copy("elements"));
                nested(out, &format!("add_{plain}"), of);
            }
            Type::Message => {
                nested(out, &name, of);
                put(out, &format!("copy_{plain}"), &format!("message: Option<View<'_, {}>>", path(of)), &format!("optional({n}, message.map(View::bytes))"));
                if let Some(inner) = self.only_list(of) {
                    put(out, &format!("{plain}_of"), &format!("elements: Each<'_, {inner}>"), &format!("wrapped({n}, elements.raw().0, elements.raw().1)"));
                }
            }
            // In a oneof also an empty message is a value.
            Type::Bytes if field.means_message && field.proto.oneof_index.is_some() => {
                put(out, &name, &format!("message: View<'_, {}>", path(of)), &format!("message({n}, message.bytes())"));
            }
            Type::Bytes if field.means_message => {
                put(out, &name, &format!("message: View<'_, {}>", path(of)), &format!("data({n}, message.bytes())"));
            }
            Type::String if repeated => {
                put(out, &format!("copy_{plain}"), "texts: Each<'_, Text>", &copy("texts"));
            }
            Type::Bytes if repeated => {}
            Type::String => put(out, &name, "text: &str", &format!("text({n}, text)")),
            Type::Bytes => put(out, &name, "bytes: &[u8]", &format!("data({n}, bytes)")),
            Type::Double => put(out, &name, "x: f64", &format!("double({n}, x)")),
            Type::Bool => put(out, &name, "on: bool", &format!("flag({n}, on)")),
            Type::Float => {}
            _ if repeated => put(out, &name, "numbers: &[u32]", &format!("numbers({n}, numbers)")),
            Type::Enum => put(out, &name, "value: impl Into<i32>", &format!("int({n}, i64::from(value.into()))")),
            Type::Int32 => put(out, &name, "x: i32", &format!("int({n}, i64::from(x))")),
            Type::Uint32 => put(out, &name, "x: u32", &format!("uint({n}, u64::from(x))")),
            _ => put(out, &name, "x: i64", &format!("int({n}, x)")),
        }
    }

    /// Messages with nothing but one list (Payloads, Header, Memo, SearchAttributes): the type of its elements.
    fn only_list(&self, name: &str) -> Option<String> {
        let [only] = &self.message(name).field[..] else { return None };
        let field = self.field(name, only);
        if let Some(value) = field.map_value {
            return Some(format!("Entry<{}>", path(&short(value.type_name()))));
        }
        let listed = only.label() == Label::Repeated && only.r#type() == Type::Message;
        listed.then(|| path(&field.of.unwrap_or_default()))
    }

    fn variants(&mut self, oneof: &str) {
        let (name, oneof) = oneof.rsplit_once('.').unwrap();
        let message = self.message(name);
        let index = message.oneof_decl.iter().position(|o| o.name() == oneof).unwrap() as i32;
        let (package, _) = place(name);
        let parent = path(name);
        for f in message.field.iter().filter(|f| f.oneof_index == Some(index)) {
            let of = short(f.type_name());
            if WRITTEN.contains(&of.as_str()) {
                let out = self.out.entry(package.clone()).or_default();
                let _ = writeln!(out, "impl VariantOf<{parent}> for {} {{ const FIELD: u32 = {}; }}", path(&of), f.number());
            }
        }
    }

    fn numbers(&mut self, name: &str) {
        let message = self.message(name);
        let (package, rust_name) = place(name);
        let constants: String = message
            .field
            .iter()
            .map(|f| format!("pub const {}: u32 = {};\n", f.name().to_ascii_uppercase(), f.number()))
            .collect();
        let _ = writeln!(
            self.out.entry(package).or_default(),
            "/// Field numbers.\npub mod {} {{\n{constants}}}",
            snake(&rust_name)
        );
    }

    /// The attributes of history events by event type.
    fn attributes(&self) -> String {
        let event = self.message("history.HistoryEvent");
        let (mut variants, mut of, mut fields, mut checks) = (String::new(), String::new(), String::new(), String::new());
        for f in &event.field {
            let message = short(f.type_name());
            let Some(kind) = message.strip_prefix("history.").and_then(|m| m.strip_suffix("EventAttributes")) else { continue };
            if !self.read.contains_key(&message) {
                continue;
            }
            let _ = writeln!(variants, "{kind}(View<'a, {}>),", path(&message));
            let _ = writeln!(of, "EventType::{kind} => Attributes::{kind}(View::of(bytes)),");
            let _ = writeln!(fields, "EventType::{kind} => {},", f.number());
            let _ = writeln!(checks, "{} => &checks::{},", f.number(), check_name(&message));
        }
        format!(
            "use crate::api::enums::v1::EventType;\nuse crate::wire::Message;\nuse crate::wire::schema::Schema;\nuse crate::wire::typed::View;\n\n\
             /// The attributes of an event, by its type.\n#[derive(Clone, Copy, Debug)]\npub enum Attributes<'a> {{\n{variants}}}\n\n\
             impl<'a> Attributes<'a> {{\n/// `None`: the core does not look into events of this type.\npub fn of(kind: EventType, bytes: Message<'a>) -> Option<Self> {{\nSome(match kind {{\n{of}_ => return None,\n}})\n}}\n}}\n\n\
             /// Field of HistoryEvent that holds the attributes of a type; 0: the core does not look into them.\npub fn attributes_field(kind: EventType) -> u32 {{\nmatch kind {{\n{fields}_ => 0,\n}}\n}}\n\n\
             /// The check of the attributes in a field of HistoryEvent; `None`: they are not looked into.\npub fn check_of_attributes(field: u32) -> Option<&'static Schema> {{\nSome(match field {{\n{checks}_ => return None,\n}})\n}}\n"
        )
    }
}

/// What a map holds, as `maps` names it: a message, [`TEXT`], or nothing for bytes.
const TEXT: &str = "Text";

fn map_value(value: &FieldDescriptorProto) -> String {
    match value.r#type() {
        Type::Message => short(value.type_name()),
        Type::String => TEXT.into(),
        _ => String::new(),
    }
}

fn map_check(value: &str) -> String {
    match value {
        "" => "MAP_TO_BYTES".into(),
        TEXT => "MAP_TO_TEXT".into(),
        message => format!("MAP_TO_{}", check_name(message)),
    }
}
