//! Priority and fairness keys: the order in which a queue gives out its tasks.
use prost::Message;
use temporalex_core::api::query::v1::WorkflowQuery;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

// Fields that the generated messages of the tests do not have.

#[derive(Clone, PartialEq, Message)]
struct Priority {
    #[prost(int32, tag = "1")]
    priority_key: i32,
    #[prost(string, tag = "2")]
    fairness_key: String,
    #[prost(float, tag = "3")]
    fairness_weight: f32,
}

#[derive(Clone, PartialEq, Message)]
struct OfStart {
    #[prost(message, optional, tag = "27")]
    priority: Option<Priority>,
}

#[derive(Clone, PartialEq, Message)]
struct OfCompletion {
    #[prost(message, repeated, tag = "2")]
    commands: Vec<OfCommand>,
}

#[derive(Clone, PartialEq, Message)]
struct OfCommand {
    #[prost(int32, tag = "1")]
    command_type: i32,
    #[prost(bytes = "vec", optional, tag = "2")]
    schedule_activity: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct OfActivity {
    #[prost(message, optional, tag = "14")]
    priority: Option<Priority>,
}

fn priority(key: i32, fairness: &str, weight: f32) -> Option<Priority> {
    Some(Priority { priority_key: key, fairness_key: fairness.into(), fairness_weight: weight })
}

fn start(t: &mut T, id: &str, priority: Option<Priority>) {
    let body = [t.start_request(id).encode_to_vec(), OfStart { priority }.encode_to_vec()].concat();
    let request = t.send_bytes(M::StartWorkflowExecution, &body);
    t.flush();
    t.take::<StartWorkflowExecutionResponse>(request).expect("a reply").expect("a start");
}

fn schedule(id: &str, priority: Option<Priority>) -> OfCommand {
    let attributes = [activity_attrs(id).encode_to_vec(), OfActivity { priority }.encode_to_vec()].concat();
    OfCommand { command_type: activity(id).command_type, schedule_activity: Some(attributes) }
}

fn task_ids(t: &mut T) -> Vec<String> {
    std::iter::from_fn(|| t.try_task()).map(|task| task.workflow_execution.unwrap().workflow_id).collect()
}

#[test]
fn workflow_tasks_are_given_out_by_priority_key_and_then_in_turns() {
    let mut t = T::new();
    let starts = [
        ("low", priority(5, "", 0.0)),
        ("plain", None),
        ("a1", priority(3, "a", 0.0)),
        ("a2", priority(0, "a", 0.0)),
        ("b1", priority(3, "b", 0.0)),
        ("beyond", priority(9, "", 0.0)),
        ("high", priority(1, "", 0.0)),
    ];
    for (id, priority) in starts {
        start(&mut t, id, priority);
    }
    t.flush();
    let rows = [[0.0, 1.0, 1.0, 500.0, 1.0, 0.0], [0.0, 3.0, 4.0, 500.0, 4.0, 0.0], [0.0, 5.0, 2.0, 500.0, 2.0, 0.0]];
    assert_eq!(t.engine.backlog(QUEUE, t.now + 500.0), rows.concat());
    t.restart();
    assert_eq!(task_ids(&mut t), ["high", "plain", "a1", "b1", "a2", "low", "beyond"]);
}

#[test]
fn activities_inherit_what_they_do_not_set() {
    let mut t = T::new();
    for (id, own) in [("1", None), ("2", priority(2, "", 0.0)), ("3", priority(0, "other", 0.0))] {
        start(&mut t, id, priority(4, "tenant", 2.0));
        let task = t.task();
        let commands = vec![schedule(id, own), schedule(&format!("{id} again"), None)];
        let body = [t.completion(&task, Vec::new()).encode_to_vec(), OfCompletion { commands }.encode_to_vec()].concat();
        t.send_bytes(M::RespondWorkflowTaskCompleted, &body);
        t.flush();
    }
    let ids: Vec<String> = std::iter::from_fn(|| t.try_activity()).map(|a| a.activity_id).collect();
    assert_eq!(ids[0], "2", "its own priority key is lower");
    assert_eq!(ids[1..3], ["1", "3"], "the two fairness keys take turns");
    assert_eq!(ids.len(), 6);
}

#[test]
fn queries_have_the_priority_of_their_workflow() {
    let mut t = T::new();
    start(&mut t, "urgent", priority(1, "", 0.0));
    let task = t.task();
    t.complete(&task, vec![timer("1", 60_000)]);
    t.start("waiting");
    t.flush();
    let request = QueryWorkflowRequest {
        namespace: "default".into(),
        execution: Some(exec("urgent", "")),
        query: Some(WorkflowQuery { query_type: "q".into(), ..Default::default() }),
        ..Default::default()
    };
    t.send(M::QueryWorkflow, &request);
    t.flush();
    assert_eq!(task_ids(&mut t), ["urgent", "waiting"]);
}
