//! Bytes from outside never panic, and what the engine accepts never makes a history that cannot be read.
use crate::support::*;
use proptest::prelude::*;
use prost::Message;
use temporalex_core::api::history::v1::History;
use temporalex_core::api::query::v1::WorkflowQuery;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, RunRecord, RunRow, StateItem};

const METHODS: i32 = 25;

/// Valid requests of every kind that carries something, against a run in the middle of its life.
fn requests(t: &mut T) -> Vec<(M, Vec<u8>)> {
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity_with("1", |a| a.heartbeat_timeout = dur(60_000)), activity("2"), timer("1", 1_000)]);
    let a = t.activity();
    t.send(M::UpdateWorkflowExecution, &update_request("w", "u", 3));
    t.signal("w", "s").unwrap();
    let task = t.task();
    let mut completion =
        t.completion(&task, vec![marker("m"), timer("2", 5), activity("3"), cancel_timer("1"), continue_as_new(|_| {})]);
    completion.messages = vec![accept(&task.messages[0]), answer("u", "1")];
    let mut start = t.start_request("x");
    start.memo = Some(temporalex_core::api::common::v1::Memo { fields: [("m".into(), payload("1"))].into() });
    start.retry_policy = retry_policy(3);
    let failed = RespondActivityTaskFailedRequest {
        task_token: a.task_token.clone(),
        failure: Some(temporalex_core::api::failure::v1::Failure {
            cause: Some(Box::new(failure("C", "cause"))),
            ..failure("E", "x")
        }),
        ..Default::default()
    };
    let query = QueryWorkflowRequest {
        execution: Some(exec("w", "")),
        query: Some(WorkflowQuery { query_type: "q".into(), query_args: Some(json("1")), header: None }),
        ..Default::default()
    };
    let beat =
        RecordActivityTaskHeartbeatRequest { task_token: a.task_token.clone(), details: Some(json("1")), ..Default::default() };
    let result = RespondActivityTaskCompletedRequest { task_token: a.task_token, result: Some(json("1")), ..Default::default() };
    let mut signal = t.signal_request("w", "s2");
    signal.input = Some(json("[1,2]"));
    signal.header = Some(temporalex_core::api::common::v1::Header { fields: [("h".into(), payload("1"))].into() });
    vec![
        (M::StartWorkflowExecution, start.encode_to_vec()),
        (M::SignalWorkflowExecution, signal.encode_to_vec()),
        (M::UpdateWorkflowExecution, update_request("w", "u2", 2).encode_to_vec()),
        (M::QueryWorkflow, query.encode_to_vec()),
        (M::RecordActivityTaskHeartbeat, beat.encode_to_vec()),
        (M::RespondActivityTaskFailed, failed.encode_to_vec()),
        (M::RespondActivityTaskCompleted, result.encode_to_vec()),
        (M::RespondWorkflowTaskCompleted, completion.encode_to_vec()),
    ]
}

fn mutate(bytes: &mut Vec<u8>, edits: &[(u16, u8, u8)]) {
    for (at, value, how) in edits {
        let len = bytes.len().max(1);
        let at = usize::from(*at) % len;
        match how % 4 {
            0 if !bytes.is_empty() => bytes[at] = *value,
            1 => bytes.insert(at.min(bytes.len()), *value),
            2 if !bytes.is_empty() => drop(bytes.remove(at)),
            _ if !bytes.is_empty() => bytes[at] ^= 1 << (value % 8),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_requests(bodies in proptest::collection::vec((0..=METHODS, proptest::collection::vec(any::<u8>(), 0..200)), 1..20)) {
        let mut t = T::new();
        t.start("w");
        for (method, body) in bodies {
            t.send_bytes(M::try_from(method).unwrap(), &body);
            t.flush();
        }
        t.check_memory();
    }

    #[test]
    fn damaged_requests(which in 0..8usize, edits in proptest::collection::vec(any::<(u16, u8, u8)>(), 1..4)) {
        let mut t = T::new();
        let (method, mut body) = requests(&mut t).swap_remove(which);
        mutate(&mut body, &edits);
        t.send_bytes(method, &body);
        t.flush();
        t.check_memory();
        t.restart();
        t.check_memory();
        for s in t.store.runs.values() {
            for b in &s.batches {
                History::decode(b.events.as_slice()).expect("a history that any reader can decode");
            }
        }
        // What a worker would get is decodable too.
        while let Some(task) = t.try_task() {
            t.fail_task(&task).unwrap();
        }
        while t.try_activity().is_some() {}
    }

    #[test]
    fn arbitrary_records(
        head in proptest::collection::vec(any::<u8>(), 0..100),
        items in proptest::collection::vec((0..9u32, "[0-9]{0,3}", proptest::collection::vec(any::<u8>(), 0..60)), 0..6),
        edits in proptest::collection::vec(any::<(u16, u8, u8)>(), 0..3),
        real in any::<bool>(),
    ) {
        let mut t = T::new();
        t.check_on_drop = false;
        requests(&mut t);
        let (id, s) = t.store.runs.iter().next().unwrap();
        let (id, mut record) = (id.clone(), t.store.record(id));
        let row: RunRow = s.row.clone();
        if real {
            mutate(&mut record.head, &edits);
            let n = record.items.len();
            if let Some((at, _, _)) = edits.first() {
                mutate(&mut record.items[usize::from(*at) % n].value, &edits);
            }
        } else {
            record = RunRecord {
                found: true,
                row: Some(row),
                head,
                items: items.into_iter().map(|(kind, id, value)| StateItem { kind, id, value }).collect(),
                ..Default::default()
            };
        }
        t.restart();
        let mut engine = temporalex_core::engine::Engine::new(t.options.clone()).unwrap();
        engine.load(RunRecord { asked_workflow_id: "w".into(), asked_run_id: id, ..record.clone() }, t.now);
        engine.load(RunRecord { asked_workflow_id: "w".into(), ..record }, t.now);
        let signal = t.signal_request("w", "s");
        engine.request(1, M::SignalWorkflowExecution, &signal.encode_to_vec(), t.now);
        engine.tick(t.now + 1e9);
        engine.flush();
        engine.committed();
        engine.tick(f64::NAN);
        engine.tick(f64::INFINITY);
        engine.flush();
        engine.aborted();
    }
}

#[test]
fn every_prefix_of_a_request_is_answered() {
    let n = {
        let mut t = T::new();
        requests(&mut t).len()
    };
    for which in 0..n {
        let mut t = T::new();
        let (method, body) = requests(&mut t).swap_remove(which);
        for end in 0..body.len() {
            let id = t.send_bytes(method, &body[..end]);
            t.flush();
            t.engine.cancel_request(id);
        }
        t.check_memory();
    }
}

#[test]
fn failures_nested_without_end_are_refused() {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, vec![activity("1")]);
    let a = t.activity();
    let mut f = failure("E", "x");
    for _ in 0..200 {
        f = temporalex_core::api::failure::v1::Failure { cause: Some(Box::new(f)), ..Default::default() };
    }
    let e = t.fail_activity(&a, f).unwrap_err();
    assert!(e.message.contains("nested too deeply (limit: 64)"), "{}", e.message);
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let mut t = T::new();
    t.start("w");
    let mut s = t.signal_request("w", "s");
    s.input = Some(json("1"));
    let mut body = s.encode_to_vec();
    // The key of the payload's metadata.
    let at = body.windows(8).position(|w| w == b"encoding").unwrap();
    body[at] = 0xff;
    let id = t.send_bytes(M::SignalWorkflowExecution, &body);
    t.flush();
    let e = t.take::<SignalWorkflowExecutionResponse>(id).unwrap().unwrap_err();
    assert_eq!(e.code, 3);
    assert!(e.message.contains("cannot decode the request: field 4: input: text is not UTF-8"), "{}", e.message);
    assert_eq!(t.shape("w"), "Started WTScheduled");
}
