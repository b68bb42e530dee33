//! Workflow tasks: sticky queues, failures and transient attempts, timeouts, bad commands, heartbeats, tokens.
use temporalex_core::api::command::v1::{self as cmd, command::Attributes as C};
use temporalex_core::api::enums::v1::{CommandType, EventType as E};
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

#[test]
fn a_sticky_task_brings_only_what_is_new() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let wait = t.poll_sticky_id(STICKY);
    t.complete_sticky(&task, vec![timer("1", 1_000)]);
    t.advance(1_000.0);
    let task = t.finish_poll(wait).expect("the sticky poll gets the task");
    assert_eq!(shape(events(&task)), "WTCompleted TimerStarted TimerFired WTScheduled WTStarted");
    assert_eq!(events(&task)[0].event_id, 4);
    let A::WorkflowTaskScheduledEventAttributes(s) = attrs(&events(&task)[3]) else { panic!() };
    let q = s.task_queue.clone().unwrap();
    assert_eq!((q.name.as_str(), q.kind, q.normal_name.as_str()), (STICKY, 2, QUEUE));
    t.check_memory();
}

#[test]
fn after_a_load_a_sticky_task_reads_its_part_from_the_store() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete_sticky(&task, vec![timer("1", 1_000)]);
    t.restart();
    let wait = t.poll_sticky_id(STICKY);
    t.flush();
    t.advance(1_000.0);
    let task = t.finish_poll(wait).expect("the sticky poll gets the task");
    assert_eq!(shape(events(&task)), "WTCompleted TimerStarted TimerFired WTScheduled WTStarted");
}

#[test]
fn a_sticky_worker_that_does_not_come_loses_the_task() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let poll = t.poll_sticky_id(STICKY);
    t.flush();
    t.complete_sticky(&task, vec![]);
    t.engine.cancel_request(poll);
    t.signal("w", "go").unwrap();
    assert!(t.try_task().is_none(), "the sticky queue was polled a moment ago: it has ten seconds");
    t.advance(10_000.0);
    let task = t.task();
    assert_eq!(
        shape(&events(&task)[4..]),
        "Signaled WTScheduled WTTimedOut WTScheduled WTStarted",
        "schedule-to-start on the sticky queue leaves its event"
    );
    let A::WorkflowTaskTimedOutEventAttributes(o) = attrs(&events(&task)[6]) else { panic!() };
    assert_eq!((o.timeout_type, o.started_event_id), (2, 0));
    assert_eq!(task.attempt, 1, "and does not count as a failure");
    t.check_memory();
}

#[test]
fn a_dead_sticky_queue_is_not_waited_for() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete_sticky(&task, vec![]);
    t.signal("w", "go").unwrap();
    let task = t.task();
    assert_eq!(shape(&events(&task)[4..]), "Signaled WTScheduled WTStarted", "given from the normal queue with full history");
    assert_eq!(events(&task)[0].event_id, 1);
}

#[test]
fn shutdown_of_a_worker_frees_its_sticky_tasks() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let poll = t.poll_sticky_id(STICKY);
    t.flush();
    t.complete_sticky(&task, vec![]);
    t.engine.cancel_request(poll);
    t.signal("w", "go").unwrap();
    assert!(t.try_task().is_none());
    let r = ShutdownWorkerRequest { namespace: "default".into(), sticky_task_queue: STICKY.into(), ..Default::default() };
    t.call::<ShutdownWorkerResponse>(M::ShutdownWorker, &r).unwrap();
    assert!(t.try_task().is_some());
    let poll = t.poll_sticky_id(STICKY);
    t.flush();
    t.call::<ShutdownWorkerResponse>(M::ShutdownWorker, &r).unwrap();
    let empty: PollWorkflowTaskQueueResponse = t.take(poll).unwrap().unwrap();
    assert!(empty.task_token.is_empty(), "its open polls end empty");
}

#[test]
fn reset_sticky_sends_the_next_task_to_the_normal_queue() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let poll = t.poll_sticky_id(STICKY);
    t.flush();
    t.complete_sticky(&task, vec![]);
    let r = ResetStickyTaskQueueRequest { namespace: "default".into(), execution: Some(exec("w", "")) };
    t.call::<ResetStickyTaskQueueResponse>(M::ResetStickyTaskQueue, &r).unwrap();
    t.signal("w", "go").unwrap();
    assert!(t.take::<PollWorkflowTaskQueueResponse>(poll).is_none());
    assert!(t.try_task().is_some());
}

#[test]
fn the_next_task_comes_with_the_response_if_asked_for() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.signal("w", "a").unwrap();
    let r = t.complete_sticky(&task, vec![]);
    let next = r.workflow_task.expect("the next task");
    assert_eq!(shape(events(&next)), "WTCompleted Signaled WTScheduled WTStarted");
    assert_eq!(next.previous_started_event_id, 3);
    let A::WorkflowTaskStartedEventAttributes(s) = attrs(&events(&next)[3]) else { panic!() };
    assert_eq!(s.request_id, "request-from-RespondWorkflowTaskCompleted");
    t.complete_sticky(&next, vec![done()]);
    assert_eq!(t.status("w"), 2);
    t.check_memory();
}

#[test]
fn without_being_asked_the_next_task_is_queued() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.signal("w", "a").unwrap();
    let r = t.complete(&task, vec![]);
    assert!(r.workflow_task.is_none());
    assert!(t.try_task().is_some());
}

#[test]
fn the_first_failure_leaves_an_event_and_later_ones_do_not() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.fail_task(&task).unwrap();
    let second = t.task();
    assert_eq!((second.attempt, second.started_event_id), (2, 6));
    assert_eq!(shape(events(&second)), "Started WTScheduled WTStarted WTFailed WTScheduled WTStarted");
    let A::WorkflowTaskScheduledEventAttributes(s) = attrs(&events(&second)[4]) else { panic!() };
    assert_eq!(s.attempt, 2);
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed", "a transient attempt is not in history");
    // A repeated failure is left to time out: that is the back-off.
    t.fail_task(&second).unwrap();
    assert!(t.try_task().is_none());
    t.advance(10_000.0);
    let third = t.task();
    assert_eq!(third.attempt, 3);
    t.check_memory();
    t.complete(&third, vec![timer("1", 1_000)]);
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed WTScheduled WTStarted WTCompleted TimerStarted");
    let h = t.history("w", "");
    let A::WorkflowTaskScheduledEventAttributes(s) = attrs(&h[4]) else { panic!() };
    assert_eq!(s.attempt, 3, "what completes shows its attempt");
    t.advance(1_000.0);
    assert_eq!(t.task().attempt, 1, "success resets the count");
    t.check_memory();
}

#[test]
fn new_events_turn_a_transient_task_into_an_ordinary_one() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.fail_task(&task).unwrap();
    t.signal("w", "fixed").unwrap();
    let task = t.task();
    assert_eq!(task.attempt, 1);
    assert_eq!(shape(&events(&task)[3..]), "WTFailed Signaled WTScheduled WTStarted");
    t.complete(&task, vec![done()]);
}

#[test]
fn events_buffered_by_a_failed_task_come_before_the_next() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.signal("w", "a").unwrap();
    t.fail_task(&task).unwrap();
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed Signaled WTScheduled");
    assert_eq!(t.task().attempt, 1);
}

#[test]
fn a_failure_on_a_sticky_queue_does_not_count() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let poll = t.poll_sticky_id(STICKY);
    t.flush();
    t.complete_sticky(&task, vec![]);
    t.signal("w", "a").unwrap();
    let task = t.finish_poll(poll).unwrap();
    t.fail_task(&task).unwrap();
    let task = t.task();
    assert_eq!(task.attempt, 1);
    assert_eq!(shape(&events(&task)[4..]), "Signaled WTScheduled WTStarted WTFailed WTScheduled WTStarted");
    t.check_memory();
}

#[test]
fn a_task_that_times_out_is_scheduled_again() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.advance(9_999.0);
    assert!(t.try_task().is_none());
    t.advance(1.0);
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTTimedOut");
    let e = t.try_complete(&task, vec![done()]).unwrap_err();
    assert_eq!((e.code, e.message.as_str()), (5, "Workflow task not found."), "a stale holder cannot use its token");
    assert_eq!(t.fail_task(&task).unwrap_err().code, 5);
    let again = t.task();
    assert_eq!(again.attempt, 2);
    t.complete(&again, vec![done()]);
    assert_eq!(t.try_complete(&again, vec![done()]).unwrap_err().code, 5, "a task is completed once");
    t.check_memory();
}

#[test]
fn attempts_that_go_on_failing_get_more_time() {
    let mut t = T::new();
    t.start("w");
    let mut waited = Vec::new();
    for _ in 0..6 {
        t.task();
        let before = t.now;
        assert!(t.skip());
        waited.push((t.now - before) as i64);
    }
    assert_eq!(waited, [10_000, 10_000, 10_000, 15_000, 20_000, 30_000]);
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTTimedOut", "and leave no events");
}

#[test]
fn a_terminal_command_that_meets_buffered_events_fails_the_task() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.signal("w", "late").unwrap();
    let e = t.try_complete(&task, vec![marker("m"), done()]).unwrap_err();
    assert_eq!((e.code, e.message.as_str()), (3, "UnhandledCommand"));
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed Signaled WTScheduled");
    let h = t.history("w", "");
    let A::WorkflowTaskFailedEventAttributes(f) = attrs(&h[3]) else { panic!() };
    assert_eq!(f.cause, 1);
    assert_eq!(f.failure.as_ref().unwrap().message, "UnhandledCommand");
    let task = t.task();
    assert_eq!(shape(&events(&task)[4..5]), "Signaled");
    t.complete(&task, vec![done()]);
    assert_eq!(t.status("w"), 2);
}

#[test]
fn a_timer_cancelled_by_the_task_that_did_not_see_it_fire_does_not_block_the_end() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("1", 1_000)]);
    t.signal("w", "a").unwrap();
    let task = t.task();
    t.advance(1_000.0);
    t.complete(&task, vec![cancel_timer("1"), done()]);
    assert_eq!(
        t.shape("w"),
        "Started WTScheduled WTStarted WTCompleted TimerStarted Signaled WTScheduled WTStarted WTCompleted TimerCanceled Completed"
    );
    t.check_memory();
}

fn refused(t: &mut T, commands: Vec<cmd::Command>, cause: i32, part: &str) {
    let task = t.task();
    let e = t.try_complete(&task, commands).unwrap_err();
    assert_eq!(e.code, 3, "{}", e.message);
    assert!(e.message.contains(part), "{} should contain {part}", e.message);
    let h = t.history("w", "");
    if task.attempt == 1 {
        let A::WorkflowTaskFailedEventAttributes(f) = attrs(find(&h, E::WorkflowTaskFailed)) else { panic!() };
        assert_eq!(f.cause, cause);
        assert_eq!(f.failure.as_ref().unwrap().message, e.message);
    }
    t.check_memory();
}

#[test]
fn bad_commands_fail_the_task_with_their_cause_and_change_nothing() {
    let cases: Vec<(Vec<cmd::Command>, i32, &str)> = vec![
        (vec![marker("kept?"), activity_with("", |_| {})], 2, "activityId is not set"),
        (vec![activity_with("1", |a| a.activity_type = None)], 2, "activityType is not set"),
        (
            vec![activity_with("1", |a| a.start_to_close_timeout = None)],
            2,
            "a valid StartToCloseTimeout or ScheduleToCloseTimeout",
        ),
        (vec![activity_with("1", |a| a.start_to_close_timeout = dur(-1_000))], 2, "negative duration"),
        (
            vec![activity_with("1", |a| {
                a.retry_policy =
                    Some(temporalex_core::api::common::v1::RetryPolicy { backoff_coefficient: 0.5, ..Default::default() })
            })],
            2,
            "BackoffCoefficient",
        ),
        (vec![activity("1"), activity("1")], 22, "activity ID 1"),
        (vec![timer("", 1)], 4, "TimerId is not set"),
        (vec![timer("1", -1_000)], 4, "negative duration"),
        (vec![timer("1", 1), timer("1", 1)], 12, "TimerID: 1"),
        (vec![cancel_timer("9")], 5, "TimerID: 9"),
        (vec![timer("1", 1), cancel_timer("1"), cancel_timer("1")], 5, "TimerID: 1"),
        (vec![cancel_activity(0)], 3, "ScheduledEventId is not set"),
        (vec![cancel_activity(77)], 3, "77"),
        (vec![marker("")], 6, "MarkerName is not set"),
        (
            vec![command(
                CommandType::FailWorkflowExecution,
                C::FailWorkflowExecutionCommandAttributes(cmd::FailWorkflowExecutionCommandAttributes { failure: None }),
            )],
            8,
            "Failure is not set",
        ),
        (
            vec![cmd::Command { command_type: 4, ..Default::default() }],
            7,
            "CompleteWorkflowExecutionCommandAttributes is not set",
        ),
        (vec![continue_as_new(|a| a.workflow_run_timeout = dur(-1))], 11, "WorkflowRunTimeout"),
        (vec![protocol("absent/accept")], 30, "absent message ID absent/accept"),
        (
            vec![command(
                CommandType::UpsertWorkflowSearchAttributes,
                C::UpsertWorkflowSearchAttributesCommandAttributes(Default::default()),
            )],
            23,
            "SearchAttributes is not set",
        ),
        (
            vec![command(
                CommandType::SignalExternalWorkflowExecution,
                C::SignalExternalWorkflowExecutionCommandAttributes(Default::default()),
            )],
            15,
            "Execution is not set on SignalExternalWorkflowExecutionCommand.",
        ),
        (
            vec![command(CommandType::ScheduleNexusOperation, C::ScheduleNexusOperationCommandAttributes(Default::default()))],
            35,
            "Nexus operations need a Temporal cluster",
        ),
    ];
    for (commands, cause, part) in cases {
        let mut t = T::new();
        t.start("w");
        refused(&mut t, commands, cause, part);
        assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed", "nothing of the commands is written");
        // The second attempt gets the same response and leaves nothing.
        let task = t.task();
        assert_eq!(task.attempt, 2);
        t.try_complete(&task, vec![cancel_timer("9")]).unwrap_err();
        assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed");
        assert_eq!(t.try_complete(&task, vec![done()]).unwrap_err().code, 5, "the attempt has failed");
        let pending = t.describe("w", "").unwrap().pending_workflow_task.expect("a task");
        assert_eq!((pending.state, pending.attempt, pending.started_time), (1, 3, None), "no worker has it");
        t.advance(10_000.0);
        let task = t.task();
        assert_eq!(task.attempt, 3);
        t.complete(&task, vec![done()]);
    }
}

#[test]
fn ids_are_unique_while_open_and_free_again_afterwards() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("1", 1_000), activity("1")]);
    t.signal("w", "a").unwrap();
    refused(&mut t, vec![timer("1", 1_000)], 12, "TimerID: 1");
    t.signal("w", "b").unwrap();
    refused(&mut t, vec![activity("1")], 22, "activity ID 1");
    let a = t.activity();
    t.complete_activity(&a, "1").unwrap();
    t.advance(1_000.0);
    let task = t.task();
    t.complete(&task, vec![timer("1", 1_000), activity("1"), done()]);
}

#[test]
fn a_terminal_command_must_be_the_last() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let e = t.try_complete(&task, vec![done(), timer("1", 1)]).unwrap_err();
    assert!(e.message.contains("must be the last command"), "{}", e.message);
    t.complete(&task, vec![done()]);
}

#[test]
fn a_heartbeat_completion_gets_another_task_at_once() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    let beat = |r: &mut RespondWorkflowTaskCompletedRequest| {
        *r = sticky(r.clone());
        r.force_create_new_workflow_task = true;
    };
    let mut task = t.complete_with(&task, vec![], beat).unwrap().workflow_task.expect("the next task");
    assert_eq!(shape(events(&task)), "WTCompleted WTScheduled WTStarted");
    // A worker that only heartbeats loses the task after half an hour.
    for _ in 0..210 {
        t.advance(9_000.0);
        task = match t.complete_with(&task, vec![], beat) {
            Ok(r) => r.workflow_task.unwrap(),
            Err(e) => {
                assert_eq!(e.message, "workflow task heartbeat timeout");
                let h = t.history("w", "");
                assert_eq!(shape(&h[h.len() - 2..]), "WTTimedOut WTScheduled");
                return;
            }
        };
    }
    panic!("the heartbeat never timed out");
}

#[test]
fn markers_search_attributes_and_memo_are_recorded() {
    let mut t = T::new();
    t.start_with("w", |r| {
        r.memo = Some(temporalex_core::api::common::v1::Memo {
            fields: [("a".into(), payload("1")), ("b".into(), payload("2"))].into(),
        });
    })
    .unwrap();
    let task = t.task();
    let sa = temporalex_core::api::common::v1::SearchAttributes {
        indexed_fields: [("TemporalChangeVersion".to_string(), payload("[\"p\"]")), ("Gone".to_string(), payload("null"))].into(),
    };
    let null = temporalex_core::api::common::v1::Payload {
        metadata: [("encoding".into(), b"binary/null".to_vec())].into(),
        data: vec![],
    };
    let memo = temporalex_core::api::common::v1::Memo { fields: [("b".into(), null), ("c".into(), payload("3"))].into() };
    let mut m = marker("m");
    m.user_metadata = Some(temporalex_core::api::sdk::v1::UserMetadata { summary: Some(payload("\"why\"")), details: None });
    t.complete(
        &task,
        vec![
            m,
            command(
                CommandType::UpsertWorkflowSearchAttributes,
                C::UpsertWorkflowSearchAttributesCommandAttributes(cmd::UpsertWorkflowSearchAttributesCommandAttributes {
                    search_attributes: Some(sa.clone()),
                }),
            ),
            command(
                CommandType::ModifyWorkflowProperties,
                C::ModifyWorkflowPropertiesCommandAttributes(cmd::ModifyWorkflowPropertiesCommandAttributes {
                    upserted_memo: Some(memo),
                }),
            ),
        ],
    );
    let h = t.history("w", "");
    assert_eq!(shape(&h[4..]), "MarkerRecorded UpsertWorkflowSearchAttributes WorkflowPropertiesModified");
    assert_eq!(h[4].user_metadata.as_ref().unwrap().summary, Some(payload("\"why\"")));
    let A::MarkerRecordedEventAttributes(a) = attrs(&h[4]) else { panic!() };
    assert_eq!(a.details["data"], json("7"));
    let A::UpsertWorkflowSearchAttributesEventAttributes(a) = attrs(&h[5]) else { panic!() };
    let mut typed = sa;
    typed.indexed_fields.get_mut("TemporalChangeVersion").unwrap().metadata.insert("type".into(), b"KeywordList".to_vec());
    assert_eq!(a.search_attributes, Some(typed), "a name without a type gets one; what is taken away needs none");
    let info = t.describe("w", "").unwrap().workflow_execution_info.unwrap();
    assert_eq!(info.search_attributes.unwrap().indexed_fields.keys().collect::<Vec<_>>(), ["TemporalChangeVersion"]);
    assert_eq!(info.memo.unwrap().fields.keys().collect::<Vec<_>>(), ["a", "c"]);
    t.check_memory();
}

#[test]
fn tokens_from_elsewhere_are_refused() {
    let mut t = T::new();
    let r = RespondWorkflowTaskCompletedRequest { task_token: b"nonsense".to_vec(), ..Default::default() };
    let e = t.call::<RespondWorkflowTaskCompletedResponse>(M::RespondWorkflowTaskCompleted, &r).unwrap_err();
    assert_eq!((e.code, e.message.as_str()), (3, "error deserializing task token"));
    t.start("w");
    let task = t.task();
    t.restart();
    // The holder of a task of an earlier life may still answer when the host says so.
    t.complete(&task, vec![done()]);
}
