//! From raw events to workflow-task sequences: what an event is, where a sequence ends, and how
//! pages and partial tasks are joined so that look-ahead never depends on where a page ended
//! (docs/dev/semantics/history.md).
//!
//! - [`event`]: classification, routing and display of events.
//! - [`boundary`]: the three rules for the end of a sequence and how a run chooses among them.
//! - [`buffer`]: [`HistoryBuffer`], which owns the events until they are applied.
mod boundary;
mod buffer;
pub mod event;

pub use boundary::{BoundaryRule, choose_rule};
pub use buffer::{HistoryBuffer, Next};
pub use event::{Event, decode_history};
