//! Messages by name over bytes. The methods by field name are generated (`proto/views.rs`): nothing is decoded that is not asked for.
//!
//! | type | holds | made by |
//! |---|---|---|
//! | [`View`] | checked bytes, to read | [`read`], an event's attributes, [`Encoded::view`] |
//! | [`Encoded`] | an owned message | [`build`], [`View::to_owned`] |
//! | [`Put`] | a message that is being written | [`build`], a field of another |
//! | [`Each`] | the elements of a repeated field or map | readers |
use std::fmt;
use std::marker::PhantomData;

use crate::wire::read::Message;
use crate::wire::schema::{self, Schema};
use crate::wire::write::Writer;

/// A message whose fields are checked before they are read. A field that is not checked has no reader.
pub trait Checked {
    /// As in the `.proto` file; it names the message in errors.
    const NAME: &'static str;
    const SCHEMA: &'static Schema;
}

/// A message that is one of the variants of a oneof of `Parent`.
pub trait VariantOf<Parent> {
    const FIELD: u32;
}

/// Marks elements that are strings.
pub struct Text;

/// Marks entries of a map from strings to messages `V`.
pub struct Entry<V>(PhantomData<fn() -> V>);

/// A message of type `M` in checked bytes. A field that is absent reads as its default.
pub struct View<'a, M> {
    pub message: Message<'a>,
    name: PhantomData<fn() -> M>,
}

/// Checks a message that comes from outside. The error says what is wrong with the bytes.
pub fn read<M: Checked>(bytes: &[u8]) -> Result<View<'_, M>, &'static str> {
    schema::message(bytes, M::SCHEMA, 0)?;
    Ok(View::of(Message(bytes)))
}

impl<'a, M> View<'a, M> {
    /// The caller knows that the bytes are checked.
    pub fn of(message: Message<'a>) -> Self {
        View { message, name: PhantomData }
    }

    pub fn bytes(self) -> &'a [u8] {
        self.message.0
    }

    pub fn is_empty(self) -> bool {
        self.message.0.is_empty()
    }

    /// All fields but one.
    pub fn without(self, field: u32) -> Encoded<M> {
        let mut w = Writer::new();
        for (n, value) in self.message.fields().filter(|(n, _)| *n != field) {
            w.value(n, value);
        }
        Encoded::of(w.finish())
    }

    pub fn to_owned(self) -> Encoded<M> {
        Encoded::of(self.message.0.to_vec())
    }

    /// The same bytes as another message: for messages whose fields are defined to be the same.
    pub fn same_as<N>(self) -> View<'a, N> {
        View::of(self.message)
    }
}

impl<'a, V> View<'a, Entry<V>> {
    pub fn key(self) -> &'a str {
        self.message.text(1)
    }

    pub fn value(self) -> View<'a, V> {
        View::of(self.message.sub(2))
    }
}

// Derived implementations would ask the same of the name.
impl<M> Clone for View<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for View<'_, M> {}

impl<M> Default for View<'_, M> {
    fn default() -> Self {
        View::of(Message::default())
    }
}

impl<M> fmt::Debug for View<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

/// An encoded message of type `M`, owned.
pub struct Encoded<M> {
    bytes: Vec<u8>,
    name: PhantomData<fn() -> M>,
}

/// Writes a message.
pub fn build<M>(fill: impl FnOnce(Put<'_, M>) -> Put<'_, M>) -> Encoded<M> {
    let mut w = Writer::new();
    fill(Put::of(&mut w));
    Encoded::of(w.finish())
}

impl<M> Encoded<M> {
    /// The caller knows what the bytes hold.
    pub fn of(bytes: Vec<u8>) -> Self {
        Encoded { bytes, name: PhantomData }
    }

    pub fn view(&self) -> View<'_, M> {
        View::of(Message(&self.bytes))
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The same bytes as another message, as [`View::same_as`].
    pub fn same_as<N>(self) -> Encoded<N> {
        Encoded::of(self.bytes)
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl<M> Clone for Encoded<M> {
    fn clone(&self) -> Self {
        Encoded::of(self.bytes.clone())
    }
}

impl<M> Default for Encoded<M> {
    fn default() -> Self {
        Encoded::of(Vec::new())
    }
}

impl<M> PartialEq for Encoded<M> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<M> fmt::Debug for Encoded<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.fmt(f)
    }
}

/// A message of type `M` that is being written. Fields are written in ascending order; defaults are left out.
pub struct Put<'w, M> {
    pub writer: &'w mut Writer,
    name: PhantomData<fn() -> M>,
}

impl<'w, M> Put<'w, M> {
    pub fn of(writer: &'w mut Writer) -> Self {
        Put { writer, name: PhantomData }
    }

    /// Continues only where there is a value.
    pub fn with<T>(self, value: Option<T>, fill: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => fill(self, value),
            None => self,
        }
    }

    /// A field whose number is known from a [`VariantOf`].
    pub fn variant(self, field: u32, encoded: &[u8]) -> Self {
        self.writer.message(field, encoded);
        self
    }

    /// All fields of another message that is known to be encoded in this form.
    pub fn all_of(self, message: View<'_, M>) -> Self {
        self.writer.extend(message.bytes());
        self
    }
}

/// The elements of a repeated field; for a map its entries.
pub struct Each<'a, T> {
    message: Message<'a>,
    field: u32,
    name: PhantomData<fn() -> T>,
}

impl<'a, T> Each<'a, T> {
    pub fn of(message: Message<'a>, field: u32) -> Self {
        Each { message, field, name: PhantomData }
    }

    /// The message that holds them, and their field in it.
    pub fn raw(self) -> (Message<'a>, u32) {
        (self.message, self.field)
    }

    pub fn bytes(self) -> impl Iterator<Item = &'a [u8]> {
        self.message.all(self.field)
    }

    pub fn views(self) -> impl Iterator<Item = View<'a, T>> {
        self.bytes().map(|element| View::of(Message(element)))
    }

    pub fn is_empty(self) -> bool {
        self.bytes().next().is_none()
    }
}

impl<'a, V> Each<'a, Entry<V>> {
    /// The value under the key; of several the last.
    pub fn get(self, key: &str) -> Option<View<'a, V>> {
        self.message.entry(self.field, key).map(View::of)
    }
}

impl<T> Clone for Each<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Each<'_, T> {}
