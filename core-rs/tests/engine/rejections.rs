//! Requests that a server rejects, with its code and words.
use prost::Message;
use temporalex_core::api::common::v1::{Header, Payload, SearchAttributes};
use temporalex_core::api::query::v1::WorkflowQuery;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::support::*;

fn attribute(name: &str, json: &str, kind: &str) -> SearchAttributes {
    let metadata = [("encoding".into(), b"json/plain".to_vec()), ("type".into(), kind.into())].into();
    let payload = Payload { metadata, data: json.into() };
    SearchAttributes { indexed_fields: [(name.into(), payload)].into() }
}

fn header(bytes: usize) -> Option<Header> {
    Some(Header { fields: [("h".into(), Payload { data: vec![7; bytes], ..Default::default() })].into() })
}

/// Fields of a start that the other tests have no use for.
#[derive(Clone, PartialEq, Message)]
struct Extra {
    #[prost(message, repeated, tag = "24")]
    links: Vec<Link>,
    #[prost(message, optional, tag = "27")]
    priority: Option<Priority>,
}

#[derive(Clone, PartialEq, Message)]
struct Link {
    #[prost(message, optional, tag = "1")]
    workflow_event: Option<LinkedEvent>,
}

#[derive(Clone, PartialEq, Message)]
struct LinkedEvent {
    #[prost(string, tag = "1")]
    namespace: String,
    #[prost(string, tag = "2")]
    workflow_id: String,
    #[prost(string, tag = "3")]
    run_id: String,
    #[prost(message, optional, tag = "100")]
    event: Option<EventReference>,
}

#[derive(Clone, PartialEq, Message)]
struct EventReference {
    #[prost(int64, tag = "1")]
    event_id: i64,
    #[prost(int32, tag = "2")]
    event_type: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Priority {
    #[prost(int32, tag = "1")]
    priority_key: i32,
    #[prost(string, tag = "2")]
    fairness_key: String,
    #[prost(float, tag = "3")]
    fairness_weight: f32,
}

fn linked(workflow_id: &str, event_type: i32) -> Extra {
    let event = Some(EventReference { event_id: 3, event_type });
    let event = LinkedEvent { namespace: "default".into(), workflow_id: workflow_id.into(), run_id: "run".into(), event };
    Extra { links: vec![Link { workflow_event: Some(event) }], priority: None }
}

fn urgent(priority_key: i32, fairness_bytes: usize) -> Extra {
    Extra {
        links: Vec::new(),
        priority: Some(Priority { priority_key, fairness_key: "x".repeat(fairness_bytes), fairness_weight: 1.0 }),
    }
}

fn weighted(fairness_weight: f32) -> Extra {
    Extra { links: Vec::new(), priority: Some(Priority { priority_key: 0, fairness_key: "x".into(), fairness_weight }) }
}

fn start(t: &mut T, id: &str, change: impl Fn(&mut StartWorkflowExecutionRequest), extra: &Extra) -> Answer<String> {
    let mut request = t.start_request(id);
    change(&mut request);
    let mut body = request.encode_to_vec();
    body.extend(extra.encode_to_vec());
    let id = t.send_bytes(M::StartWorkflowExecution, &body);
    t.flush();
    t.take::<StartWorkflowExecutionResponse>(id).expect("a reply").map(|r| r.run_id)
}

#[test]
fn starts_with_priorities_and_links() {
    let mut t = T::new();
    for (extra, text) in [
        (urgent(-1, 0), "PriorityKey can't be negative"),
        (urgent(1, 65), "FairnessKey length exceeds limit"),
        (weighted(-0.5), "FairnessWeight can't be negative"),
        (linked("other", 0), "workflow event link ref cannot have an unspecified event type and a non-zero event ID"),
        (linked("", 1), "workflow event link must not have an empty workflow ID field"),
    ] {
        let e = start(&mut t, "w", |_| {}, &extra).expect_err(text);
        assert_eq!((e.code, e.message.as_str()), (3, text));
    }
    for (i, extra) in [urgent(100, 64), weighted(5000.0), linked("other", 1)].iter().enumerate() {
        start(&mut t, &format!("w{i}"), |_| {}, extra).expect("a start");
    }
}

type Change = Box<dyn Fn(&mut StartWorkflowExecutionRequest)>;

#[test]
fn starts() {
    let attributes = |name: &'static str, json: String, kind: &'static str| -> Change {
        Box::new(move |r| r.search_attributes = Some(attribute(name, &json, kind)))
    };
    let cases: Vec<(Change, &str)> = vec![
        (attributes("WorkflowId", "\"x\"".into(), "Keyword"), "WorkflowId attribute can't be set in SearchAttributes"),
        (attributes("RootWorkflowId", "\"x\"".into(), "Keyword"), "RootWorkflowId attribute can't be set in SearchAttributes"),
        (attributes("Amount", "\"x\"".into(), "Int"), "invalid value for search attribute Amount of type Int: x"),
        (attributes("Amount", "[1,2]".into(), "Int"), "invalid value for search attribute Amount of type Int: [1,2]"),
        (
            attributes("Name", format!("\"{}\"", "x".repeat(2047)), "Keyword"),
            "search attribute Name value size 2049 exceeds size limit 2048",
        ),
        (Box::new(|r| r.task_queue = Some(queue("/_sys/q/1"))), "task queue name cannot start with reserved prefix /_sys/"),
        (Box::new(|r| r.header = header(5 << 20)), "Header size exceeds limit"),
    ];
    let mut t = T::new();
    for (change, text) in cases {
        let e = t.start_with("w", |r| change(r)).expect_err(text);
        assert_eq!(e.code, 3, "{text}");
        assert!(e.message.contains(text), "{}", e.message);
    }
    assert!(t.store.runs.is_empty());
    let accepted: Vec<Change> = vec![
        attributes("Name", format!("\"{}\"", "x".repeat(2046)), "Keyword"),
        attributes("Amount", "null".into(), "Int"),
        Box::new(|r| r.header = header(3 << 20)),
    ];
    for (i, change) in accepted.into_iter().enumerate() {
        t.start_with(&format!("w{i}"), |r| change(r)).expect("a start");
    }
}

#[test]
fn signals_with_start_and_queries() {
    let mut t = T::new();
    let run = t.start("w");
    let with_start = SignalWithStartWorkflowExecutionRequest {
        namespace: "default".into(),
        workflow_id: "w".into(),
        workflow_type: t.start_request("w").workflow_type,
        task_queue: Some(queue(QUEUE)),
        signal_name: "s".into(),
        workflow_id_conflict_policy: 1,
        ..Default::default()
    };
    let e = t.call::<SignalWithStartWorkflowExecutionResponse>(M::SignalWithStartWorkflowExecution, &with_start).unwrap_err();
    assert_eq!(e.code, 3);
    assert!(e.message.contains("WORKFLOW_ID_CONFLICT_POLICY_FAIL is not supported for this operation."), "{}", e.message);
    for (query, text) in
        [(Some(WorkflowQuery::default()), "QueryType is not set on request."), (None, "WorkflowQuery is not set on request.")]
    {
        let request =
            QueryWorkflowRequest { namespace: "default".into(), execution: Some(exec("w", &run)), query, ..Default::default() };
        let e = t.call::<QueryWorkflowResponse>(M::QueryWorkflow, &request).unwrap_err();
        assert_eq!((e.code, e.message.as_str()), (3, text));
    }
}

#[test]
fn malformed_run_ids_and_reserved_queues() {
    let mut t = T::new();
    t.start("w");
    for (run_id, code) in [("nope", 3), ("01a22422-a770-7c71-b350-0a8b705bba5g", 3), ("01a22422-a770-7c71-b350-0a8b705bba5e", 5)]
    {
        assert_eq!(t.describe("w", run_id).unwrap_err().code, code);
        let signal = SignalWorkflowExecutionRequest { workflow_execution: Some(exec("w", run_id)), ..t.signal_request("w", "s") };
        assert_eq!(t.call::<SignalWorkflowExecutionResponse>(M::SignalWorkflowExecution, &signal).unwrap_err().code, code);
        let mut update = update_request("w", "u", 2);
        update.workflow_execution = Some(exec("w", run_id));
        assert_eq!(t.call::<UpdateWorkflowExecutionResponse>(M::UpdateWorkflowExecution, &update).unwrap_err().code, code);
    }
    let poll =
        PollWorkflowTaskQueueRequest { namespace: "default".into(), task_queue: Some(queue("/_sys/q")), ..Default::default() };
    assert_eq!(t.call::<PollWorkflowTaskQueueResponse>(M::PollWorkflowTaskQueue, &poll).unwrap_err().code, 3);
}

#[test]
fn commands_that_set_what_a_server_knows_fail_the_task() {
    use temporalex_core::api::command::v1::{UpsertWorkflowSearchAttributesCommandAttributes as Upsert, command::Attributes};
    use temporalex_core::api::enums::v1::CommandType;
    for (attributes, text) in [
        (attribute("CloseTime", "\"x\"", "Keyword"), "CloseTime attribute can't be set in SearchAttributes"),
        (attribute("Amount", "\"x\"", "Int"), "invalid value for search attribute Amount of type Int: x"),
    ] {
        let mut t = T::new();
        t.start_with("w", |r| r.search_attributes = Some(attribute("Amount", "7", "Int"))).unwrap();
        let task = t.task();
        let upsert = Attributes::UpsertWorkflowSearchAttributesCommandAttributes(Upsert { search_attributes: Some(attributes) });
        let e = t.try_complete(&task, vec![command(CommandType::UpsertWorkflowSearchAttributes, upsert)]).unwrap_err();
        assert_eq!(e.message, format!("BadSearchAttributes: {text}"));
        assert_eq!(t.shape("w"), "Started WTScheduled WTStarted WTFailed");
    }
}

#[test]
fn a_completed_task_shows_the_build_of_its_worker() {
    use temporalex_core::api::history::v1::history_event::Attributes as A;
    let mut t = T::new();
    t.start("w");
    let task = t.task();
    #[allow(deprecated)]
    t.complete_with(&task, vec![done()], |r| r.binary_checksum = "build-7".into()).unwrap();
    let history = t.history("w", "");
    let A::WorkflowTaskCompletedEventAttributes(a) = attrs(&history[3]) else { panic!() };
    assert_eq!(a.worker_version.as_ref().map(|v| v.build_id.as_str()), Some("build-7"));
}
