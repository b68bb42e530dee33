//! Declares messages: which fields of a protobuf message the engine knows, by name, and how it holds them. Numbers and kinds come
//! from the descriptors (`proto/fields.rs`), so a field that does not exist, or that is something else, does not compile.
//!
//! A message that is only carried (payloads, headers, memos, failures) stays encoded: its bytes are moved and never built up. Fields
//! that the engine has no use for are not listed; they are skipped.

/// `message! { Name: package::Message { field kind, ... } }` with the kinds str, strs, bytes, i32
/// (enums too), u32s, i64, u32, u64 (fixed64), double, bool, dur, ts, msg(T), reps(T), and the
/// carried ones: payloads, fields (header, memo, search attributes), failure, meta (user metadata),
/// raw(SCHEMA), raws(SCHEMA), and encoded (unchecked, left out when empty). `field = name kind` if
/// the field has another name here. Fields are written in the listed order, which must be
/// ascending.
macro_rules! message {
    ($(
        $(#[$doc:meta])* $name:ident: $package:ident::$message:ident {
            $($field:ident $(= $named:ident)? $kind:ident $(($($arg:tt)+))?,)*
        }
    )*) => { $(
        $(#[$doc])*
        #[derive(Default, Clone)]
        pub struct $name { $(pub $field: message!(@type $kind $($($arg)+)?),)* }

        impl $crate::engine::codec::Wire for $name {
            fn slot(&mut self, field: u32) -> Option<$crate::engine::codec::Slot<'_>> {
                use $crate::engine::codec::Slot;
                Some(match field {
                    $(message!(@number $package $message $field $($named)?) => message!(@slot self.$field, $kind $($($arg)+)?),)*
                    _ => return None,
                })
            }

            fn view(&self, position: usize) -> Option<(u32, $crate::engine::codec::View<'_>)> {
                use $crate::engine::codec::View;
                const FIELDS: &[u32] = &[$(message!(@number $package $message $field $($named)?)),*];
                const { assert!($crate::engine::codec::ascending(FIELDS), "fields are listed by number") };
                let field = *FIELDS.get(position)?;
                let view = match field {
                    $(message!(@number $package $message $field $($named)?) => message!(@view self.$field, $kind),)*
                    _ => return None,
                };
                Some((field, view))
            }
        }

        $(const _: fn(message!(@number $package $message $field $($named)?)) -> message!(@kind $kind) = |kind| kind;)*
    )* };
    (@number $package:ident $message:ident $field:ident) => { $crate::proto::fields::$package::$message::$field };
    (@number $package:ident $message:ident $field:ident $named:ident) => { $crate::proto::fields::$package::$message::$named };
    (@kind str) => { $crate::proto::fields::kinds::Text };
    (@kind strs) => { $crate::proto::fields::kinds::Texts };
    (@kind bytes) => { $crate::proto::fields::kinds::Bytes };
    (@kind i32) => { $crate::proto::fields::kinds::Int32 };
    (@kind u32s) => { $crate::proto::fields::kinds::Numbers };
    (@kind i64) => { $crate::proto::fields::kinds::Int64 };
    (@kind u32) => { $crate::proto::fields::kinds::Uint32 };
    (@kind u64) => { $crate::proto::fields::kinds::Fixed64 };
    (@kind double) => { $crate::proto::fields::kinds::Double };
    (@kind bool) => { $crate::proto::fields::kinds::Bool };
    (@kind dur) => { $crate::proto::fields::kinds::Duration };
    (@kind ts) => { $crate::proto::fields::kinds::Timestamp };
    (@kind reps) => { $crate::proto::fields::kinds::Messages };
    (@kind raws) => { $crate::proto::fields::kinds::Messages };
    (@kind $message:ident) => { $crate::proto::fields::kinds::Message };
    (@type str) => { String };
    (@type strs) => { Vec<String> };
    (@type bytes) => { Vec<u8> };
    (@type encoded) => { Vec<u8> };
    (@type i32) => { i32 };
    (@type u32s) => { Vec<u32> };
    (@type i64) => { i64 };
    (@type u32) => { u32 };
    (@type u64) => { u64 };
    (@type double) => { f64 };
    (@type bool) => { bool };
    (@type dur) => { Option<prost_types::Duration> };
    (@type ts) => { Option<prost_types::Timestamp> };
    (@type msg $($t:tt)+) => { Option<$($t)+> };
    (@type reps $($t:tt)+) => { Vec<$($t)+> };
    (@type raws $s:ident) => { Vec<Vec<u8>> };
    (@type $carried:ident $($s:ident)?) => { Option<Vec<u8>> };
    (@slot $s:ident.$f:ident, str) => { Slot::Text(&mut $s.$f) };
    (@slot $s:ident.$f:ident, strs) => { Slot::Texts(&mut $s.$f) };
    (@slot $s:ident.$f:ident, bytes) => { Slot::Bytes(&mut $s.$f) };
    (@slot $s:ident.$f:ident, encoded) => { Slot::Bytes(&mut $s.$f) };
    (@slot $s:ident.$f:ident, i32) => { Slot::I32(&mut $s.$f) };
    (@slot $s:ident.$f:ident, u32s) => { Slot::Numbers(&mut $s.$f) };
    (@slot $s:ident.$f:ident, i64) => { Slot::I64(&mut $s.$f) };
    (@slot $s:ident.$f:ident, u32) => { Slot::U32(&mut $s.$f) };
    (@slot $s:ident.$f:ident, u64) => { Slot::Fixed(&mut $s.$f) };
    (@slot $s:ident.$f:ident, double) => { Slot::Double(&mut $s.$f) };
    (@slot $s:ident.$f:ident, bool) => { Slot::Bool(&mut $s.$f) };
    (@slot $s:ident.$f:ident, dur) => { Slot::Duration(&mut $s.$f) };
    (@slot $s:ident.$f:ident, ts) => { Slot::Timestamp(&mut $s.$f) };
    (@slot $s:ident.$f:ident, msg $($t:tt)+) => { Slot::Message($s.$f.get_or_insert_with(Default::default)) };
    (@slot $s:ident.$f:ident, reps $($t:tt)+) => { {
        $s.$f.push(Default::default());
        match $s.$f.last_mut() {
            Some(last) => Slot::Message(last),
            None => return None,
        }
    } };
    (@slot $s:ident.$f:ident, payloads) => { message!(@slot $s.$f, raw PAYLOADS) };
    (@slot $s:ident.$f:ident, fields) => { message!(@slot $s.$f, raw PAYLOAD_MAP) };
    (@slot $s:ident.$f:ident, failure) => { message!(@slot $s.$f, raw FAILURE) };
    (@slot $s:ident.$f:ident, meta) => { message!(@slot $s.$f, raw USER_METADATA) };
    (@slot $s:ident.$f:ident, raw $schema:ident) => { Slot::Raw(&mut $s.$f, &$crate::wire::schema::$schema, stringify!($f)) };
    (@slot $s:ident.$f:ident, raws $schema:ident) => { Slot::Raws(&mut $s.$f, &$crate::wire::schema::$schema, stringify!($f)) };
    (@view $s:ident.$f:ident, str) => { View::Bytes($s.$f.as_bytes()) };
    (@view $s:ident.$f:ident, strs) => { View::Texts(&$s.$f) };
    (@view $s:ident.$f:ident, bytes) => { View::Bytes(&$s.$f) };
    (@view $s:ident.$f:ident, encoded) => { View::Bytes(&$s.$f) };
    (@view $s:ident.$f:ident, i32) => { View::Int($s.$f as i64) };
    (@view $s:ident.$f:ident, u32s) => { View::Numbers(&$s.$f) };
    (@view $s:ident.$f:ident, i64) => { View::Int($s.$f) };
    (@view $s:ident.$f:ident, u32) => { View::Int($s.$f as i64) };
    (@view $s:ident.$f:ident, u64) => { View::Fixed($s.$f) };
    (@view $s:ident.$f:ident, double) => { View::Double($s.$f) };
    (@view $s:ident.$f:ident, bool) => { View::Int($s.$f as i64) };
    (@view $s:ident.$f:ident, dur) => { View::Time($s.$f.as_ref().map(|t| (t.seconds, t.nanos))) };
    (@view $s:ident.$f:ident, ts) => { View::Time($s.$f.as_ref().map(|t| (t.seconds, t.nanos))) };
    (@view $s:ident.$f:ident, msg) => { View::Message($s.$f.as_ref().map(|m| m as &dyn $crate::engine::codec::Wire)) };
    (@view $s:ident.$f:ident, reps) => { View::Messages(&$s.$f) };
    (@view $s:ident.$f:ident, raws) => { View::Raws(&$s.$f) };
    (@view $s:ident.$f:ident, $carried:ident) => { View::Raw(&$s.$f) };
}
pub(super) use message;
