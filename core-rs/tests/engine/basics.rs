//! The first slice: start, tasks, timers, activities, signals, history, describe, load and abort.
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions};

use super::support::*;

#[test]
fn one_timer_from_start_to_end() {
    let mut t = T::new();
    let run = t.start("w");
    let task = t.task();
    assert_eq!(task.workflow_execution, Some(exec("w", &run)));
    assert_eq!((task.previous_started_event_id, task.started_event_id, task.attempt), (0, 3, 1));
    assert_eq!(shape(events(&task)), "Started WTScheduled WTStarted");
    t.complete(&task, vec![timer("1", 1_000)]);
    assert!(t.try_task().is_none(), "nothing to do before the timer");
    t.advance(999.0);
    assert!(t.try_task().is_none(), "a timer is never early");
    t.advance(1.0);
    let task = t.task();
    assert_eq!(shape(events(&task)), "Started WTScheduled WTStarted WTCompleted TimerStarted TimerFired WTScheduled WTStarted");
    assert_eq!((task.previous_started_event_id, task.started_event_id), (3, 8));
    t.complete(&task, vec![done()]);
    assert_eq!(
        t.shape("w"),
        "Started WTScheduled WTStarted WTCompleted TimerStarted TimerFired WTScheduled WTStarted WTCompleted Completed"
    );
    assert_eq!(t.status("w"), 2);
    t.check_memory();
}

#[test]
fn timers_that_fire_on_request_fire_then_and_not_when_they_are_due() {
    let mut t = T::with(EngineOptions { manual_timers: true, ..Default::default() });
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("1", 1_000), timer("2", 1_000)]);
    t.advance(86_400_000.0);
    assert!(t.try_task().is_none(), "none fires by itself");
    t.restart();
    t.advance(86_400_000.0);
    assert!(t.try_task().is_none(), "nor after a restart");
    let fire = |t: &mut T, id: &str| {
        let request = SignalWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_execution: Some(exec("w", "")),
            signal_name: id.into(),
            ..Default::default()
        };
        t.call::<SignalWorkflowExecutionResponse>(M::FireTimer, &request)
    };
    fire(&mut t, "2").unwrap();
    let task = t.task();
    assert_eq!(shape(&events(&task)[6..]), "TimerFired WTScheduled WTStarted");
    assert_eq!(fire(&mut t, "2").unwrap_err().code, 5, "it has fired");
    t.complete(&task, vec![done()]);
    assert_eq!(fire(&mut t, "1").unwrap_err().code, 5, "the run is closed");
    t.check_memory();
}

#[test]
fn a_run_may_be_started_with_timers_that_fire_on_request() {
    let mut t = T::new();
    let by_hand = |json: &'static str| {
        move |r: &mut StartWorkflowExecutionRequest| r.search_attributes = attributes(&[("WorkflowTimers", json)])
    };
    t.start_with("w", by_hand("\"manual\"")).unwrap();
    t.start_with("other", by_hand("\"whatever\"")).unwrap();
    for _ in 0..2 {
        let task = t.task();
        t.complete(&task, vec![timer("1", 1_000)]);
    }
    t.advance(1_000.0);
    let task = t.task();
    assert_eq!(task.workflow_execution.as_ref().unwrap().workflow_id, "other", "its timers fire when they are due");
    t.complete(&task, vec![done()]);
    t.restart();
    t.advance(86_400_000.0);
    assert!(t.try_task().is_none(), "not after a restart either");
    let request = SignalWorkflowExecutionRequest {
        namespace: "default".into(),
        workflow_execution: Some(exec("w", "")),
        signal_name: "1".into(),
        ..Default::default()
    };
    t.call::<SignalWorkflowExecutionResponse>(M::FireTimer, &request).unwrap();
    let task = t.task();
    assert_eq!(shape(&events(&task)[5..]), "TimerFired WTScheduled WTStarted");
    t.complete(&task, vec![done()]);
    t.check_memory();
}

#[test]
fn one_activity_from_start_to_end() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity("1")]);
    let a = t.activity();
    assert_eq!((a.activity_id.as_str(), a.attempt, a.input.clone()), ("1", 1, Some(json("\"in\""))));
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted ActScheduled", "a started activity leaves no event yet");
    let pending = t.describe("w", "").unwrap().pending_activities;
    assert_eq!((pending.len(), pending[0].state, pending[0].attempt), (1, 2, 1));
    t.complete_activity(&a, "\"out\"").unwrap();
    let e = t.complete_activity(&a, "\"again\"").unwrap_err();
    assert_eq!(e.code, 5, "an activity is completed once: {}", e.message);
    let task = t.task();
    t.complete(&task, vec![done()]);
    assert_eq!(
        t.shape("w"),
        "Started WTScheduled WTStarted WTCompleted ActScheduled ActStarted ActCompleted WTScheduled WTStarted WTCompleted Completed"
    );
    t.check_memory();
}

#[test]
fn a_signal_wakes_the_workflow() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    t.signal("w", "go").unwrap();
    let task = t.task();
    assert_eq!(shape(&events(&task)[4..]), "Signaled WTScheduled WTStarted");
    t.complete(&task, vec![done()]);
    assert_eq!(t.signal("w", "go").unwrap_err().code, 5);
}

#[test]
fn events_while_a_task_is_started_are_buffered_behind_its_commands() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity("1"), timer("1", 5_000)]);
    let a = t.activity();
    t.signal("w", "first").unwrap();
    let task = t.task();
    t.signal("w", "second").unwrap();
    t.complete_activity(&a, "1").unwrap();
    t.advance(5_000.0);
    assert_eq!(
        t.shape("w"),
        "Started WTScheduled WTStarted WTCompleted ActScheduled TimerStarted Signaled WTScheduled WTStarted"
    );
    t.check_memory();
    t.complete(&task, vec![marker("m")]);
    assert_eq!(
        t.shape("w"),
        "Started WTScheduled WTStarted WTCompleted ActScheduled TimerStarted Signaled WTScheduled WTStarted WTCompleted MarkerRecorded Signaled ActStarted ActCompleted TimerFired WTScheduled"
    );
    t.check_memory();
}

#[test]
fn the_form_of_the_events_is_a_servers() {
    let mut t = T::new();
    let run = t.start_with("w", |r| r.header = Some(Default::default())).unwrap().run_id;
    let task = t.task();
    t.complete(&task, vec![activity("1")]);
    let events = t.history("w", &run);
    let A::WorkflowExecutionStartedEventAttributes(s) = attrs(&events[0]) else { panic!() };
    assert_eq!((s.original_execution_run_id.as_str(), s.first_execution_run_id.as_str()), (run.as_str(), run.as_str()));
    assert_eq!((s.workflow_id.as_str(), s.attempt, s.identity.as_str()), ("w", 1, "client"));
    assert_eq!((s.workflow_task_timeout, s.first_workflow_task_backoff), (dur(10_000), dur(0)));
    assert_eq!((s.header.is_some(), s.workflow_run_timeout), (true, None));
    let A::WorkflowTaskScheduledEventAttributes(s) = attrs(&events[1]) else { panic!() };
    assert_eq!((s.start_to_close_timeout, s.attempt, s.task_queue.clone()), (dur(10_000), 1, Some(queue(QUEUE))));
    let A::WorkflowTaskStartedEventAttributes(s) = attrs(&events[2]) else { panic!() };
    assert_eq!((s.scheduled_event_id, s.identity.as_str()), (2, "worker"));
    assert!(s.history_size_bytes > 0 && s.request_id.len() == 36);
    let A::ActivityTaskScheduledEventAttributes(s) = attrs(&events[4]) else { panic!() };
    assert_eq!((s.schedule_to_close_timeout, s.schedule_to_start_timeout), (dur(0), dur(0)));
    assert_eq!((s.start_to_close_timeout, s.heartbeat_timeout), (dur(10_000), dur(0)));
    let p = s.retry_policy.clone().unwrap();
    assert_eq!(
        (p.initial_interval, p.backoff_coefficient, p.maximum_interval, p.maximum_attempts),
        (dur(1_000), 2.0, dur(100_000), 0)
    );
    assert_eq!(s.workflow_task_completed_event_id, 4);
}

#[test]
fn history_can_be_followed_and_waited_for() {
    let mut t = T::new();
    let run = t.start("w");
    let mut request = t.history_request("w", "");
    request.wait_new_event = true;
    let r: GetWorkflowExecutionHistoryResponse = t.call(M::GetWorkflowExecutionHistory, &request).unwrap();
    assert_eq!(shape(&r.history.unwrap().events), "Started WTScheduled");
    assert!(!r.next_page_token.is_empty(), "an open run can be followed");
    request.next_page_token = r.next_page_token;
    let follow = t.send(M::GetWorkflowExecutionHistory, &request);
    let mut close = t.history_request("w", &run);
    close.wait_new_event = true;
    close.history_event_filter_type = 2;
    let close = t.send(M::GetWorkflowExecutionHistory, &close);
    t.flush();
    assert!(t.take::<GetWorkflowExecutionHistoryResponse>(follow).is_none());
    let task = t.task();
    let r: GetWorkflowExecutionHistoryResponse = t.take(follow).unwrap().unwrap();
    assert_eq!(shape(&r.history.unwrap().events), "WTStarted");
    request.next_page_token = r.next_page_token;
    t.complete(&task, vec![done()]);
    let r: GetWorkflowExecutionHistoryResponse = t.take(close).unwrap().unwrap();
    assert_eq!(shape(&r.history.unwrap().events), "Completed");
    assert!(r.next_page_token.is_empty());
    let r: GetWorkflowExecutionHistoryResponse = t.call(M::GetWorkflowExecutionHistory, &request).unwrap();
    assert_eq!(shape(&r.history.unwrap().events), "WTCompleted Completed");
    assert!(r.next_page_token.is_empty(), "a closed run ends");
}

#[test]
fn pages_cut_anywhere() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, (0..10).map(|i| timer(&i.to_string(), 1_000)).collect());
    let mut request = t.history_request("w", "");
    request.maximum_page_size = 4;
    let mut seen = Vec::new();
    loop {
        let r: GetWorkflowExecutionHistoryResponse = t.call(M::GetWorkflowExecutionHistory, &request).unwrap();
        let events = r.history.unwrap().events;
        assert!(events.len() <= 4);
        seen.extend(events.iter().map(|e| e.event_id));
        if r.next_page_token.is_empty() {
            break;
        }
        request.next_page_token = r.next_page_token;
    }
    assert_eq!(seen, (1..=14).collect::<Vec<_>>());
}

#[test]
fn an_unknown_workflow_is_not_found() {
    let mut t = T::new();
    assert_eq!(t.describe("no", "").unwrap_err().code, 5);
    assert_eq!(t.signal("no", "x").unwrap_err().message, "workflow not found for ID: no");
    t.start("w");
    assert_eq!(t.describe("w", "01a22422-a770-7c71-b350-0a8b705bba5e").unwrap_err().code, 5);
}

#[test]
fn a_new_engine_goes_on_where_the_store_stands() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity("1"), timer("1", 60_000)]);
    t.restart();
    t.check_memory();
    let a = t.activity();
    t.restart();
    t.check_memory();
    t.complete_activity(&a, "1").unwrap();
    t.restart();
    let task = t.task();
    t.complete(&task, vec![]);
    t.restart();
    t.advance(60_000.0);
    let task = t.task();
    t.complete(&task, vec![done()]);
    assert_eq!(t.status("w"), 2);
}

#[test]
fn a_failed_commit_leaves_no_trace() {
    let mut t = T::new();
    t.start("w");
    t.fail_commits = 1;
    let poll = t.poll_id(QUEUE);
    t.flush();
    assert_eq!(t.lost, vec![poll], "the poll got the task and went down with the commit");
    // The caller polls again and gets the same task.
    let task = t.task();
    assert_eq!(task.started_event_id, 3);
    t.complete(&task, vec![activity("1")]);
    t.fail_commits = 1;
    let poll = t.poll_activity_id(QUEUE);
    t.flush();
    assert_eq!(t.lost[1], poll);
    let a = t.activity();
    t.fail_commits = 1;
    let id = t.send(
        M::RespondActivityTaskCompleted,
        &RespondActivityTaskCompletedRequest {
            task_token: a.task_token.clone(),
            identity: "worker".into(),
            ..Default::default()
        },
    );
    t.flush();
    assert_eq!(t.lost[2], id);
    t.complete_activity(&a, "1").unwrap();
    t.fail_commits = 1;
    let start = t.start_request("never");
    t.send(M::StartWorkflowExecution, &start);
    t.flush();
    assert_eq!(t.describe("never", "").unwrap_err().code, 5);
    let task = t.task();
    t.complete(&task, vec![done()]);
    let events = t.history("w", "");
    assert_eq!(find(&events, E::WorkflowTaskStarted).event_id, 9);
}
