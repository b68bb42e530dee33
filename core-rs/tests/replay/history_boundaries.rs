//! Where sequences end, by all three rules (docs/dev/semantics/history.md#sequences).
use crate::support::HistoryBuilder;
use crate::support::slim::slim;
use temporalex_core::api::history::v1::HistoryEvent;
use temporalex_core::boundary::JobOrder;
use temporalex_core::history::{BoundaryRule, Event, HistoryBuffer, Next, choose_rule};

use BoundaryRule::{Core, CoreChunkingV2, Unmerged};

/// (first id, last id) of every sequence of a complete history; the look-ahead of each is checked against the next one taken.
fn sequences(rule: BoundaryRule, events: &[HistoryEvent]) -> Vec<(i64, i64)> {
    let mut buffer = HistoryBuffer::new();
    buffer.set_rule(rule);
    buffer.push(slim(events), true).expect("a sound history");
    drain(&mut buffer)
}

fn drain(buffer: &mut HistoryBuffer) -> Vec<(i64, i64)> {
    let mut out = Vec::new();
    loop {
        let peeked = buffer.peek().map(<[Event]>::to_vec);
        match buffer.take_next() {
            Next::Sequence(taken) => {
                assert_eq!(peeked.as_ref(), Some(&taken), "the look-ahead showed something else");
                out.push((taken[0].event_id, taken[taken.len() - 1].event_id));
            }
            Next::End => {
                assert_eq!(peeked, None);
                return out;
            }
            Next::NeedMore => panic!("the history is complete"),
        }
    }
}

fn lengths(rule: BoundaryRule, history: &HistoryBuilder) -> Vec<i64> {
    sequences(rule, &history.events).iter().map(|(first, last)| last - first + 1).collect()
}

/// S W(2-4) TimerStarted(5) TimerFired(6) w(7-8)
fn single_timer() -> HistoryBuilder {
    HistoryBuilder::new().w().timer_started("1").timer_fired("1").w_open()
}

#[test]
fn std_sequence() {
    for rule in [Unmerged, Core, CoreChunkingV2] {
        assert_eq!(sequences(rule, &single_timer().events), [(1, 3), (4, 8)], "{rule:?}");
    }
}

/// S W(2-4) TimerStarted(5) TimerFired(6) wF(7-9) w(10-11)
#[test]
fn task_failed_skipped() {
    let history = HistoryBuilder::new().w().timer_started("1").timer_fired("1").w_reset("new-run").w_open();
    for rule in [Unmerged, Core, CoreChunkingV2] {
        assert_eq!(sequences(rule, &history.events), [(1, 3), (4, 11)], "{rule:?}");
        assert_eq!(lengths(rule, &history), [3, 8]);
    }
}

/// S W(2-4) ActS(5) ActSt(6) ActC(7) scheduled(8) Signal(9) started(10) timed out(11) Signal(12) w(13-14)
#[test]
fn task_timeout_skipped() {
    let history = HistoryBuilder::new().w().act_scheduled("1").act_done("1");
    let history = history.scheduled().signal("a").started().timed_out_task().signal("b").w_open();
    for rule in [Unmerged, Core, CoreChunkingV2] {
        assert_eq!(sequences(rule, &history.events), [(1, 3), (4, 14)], "{rule:?}");
        assert_eq!(lengths(rule, &history), [3, 11]);
    }
}

/// A buffer whose run has already applied 1-3 gets the whole history again.
#[test]
fn start_mid() {
    let mut buffer = HistoryBuffer::new();
    buffer.set_rule(Unmerged);
    let events = single_timer().events;
    buffer.push(slim(&events[..3]), true).expect("first task");
    assert_eq!(drain(&mut buffer), [(1, 3)]);
    buffer.push(slim(events), true).expect("the whole history again");
    assert_eq!(drain(&mut buffer), [(4, 8)]);
    assert_eq!(buffer.last_taken_started_id(), 8);
}

/// S W(2-4) TimerStarted(5) TimerFired(6) w(7-8) Terminated(9)
#[test]
fn abrupt_terminated() {
    let history = single_timer().wf_terminated();
    assert_eq!(sequences(Unmerged, &history.events), [(1, 3), (4, 9)]);
    assert_eq!(sequences(Core, &history.events), [(1, 3), (4, 9)]);
    // The second rule keeps the task that was under way apart from the end of the run.
    assert_eq!(sequences(CoreChunkingV2, &history.events), [(1, 3), (4, 8), (9, 9)]);
}

/// S W(2-4) W(5-7) TmrS(8) W(9-11) W(12-14) W(15-17) W(18-20) TmrS(21) w(22-23) completed(24) Sig(25) W(26-28) Completed(29)
fn heartbeats() -> HistoryBuilder {
    let history = HistoryBuilder::new().w().w().timer_started("1").w().w().w().w().timer_started("2").w();
    history.signal("whee").w().wf_completed()
}

#[test]
fn heartbeats_core() {
    assert_eq!(lengths(Core, &heartbeats()), [6, 4, 9, 4, 4, 2]);
}

#[test]
fn heartbeats_unmerged() {
    // Every completed task ends its own sequence; those of the empty ones hold nothing that could become a job.
    let ends: Vec<i64> = sequences(Unmerged, &heartbeats().events).iter().map(|(_, last)| *last).collect();
    assert_eq!(ends, [3, 6, 10, 13, 16, 19, 23, 27, 29]);
}

/// The second rule never merges a task that something could have observed: the start of the run, a timer, a signal.
#[test]
fn heartbeats_chunking_v2() {
    let ends: Vec<i64> = sequences(CoreChunkingV2, &heartbeats().events).iter().map(|(_, last)| *last).collect();
    // 13 is empty and its successor 16 is too, and so on to 19, whose commands end the chain.
    assert_eq!(ends, [3, 6, 10, 19, 23, 27, 29]);
}

/// S W(2-4) W(5-7) LaMarker(8) Completed(9)
#[test]
fn heartbeat_then_marker() {
    let history = HistoryBuilder::new().w().w().la_marker(1, "1", crate::support::json("1")).wf_completed();
    let mut buffer = HistoryBuffer::new();
    buffer.set_rule(Core);
    buffer.push(slim(&history.events[..3]), true).expect("first task");
    assert_eq!(drain(&mut buffer), [(1, 3)]);
    buffer.push(slim(&history.events), true).expect("the rest");
    assert_eq!(drain(&mut buffer), [(4, 6), (7, 9)]);
    assert_eq!(lengths(Unmerged, &history), [3, 3, 3]);
}

/// S W(2-4) Signal(5) W(6-8) LaMarker(9) ActS(10) ActSt(11) ActC(12) wT(13-15) wT(16-18) w(19-20)
#[test]
fn local_activity_marker_chunk() {
    let history = HistoryBuilder::new().w().signal("s").w().la_marker(1, "1", crate::support::json("1"));
    let history = history.act_scheduled("1").act_done("1").w_timed_out().w_timed_out().w_open();
    for rule in [Unmerged, Core, CoreChunkingV2] {
        assert_eq!(lengths(rule, &history), [3, 4, 13], "{rule:?}");
    }
}

/// S W(2-4) Sig(5) W(6-8) Sig(9) W(10-12) Completed(13)
#[test]
fn signal_only_task() {
    let history = HistoryBuilder::new().w().signal("a").w().signal("b").w().wf_completed();
    for rule in [Unmerged, Core, CoreChunkingV2] {
        assert_eq!(lengths(rule, &history), [3, 4, 4, 2], "{rule:?}");
    }
}

/// S wF(2-4) W(5-7) UpdAccepted(8, sequenced at 2) TimerStarted(9) UpdCompleted(10) TimerFired(11) W(12-14)
#[test]
fn fail_first_with_update() {
    let history = HistoryBuilder::new().w_failed().w().update_accepted_at("u", "upd", 2).timer_started("1");
    let history = history.update_completed("u").timer_fired("1").w();
    for rule in [Unmerged, Core, CoreChunkingV2] {
        let lengths = lengths(rule, &history);
        assert_eq!(lengths[..2], [6, 7], "{rule:?}");
    }
}

/// S W(2-4) W(5-7) UpdAccepted(8, sequenced at 5) TimerStarted(9) UpdCompleted(10) TimerFired(11) W(12-14)
#[test]
fn update_after_empty() {
    let history = HistoryBuilder::new().w().w().update_accepted("u", "upd").timer_started("1");
    let history = history.update_completed("u").timer_fired("1").w();
    for rule in [Unmerged, Core, CoreChunkingV2] {
        let lengths = lengths(rule, &history);
        assert_eq!(lengths[..2], [3, 3], "{rule:?}");
    }
}

/// S W(2-4) W(5-7) TimerStarted(8) UpdAccepted(9, sequenced at 5) w(10-11)
#[test]
fn accepted_not_first_command() {
    let history = HistoryBuilder::new().w().w().timer_started("1").update_accepted("u", "upd").w_open();
    assert_eq!(sequences(Unmerged, &history.events), [(1, 3), (4, 6), (7, 11)]);
    // Core looks only at the first command behind the completion.
    assert_eq!(sequences(Core, &history.events), [(1, 6), (7, 11)]);
    assert_eq!(sequences(CoreChunkingV2, &history.events), [(1, 3), (4, 6), (7, 11)]);
}

/// S W(2-4) Signal(5) W(6-8) W(9-11) W(12-14) TimerStarted(15) UpdAccepted(16) w(17-18): sequenced at 9 or at 12.
#[test]
fn chunking_v2_keeps_the_task_before_an_accepted_update() {
    let history = |sequencing| {
        let history = HistoryBuilder::new().w().signal("s").w().w().w().timer_started("1");
        history.update_accepted_at("u", "upd", sequencing).w_open()
    };
    // 10 is empty, but its successor 13 is the one whose commands accept an update, so it is not merged into that.
    for sequencing in [9, 12] {
        let found = sequences(CoreChunkingV2, &history(sequencing).events);
        assert_eq!(found, [(1, 3), (4, 7), (8, 10), (11, 13), (14, 18)], "sequenced at {sequencing}");
    }
}

/// S W(2-4) Signal(5) W(6-8) W(9-11) w(12-13): an update came with the open task, so the heartbeat before it stays apart.
#[test]
fn chunking_v2_keeps_the_task_of_a_waiting_update() {
    let history = HistoryBuilder::new().w().signal("s").w().w().w_open();
    let run = |positions: &[i64]| {
        let mut buffer = HistoryBuffer::new();
        buffer.set_rule(CoreChunkingV2);
        buffer.begin_task(10, 13);
        buffer.set_update_positions(positions.to_vec());
        buffer.push(slim(&history.events), true).expect("a sound history");
        drain(&mut buffer)
    };
    assert_eq!(run(&[]), [(1, 3), (4, 7), (8, 13)]);
    assert_eq!(run(&[12]), [(1, 3), (4, 7), (8, 10), (11, 13)]);
    // A place that an earlier sequence holds says nothing about later ones.
    assert_eq!(run(&[5]), [(1, 3), (4, 7), (8, 13)]);
}

/// An admitted update (after a reset) is as good as a message: S W(2-4) Sig(5) W(6-8) W(9-11) Admitted(12) w(13-14)
#[test]
fn chunking_v2_admitted_update_ends_the_chain() {
    let history = HistoryBuilder::new().w().signal("s").w().w().update_admitted("u", "upd").w_open();
    assert_eq!(sequences(CoreChunkingV2, &history.events), [(1, 3), (4, 7), (8, 10), (11, 14)]);
}

/// The completion of the first task.
fn completed(history: &HistoryBuilder) -> Event {
    slim(&history.events[3..4]).remove(0)
}

/// The rule comes from the first successful completion, once.
#[test]
fn rule_choice() {
    let with = |flags: &[u32], name: &str| HistoryBuilder::new().w().meta(flags, &[], name, "1");
    let native = with(&[1, 2, 3], "temporalex-ts");
    assert_eq!(choose_rule(JobOrder::Native, Some(&completed(&native))), Unmerged);
    assert_eq!(choose_rule(JobOrder::Compat, Some(&completed(&native))), Core);
    let core = with(&[1, 2, 3], "temporal-typescript");
    assert_eq!(choose_rule(JobOrder::Native, Some(&completed(&core))), Core);
    assert_eq!(choose_rule(JobOrder::Compat, Some(&completed(&core))), Core);
    let chunking = with(&[1, 2, 3, 4], "temporal-typescript");
    assert_eq!(choose_rule(JobOrder::Native, Some(&completed(&chunking))), CoreChunkingV2);
    assert_eq!(choose_rule(JobOrder::Compat, Some(&completed(&chunking))), CoreChunkingV2);
    let bare = HistoryBuilder::new().w();
    assert_eq!(choose_rule(JobOrder::Native, Some(&completed(&bare))), Core);
    assert_eq!(choose_rule(JobOrder::Native, None), Unmerged);
    assert_eq!(choose_rule(JobOrder::Compat, None), Core);
}

/// The buffer reads the rule from what it is given, waits for it while pages are missing, and never changes it in mid-run.
#[test]
fn rule_is_read_once_from_the_first_completion() {
    // S wF(2-4) W(5-7, native) W(8-10, as if Core's second rule) w(11-12)
    let history = HistoryBuilder::new().w_failed().w_native().w().meta(&[4], &[], "temporal-go", "2").w_open();
    let mut buffer = HistoryBuffer::new();
    buffer.push(slim(&history.events[..6]), false).expect("first page");
    assert_eq!(buffer.rule(), None);
    assert_eq!(buffer.take_next(), Next::NeedMore);
    buffer.push(slim(&history.events[6..]), true).expect("second page");
    assert_eq!(buffer.rule(), Some(Unmerged));
    assert_eq!(drain(&mut buffer), [(1, 6), (7, 9), (10, 12)]);

    let mut live = HistoryBuffer::with_job_order(JobOrder::Native);
    live.push(slim(&history.events[..3]), true).expect("first task");
    assert_eq!(live.rule(), Some(Unmerged), "our own until a completion says otherwise");
    let mut compat = HistoryBuffer::with_job_order(JobOrder::Compat);
    compat.push(slim(&history.events), true).expect("whole");
    assert_eq!(compat.rule(), Some(Core));
}
