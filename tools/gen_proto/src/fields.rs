//! Emits core-rs/src/proto/fields.rs: number and kind of every field, by message and name. The engine declares its messages over it.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto};

use crate::names::{method, place};

/// The attributes of events are the fields of this message.
const EVENT: &str = "history.HistoryEvent";

fn kind(field: &FieldDescriptorProto) -> &'static str {
    let repeated = field.label() == Label::Repeated;
    match field.r#type() {
        Type::String if repeated => "Texts",
        Type::String => "Text",
        Type::Bytes if repeated => "Other",
        Type::Bytes => "Bytes",
        Type::Message if repeated => "Messages",
        Type::Message if field.type_name() == ".google.protobuf.Duration" => "Duration",
        Type::Message if field.type_name() == ".google.protobuf.Timestamp" => "Timestamp",
        Type::Message => "Message",
        Type::Int32 | Type::Uint32 | Type::Enum if repeated => "Numbers",
        _ if repeated => "Other",
        Type::Int32 | Type::Enum => "Int32",
        Type::Int64 => "Int64",
        Type::Uint32 => "Uint32",
        Type::Fixed64 => "Fixed64",
        Type::Double => "Double",
        Type::Bool => "Bool",
        _ => "Other",
    }
}

const KINDS: [&str; 15] = [
    "Text", "Texts", "Bytes", "Message", "Messages", "Duration", "Timestamp", "Int32", "Int64", "Uint32", "Numbers", "Fixed64", "Double",
    "Bool", "Other",
];

/// The text of fields.rs. `messages` are those that the engine may name, by their short names.
pub fn generate(messages: &BTreeMap<String, &DescriptorProto>) -> String {
    let events: BTreeMap<&str, i32> = messages[EVENT].field.iter().map(|f| (f.type_name(), f.number())).collect();
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    for (name, message) in messages {
        let (package, rust_name) = place(name);
        let text = out.entry(package).or_default();
        let _ = writeln!(text, "pub mod {rust_name} {{\n#[allow(unused_imports)]\nuse super::super::kinds;");
        for f in &message.field {
            let (field, number, kind) = (method(f.name()), f.number(), kind(f));
            let _ = writeln!(text, "pub const {field}: u32 = {number};\npub type {field} = kinds::{kind};");
        }
        let event = name.strip_prefix("history.").and_then(|n| n.strip_suffix("EventAttributes"));
        let number = event.and_then(|e| events.get(format!(".temporal.api.history.v1.{e}EventAttributes").as_str()));
        if let (Some(event), Some(number)) = (event, number) {
            let _ = writeln!(
                text,
                "/// The type of event that has these, and their field in it.\n\
                 pub const EVENT: (crate::api::enums::v1::EventType, u32) = (crate::api::enums::v1::EventType::{event}, {number});"
            );
        }
        text.push_str("}\n");
    }
    let mut text = String::from(
        "//! Number and kind of every field, by message and name.\n\
         #![allow(dead_code, non_camel_case_types, non_snake_case, non_upper_case_globals)]\n\n\
         /// What a field holds.\npub mod kinds {\n",
    );
    for kind in KINDS {
        let _ = writeln!(text, "pub struct {kind};");
    }
    text.push_str("}\n");
    for (package, body) in &out {
        let _ = writeln!(text, "pub mod {package} {{\n{body}}}");
    }
    text
}
