//! Names of messages and fields, in the descriptors and in Rust.
use std::collections::BTreeMap;

use prost_types::{DescriptorProto, FileDescriptorSet};

/// "common.Payload" for temporal.api.common.v1.Payload, "boundary.Job" for temporalex.boundary.v1.Job.
pub fn short(full: &str) -> String {
    let full = full.trim_start_matches('.');
    for prefix in ["temporal.api.", "temporalex."] {
        if let Some(rest) = full.strip_prefix(prefix) {
            return rest.replacen(".v1.", ".", 1);
        }
    }
    full.to_string()
}

pub fn snake(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && i > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

pub fn camel(name: &str) -> String {
    name.split('_')
        .map(|w| {
            let (head, tail) = w.split_at(w.len().min(1));
            head.to_ascii_uppercase() + tail
        })
        .collect()
}

/// Module and type of a short name: nested messages are named after their parents.
pub fn place(name: &str) -> (String, String) {
    let name = name.strip_prefix("google.protobuf.").map_or(name.to_string(), |n| format!("google.{n}"));
    let (package, rest) = name.split_once('.').unwrap();
    (package.to_string(), rest.replace('.', ""))
}

pub fn path(name: &str) -> String {
    let (package, message) = place(name);
    format!("{package}::{message}")
}

pub fn check_name(name: &str) -> String {
    let (package, message) = place(name);
    format!("{package}_{}", snake(&message)).to_ascii_uppercase()
}

pub fn method(name: &str) -> String {
    if matches!(name, "type") { format!("r#{name}") } else { name.to_string() }
}

fn collect<'a>(
    prefix: &str,
    m: &'a DescriptorProto,
    wanted: &impl Fn(&str) -> bool,
    all: &mut BTreeMap<String, &'a DescriptorProto>,
) {
    let full = format!("{prefix}.{}", m.name());
    for n in &m.nested_type {
        collect(&full, n, wanted, all);
    }
    if wanted(&full) {
        all.insert(short(&full), m);
    }
}

/// Messages by their short names; `wanted` is asked with full names.
pub fn messages(set: &FileDescriptorSet, wanted: impl Fn(&str) -> bool) -> BTreeMap<String, &DescriptorProto> {
    let mut all = BTreeMap::new();
    for f in &set.file {
        for m in &f.message_type {
            collect(f.package(), m, &wanted, &mut all);
        }
    }
    all
}
