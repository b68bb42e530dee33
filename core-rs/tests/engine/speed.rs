//! How fast the engine is by itself, natively and without a store: `ENGINE_STEPS=40000 cargo test --release --test engine speed --
//! --nocapture`. As a test it only proves that many runs in flight reach their goal; times are printed and never asserted.
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use crate::support::*;
use prost::Message;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, EngineOptions, Flush, RunRecord};
use temporalex_core::engine::Engine;

/// The requests that a worker and the starter of its workflows send.
struct Bodies {
    t: T,
    poll_task: Vec<u8>,
    poll_sticky: Vec<u8>,
    poll_activity: Vec<u8>,
}

impl Bodies {
    fn new() -> Bodies {
        let identity = "worker".to_string();
        let sticky_queue =
            temporalex_core::api::taskqueue::v1::TaskQueue { name: STICKY.into(), kind: 2, normal_name: QUEUE.into() };
        let poll = |q| PollWorkflowTaskQueueRequest { task_queue: Some(q), identity: identity.clone(), ..Default::default() };
        let poll_activity =
            PollActivityTaskQueueRequest { task_queue: Some(queue(QUEUE)), identity: identity.clone(), ..Default::default() };
        Bodies {
            t: T::new(),
            poll_task: poll(queue(QUEUE)).encode_to_vec(),
            poll_sticky: poll(sticky_queue).encode_to_vec(),
            poll_activity: poll_activity.encode_to_vec(),
        }
    }

    fn begin(&self, workflows: u32) -> Vec<(M, Vec<u8>)> {
        let one = |i| {
            let start = self.t.start_request(&format!("w{i}")).encode_to_vec();
            [(M::StartWorkflowExecution, start), (M::PollWorkflowTaskQueue, self.poll_task.clone())]
        };
        (0..workflows).flat_map(one).collect()
    }

    /// What follows the reply to a request of this method.
    fn after(&self, method: M, body: &[u8], todo: &mut Vec<(M, Vec<u8>)>) {
        match method {
            M::PollWorkflowTaskQueue => {
                let task = PollWorkflowTaskQueueResponse::decode(body).unwrap();
                let next = vec![activity(&task.started_event_id.to_string())];
                todo.push((M::RespondWorkflowTaskCompleted, sticky(self.t.completion(&task, next)).encode_to_vec()));
                todo.push((M::PollWorkflowTaskQueue, self.poll_sticky.clone()));
                todo.push((M::PollActivityTaskQueue, self.poll_activity.clone()));
            }
            M::PollActivityTaskQueue => {
                let task = PollActivityTaskQueueResponse::decode(body).unwrap();
                let done = RespondActivityTaskCompletedRequest {
                    task_token: task.task_token,
                    result: Some(json("\"result\"")),
                    identity: "worker".into(),
                    ..Default::default()
                };
                todo.push((M::RespondActivityTaskCompleted, done.encode_to_vec()));
            }
            _ => {}
        }
    }
}

/// Flushes; the store has no run that the engine requests.
fn flush(engine: &mut Engine, now: f64) -> Flush {
    loop {
        let flush = engine.flush();
        if flush.loads.is_empty() {
            return flush;
        }
        for l in flush.loads {
            let (asked_workflow_id, asked_run_id) = (l.workflow_id, l.run_id);
            engine.load(RunRecord { asked_workflow_id, asked_run_id, ..Default::default() }, now);
        }
    }
}

#[derive(Default)]
struct Spent {
    all: Duration,
    parts: BTreeMap<String, f64>,
}

impl Spent {
    fn on<R>(&mut self, part: impl Into<String>, work: impl FnOnce() -> R) -> R {
        let at = Instant::now();
        let result = work();
        self.all += at.elapsed();
        *self.parts.entry(part.into()).or_default() += at.elapsed().as_secs_f64() * 1e6;
        result
    }
}

#[test]
fn activity_steps_per_second() {
    let goal: u32 = std::env::var("ENGINE_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_500);
    let bodies = Bodies::new();
    for workflows in [1u32, 64, 1000] {
        let options =
            EngineOptions { namespace: "default".into(), seed: seed(1), max_history_events: u32::MAX, ..Default::default() };
        let mut engine = Engine::new(options).unwrap();
        let (mut id, mut now, mut steps) = (0, START_MS, 0);
        let (mut bytes, mut requests, mut writes) = (0usize, 0u64, 0usize);
        let mut kinds = HashMap::new();
        let mut spent = Spent::default();
        let mut todo = bodies.begin(workflows);
        while steps < goal {
            let batch = std::mem::take(&mut todo);
            now += 0.1;
            requests += batch.len() as u64;
            for (m, body) in &batch {
                id += 1;
                kinds.insert(id, *m);
                spent.on(format!("{m:?}"), || engine.request(id, *m, body, now));
            }
            let flush = spent.on("flush", || flush(&mut engine, now));
            bytes += flush.encoded_len();
            spent.on("committed", || engine.committed());
            writes += flush.writes.iter().map(|w| w.put.len() + w.remove.len() + 1).sum::<usize>();
            for r in &flush.replies {
                assert!(r.error.is_none(), "{:?}", r.error);
                let Some(method) = kinds.remove(&r.request_id) else { continue };
                steps += u32::from(method == M::RespondActivityTaskCompleted);
                bodies.after(method, &r.body, &mut todo);
            }
        }
        println!(
            "{workflows} workflows: {:.1} us per step, {} bytes and {:.1} rows per step, {:.1} requests per step",
            spent.all.as_secs_f64() * 1e6 / f64::from(steps),
            bytes / steps as usize,
            writes as f64 / f64::from(steps),
            requests as f64 / f64::from(steps)
        );
        for (part, us) in spent.parts {
            println!("    {part}: {:.2} us per step", us / f64::from(steps));
        }
    }
}

/// What a commit of one run costs while many others have a task in the queue and cannot be forgotten: it must not grow with their number.
/// `ENGINE_QUEUED=100000` for figures.
#[test]
fn commits_beside_queued_runs() {
    let most: u32 = std::env::var("ENGINE_QUEUED").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000);
    for queued in [most / 4, most / 2, most] {
        let mut t = T::with(EngineOptions { max_cached_runs: 100, max_inbox: most * 2, ..Default::default() });
        t.check_on_drop = false;
        for i in 0..queued {
            let request = t.start_request(&format!("w{i}"));
            t.send(M::StartWorkflowExecution, &request);
            if i % 100 == 99 {
                t.flush();
            }
        }
        let began = Instant::now();
        const COMMITS: u32 = 500;
        for i in 0..COMMITS {
            t.signal(&format!("w{}", i % queued), "s").expect("a signal");
        }
        let each = began.elapsed() / COMMITS;
        println!("{queued} queued runs: a commit with them {each:?}");
        assert_eq!(t.flush().cached_runs, queued, "a run with a queued task stays");
        // Once nothing is queued, each commit forgets more runs than it adds.
        for i in 0..queued {
            t.terminate(&format!("w{i}")).expect("a termination");
        }
        let left = t.flush().cached_runs;
        assert!(left <= 200, "{left} runs in memory");
    }
}
