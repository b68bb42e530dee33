//! How fast the engine is by itself, natively and without a store: `ENGINE_STEPS=40000 cargo test --release --test engine_speed --
//! --nocapture`. As a test it only proves that many runs in flight reach their goal; times are printed and never asserted.
#[path = "engine/invariants.rs"]
mod invariants;
#[path = "engine/support.rs"]
mod support;

use std::time::Instant;

use prost::Message;
use support::*;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions};
use temporalex_core::engine::Engine;

#[test]
fn activity_steps_per_second() {
    for workflows in [1u32, 64, 1000] {
        let mut engine = Engine::new(EngineOptions {
            namespace: "default".into(),
            seed: seed(1),
            max_history_events: u32::MAX,
            ..Default::default()
        })
        .unwrap();
        let t = T::new();
        let mut id = 0;
        let mut now = START_MS;
        let (mut bytes, mut requests) = (0usize, 0u64);
        let poll_task =
            PollWorkflowTaskQueueRequest { task_queue: Some(queue(QUEUE)), identity: "worker".into(), ..Default::default() };
        let sticky_queue =
            temporalex_core::api::taskqueue::v1::TaskQueue { name: STICKY.into(), kind: 2, normal_name: QUEUE.into() };
        let poll_sticky =
            PollWorkflowTaskQueueRequest { task_queue: Some(sticky_queue), identity: "worker".into(), ..Default::default() };
        let poll_activity =
            PollActivityTaskQueueRequest { task_queue: Some(queue(QUEUE)), identity: "worker".into(), ..Default::default() };
        let (poll_task, poll_sticky, poll_activity) =
            (poll_task.encode_to_vec(), poll_sticky.encode_to_vec(), poll_activity.encode_to_vec());
        let mut kinds = std::collections::HashMap::new();
        let mut todo: Vec<(M, Vec<u8>)> = Vec::new();
        for i in 0..workflows {
            todo.push((M::StartWorkflowExecution, t.start_request(&format!("w{i}")).encode_to_vec()));
            todo.push((M::PollWorkflowTaskQueue, poll_task.clone()));
        }
        let goal: u32 = std::env::var("ENGINE_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_500);
        let mut steps = 0;
        let mut spent = std::time::Duration::ZERO;
        let mut writes = 0usize;
        let mut parts: std::collections::BTreeMap<String, f64> = Default::default();
        while steps < goal {
            let batch = std::mem::take(&mut todo);
            now += 0.1;
            requests += batch.len() as u64;
            let begin = Instant::now();
            for (m, body) in &batch {
                id += 1;
                kinds.insert(id, *m);
                let at = Instant::now();
                engine.request(id, *m, body, now);
                *parts.entry(format!("{m:?}")).or_default() += at.elapsed().as_secs_f64() * 1e6;
            }
            let at = Instant::now();
            let mut flush = engine.flush();
            *parts.entry("flush".to_string()).or_default() += at.elapsed().as_secs_f64() * 1e6;
            while !flush.loads.is_empty() {
                for l in &flush.loads {
                    engine.load(
                        temporalex_core::boundary::RunRecord {
                            asked_workflow_id: l.workflow_id.clone(),
                            asked_run_id: l.run_id.clone(),
                            ..Default::default()
                        },
                        now,
                    );
                }
                flush = engine.flush();
            }
            bytes += flush.encoded_len();
            let at = Instant::now();
            engine.committed();
            *parts.entry("committed".to_string()).or_default() += at.elapsed().as_secs_f64() * 1e6;
            spent += begin.elapsed();
            writes += flush.writes.iter().map(|w| w.put.len() + w.remove.len() + 1).sum::<usize>();
            for r in &flush.replies {
                assert!(r.error.is_none(), "{:?}", r.error);
                match kinds.remove(&r.request_id) {
                    Some(M::PollWorkflowTaskQueue) => {
                        let task = PollWorkflowTaskQueueResponse::decode(r.body.as_slice()).unwrap();
                        let body =
                            sticky(t.completion(&task, vec![activity(&task.started_event_id.to_string())])).encode_to_vec();
                        todo.push((M::RespondWorkflowTaskCompleted, body));
                        todo.push((M::PollWorkflowTaskQueue, poll_sticky.clone()));
                        todo.push((M::PollActivityTaskQueue, poll_activity.clone()));
                    }
                    Some(M::PollActivityTaskQueue) => {
                        let task = PollActivityTaskQueueResponse::decode(r.body.as_slice()).unwrap();
                        let done = RespondActivityTaskCompletedRequest {
                            task_token: task.task_token,
                            result: Some(json("\"result\"")),
                            identity: "worker".into(),
                            ..Default::default()
                        };
                        todo.push((M::RespondActivityTaskCompleted, done.encode_to_vec()));
                    }
                    Some(M::RespondActivityTaskCompleted) => steps += 1,
                    _ => {}
                }
            }
        }
        println!(
            "{workflows} workflows: {:.1} us per step, {} bytes and {:.1} rows per step, {:.1} requests per step",
            spent.as_secs_f64() * 1e6 / f64::from(steps),
            bytes / steps as usize,
            writes as f64 / f64::from(steps),
            requests as f64 / f64::from(steps)
        );
        for (part, us) in parts {
            println!("    {part}: {:.2} us per step", us / f64::from(steps));
        }
    }
}
