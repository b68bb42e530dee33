//! Histories are built from generated messages; the core takes them encoded and has its own event type. This module converts
//! them.
use prost::Message;
use temporalex_core::api::enums::v1::EventType;
use temporalex_core::api::history::v1::{History, HistoryEvent};
use temporalex_core::history::{Event, decode_history, event};

pub fn slim(events: impl AsRef<[HistoryEvent]>) -> Vec<Event> {
    let history = History { events: events.as_ref().to_vec() };
    decode_history(&history.encode_to_vec()).expect("encoded just now")
}

fn one(event: &HistoryEvent) -> Event {
    slim([event.clone()]).remove(0)
}

pub fn event_type(event: &HistoryEvent) -> Option<EventType> {
    EventType::try_from(event.event_type).ok().filter(|t| *t != EventType::Unspecified)
}

pub fn is_command_event(event: &HistoryEvent) -> bool {
    event::is_command_event(&one(event))
}

pub fn is_terminal_event(event: &HistoryEvent) -> bool {
    event::is_terminal_event(&one(event))
}

pub fn route(event: &HistoryEvent) -> event::Route {
    event::route(&one(event))
}

pub fn type_name(event: &HistoryEvent) -> String {
    event::name_of_type(event.event_type)
}
