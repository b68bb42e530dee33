//! Real histories, first level (docs/dev/semantics/history.md#how-a-history-may-be-cut): sequences
//! by all three rules are the same whole, in pages of every size, and when the history grows task
//! by task.
use crate::support::real::{histories, spread};
use crate::support::slim::{event_type, is_terminal_event, route, slim};
use temporalex_core::api::enums::v1::EventType;
use temporalex_core::api::history::v1::HistoryEvent;
use temporalex_core::history::Event;
use temporalex_core::history::event::Route;
use temporalex_core::history::{BoundaryRule, HistoryBuffer, Next};

const RULES: [BoundaryRule; 3] = [BoundaryRule::Unmerged, BoundaryRule::Core, BoundaryRule::CoreChunkingV2];

/// Last ids of the sequences, and of the look-ahead after each.
type Ends = Vec<(i64, Option<i64>)>;

fn take_all(buffer: &mut HistoryBuffer, ends: &mut Ends) -> Next {
    let last = |events: &[Event]| events.last().map(|e| e.event_id);
    loop {
        match buffer.take_next() {
            Next::Sequence(taken) => ends.push((last(&taken).expect("not empty"), buffer.peek().and_then(last))),
            end => return end,
        }
    }
}

fn in_pages(rule: BoundaryRule, events: &[HistoryEvent], page_size: usize) -> Ends {
    let mut buffer = HistoryBuffer::new();
    buffer.set_rule(rule);
    let mut ends = Ends::new();
    let pages = events.chunks(page_size);
    let count = pages.len();
    for (i, page) in pages.enumerate() {
        buffer.push(slim(page), i + 1 == count).expect("a sound history");
        take_all(&mut buffer, &mut ends);
    }
    assert!(buffer.is_drained());
    ends
}

#[test]
fn sequences_do_not_depend_on_pages() {
    let Some(histories) = histories("sequences_do_not_depend_on_pages") else { return };
    for (name, events) in histories {
        // Large histories are paged by few sizes: each of them is a walk over all events.
        let sizes = spread(events.len(), if events.len() > 500 { 6 } else { 60 });
        for rule in RULES {
            let whole = in_pages(rule, events, usize::MAX);
            assert_eq!(whole.last().map(|(end, _)| *end), events.last().map(|e| e.event_id), "{name}: all events are used");
            for &size in &sizes {
                assert_eq!(in_pages(rule, events, size), whole, "{name} by {rule:?} in pages of {size}");
            }
        }
    }
}

/// Every rule ends its sequences at started events whose task was not forgotten, at a terminal event, or at the end of the history;
/// unmerged, no such started event lies inside a sequence.
#[test]
fn sequences_end_where_they_may() {
    let Some(histories) = histories("sequences_end_where_they_may") else { return };
    let counts = |events: &[HistoryEvent], i: usize| {
        use EventType::*;
        event_type(&events[i]) == Some(WorkflowTaskStarted)
            && !matches!(
                events.get(i + 1).and_then(event_type),
                Some(WorkflowTaskFailed | WorkflowTaskTimedOut | WorkflowExecutionTerminated | WorkflowExecutionTimedOut)
            )
    };
    for (name, events) in histories {
        for rule in RULES {
            let mut from = 0;
            for (end, _) in in_pages(rule, events, usize::MAX) {
                let last = end as usize - 1;
                let at_end = last + 1 == events.len();
                let task_was_under_way =
                    rule == BoundaryRule::CoreChunkingV2 && event_type(&events[last]) == Some(EventType::WorkflowTaskStarted);
                assert!(
                    counts(events, last) || is_terminal_event(&events[last]) || at_end || task_was_under_way,
                    "{name} by {rule:?} ends at {end}"
                );
                if rule == BoundaryRule::Unmerged {
                    let inside = (from..last).find(|&i| counts(events, i));
                    assert_eq!(inside.map(|i| i + 1), None, "{name}: a started event inside {}..={end}", from + 1);
                }
                from = last + 1;
            }
        }
    }
}

/// What was cut while the history ended at a started event is what is cut of the whole, unmerged.
#[test]
fn sequences_of_a_growing_history() {
    let Some(histories) = histories("sequences_of_a_growing_history") else { return };
    for (name, events) in histories {
        let whole: Vec<i64> = in_pages(BoundaryRule::Unmerged, events, usize::MAX).iter().map(|(end, _)| *end).collect();
        let mut buffer = HistoryBuffer::new();
        buffer.set_rule(BoundaryRule::Unmerged);
        let mut grown = Ends::new();
        let mut from = 0;
        for end in &whole {
            let (previous, started) = (buffer.last_taken_started_id(), *end);
            buffer.begin_task(previous, started);
            buffer.push(slim(&events[from..*end as usize]), true).expect("a sound history");
            assert_eq!(take_all(&mut buffer, &mut grown), Next::End);
            from = *end as usize;
        }
        let grown: Vec<i64> = grown.iter().map(|(end, _)| *end).collect();
        assert_eq!(grown, whole, "{name}");
    }
}

/// Servers write no event that the core would not know where to send: only two histories made up for that purpose
/// have one, and one of a time before Temporal.
#[test]
fn every_real_event_has_a_route() {
    let Some(histories) = histories("every_real_event_has_a_route") else { return };
    let mut odd = Vec::new();
    for (name, events) in histories {
        for event in events {
            match route(event) {
                Route::Unknown | Route::Ignored => odd.push(format!("{name}#{}", event.event_id)),
                Route::Initiated(id) => assert!(id > 0 && id < event.event_id, "{name}#{}", event.event_id),
                _ => {}
            }
        }
    }
    let expected = [
        "histories/sdk-go/deleted.bad-history#2",
        "histories/sdk-go/deleted.bad-history#3",
        "histories/sdk-go/deleted.bad-history#4",
        "histories/sdk-go/workflow_with_bad_unknown_event#23",
        "histories/sdk-java/testUnknownHistoryEventMayNotIgnore#6",
    ];
    assert_eq!(odd, expected);
}
