//! Limits: each with its name and code.
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions};

use super::support::*;

#[test]
fn open_runs() {
    let mut t = T::with(EngineOptions { max_open_runs: 2, ..Default::default() });
    t.start("a");
    t.start("b");
    let e = t.start_with("c", |_| {}).unwrap_err();
    assert_eq!((e.code, e.reason.as_str(), e.metadata["limit"].as_str()), (8, "MaxOpenRuns", "max_open_runs"));
    t.start("a");
    assert!(t.start_with("a", |r| r.workflow_id_conflict_policy = 3).is_ok(), "one in the place of another");
    t.restart();
    assert!(t.start_with("c", |_| {}).is_err(), "counted over restarts");
    t.fail_commits = 1;
    let terminate = TerminateWorkflowExecutionRequest { workflow_execution: Some(exec("b", "")), ..Default::default() };
    t.send(M::TerminateWorkflowExecution, &terminate);
    t.flush();
    t.flush();
    assert!(t.start_with("c", |_| {}).is_err(), "a termination that was not committed frees nothing");
    t.terminate("b").unwrap();
    assert!(t.start_with("c", |_| {}).is_ok());
}

#[test]
fn inbox() {
    let mut t = T::with(EngineOptions { max_inbox: 3, ..Default::default() });
    t.start("w");
    let task = t.task();
    for _ in 0..3 {
        t.signal("w", "x").unwrap();
    }
    let e = t.signal("w", "x").unwrap_err();
    assert_eq!((e.code, e.reason.as_str()), (8, "MaxInbox"));
    let u = update_request("w", "u", 2);
    assert_eq!(t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &u).unwrap_err().reason, "MaxInbox");
    t.complete(&task, vec![]);
    assert!(t.signal("w", "x").is_err(), "still not processed");
    let task = t.task();
    t.fail_task(&task).unwrap();
    assert!(t.signal("w", "x").is_err(), "a failed task processes nothing");
    let task = t.task();
    t.complete(&task, vec![]);
    t.signal("w", "x").unwrap();
}

#[test]
fn nul_characters() {
    let mut t = T::new();
    for change in [
        (|r| r.workflow_id = "a\0b".into()) as fn(&mut StartWorkflowExecutionRequest),
        |r| r.workflow_type.as_mut().unwrap().name = "W\0".into(),
        |r| r.task_queue.as_mut().unwrap().name = "\0q".into(),
        |r| r.request_id = "r\0".into(),
    ] {
        let e = t.start_with("w", change).unwrap_err();
        assert_eq!(e.code, 3);
        assert!(e.message.ends_with("contains a NUL character."), "{}", e.message);
    }
    t.start("w");
    assert_eq!(t.signal("w", "x\0").unwrap_err().code, 3);
    assert_eq!(t.signal("w\0", "x").unwrap_err().code, 3);
    assert_eq!(t.describe("w", "run\0").unwrap_err().code, 3);
    let u = update_request("w", "u\0", 2);
    assert_eq!(t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &u).unwrap_err().code, 3);
    for command in [timer("t\0", 5), activity("a\0")] {
        let mut t = T::new();
        t.start("w");
        let task = t.task();
        let e = t.try_complete(&task, vec![command]).unwrap_err();
        assert!(e.message.contains("NUL character"), "{}", e.message);
    }
}

#[test]
fn payloads() {
    let mut t = T::with(EngineOptions { max_payload_bytes: 1_000, ..Default::default() });
    let big = || Some(json(&format!("\"{}\"", "x".repeat(2_000))));
    let e = t.start_with("w", |r| r.input = big()).unwrap_err();
    assert_eq!((e.code, e.metadata["limit"].as_str()), (3, "max_payload_bytes"));
    t.start("w");
    let mut s = t.signal_request("w", "x");
    s.input = big();
    assert_eq!(t.call::<SignalWorkflowExecutionResponse>(M::SignalWorkflowExecution, &s).unwrap_err().code, 3);
    let task = t.task();
    let e = t.try_complete(&task, vec![activity_with("1", |a| a.input = big())]).unwrap_err();
    assert!(e.message.starts_with("PayloadsTooLarge: ScheduleActivityTaskCommandAttributes.Input"), "{}", e.message);
    let task = t.task();
    t.complete(&task, vec![activity_with("1", |a| a.retry_policy = retry_policy(1))]);
    let a = t.activity();
    let r = RespondActivityTaskCompletedRequest { task_token: a.task_token.clone(), result: big(), ..Default::default() };
    t.call::<RespondActivityTaskCompletedResponse>(M::RespondActivityTaskCompleted, &r).unwrap();
    let h = t.history("w", "");
    let A::ActivityTaskFailedEventAttributes(f) = attrs(find(&h, E::ActivityTaskFailed)) else { panic!() };
    assert_eq!(f.failure.as_ref().unwrap().message, "Complete result exceeds size limit.");
    assert_eq!(f.retry_state, 2, "the same result would be too big again");
}

#[test]
fn history() {
    let mut t = T::with(EngineOptions { suggest_continue_as_new_events: 20, max_history_events: 40, ..Default::default() });
    t.start("w");
    let mut suggested = Vec::new();
    for _ in 0..20 {
        let Some(task) = t.try_task() else { break };
        let A::WorkflowTaskStartedEventAttributes(s) = attrs(events(&task).last().unwrap()) else { panic!() };
        suggested.push((task.started_event_id, s.suggest_continue_as_new, s.suggest_continue_as_new_reasons.clone()));
        t.complete(&task, vec![marker("m")]);
        if t.status("w") != 1 {
            break;
        }
        t.signal("w", "x").unwrap();
    }
    assert!(suggested.iter().all(|(id, s, r)| (*id > 20) == *s && (r == &vec![2]) == *s), "{suggested:?}");
    assert_eq!(t.status("w"), 5);
    let h = t.history("w", "");
    let A::WorkflowExecutionTerminatedEventAttributes(e) = attrs(h.last().unwrap()) else { panic!() };
    assert_eq!(e.reason, "Workflow history count exceeds limit.");
}

#[test]
fn history_size_suggests_too() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    for i in 0..5 {
        let mut s = t.signal_request("w", "x");
        s.input = Some(json(&format!("\"{}\"", "x".repeat(1_000_000))));
        t.call::<SignalWorkflowExecutionResponse>(M::SignalWorkflowExecution, &s).unwrap();
        let _ = i;
    }
    let id = t.poll_id(QUEUE);
    t.flush();
    let task: PollWorkflowTaskQueueResponse = t.take(id).unwrap().unwrap();
    let A::WorkflowTaskStartedEventAttributes(s) = attrs(events(&task).last().unwrap()) else { panic!() };
    assert_eq!((s.suggest_continue_as_new, s.suggest_continue_as_new_reasons.clone()), (true, vec![1]));
    assert!(s.history_size_bytes > 4 * 1024 * 1024);
}

/// What the last task of a run that got so many signals and updates suggests, by reason.
fn suggested_after(options: EngineOptions, signals: usize, updates: usize) -> Vec<i32> {
    let mut t = T::with(options);
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    for i in 0..updates {
        let u = t.send(M::UpdateWorkflowExecution, &update_request("w", &format!("u{i}"), 3));
        t.flush();
        let task = t.task();
        let id = task.messages[0].protocol_instance_id.clone();
        let all = vec![accept(&task.messages[0]), answer(&id, "1")];
        t.complete_with(&task, vec![], |r| {
            r.messages = all;
        })
        .unwrap();
        assert!(t.take::<UpdateWorkflowExecutionResponse>(u).unwrap().is_ok());
    }
    for _ in 0..signals {
        let s = t.signal_request("w", "x");
        t.call::<SignalWorkflowExecutionResponse>(M::SignalWorkflowExecution, &s).unwrap();
    }
    let id = t.poll_id(QUEUE);
    t.flush();
    let task: PollWorkflowTaskQueueResponse = t.take(id).unwrap().unwrap();
    let A::WorkflowTaskStartedEventAttributes(s) = attrs(events(&task).last().unwrap()) else { panic!() };
    assert_eq!(s.suggest_continue_as_new, !s.suggest_continue_as_new_reasons.is_empty());
    s.suggest_continue_as_new_reasons.clone()
}

#[test]
fn each_suggestion_has_a_limit_of_its_own() {
    let bytes = |n| EngineOptions { suggest_continue_as_new_bytes: n, ..Default::default() };
    assert_eq!(suggested_after(bytes(2_000), 1, 0), vec![] as Vec<i32>);
    assert_eq!(suggested_after(bytes(2_000), 100, 0), vec![1]);
    let updates = |n| EngineOptions { suggest_continue_as_new_updates: n, ..Default::default() };
    assert_eq!(suggested_after(updates(5), 1, 4), vec![] as Vec<i32>);
    assert_eq!(suggested_after(updates(5), 1, 5), vec![3]);
    let both = EngineOptions { suggest_continue_as_new_updates: 3, suggest_continue_as_new_bytes: 1_000, ..Default::default() };
    assert_eq!(suggested_after(both, 1, 3), vec![1, 3]);
}

#[test]
fn pending_activities() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let e = t.try_complete(&task, (0..2_001).map(|i| activity(&i.to_string())).collect()).unwrap_err();
    assert!(e.message.starts_with("PendingActivitiesLimitExceeded"), "{}", e.message);
}

#[test]
fn a_big_history_comes_in_pages() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    for _ in 0..300 {
        let mut s = t.signal_request("w", "x");
        s.input = Some(json(&format!("\"{}\"", "x".repeat(10_000))));
        t.call::<SignalWorkflowExecutionResponse>(M::SignalWorkflowExecution, &s).unwrap();
    }
    let task = t.task();
    assert_eq!(events(&task).len(), 256);
    assert!(!task.next_page_token.is_empty());
    let mut request = t.history_request("w", "");
    request.next_page_token = task.next_page_token.clone();
    let r: GetWorkflowExecutionHistoryResponse = t.call(M::GetWorkflowExecutionHistory, &request).unwrap();
    let rest = r.history.unwrap().events;
    assert_eq!(rest.first().unwrap().event_id, 257);
    assert_eq!(rest.last().unwrap().event_id, task.started_event_id);
    assert!(r.next_page_token.is_empty());
    // The pages of a transient task end with its own events, which are not in the store.
    t.fail_task(&task).unwrap();
    let task = t.task();
    assert_eq!(task.attempt, 2);
    request.next_page_token = task.next_page_token.clone();
    let r: GetWorkflowExecutionHistoryResponse = t.call(M::GetWorkflowExecutionHistory, &request).unwrap();
    let rest = r.history.unwrap().events;
    assert_eq!(shape(&rest[rest.len() - 4..]), "WTStarted WTFailed WTScheduled WTStarted");
}

#[test]
fn updates_of_a_run() {
    let mut t = T::with(EngineOptions { max_updates_in_flight: 2, max_updates: 10, ..Default::default() });
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    let mut suggested = Vec::new();
    for i in 0..10 {
        let u = t.send(M::UpdateWorkflowExecution, &update_request("w", &format!("u{i}"), 3));
        t.flush();
        let task = t.task();
        let A::WorkflowTaskStartedEventAttributes(s) = attrs(events(&task).last().unwrap()) else { panic!() };
        suggested.push((s.suggest_continue_as_new, s.suggest_continue_as_new_reasons.clone()));
        let id = task.messages[0].protocol_instance_id.clone();
        let all = vec![accept(&task.messages[0]), answer(&id, "1")];
        t.complete_with(&task, vec![], |r| {
            r.messages = all;
        })
        .unwrap();
        assert!(t.take::<UpdateWorkflowExecutionResponse>(u).unwrap().is_ok());
    }
    assert_eq!(suggested[7], (false, vec![]));
    assert_eq!(suggested[8], (true, vec![3]), "at nine tenths continue-as-new is suggested");
    let over = update_request("w", "u10", 3);
    let e = t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &over).unwrap_err();
    assert_eq!((e.code, e.metadata["limit"].as_str()), (9, "updates_total"));
    assert!(e.message.contains("has been reached (10)"), "{}", e.message);
    let known = t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &update_request("w", "u3", 3));
    assert!(known.is_ok(), "a known update does not count again");

    t.start("v");
    let waiting: Vec<u32> =
        (0..2).map(|i| t.send(M::UpdateWorkflowExecution, &update_request("v", &format!("u{i}"), 3))).collect();
    let over = update_request("v", "u2", 3);
    let e = t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &over).unwrap_err();
    assert_eq!((e.code, e.metadata["limit"].as_str()), (8, "updates_in_flight"));
    assert!(e.message.ends_with("(2)"), "{}", e.message);
    let task = t.task();
    let id = task.messages[0].protocol_instance_id.clone();
    let all = vec![accept(&task.messages[0]), answer(&id, "1"), accept(&task.messages[1])];
    t.complete_with(&task, vec![], |r| r.messages = all).unwrap();
    assert!(t.take::<UpdateWorkflowExecutionResponse>(waiting[0]).unwrap().is_ok());
    t.send(M::UpdateWorkflowExecution, &over);
    t.flush();
    assert_eq!(t.task().messages[0].protocol_instance_id, "u2", "there is room again");
}
