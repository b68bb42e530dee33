//! Limits of activity queues: the rate of a worker's poll, and the configuration of the host, which comes first.
use prost::Message;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

#[derive(Clone, PartialEq, Message)]
struct Configs {
    #[prost(message, repeated, tag = "1")]
    queues: Vec<Config>,
}

#[derive(Clone, PartialEq, Message)]
struct Config {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(bool, tag = "2")]
    activity: bool,
    #[prost(message, optional, tag = "3")]
    rate: Option<Rate>,
}

#[derive(Clone, PartialEq, Message)]
struct Rate {
    #[prost(double, tag = "1")]
    per_second: f64,
}

/// Fields of a poll that the other tests have no use for.
#[derive(Clone, PartialEq, Message)]
struct Extra {
    #[prost(message, optional, tag = "4")]
    metadata: Option<Metadata>,
}

#[derive(Clone, PartialEq, Message)]
struct Metadata {
    #[prost(message, optional, tag = "1")]
    max_tasks_per_second: Option<Rate>,
}

fn configure(t: &mut T, rate: Option<f64>) {
    let rate = rate.map(|per_second| Rate { per_second });
    let configs = Configs { queues: vec![Config { name: QUEUE.into(), activity: true, rate }] };
    t.engine.request(0, M::SetTaskQueueConfigs, &configs.encode_to_vec(), t.now);
    t.flush();
}

/// A worker with room for all tasks: how many it has got.
fn poll_all(t: &mut T, polls: usize, worker: Option<f64>) -> Vec<u32> {
    let request = PollActivityTaskQueueRequest {
        namespace: "default".into(),
        task_queue: Some(queue(QUEUE)),
        identity: "worker".into(),
        ..Default::default()
    };
    let mut body = request.encode_to_vec();
    if let Some(per_second) = worker {
        let metadata = Metadata { max_tasks_per_second: Some(Rate { per_second }) };
        body.extend(Extra { metadata: Some(metadata) }.encode_to_vec());
    }
    let ids = (0..polls).map(|_| t.send_bytes(M::PollActivityTaskQueue, &body)).collect();
    t.flush();
    ids
}

fn responses(t: &mut T, polls: &[u32]) -> usize {
    polls.iter().filter(|id| t.replies.contains_key(id)).count()
}

fn with_activities(count: usize) -> T {
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    t.complete(&task, (0..count).map(|i| activity(&format!("a{i}"))).collect());
    t
}

#[test]
fn tasks_leave_at_the_rate_of_the_last_poll() {
    let mut t = with_activities(20);
    let polls = poll_all(&mut t, 20, Some(2.0));
    assert_eq!(responses(&mut t, &polls), 3, "a second's tasks at once");
    t.advance(400.0);
    assert_eq!(responses(&mut t, &polls), 3);
    assert!(t.skip(), "the engine wakes for the next one");
    assert_eq!(responses(&mut t, &polls), 4);
    t.advance(2_000.0);
    assert_eq!(responses(&mut t, &polls), 7);
    let unlimited = poll_all(&mut t, 1, None);
    assert_eq!(responses(&mut t, &polls) + responses(&mut t, &unlimited), 20, "the last poll has no limit");
}

#[test]
fn the_configuration_comes_before_the_rate_of_the_worker() {
    let mut t = with_activities(20);
    configure(&mut t, Some(0.0));
    let polls = poll_all(&mut t, 20, Some(100.0));
    t.advance(5_000.0);
    assert_eq!(responses(&mut t, &polls), 0, "a rate of 0 pauses the queue");
    configure(&mut t, Some(1.0));
    t.advance(3_000.0);
    assert_eq!(responses(&mut t, &polls), 2);
    configure(&mut t, None);
    t.advance(3_000.0);
    assert_eq!(responses(&mut t, &polls), 20);
}

#[test]
fn the_host_takes_its_tasks_from_the_same_limit() {
    let mut t = with_activities(5);
    configure(&mut t, Some(2.0));
    assert_eq!(t.engine.take_activity_token(QUEUE, "", 1.0, t.now), 0.0);
    let polls = poll_all(&mut t, 5, None);
    assert_eq!(responses(&mut t, &polls), 2);
    assert_eq!(t.engine.take_activity_token(QUEUE, "", 1.0, t.now), t.now + 500.0);
    assert_eq!(t.engine.take_activity_token("other", "", 1.0, t.now), 0.0);
}
