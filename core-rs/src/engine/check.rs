//! The check of carried fields of requests, named after the field that is refused.
pub use crate::wire::schema::*;

/// Why a carried field is refused: its name in the request and what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bad(pub String);

pub fn raw(field: &str, schema: &'static Schema, value: &Option<Vec<u8>>) -> Result<(), Bad> {
    match value {
        Some(bytes) => message(bytes, schema, 0).map_err(|what| Bad(format!("{field}: {what}"))),
        None => Ok(()),
    }
}

pub fn raws(field: &str, schema: &'static Schema, values: &[Vec<u8>]) -> Result<(), Bad> {
    values.iter().try_for_each(|bytes| message(bytes, schema, 0).map_err(|what| Bad(format!("{field}: {what}"))))
}

pub fn sub<T: super::wire::Checked>(_field: &str, _: &'static Schema, value: &Option<T>) -> Result<(), Bad> {
    value.as_ref().map_or(Ok(()), |v| v.check())
}

pub fn subs<T: super::wire::Checked>(_field: &str, _: &'static Schema, values: &[T]) -> Result<(), Bad> {
    values.iter().try_for_each(|v| v.check())
}
