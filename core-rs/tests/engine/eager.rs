//! Eager execution: activities in the response to the completion that schedules them, the first workflow task in that to a start.
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

fn eager(id: &str) -> temporalex_core::api::command::v1::Command {
    activity_with(id, |a| a.request_eager_execution = true)
}

fn start_eagerly(t: &mut T, id: &str) -> StartWorkflowExecutionResponse {
    let request = StartWorkflowExecutionRequest { request_eager_execution: true, ..t.start_request(id) };
    t.call(M::StartWorkflowExecution, &request).expect("a start")
}

fn accepted(events: &[temporalex_core::api::history::v1::HistoryEvent]) -> bool {
    match attrs(find(events, E::WorkflowExecutionStarted)) {
        A::WorkflowExecutionStartedEventAttributes(a) => a.eager_execution_accepted,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_completion_gets_the_activities_that_it_asks_for() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let response = t.complete(&task, vec![eager("1"), activity("2"), eager("3")]);
    let ids: Vec<&str> = response.activity_tasks.iter().map(|a| a.activity_id.as_str()).collect();
    assert_eq!(ids, ["1", "3"]);
    let first = response.activity_tasks[0].clone();
    assert_eq!((first.attempt, first.input.clone(), first.heartbeat_timeout), (1, Some(json("\"in\"")), dur(0)));
    assert!(first.started_time.is_some() && first.scheduled_time.is_some());
    let pending = t.describe("w", "").unwrap().pending_activities;
    assert_eq!(pending.iter().map(|a| (a.activity_id.as_str(), a.state)).collect::<Vec<_>>(), [("1", 2), ("2", 1), ("3", 2)]);
    let polled = t.activity();
    assert_eq!(polled.activity_id, "2");
    assert!(t.try_activity().is_none(), "the others are not in the queue");
    for a in [&first, &polled, &response.activity_tasks[1]] {
        t.complete_activity(a, "\"out\"").unwrap();
    }
    let task = t.task();
    t.complete(&task, vec![done()]);
    let history = t.history("w", "");
    let A::ActivityTaskStartedEventAttributes(started) = attrs(find(&history, E::ActivityTaskStarted)) else { panic!() };
    assert_eq!((started.identity.as_str(), started.attempt), ("worker", 1));
    assert!(!started.request_id.is_empty());
    t.check_memory();
}

#[test]
fn a_completion_that_closes_its_run_gets_no_activities() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let response = t.complete(&task, vec![eager("1"), done()]);
    assert!(response.activity_tasks.is_empty());
    assert!(t.try_activity().is_none());
    t.check_memory();
}

#[test]
fn an_eager_activity_whose_worker_dies_runs_again() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let response = t.complete(&task, vec![eager("1")]);
    t.restart_losing();
    let again = t.activity();
    assert_eq!((again.activity_id.as_str(), again.attempt), ("1", 2));
    let late = t.complete_activity(&response.activity_tasks[0], "\"late\"").unwrap_err();
    assert_eq!(late.code, 5, "{}", late.message);
    t.complete_activity(&again, "\"out\"").unwrap();
    t.check_memory();
}

#[test]
fn an_eager_activity_times_out_like_any_other() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![eager("1")]);
    t.restart();
    assert!(t.try_activity().is_none(), "its worker may still have it");
    t.advance(10_000.0);
    t.advance(1_000.0);
    assert_eq!(t.activity().attempt, 2);
}

#[test]
fn a_start_hands_out_the_first_task() {
    let mut t = T::new();
    let response = start_eagerly(&mut t, "w");
    assert!(response.started);
    let task = response.eager_workflow_task.expect("a task");
    assert_eq!(task.workflow_execution, Some(exec("w", &response.run_id)));
    assert_eq!((task.previous_started_event_id, task.started_event_id, task.attempt), (0, 3, 1));
    assert_eq!(shape(events(&task)), "Started WTScheduled WTStarted");
    assert!(accepted(events(&task)));
    assert_eq!(events(&task), t.history("w", ""), "what the task carries is what is stored");
    let A::WorkflowTaskStartedEventAttributes(started) = attrs(&events(&task)[2]) else { panic!() };
    assert_eq!((started.identity.as_str(), started.request_id.as_str()), ("client", "start-w"));
    assert!(t.try_task().is_none(), "no other worker gets it");
    let response = t.complete_sticky(&task, vec![eager("1")]);
    t.complete_activity(&response.activity_tasks[0], "\"out\"").unwrap();
    let task = t.task();
    assert_eq!(shape(&events(&task)[3..]), "WTCompleted ActScheduled ActStarted ActCompleted WTScheduled WTStarted");
    t.complete(&task, vec![done()]);
    assert_eq!(t.status("w"), 2);
    t.check_memory();
}

#[test]
fn a_repeated_start_gets_the_same_task_while_it_is_held() {
    let mut t = T::new();
    let first = start_eagerly(&mut t, "w");
    let again = start_eagerly(&mut t, "w");
    assert!(first.eager_workflow_task.is_some());
    assert_eq!(again, first);
    let request = t.start_request("w");
    let plain: StartWorkflowExecutionResponse = t.call(M::StartWorkflowExecution, &request).unwrap();
    assert_eq!((plain.run_id, plain.eager_workflow_task), (first.run_id, None));
    t.complete(&again.eager_workflow_task.unwrap(), vec![timer("1", 1_000)]);
    assert_eq!(start_eagerly(&mut t, "w").eager_workflow_task, None, "that task is over");
    t.check_memory();
}

#[test]
fn a_first_task_whose_worker_dies_goes_to_another() {
    let mut t = T::new();
    let task = start_eagerly(&mut t, "w").eager_workflow_task.expect("a task");
    t.restart_losing();
    let next = t.task();
    assert_eq!(next.attempt, 2);
    assert!(t.try_complete(&task, vec![done()]).is_err(), "its holder is gone");
    t.complete(&next, vec![done()]);
    let lost = start_eagerly(&mut t, "lost").eager_workflow_task.expect("a task");
    t.advance(10_000.0);
    let next = t.task();
    assert_eq!((next.attempt, next.workflow_execution), (2, lost.workflow_execution));
    assert_eq!(start_eagerly(&mut t, "lost").eager_workflow_task, None, "another worker has it");
    t.check_memory();
}

#[test]
fn a_start_without_a_task_of_its_own_is_an_ordinary_one() {
    let mut t = T::new();
    let delayed = t.start_with("delayed", |r| {
        r.request_eager_execution = true;
        r.workflow_start_delay = dur(1_000);
    });
    assert_eq!(delayed.unwrap().eager_workflow_task, None);
    assert!(!accepted(&t.history("delayed", "")));
    t.start("open");
    let existing = t.start_with("open", |r| {
        r.request_eager_execution = true;
        r.workflow_id_conflict_policy = 2;
    });
    let existing = existing.unwrap();
    assert_eq!((existing.started, existing.eager_workflow_task), (false, None));
    let task = t.task();
    t.complete(&task, vec![timer("1", 60_000)]);
    let replacing = t.start_with("open", |r| {
        r.request_eager_execution = true;
        r.workflow_id_conflict_policy = 3;
    });
    let task = replacing.unwrap().eager_workflow_task.expect("a task of the new run");
    t.complete(&task, vec![done()]);
    t.check_memory();
}

#[test]
fn the_next_run_of_an_eager_start_is_an_ordinary_one() {
    let mut t = T::new();
    let response = t.start_with("w", |r| {
        r.request_eager_execution = true;
        r.retry_policy = retry_policy(2);
    });
    let task = response.unwrap().eager_workflow_task.expect("a task");
    t.complete(&task, vec![fail_workflow(failure("Bug", "a bug"))]);
    t.advance(1_000.0);
    let task = t.task();
    assert!(!accepted(events(&task)));
    t.complete(&task, vec![done()]);
    t.check_memory();
}
