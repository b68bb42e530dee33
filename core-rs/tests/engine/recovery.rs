//! Crashes, failed commits, clock jumps and eviction.
use temporalex_core::api::enums::v1::EventType as E;
use temporalex_core::api::history::v1::history_event::Attributes as A;
use temporalex_core::api::query::v1::WorkflowQuery;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions, RunRecord};

use super::support::*;

#[test]
fn a_workflow_task_of_an_earlier_life_is_lost_at_once() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.restart_losing();
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTTimedOut");
    let again = t.task();
    assert_eq!((again.attempt, again.started_event_id), (2, 6));
    assert_eq!(t.try_complete(&task, vec![done()]).unwrap_err().code, 5);
    t.complete(&again, vec![timer("1", 1_000)]);
    t.check_memory();
    // What this life has given out is not lost by loading the run again.
    t.advance(1_000.0);
    let task = t.task();
    t.complete(&task, vec![done()]);
}

#[test]
fn attempts_lost_with_their_process_refuse_no_update_and_no_query() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    t.signal("w", "x").unwrap();
    for life in 1..=6 {
        assert_eq!(t.task().attempt, life);
        t.restart_losing();
    }
    let update = t.send(M::UpdateWorkflowExecution, &update_request("w", "u", 3));
    let query = QueryWorkflowRequest {
        namespace: "default".into(),
        execution: Some(exec("w", "")),
        query: Some(WorkflowQuery { query_type: "state".into(), ..Default::default() }),
        ..Default::default()
    };
    let query = t.send(M::QueryWorkflow, &query);
    t.flush();
    assert!(!t.replies.contains_key(&update) && !t.replies.contains_key(&query), "both wait");
    // Attempts that time out in this life count, and get no more time than the first.
    for _ in 0..2 {
        t.task();
        t.advance(10_000.0);
    }
    t.task();
    let e = t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &update_request("w", "v", 3)).unwrap_err();
    assert_eq!(e.reason, "WorkflowNotReady");
}

#[test]
fn a_sticky_queue_of_an_earlier_life_is_forgotten() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete_sticky(&task, vec![timer("1", 1_000)]);
    t.restart_losing();
    t.advance(1_000.0);
    let task = t.task();
    let A::WorkflowTaskScheduledEventAttributes(s) = attrs(&events(&task)[6]) else { panic!() };
    assert_eq!(s.task_queue, Some(queue(QUEUE)));
    assert_eq!(events(&task)[0].event_id, 1);
}

#[test]
fn an_activity_of_an_earlier_life_is_tried_again_at_once() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity_with("1", |a| a.retry_policy = retry_policy(2))]);
    let first = t.activity();
    t.heartbeat(&first, "\"half\"").unwrap();
    t.restart_losing();
    let second = t.activity();
    assert_eq!((second.attempt, second.heartbeat_details.clone()), (2, Some(json("\"half\""))));
    assert_eq!(t.complete_activity(&first, "1").unwrap_err().code, 5, "the holder before cannot come back");
    assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTCompleted ActScheduled");
    t.restart_losing();
    let h = t.history("w", "");
    let A::ActivityTaskTimedOutEventAttributes(a) = attrs(find(&h, E::ActivityTaskTimedOut)) else { panic!() };
    assert_eq!(a.retry_state, 4);
    assert!(a.failure.as_ref().unwrap().message.contains("the worker's process ended"), "{:?}", a.failure);
    t.check_memory();
}

#[test]
fn nothing_is_lost_when_holders_may_still_answer() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity("1")]);
    let a = t.activity();
    t.signal("w", "x").unwrap();
    let task = t.task();
    t.restart();
    t.complete_activity(&a, "1").unwrap();
    t.complete(&task, vec![]);
    assert_eq!(shape(&t.history("w", "")[5..]), "Signaled WTScheduled WTStarted WTCompleted ActStarted ActCompleted WTScheduled");
}

#[test]
fn every_commit_of_a_small_life_may_fail() {
    // The n-th commit fails; the callers retry; the end is the same, and nothing is there twice.
    for n in 0..30 {
        let mut t = T::new();
        let mut left = n;
        let mut retry = |t: &mut T, m: M, body: Vec<u8>| loop {
            if left == 0 {
                t.fail_commits = 1;
            }
            left -= 1;
            let id = t.send_bytes(m, &body);
            t.flush();
            t.check_memory();
            match t.replies.remove(&id) {
                Some(Ok(bytes)) => return Some(bytes),
                Some(Err(e)) if e.code == 14 => continue,
                // Completed by the commit that failed only in its response: done before.
                Some(Err(e)) if e.code == 5 && m != M::PollWorkflowTaskQueue => return None,
                Some(Err(e)) => panic!("{m:?}: {e:?}"),
                None if t.lost.contains(&id) => continue,
                None => {
                    t.flush();
                    if let Some(Ok(bytes)) = t.replies.remove(&id) {
                        return Some(bytes);
                    }
                    t.engine.cancel_request(id);
                    continue;
                }
            }
        };
        use prost::Message;
        let start = t.start_request("w");
        retry(&mut t, M::StartWorkflowExecution, start.encode_to_vec());
        let poll =
            PollWorkflowTaskQueueRequest { task_queue: Some(queue(QUEUE)), identity: "worker".into(), ..Default::default() };
        let poll_activity =
            PollActivityTaskQueueRequest { task_queue: Some(queue(QUEUE)), identity: "worker".into(), ..Default::default() };
        let task = |bytes: Option<Vec<u8>>| PollWorkflowTaskQueueResponse::decode(bytes.unwrap().as_slice()).unwrap();
        let one = task(retry(&mut t, M::PollWorkflowTaskQueue, poll.encode_to_vec()));
        let r = t.completion(&one, vec![activity("1")]).encode_to_vec();
        retry(&mut t, M::RespondWorkflowTaskCompleted, r);
        let a = retry(&mut t, M::PollActivityTaskQueue, poll_activity.encode_to_vec()).unwrap();
        let a = PollActivityTaskQueueResponse::decode(a.as_slice()).unwrap();
        let mut signal = t.signal_request("w", "s");
        signal.request_id = "once".into();
        retry(&mut t, M::SignalWorkflowExecution, signal.encode_to_vec());
        let r = RespondActivityTaskCompletedRequest { task_token: a.task_token, identity: "worker".into(), ..Default::default() };
        retry(&mut t, M::RespondActivityTaskCompleted, r.encode_to_vec());
        let two = task(retry(&mut t, M::PollWorkflowTaskQueue, poll.encode_to_vec()));
        let r = t.completion(&two, vec![continue_as_new(|_| {})]).encode_to_vec();
        retry(&mut t, M::RespondWorkflowTaskCompleted, r);
        let three = task(retry(&mut t, M::PollWorkflowTaskQueue, poll.encode_to_vec()));
        let r = t.completion(&three, vec![done()]).encode_to_vec();
        retry(&mut t, M::RespondWorkflowTaskCompleted, r);
        t.fail_commits = 0;
        assert_eq!(t.store.runs.len(), 2, "failing commit {n}");
        assert_eq!(t.status("w"), 2);
        let first = t.store.runs.values().find(|s| !s.row.next_run_id.is_empty()).unwrap().events();
        let count = |kind: E| first.iter().filter(|e| e.event_type == kind as i32).count();
        assert_eq!((count(E::ActivityTaskCompleted), count(E::WorkflowExecutionSignaled)), (1, 1), "failing commit {n}");
    }
}

#[test]
fn waiting_callers_hear_of_a_failed_commit() {
    let mut t = T::new();
    t.start("w");
    let mut follow = t.history_request("w", "");
    follow.wait_new_event = true;
    follow.history_event_filter_type = 2;
    let follow = t.send(M::GetWorkflowExecutionHistory, &follow);
    t.flush();
    t.fail_commits = 1;
    let signal = t.signal_request("w", "x");
    t.send(M::SignalWorkflowExecution, &signal);
    t.flush();
    t.flush();
    let e = t.take::<GetWorkflowExecutionHistoryResponse>(follow).unwrap().unwrap_err();
    assert_eq!(e.code, 14);
    assert_eq!(t.shape("w"), "Started WTScheduled");
    assert!(t.try_task().is_some());
}

#[test]
fn requests_fed_before_the_verdict_go_down_with_a_failed_commit() {
    let mut t = T::new();
    t.start("w");
    let first = t.signal_request("w", "a");
    t.send(M::SignalWorkflowExecution, &first);
    let flush = t.engine.flush();
    assert_eq!(flush.writes.len(), 1);
    let second = t.signal_request("w", "b");
    let second = t.send(M::SignalWorkflowExecution, &second);
    assert!(t.engine.flush().writes.is_empty(), "one batch at a time");
    t.engine.aborted();
    t.flush();
    assert_eq!(t.take::<SignalWorkflowExecutionResponse>(second).unwrap().unwrap_err().code, 14);
    assert_eq!(t.shape("w"), "Started WTScheduled");
}

#[test]
fn the_clock_may_jump() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("late", 60_000), timer("soon", 10_000), timer("mid", 30_000)]);
    let base = t.now;
    t.now = base - 3_600_000.0;
    t.wake();
    assert!(t.try_task().is_none(), "an hour back fires nothing");
    t.now = base + 9_999.0;
    t.wake();
    assert!(t.try_task().is_none());
    t.now = base + 7_200_000.0;
    t.wake();
    let h = t.history("w", "");
    let fired: Vec<String> = h
        .iter()
        .filter_map(|e| match attrs(e) {
            A::TimerFiredEventAttributes(f) => Some(f.timer_id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(fired, ["soon", "mid", "late"], "in the order of their deadlines");
    assert_eq!(shape(&h[7..]), "TimerFired TimerFired TimerFired WTScheduled");
    // Back again: events of a run never go back in time.
    t.now = base;
    let task = t.task();
    t.complete(&task, vec![done()]);
    let times: Vec<i64> = t.history("w", "").iter().map(|e| e.event_time.unwrap().seconds).collect();
    assert!(times.windows(2).all(|w| w[0] <= w[1]), "{times:?}");
}

#[test]
fn a_restart_with_a_clock_behind_does_not_go_back() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![timer("1", 10_000)]);
    t.now -= 86_400_000.0;
    t.restart();
    t.signal("w", "x").unwrap();
    let h = t.history("w", "");
    let times: Vec<i64> = h.iter().map(|e| e.event_time.unwrap().seconds).collect();
    assert!(times.windows(2).all(|w| w[0] <= w[1]), "{times:?}");
    t.advance(86_400_000.0 + 9_999.0);
    assert_eq!(shape(&t.history("w", "")[5..]), "Signaled WTScheduled");
    t.advance(1.0);
    assert_eq!(shape(&t.history("w", "")[5..]), "Signaled WTScheduled TimerFired");
}

#[test]
fn idle_runs_are_forgotten_and_come_back() {
    let mut t = T::with(EngineOptions { max_cached_runs: 3, ..Default::default() });
    for i in 0..20 {
        t.start(&format!("w{i}"));
        let task = t.task();
        t.complete(&task, vec![timer("1", 60_000.0 as i64)]);
        t.advance(10.0);
    }
    let f = t.flush();
    assert!(f.cached_runs <= 4, "{} runs in memory", f.cached_runs);
    assert_eq!(f.open_runs, 20);
    // By a request ...
    t.signal("w0", "x").unwrap();
    assert_eq!(t.shape("w0"), "Started WTScheduled WTStarted WTCompleted TimerStarted Signaled WTScheduled");
    // ... and by their moment.
    t.advance(60_000.0);
    let mut seen = 0;
    while let Some(task) = t.try_task() {
        t.complete(&task, vec![done()]);
        seen += 1;
    }
    assert_eq!(seen, 20);
    assert_eq!(t.flush().open_runs, 0);
    assert!(t.flush().cached_runs <= 4);
}

#[test]
fn due_rows_settle_in_the_store() {
    // Whatever fired, no row stays due: a host that loads due rows would never sleep.
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity("1")]);
    let a = t.activity();
    t.fail_activity(&a, failure("E", "x")).unwrap();
    for _ in 0..3 {
        t.skip();
        assert!(t.store.due(t.now).is_empty());
        t.restart();
        assert!(t.store.due(t.now).is_empty());
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let mut t = T::new();
    t.start("w");
    let id = t.store.runs.keys().next().unwrap().clone();
    t.restart();
    let good = t.store.runs[&id].head.clone();
    for bad in [vec![], vec![0xff; 10], good[..good.len() / 2].to_vec()] {
        t.store.runs.get_mut(&id).unwrap().head = bad;
        t.restart();
        let e = t.signal("w", "x").unwrap_err();
        assert!(e.code == 15, "{e:?}");
    }
    t.store.runs.get_mut(&id).unwrap().head = good;
    t.restart();
    t.store.runs.get_mut(&id).unwrap().items.insert((99, "from the future".into()), vec![1]);
    t.restart();
    assert_eq!(t.signal("w", "x").unwrap_err().code, 15);
    t.store.runs.get_mut(&id).unwrap().items.clear();
    // The store itself may fail to answer.
    let signal = t.signal_request("w", "x");
    let request = t.send(M::SignalWorkflowExecution, &signal);
    let flush = t.engine.flush();
    let asked = &flush.loads[0];
    t.engine.load(
        RunRecord {
            asked_workflow_id: asked.workflow_id.clone(),
            asked_run_id: asked.run_id.clone(),
            unavailable: "disk".into(),
            ..Default::default()
        },
        t.now,
    );
    t.flush();
    let e = t.take::<SignalWorkflowExecutionResponse>(request).unwrap().unwrap_err();
    assert_eq!((e.code, e.message.as_str()), (14, "disk"));
}

#[test]
fn requests_for_one_workflow_keep_their_order_while_it_is_loaded() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![]);
    t.restart();
    for name in ["a", "b", "c"] {
        let r = t.signal_request("w", name);
        t.send(M::SignalWorkflowExecution, &r);
    }
    t.flush();
    let names: Vec<String> = t
        .history("w", "")
        .iter()
        .filter_map(|e| match attrs(e) {
            A::WorkflowExecutionSignaledEventAttributes(s) => Some(s.signal_name.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
}
