//! How an activity ends by its four timeouts, held against what a Temporal server (1.29.1) did: every combination of them, unset (-), short
//! (s) or long (l), in several lives. `activity_timeouts.txt` is the record; tests/system/interop/activity_timeouts.test.ts makes and checks it.
//!
//! A line: scheduleToClose, scheduleToStart, startToClose, heartbeat; the life; attempts at most (0: no limit) | the timeouts as scheduled,
//! the attempt that had started, the end.
use temporalex_core::api::enums::v1::{RetryState, TimeoutType};
use temporalex_core::api::failure::v1::{Failure, failure::FailureInfo};
use temporalex_core::api::history::v1::history_event::Attributes as A;

use super::support::*;

const RECORD: &str = include_str!("activity_timeouts.txt");
const SHORT: i64 = 4_000;
const LONG: i64 = 14_000;
/// Between a task and its worker.
const PAUSE: f64 = 20.0;

fn span(c: char) -> Option<prost_types::Duration> {
    match c {
        's' => dur(SHORT),
        'l' => dur(LONG),
        _ => None,
    }
}

fn span_text(d: &Option<prost_types::Duration>) -> String {
    match d.map_or(0, |d| d.seconds * 1000 + i64::from(d.nanos) / 1_000_000) {
        0 => "-".into(),
        SHORT => "s".into(),
        LONG => "l".into(),
        ms => format!("{ms}ms"),
    }
}

fn failure_text(failure: Option<&Failure>) -> String {
    let mut parts = Vec::new();
    let mut next = failure;
    while let Some(f) = next {
        parts.push(match &f.failure_info {
            Some(FailureInfo::TimeoutFailureInfo(i)) => {
                let kind = TimeoutType::try_from(i.timeout_type).unwrap().as_str_name().replace("TIMEOUT_TYPE_", "");
                let beat = if i.last_heartbeat_details.is_some() { "(beat)" } else { "" };
                format!("{kind}{beat}: {}", f.message)
            }
            _ => f.message.clone(),
        });
        next = f.cause.as_deref();
    }
    parts.join(" < ")
}

fn state_text(state: i32) -> String {
    RetryState::try_from(state).unwrap().as_str_name().replace("RETRY_STATE_", "")
}

fn verdict(case: &str) -> String {
    let [spans, life, attempts] = case.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let spans: Vec<char> = spans.chars().collect();
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let scheduled = activity_with("1", |a| {
        a.schedule_to_close_timeout = span(spans[0]);
        a.schedule_to_start_timeout = span(spans[1]);
        a.start_to_close_timeout = span(spans[2]);
        a.heartbeat_timeout = span(spans[3]);
        a.retry_policy = retry_policy(attempts.parse().unwrap());
        let policy = a.retry_policy.as_mut().unwrap();
        policy.initial_interval = dur(if life == "backoff" { 60_000 } else { 100 });
        policy.backoff_coefficient = 1.0;
    });
    t.complete(&task, vec![scheduled]);
    let end = t.now + 2.0 * LONG as f64 + 5_000.0;
    let taken = |t: &mut T| {
        t.advance(PAUSE);
        t.activity()
    };
    match life {
        "never" => {}
        "held" => drop(taken(&mut t)),
        "beats" => {
            let a = taken(&mut t);
            t.heartbeat(&a, "\"beat\"").unwrap();
        }
        "backoff" | "queued" | "again" => {
            let a = taken(&mut t);
            t.fail_activity(&a, failure("E", "again")).unwrap();
            if life == "again" {
                t.advance(100.0);
                taken(&mut t);
            }
        }
        other => panic!("the life {other}"),
    }
    while t.now < end && t.skip() {}
    let (mut as_scheduled, mut started, mut outcome) = (String::new(), String::new(), "open".to_string());
    for e in t.history("w", "") {
        match attrs(&e) {
            A::ActivityTaskScheduledEventAttributes(a) => {
                let all =
                    [&a.schedule_to_close_timeout, &a.schedule_to_start_timeout, &a.start_to_close_timeout, &a.heartbeat_timeout];
                as_scheduled = all.map(span_text).concat();
            }
            A::ActivityTaskStartedEventAttributes(a) => started = format!(" attempt {}", a.attempt),
            A::ActivityTaskTimedOutEventAttributes(a) => {
                outcome = format!("timed out, {}: {}", state_text(a.retry_state), failure_text(a.failure.as_ref()))
            }
            A::ActivityTaskFailedEventAttributes(a) => {
                outcome = format!("failed, {}: {}", state_text(a.retry_state), failure_text(a.failure.as_ref()))
            }
            _ => {}
        }
    }
    format!("{as_scheduled}{started} {outcome}")
}

#[test]
fn activities_time_out_as_on_a_server() {
    let rows: Vec<(&str, &str)> = RECORD.lines().map(|line| line.split_once(" | ").unwrap()).collect();
    assert_eq!(rows.len(), 648);
    let wrong: Vec<String> = rows
        .iter()
        .map(|(case, recorded)| (case, recorded, verdict(case)))
        .filter(|(_, recorded, got)| got != *recorded)
        .map(|(case, recorded, got)| format!("{case}\n  server: {recorded}\n  engine: {got}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
