//! Protobuf without building messages: what the worker's side reads is looked up in checked bytes, what it only carries (payloads,
//! headers, failures) is moved as it came, and what it writes is written field by field. Generated messages would cost ten times
//! the module and twice the time, and would lose fields that this version does not know.
//!
//! - [`schema`]: the check that makes bytes from outside safe to carry and to read.
//! - [`read`]: fields of a checked message.
//! - [`typed`]: messages by the names of their fields, over these; what names fields by number is generated.
//! - [`write`]: the writer; fields in ascending order, defaults left out, as other encoders do.
pub mod read;
pub mod schema;
pub mod typed;
pub mod write;

pub use read::{Message, Open, Value};
pub use write::Writer;
