//! The event that a machine is fed with its position, and how errors get their place in history.
use std::fmt;

use crate::boundary::{CommandKind, CoreError, FieldDiff};
use crate::error::{Result, codes, fatal, nondeterminism};
use crate::history::event::{Event, name_of_type};
use crate::replay::convert::id32;

/// Id and type of an event whose attributes have been moved out. Displays as Core shows events.
#[derive(Clone, Copy, Debug)]
pub struct EventRef {
    pub id: i64,
    kind: i32,
}

impl EventRef {
    pub fn of(event: &Event) -> EventRef {
        EventRef { id: event.event_id, kind: event.event_type }
    }

    pub fn type_name(&self) -> String {
        name_of_type(self.kind)
    }
}

impl fmt::Display for EventRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HistoryEvent(id: {}, {})", self.id, self.type_name())
    }
}

/// Adds event, command and values to an error on its way out. What is already known is kept: the innermost place is the right one.
pub trait Place {
    fn at_event(self, event: EventRef) -> Self;
    fn of_command(self, kind: CommandKind, seq: u32) -> Self;
    /// What history holds and what the code gave; `field` names the field that was compared, and is empty for whole commands.
    fn differing(self, field: &str, expected: impl Into<String>, actual: impl Into<String>) -> Self;
}

impl Place for Box<CoreError> {
    #[inline(never)]
    fn at_event(mut self, event: EventRef) -> Self {
        if self.event_id == 0 {
            self.event_id = id32(event.id);
            self.event_type = event.type_name();
        }
        self
    }

    #[inline(never)]
    fn of_command(mut self, kind: CommandKind, seq: u32) -> Self {
        if self.command_kind == CommandKind::Unspecified as i32 {
            self.command_kind = kind as i32;
            self.seq = seq;
        }
        self
    }

    fn differing(mut self, field: &str, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        self.expected = expected.into();
        self.actual = actual.into();
        if !field.is_empty() {
            let (expected, actual) = (self.expected.clone(), self.actual.clone());
            self.diffs.push(FieldDiff { field: field.into(), expected, actual });
        }
        self
    }
}

impl<T> Place for Result<T> {
    fn at_event(self, event: EventRef) -> Self {
        self.map_err(|e| e.at_event(event))
    }

    fn of_command(self, kind: CommandKind, seq: u32) -> Self {
        self.map_err(|e| e.of_command(kind, seq))
    }

    fn differing(self, field: &str, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        self.map_err(|e| e.differing(field, expected, actual))
    }
}

/// The event is of a type that the machine never takes: the code did something else than history says.
#[inline(never)]
pub fn wrong_type(machine: &str, event: EventRef) -> Box<CoreError> {
    nondeterminism(codes::COMMAND_TYPE, format!("{machine} machine does not handle this event: {event}"))
        .at_event(event)
        .differing("", event.type_name(), format!("{machine} machine"))
}

/// The event is of a type that the machine takes, but not now: the history is damaged.
pub fn bad_transition(machine: &str, state: impl fmt::Debug, event: EventRef) -> Box<CoreError> {
    bad_transition_in(machine, &state, event)
}

/// Not generic, so that it is in the module once.
#[inline(never)]
fn bad_transition_in(machine: &str, state: &dyn fmt::Debug, event: EventRef) -> Box<CoreError> {
    let text = format!("{machine} in state {state:?} says the transition is invalid during event {event}");
    fatal(codes::BAD_TRANSITION, text).at_event(event)
}

/// The event lacks what its type must carry.
#[inline(never)]
pub fn bad_event(event: EventRef, what: &str) -> Box<CoreError> {
    fatal(codes::BAD_EVENT, format!("{event} has no {what}")).at_event(event)
}
