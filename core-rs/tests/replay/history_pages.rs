//! Pages, look-ahead and partial tasks (docs/dev/semantics/history.md#pages-and-partial-histories).
use crate::support::HistoryBuilder;
use crate::support::slim::slim;
use temporalex_core::api::history::v1::HistoryEvent;
use temporalex_core::boundary::ErrorKind;
use temporalex_core::error::codes;
use temporalex_core::history::{BoundaryRule, Event, HistoryBuffer, Next};

use BoundaryRule::{Core, CoreChunkingV2, Unmerged};

const RULES: [BoundaryRule; 3] = [Unmerged, Core, CoreChunkingV2];

type Seen = Vec<(Vec<i64>, Option<Vec<i64>>)>;

fn ids(events: &[Event]) -> Vec<i64> {
    events.iter().map(|e| e.event_id).collect()
}

/// Every sequence with the look-ahead that was there right after it was taken.
fn take_all(buffer: &mut HistoryBuffer, seen: &mut Seen) -> Next {
    loop {
        match buffer.take_next() {
            Next::Sequence(taken) => seen.push((ids(&taken), buffer.peek().map(ids))),
            end => return end,
        }
    }
}

fn in_pages(rule: BoundaryRule, events: &[HistoryEvent], page_size: usize, empty_last_page: bool) -> Seen {
    let mut buffer = HistoryBuffer::new();
    buffer.set_rule(rule);
    let mut seen = Vec::new();
    let pages: Vec<&[HistoryEvent]> = events.chunks(page_size).collect();
    for (i, page) in pages.iter().enumerate() {
        let complete = i + 1 == pages.len() && !empty_last_page;
        buffer.push(slim(page), complete).expect("a sound page");
        let end = take_all(&mut buffer, &mut seen);
        assert_eq!(end, if complete { Next::End } else { Next::NeedMore }, "page {i} of size {page_size}");
    }
    if empty_last_page {
        buffer.push(slim(Vec::new()), true).expect("an empty page");
        assert_eq!(take_all(&mut buffer, &mut seen), Next::End);
    }
    assert!(buffer.is_drained());
    seen
}

/// S W(2-4) TimerStarted(5) TimerFired(6) w(7-8)
fn single_timer() -> HistoryBuilder {
    HistoryBuilder::new().w().timer_started("1").timer_fired("1").w_open()
}

#[test]
fn need_more_events() {
    for rule in RULES {
        let mut buffer = HistoryBuffer::new();
        buffer.set_rule(rule);
        buffer.push(slim(&single_timer().events[..3]), false).expect("page");
        assert_eq!(buffer.take_next(), Next::NeedMore, "{rule:?}: whether 3 completed is not known");
        assert_eq!(buffer.peek(), None);
    }
}

#[test]
fn empty_tail_page() {
    let events = single_timer().events;
    let mut buffer = HistoryBuffer::new();
    buffer.set_rule(Unmerged);
    buffer.begin_task(3, 8);
    buffer.push(slim(events), false).expect("page that ends at the started id");
    // Only the next page can tell that nothing follows 8.
    assert_eq!(buffer.take_next(), Next::NeedMore);
    buffer.push(slim(Vec::new()), true).expect("empty page");
    let mut seen = Vec::new();
    assert_eq!(take_all(&mut buffer, &mut seen), Next::End);
    assert_eq!(seen, [(vec![1, 2, 3], Some(vec![4, 5, 6, 7, 8])), (vec![4, 5, 6, 7, 8], None)]);
}

/// Twenty tasks: timers, heartbeats, signals, failed attempts and accepted updates in turn.
fn twenty_tasks() -> HistoryBuilder {
    let mut history = HistoryBuilder::new().w();
    for i in 0..4 {
        let (timer, update) = (format!("t{i}"), format!("u{i}"));
        history = history.timer_started(&timer).timer_fired(&timer).w().w().w();
        history = history.signal("s").w_failed().w().w();
        history = history.w().update_accepted(&update, "upd").update_completed(&update);
    }
    history.w_open()
}

#[test]
fn page_splits_task() {
    let history = twenty_tasks();
    let cut = [&history, &single_timer(), &single_timer().wf_terminated(), &history.clone().completed().wf_completed()];
    for rule in RULES {
        for history in cut {
            let whole = in_pages(rule, &history.events, usize::MAX, false);
            for size in 1..=history.events.len() {
                for empty_last_page in [false, true] {
                    let paged = in_pages(rule, &history.events, size, empty_last_page);
                    assert_eq!(paged, whole, "{rule:?} in pages of {size}");
                }
            }
        }
    }
}

/// The page ends exactly on WorkflowTaskStarted k; the events that complete task k are on the next page.
#[test]
fn marker_after_page_boundary() {
    let base = || HistoryBuilder::new().w_native();
    let followers = [
        base().patch_marker("p", false),
        base().la_marker(1, "1", crate::support::json("1")),
        base().update_accepted("u", "upd"),
        base().side_effect_marker(0, crate::support::json("1")),
    ];
    for follower in followers {
        let events = follower.timer_started("1").timer_fired("1").w_open().events;
        let mut buffer = HistoryBuffer::new();
        buffer.push(slim(&events[..3]), false).expect("first page");
        assert_eq!(buffer.take_next(), Next::NeedMore, "the completion of 3 is not here");
        buffer.push(slim(&events[3..5]), false).expect("second page");
        assert_eq!(buffer.take_next(), Next::NeedMore, "the sequence behind 3 is not bounded");
        buffer.push(slim(&events[5..]), true).expect("third page");
        assert!(matches!(buffer.take_next(), Next::Sequence(s) if ids(&s) == [1, 2, 3]));
        assert_eq!(buffer.peek().map(|s| s[1].clone()), slim(&events[4..5]).pop(), "the follower is in sight");
    }
}

#[test]
fn empty_page_with_token() {
    let events = single_timer().events;
    let mut buffer = HistoryBuffer::new();
    buffer.set_rule(Unmerged);
    buffer.push(slim(&events[..4]), false).expect("page");
    buffer.push(slim(Vec::new()), false).expect("empty page with a token");
    assert_eq!(buffer.take_next(), Next::NeedMore);
    buffer.push(slim(&events[4..]), true).expect("last page");
    let mut seen = Vec::new();
    assert_eq!(take_all(&mut buffer, &mut seen), Next::End);
    assert_eq!(seen.len(), 2);
}

#[test]
fn history_gap() {
    let mut events = single_timer().events;
    events.remove(3);
    let gap = HistoryBuffer::new().push(slim(&events), true).expect_err("1, 2, 3, 5");
    assert_eq!(gap.message, "Fatal error in workflow machines: History is out of order. Last processed event: 3, event id: 5");
    assert_eq!((gap.kind(), gap.code, gap.event_id), (ErrorKind::Fatal, codes::HISTORY_OUT_OF_ORDER, 5));

    // The same over a page boundary, going back within a page, and ids that cannot be.
    let mut buffer = HistoryBuffer::new();
    buffer.push(slim(&events[..3]), false).expect("page");
    let gap = buffer.push(slim(&events[3..]), true).expect_err("3, 5");
    assert_eq!(gap.message, "Fatal error in workflow machines: History is out of order. Last processed event: 3, event id: 5");
    for bad in [0, -7, 2, i64::MAX] {
        let mut events = single_timer().events;
        events[4].event_id = bad;
        let error = HistoryBuffer::new().push(slim(events), true).expect_err("a bad id");
        assert_eq!(
            error.message,
            format!("Fatal error in workflow machines: History is out of order. Last processed event: 4, event id: {bad}")
        );
    }
}

/// Partial task 4..8 for an unknown run; the fetched history ends before the task's own events.
#[test]
fn cache_miss_merge() {
    let events = single_timer().events;
    for prefix_end in 3..=8 {
        for page_size in 1..=8 {
            let mut buffer = HistoryBuffer::new();
            buffer.set_rule(Unmerged);
            buffer.begin_task(3, 8);
            buffer.push(slim(&events[3..]), true).expect("partial task");
            assert!(buffer.is_missing_prefix());
            assert_eq!(buffer.take_next(), Next::NeedMore);
            let pages: Vec<&[HistoryEvent]> = events[..prefix_end].chunks(page_size).collect();
            for (i, page) in pages.iter().enumerate() {
                buffer.push(slim(page), i + 1 == pages.len()).expect("fetched page");
            }
            assert!(!buffer.is_missing_prefix());
            let mut seen = Vec::new();
            assert_eq!(take_all(&mut buffer, &mut seen), Next::End);
            let joined: Vec<i64> = seen.iter().flat_map(|(taken, _)| taken.clone()).collect();
            assert_eq!(joined, [1, 2, 3, 4, 5, 6, 7, 8], "prefix to {prefix_end} in pages of {page_size}");
        }
    }
}

#[test]
fn prefix_does_not_reach_the_task() {
    let events = single_timer().events;
    let mut buffer = HistoryBuffer::new();
    buffer.begin_task(3, 8);
    buffer.push(slim(&events[4..]), true).expect("partial task");
    let gap = buffer.push(slim(&events[..3]), true).expect_err("4 is nowhere");
    assert_eq!(gap.message, "Fatal error in workflow machines: History is out of order. Last processed event: 3, event id: 5");

    // And a fetch "from the start" that does not begin at the start.
    let mut buffer = HistoryBuffer::new();
    buffer.push(slim(&events[4..]), true).expect("partial task");
    let gap = buffer.push(slim(&events[3..]), true).expect_err("begins at 4");
    assert_eq!(gap.message, "Fatal error in workflow machines: History is out of order. Last processed event: 0, event id: 4");
}

#[test]
fn history_ends_before_the_started_event() {
    let events = single_timer().events;
    for known in 1..8 {
        let mut buffer = HistoryBuffer::new();
        buffer.begin_task(3, 8);
        let short = buffer.push(slim(&events[..known]), true).expect_err("no more pages, 8 not reached");
        assert_eq!(short.code, codes::HISTORY_INCOMPLETE);
        assert_eq!(
            short.message,
            format!("Fatal error in workflow machines: History ends at event {known} although the task was started by event 8")
        );
    }
}

/// A dropped speculative task (2.8): events that were applied after the point to go back to come again.
#[test]
fn rewind_after_a_dropped_speculative_task() {
    // S W(2-4) TimerStarted(5) w(6-7, speculative, dropped); then TimerFired(6) w(7-8)
    let dropped = HistoryBuilder::new().w_native().timer_started("1").w_open();
    let real = HistoryBuilder::new().w_native().timer_started("1").timer_fired("1").w_open();
    let mut buffer = HistoryBuffer::new();
    buffer.push(slim(dropped.events), true).expect("with the speculative task");
    let mut seen = Vec::new();
    assert_eq!(take_all(&mut buffer, &mut seen), Next::End);
    assert_eq!((buffer.last_taken_id(), buffer.last_taken_started_id()), (7, 7));
    buffer.rewind(5, 3);
    buffer.begin_task(3, 8);
    buffer.push(slim(&real.events[3..]), true).expect("the real task, from the completion on");
    let mut seen = Vec::new();
    assert_eq!(take_all(&mut buffer, &mut seen), Next::End);
    assert_eq!(seen, [(vec![6, 7, 8], None)]);
}
