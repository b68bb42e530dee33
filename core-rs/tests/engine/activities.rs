//! Activities: retries, the four timeouts, heartbeats, cancellation, completion by id, matching.
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::failure::v1::{Failure, failure::FailureInfo};
use temporalex_core::api::history::v1::{HistoryEvent, history_event::Attributes as A};
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

fn with_activity(change: impl FnOnce(&mut temporalex_core::api::command::v1::ScheduleActivityTaskCommandAttributes)) -> T {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity_with("1", change)]);
    t
}

fn timed_out(h: &[HistoryEvent]) -> (Failure, i32, i64) {
    let A::ActivityTaskTimedOutEventAttributes(a) = attrs(find(h, E::ActivityTaskTimedOut)) else { panic!() };
    (a.failure.clone().unwrap(), a.retry_state, a.started_event_id)
}

fn timeout_type(f: &Failure) -> i32 {
    match &f.failure_info {
        Some(FailureInfo::TimeoutFailureInfo(i)) => i.timeout_type,
        other => panic!("{other:?}"),
    }
}

#[test]
fn retries_follow_the_policy_and_leave_no_events() {
    let mut t = with_activity(|_| {});
    let mut waited = Vec::new();
    for attempt in 1..=4 {
        let a = t.activity();
        assert_eq!(a.attempt, attempt);
        t.fail_activity(&a, failure("E", "again")).unwrap();
        assert_eq!(t.fail_activity(&a, failure("E", "again")).unwrap_err().code, 5, "an attempt fails once");
        assert!(t.try_activity().is_none());
        let p = &t.describe("w", "").unwrap().pending_activities[0];
        assert_eq!((p.attempt, p.state, p.last_failure.as_ref().unwrap().message.as_str()), (attempt + 1, 1, "again"));
        assert!(p.next_attempt_schedule_time.is_some());
        let options = p.activity_options.as_ref().unwrap();
        assert_eq!(options.task_queue.as_ref().unwrap().name, QUEUE);
        assert_eq!((options.start_to_close_timeout, options.heartbeat_timeout), (dur(10_000), dur(0)));
        assert_eq!(options.retry_policy.as_ref().unwrap().backoff_coefficient, 2.0);
        t.check_memory();
        let before = t.now;
        assert!(t.skip());
        waited.push((t.now - before) as i64);
    }
    assert_eq!(waited, [1_000, 2_000, 4_000, 8_000], "1 s, doubled");
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted ActScheduled");
    let a = t.activity();
    t.complete_activity(&a, "1").unwrap();
    let h = t.history("w", "");
    let A::ActivityTaskStartedEventAttributes(s) = attrs(find(&h, E::ActivityTaskStarted)) else { panic!() };
    assert_eq!((s.attempt, s.last_failure.as_ref().unwrap().message.as_str()), (5, "again"));
    t.check_memory();
}

#[test]
fn the_interval_is_capped_and_attempts_end() {
    let mut t = with_activity(|a| {
        a.retry_policy = Some(temporalex_core::api::common::v1::RetryPolicy {
            initial_interval: dur(1_000),
            backoff_coefficient: 10.0,
            maximum_interval: dur(5_000),
            maximum_attempts: 4,
            ..Default::default()
        })
    });
    let mut waited = Vec::new();
    for _ in 1..=3 {
        let a = t.activity();
        t.fail_activity(&a, failure("E", "again")).unwrap();
        let before = t.now;
        t.skip();
        waited.push((t.now - before) as i64);
    }
    assert_eq!(waited, [1_000, 5_000, 5_000]);
    let a = t.activity();
    t.fail_activity(&a, failure("E", "the last")).unwrap();
    let h = t.history("w", "");
    let A::ActivityTaskFailedEventAttributes(f) = attrs(find(&h, E::ActivityTaskFailed)) else { panic!() };
    assert_eq!((f.retry_state, f.failure.as_ref().unwrap().message.as_str(), f.started_event_id), (4, "the last", 6));
}

#[test]
fn a_failure_can_end_the_retries_or_set_the_delay() {
    let non_retryable = |f: &mut Failure| {
        if let Some(FailureInfo::ApplicationFailureInfo(i)) = &mut f.failure_info {
            i.non_retryable = true;
        }
    };
    let mut t = with_activity(|_| {});
    let a = t.activity();
    let mut f = failure("E", "final");
    non_retryable(&mut f);
    t.fail_activity(&a, f).unwrap();
    let h = t.history("w", "");
    let A::ActivityTaskFailedEventAttributes(f) = attrs(find(&h, E::ActivityTaskFailed)) else { panic!() };
    assert_eq!(f.retry_state, 2);

    let mut t = with_activity(|a| {
        a.retry_policy = Some(temporalex_core::api::common::v1::RetryPolicy {
            non_retryable_error_types: vec!["Fatal".into()],
            ..Default::default()
        })
    });
    let a = t.activity();
    t.fail_activity(&a, failure("fatal", "the case counts")).unwrap();
    t.skip();
    let a = t.activity();
    let mut f = failure("E", "later");
    if let Some(FailureInfo::ApplicationFailureInfo(i)) = &mut f.failure_info {
        i.next_retry_delay = dur(123_000);
    }
    t.fail_activity(&a, f).unwrap();
    let before = t.now;
    t.skip();
    assert_eq!(t.now - before, 123_000.0, "the failure's own delay wins, over the cap too");
    let a = t.activity();
    t.fail_activity(&a, failure("Fatal", "x")).unwrap();
    let h = t.history("w", "");
    let A::ActivityTaskFailedEventAttributes(f) = attrs(find(&h, E::ActivityTaskFailed)) else { panic!() };
    assert_eq!((f.retry_state, t.try_activity().is_none()), (2, true));
}

#[test]
fn start_to_close_is_retried_and_then_times_out() {
    let mut t = with_activity(|a| a.retry_policy = retry_policy(2));
    let first = t.activity();
    t.advance(10_000.0);
    assert_eq!(t.complete_activity(&first, "late").unwrap_err().code, 5);
    t.skip();
    let second = t.activity();
    assert_eq!(second.attempt, 2);
    t.heartbeat(&second, "\"half\"").unwrap();
    t.advance(10_000.0);
    let h = t.history("w", "");
    let (f, state, started) = timed_out(&h);
    assert_eq!(
        (f.message.as_str(), f.source.as_str(), timeout_type(&f), state),
        ("activity StartToClose timeout", "Server", 1, 4)
    );
    assert_eq!(started, 6);
    assert_eq!(f.cause.as_ref().unwrap().message, "activity StartToClose timeout", "the attempt before is the cause");
    let Some(FailureInfo::TimeoutFailureInfo(i)) = &f.failure_info else { panic!() };
    assert_eq!(i.last_heartbeat_details, Some(json("\"half\"")));
    assert_eq!(t.heartbeat(&second, "1").unwrap_err().code, 5);
    t.check_memory();
}

#[test]
fn schedule_to_start_is_final() {
    let mut t = with_activity(|a| a.schedule_to_start_timeout = dur(500));
    t.advance(500.0);
    let h = t.history("w", "");
    let (f, state, started) = timed_out(&h);
    assert_eq!((f.message.as_str(), timeout_type(&f), state, started), ("activity ScheduleToStart timeout", 2, 2, 0));
    assert_eq!(shape(&h[4..]), "ActScheduled ActTimedOut WTScheduled", "an activity that never started has no Started event");
    assert!(t.try_activity().is_none(), "and is gone from its queue");
}

#[test]
fn schedule_to_close_spans_attempts() {
    let mut t = with_activity(|a| a.schedule_to_close_timeout = dur(2_500));
    let h = t.history("w", "");
    let A::ActivityTaskScheduledEventAttributes(s) = attrs(&h[4]) else { panic!() };
    assert_eq!(
        (s.schedule_to_start_timeout, s.start_to_close_timeout),
        (dur(2_500), dur(2_500)),
        "the shorter bounds the others"
    );
    let a = t.activity();
    t.fail_activity(&a, failure("E", "one")).unwrap();
    t.advance(1_000.0);
    let a = t.activity();
    // The next retry would come after the deadline: it is not waited for.
    t.fail_activity(&a, failure("E", "two")).unwrap();
    let h = t.history("w", "");
    let A::ActivityTaskFailedEventAttributes(f) = attrs(find(&h, E::ActivityTaskFailed)) else { panic!() };
    assert_eq!((f.retry_state, f.failure.as_ref().unwrap().message.as_str()), (3, "two"));

    let mut t = with_activity(|a| {
        a.schedule_to_close_timeout = dur(2_500);
        a.start_to_close_timeout = None;
    });
    let a = t.activity();
    t.advance(2_500.0);
    let h = t.history("w", "");
    let (f, state, _) = timed_out(&h);
    assert_eq!((timeout_type(&f), state), (3, 2));
    assert_eq!(t.complete_activity(&a, "1").unwrap_err().code, 5);

    // A start-to-close timeout that leaves no time for a retry is reported as schedule-to-close.
    let mut t = with_activity(|a| {
        a.schedule_to_close_timeout = dur(2_500);
        a.start_to_close_timeout = dur(2_000);
    });
    t.activity();
    t.advance(2_000.0);
    let h = t.history("w", "");
    let (f, state, _) = timed_out(&h);
    assert_eq!((timeout_type(&f), state), (3, 3));
    assert!(f.message.starts_with("Not enough time to schedule next retry"), "{}", f.message);
}

#[test]
fn heartbeats_keep_an_attempt_alive_and_their_details_survive() {
    let mut t = with_activity(|a| {
        a.heartbeat_timeout = dur(1_000);
        a.start_to_close_timeout = dur(60_000);
        a.retry_policy = retry_policy(2);
    });
    let a = t.activity();
    assert_eq!(a.heartbeat_timeout, dur(1_000));
    for i in 0..5 {
        t.advance(900.0);
        assert!(!t.heartbeat(&a, &i.to_string()).unwrap().cancel_requested);
    }
    t.check_memory();
    t.restart();
    t.advance(1_000.0);
    t.skip();
    let b = t.activity();
    assert_eq!((b.attempt, b.heartbeat_details.clone()), (2, Some(json("4"))));
    assert_eq!(t.heartbeat(&a, "9").unwrap_err().code, 5, "the attempt before has no say any more");
    t.advance(1_000.0);
    let h = t.history("w", "");
    let (f, state, _) = timed_out(&h);
    assert_eq!((f.message.as_str(), timeout_type(&f), state), ("activity Heartbeat timeout", 4, 4));
}

#[test]
fn a_timeout_type_can_be_named_non_retryable() {
    let mut t = with_activity(|a| {
        a.retry_policy = Some(temporalex_core::api::common::v1::RetryPolicy {
            non_retryable_error_types: vec!["TemporalTimeout:StartToClose".into()],
            ..Default::default()
        })
    });
    t.activity();
    t.advance(10_000.0);
    let h = t.history("w", "");
    assert_eq!(timed_out(&h).1, 2);
}

#[test]
fn cancellation_reaches_a_running_activity_through_its_heartbeat() {
    let mut t = with_activity(|a| a.heartbeat_timeout = dur(5_000));
    let a = t.activity();
    t.signal("w", "stop").unwrap();
    let task = t.task();
    t.complete(&task, vec![cancel_activity(5)]);
    assert_eq!(t.describe("w", "").unwrap().pending_activities[0].state, 3);
    assert!(t.heartbeat(&a, "1").unwrap().cancel_requested);
    let request = RespondActivityTaskCanceledRequest {
        task_token: a.task_token.clone(),
        details: Some(json("\"cleaned\"")),
        identity: "worker".into(),
        ..Default::default()
    };
    t.call::<RespondActivityTaskCanceledResponse>(M::RespondActivityTaskCanceled, &request).unwrap();
    let h = t.history("w", "");
    assert_eq!(shape(&h[8..]), "WTCompleted ActCancelRequested ActStarted ActCanceled WTScheduled");
    let A::ActivityTaskCanceledEventAttributes(c) = attrs(&h[11]) else { panic!() };
    assert_eq!((c.latest_cancel_requested_event_id, c.scheduled_event_id, c.started_event_id), (10, 5, 11));
    assert_eq!(c.details, Some(json("\"cleaned\"")));
    t.check_memory();
}

#[test]
fn an_activity_that_no_worker_has_is_cancelled_at_once() {
    let mut t = with_activity(|_| {});
    t.signal("w", "stop").unwrap();
    let task = t.task();
    t.complete(&task, vec![cancel_activity(5), marker("after")]);
    let h = t.history("w", "");
    assert_eq!(shape(&h[8..]), "WTCompleted ActCancelRequested MarkerRecorded ActCanceled WTScheduled");
    let A::ActivityTaskCanceledEventAttributes(c) = attrs(&h[11]) else { panic!() };
    assert_eq!((c.started_event_id, c.details.clone()), (0, Some(json("\"ACTIVITY_ID_NOT_STARTED\""))));
    assert!(t.try_activity().is_none());
    t.check_memory();
    // Together with the end of the workflow only the request is recorded.
    let mut t = with_activity(|_| {});
    t.signal("w", "stop").unwrap();
    let task = t.task();
    let e = t.try_complete(&task, vec![cancel_activity(5), done()]);
    assert!(e.is_ok(), "{e:?}");
    assert_eq!(shape(&t.history("w", "")[8..]), "WTCompleted ActCancelRequested Completed");
}

#[test]
fn a_cancelled_activity_is_not_retried() {
    let mut t = with_activity(|_| {});
    let a = t.activity();
    t.signal("w", "stop").unwrap();
    let task = t.task();
    t.complete(&task, vec![cancel_activity(5)]);
    t.fail_activity(&a, failure("E", "x")).unwrap();
    let h = t.history("w", "");
    let A::ActivityTaskFailedEventAttributes(f) = attrs(find(&h, E::ActivityTaskFailed)) else { panic!() };
    assert_eq!(f.retry_state, 7);
    let request = RespondActivityTaskCanceledByIdRequest {
        namespace: "default".into(),
        workflow_id: "w".into(),
        activity_id: "1".into(),
        ..Default::default()
    };
    assert_eq!(
        t.call::<RespondActivityTaskCanceledByIdResponse>(M::RespondActivityTaskCanceledById, &request).unwrap_err().code,
        5
    );
}

#[test]
fn cancelled_needs_a_request_first() {
    let mut t = with_activity(|_| {});
    let a = t.activity();
    let request = RespondActivityTaskCanceledRequest { task_token: a.task_token.clone(), ..Default::default() };
    let e = t.call::<RespondActivityTaskCanceledResponse>(M::RespondActivityTaskCanceled, &request).unwrap_err();
    assert_eq!(e.code, 3);
    t.complete_activity(&a, "1").unwrap();
}

#[test]
fn cancel_of_an_activity_whose_end_is_buffered_is_only_recorded() {
    let mut t = with_activity(|_| {});
    let a = t.activity();
    t.signal("w", "x").unwrap();
    let task = t.task();
    t.complete_activity(&a, "1").unwrap();
    t.complete(&task, vec![cancel_activity(5)]);
    assert_eq!(shape(&t.history("w", "")[8..]), "WTCompleted ActCancelRequested ActStarted ActCompleted WTScheduled");
}

fn by_id(t: &mut T, id: &str) -> Answer<RespondActivityTaskCompletedByIdResponse> {
    let request = RespondActivityTaskCompletedByIdRequest {
        namespace: "default".into(),
        workflow_id: "w".into(),
        activity_id: id.into(),
        result: Some(json("\"by id\"")),
        identity: "outside".into(),
        ..Default::default()
    };
    t.call(M::RespondActivityTaskCompletedById, &request)
}

#[test]
fn completion_by_id_is_accepted_once() {
    let mut t = with_activity(|_| {});
    t.activity();
    by_id(&mut t, "1").unwrap();
    assert_eq!(by_id(&mut t, "1").unwrap_err().code, 5);
    assert_eq!(by_id(&mut t, "unknown").unwrap_err().code, 5);
    let h = t.history("w", "");
    let A::ActivityTaskCompletedEventAttributes(c) = attrs(find(&h, E::ActivityTaskCompleted)) else { panic!() };
    assert_eq!((c.identity.as_str(), c.result.clone()), ("outside", Some(json("\"by id\""))));
}

#[test]
fn an_activity_that_was_never_polled_can_be_completed_by_id() {
    let mut t = with_activity(|_| {});
    by_id(&mut t, "1").unwrap();
    assert_eq!(shape(&t.history("w", "")[4..]), "ActScheduled ActStarted ActCompleted WTScheduled");
    assert!(t.try_activity().is_none());
    t.check_memory();
}

#[test]
fn failure_and_heartbeat_by_id() {
    let mut t = with_activity(|a| a.retry_policy = retry_policy(1));
    t.activity();
    let beat = RecordActivityTaskHeartbeatByIdRequest {
        namespace: "default".into(),
        workflow_id: "w".into(),
        activity_id: "1".into(),
        details: Some(json("1")),
        ..Default::default()
    };
    assert!(
        !t.call::<RecordActivityTaskHeartbeatByIdResponse>(M::RecordActivityTaskHeartbeatById, &beat).unwrap().cancel_requested
    );
    let request = RespondActivityTaskFailedByIdRequest {
        namespace: "default".into(),
        workflow_id: "w".into(),
        activity_id: "1".into(),
        failure: Some(failure("E", "by id")),
        ..Default::default()
    };
    t.call::<RespondActivityTaskFailedByIdResponse>(M::RespondActivityTaskFailedById, &request).unwrap();
    let h = t.history("w", "");
    let A::ActivityTaskFailedEventAttributes(f) = attrs(find(&h, E::ActivityTaskFailed)) else { panic!() };
    assert_eq!(f.retry_state, 4);
}

#[test]
fn tasks_and_polls_are_matched_first_in_first_out() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, (1..=3).map(|i| activity(&i.to_string())).collect());
    let got: Vec<String> = (0..3).map(|_| t.activity().activity_id).collect();
    assert_eq!(got, ["1", "2", "3"]);
    let mut t = T::new();
    let polls: Vec<u32> = (0..3).map(|_| t.poll_activity_id(QUEUE)).collect();
    t.flush();
    t.engine.cancel_request(polls[0]);
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity("1")]);
    assert!(t.take::<PollActivityTaskQueueResponse>(polls[0]).is_none(), "a cancelled poll gets no reply");
    let a: PollActivityTaskQueueResponse = t.take(polls[1]).unwrap().unwrap();
    assert_eq!(a.activity_id, "1");
    assert!(t.take::<PollActivityTaskQueueResponse>(polls[2]).is_none());
    t.engine.expire_request(polls[2]);
    t.flush();
    let empty: PollActivityTaskQueueResponse = t.take(polls[2]).unwrap().unwrap();
    assert!(empty.task_token.is_empty(), "an expired poll returns an empty response");
}

#[test]
fn activities_go_to_their_own_queue() {
    let mut t = with_activity(|a| a.task_queue = Some(queue("other")));
    assert!(t.try_activity().is_none());
    let id = t.poll_activity_id("other");
    t.flush();
    assert!(t.take::<PollActivityTaskQueueResponse>(id).is_some());
    // No queue named: the workflow's.
    let mut t = with_activity(|a| a.task_queue = None);
    assert!(t.try_activity().is_some());
}

#[test]
fn big_inputs_are_stored_once() {
    let mut t = with_activity(|a| {
        a.input = Some(json(&format!("\"{}\"", "x".repeat(10_000))));
        a.heartbeat_timeout = dur(60_000);
    });
    let a = t.activity();
    assert_eq!(a.input.as_ref().unwrap().payloads[0].data.len(), 10_002);
    let id = t.send(
        M::RecordActivityTaskHeartbeat,
        &RecordActivityTaskHeartbeatRequest { task_token: a.task_token.clone(), details: Some(json("1")), ..Default::default() },
    );
    let flush = t.flush();
    t.take::<RecordActivityTaskHeartbeatResponse>(id).unwrap().unwrap();
    let bytes: usize = flush.writes.iter().flat_map(|w| w.put.iter()).map(|i| i.value.len()).sum();
    assert!(bytes < 500, "a heartbeat writes {bytes} bytes");
    t.check_memory();
    t.restart();
    t.check_memory();
    t.complete_activity(&a, "1").unwrap();
    t.check_memory();
    let left: Vec<_> = t.store.runs.values().flat_map(|s| s.items.keys().cloned()).collect();
    assert!(left.is_empty(), "{left:?}");
}
