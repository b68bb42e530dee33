//! What the core only carries it carries byte for byte, fields that it does not know included; what is damaged is refused before
//! anything is applied.
use prost::Message;
use temporalex_core::api::common::v1::{ActivityType, Payload, Payloads, WorkflowExecution, WorkflowType};
use temporalex_core::api::enums::v1::EventType;
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::*;
use temporalex_core::api::workflowservice::v1::PollWorkflowTaskQueueResponse;
use temporalex_core::boundary::{
    CommandKind, FailWorkflow, RunOptions, ScheduleActivity, StartChildWorkflow, job, resolve_activity, step, task_outcome,
};
use temporalex_core::error::codes;
use temporalex_core::replay::Run;

/// Field 1000 with the text "xyz": no version of any message here has it. As long as a text field with the four letters "MARK".
const UNKNOWN: [u8; 6] = [0xc2, 0x3e, 3, b'x', b'y', b'z'];

fn event(event_id: i64, kind: EventType, attributes: Attributes) -> HistoryEvent {
    let event_time = Some(prost_types::Timestamp { seconds: 1000 + event_id, nanos: 0 });
    HistoryEvent { event_id, event_time, event_type: kind as i32, attributes: Some(attributes), ..Default::default() }
}

/// S w, with the given attributes of the start.
fn first_task(started: WorkflowExecutionStartedEventAttributes) -> Vec<HistoryEvent> {
    vec![
        event(1, EventType::WorkflowExecutionStarted, Attributes::WorkflowExecutionStartedEventAttributes(Box::new(started))),
        event(2, EventType::WorkflowTaskScheduled, Attributes::WorkflowTaskScheduledEventAttributes(Default::default())),
        event(3, EventType::WorkflowTaskStarted, Attributes::WorkflowTaskStartedEventAttributes(Default::default())),
    ]
}

fn run() -> Run {
    Run::new(RunOptions::default()).unwrap()
}

fn activation(run: &mut Run) -> Vec<u8> {
    let bytes = run.next_bytes().unwrap();
    assert_eq!(bytes[0], 10, "an activation");
    bytes
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|w| w == needle)
}

fn poll(events: Vec<HistoryEvent>) -> Vec<u8> {
    PollWorkflowTaskQueueResponse {
        task_token: b"t".to_vec(),
        workflow_execution: Some(WorkflowExecution { workflow_id: "id".into(), run_id: "run".into() }),
        workflow_type: Some(WorkflowType { name: "wf".into() }),
        started_event_id: events.len() as i64,
        attempt: 1,
        history: Some(History { events }),
        ..Default::default()
    }
    .encode_to_vec()
}

/// The field whose value is "MARK" becomes a field that generated messages would drop.
fn with_unknown(mut encoded: Vec<u8>) -> Vec<u8> {
    let value = encoded.windows(4).position(|w| w == b"MARK").expect("the mark");
    encoded[value - 2..value + 4].copy_from_slice(&UNKNOWN);
    encoded
}

#[test]
fn payloads_of_history_reach_the_caller_as_they_are() {
    let started = WorkflowExecutionStartedEventAttributes {
        input: Some(Payloads { payloads: vec![Payload { data: b"MARK".to_vec(), ..Default::default() }] }),
        workflow_type: Some(WorkflowType { name: "wf".into() }),
        ..Default::default()
    };
    let history = with_unknown(History { events: first_task(started) }.encode_to_vec());
    let mut run = run();
    run.start_replay("id", &history).unwrap();
    assert!(contains(&activation(&mut run), &UNKNOWN));
}

#[test]
fn failures_reach_the_server_as_they_are() {
    let mut failure = temporalex_core::api::failure::v1::Failure { message: "m".into(), ..Default::default() }.encode_to_vec();
    failure.extend_from_slice(&UNKNOWN);
    let mut run = run();
    run.start_task(&poll(first_task(Default::default()))).unwrap();
    activation(&mut run);
    run.command(CommandKind::FailWorkflow, &FailWorkflow { failure: failure.clone() }.encode_to_vec()).unwrap();
    run.finish_activation().unwrap();
    let Some(step::Kind::Outcome(outcome)) = run.next().unwrap().kind else { panic!("not an outcome") };
    let Some(task_outcome::Response::Completed(bytes)) = outcome.response else { panic!("not completed") };
    assert!(contains(&bytes, &failure));
}

#[test]
fn causes_of_activity_failures_keep_what_is_not_known() {
    let mut events = first_task(Default::default());
    let completed = Attributes::WorkflowTaskCompletedEventAttributes(Default::default());
    events.push(event(4, EventType::WorkflowTaskCompleted, completed));
    let scheduled = ActivityTaskScheduledEventAttributes {
        activity_id: "1".into(),
        activity_type: Some(ActivityType { name: "a".into() }),
        ..Default::default()
    };
    events.push(event(5, EventType::ActivityTaskScheduled, Attributes::ActivityTaskScheduledEventAttributes(scheduled)));
    let cause = temporalex_core::api::failure::v1::Failure { message: "MARK".into(), ..Default::default() };
    let failed = ActivityTaskFailedEventAttributes { failure: Some(cause), scheduled_event_id: 5, ..Default::default() };
    events.push(event(6, EventType::ActivityTaskFailed, Attributes::ActivityTaskFailedEventAttributes(failed)));
    let history = with_unknown(History { events }.encode_to_vec());
    let mut run = run();
    run.start_replay("id", &history).unwrap();
    activation(&mut run);
    let command = ScheduleActivity { activity_type: "a".into(), start_to_close_timeout_ms: 1.0, ..Default::default() };
    run.command(CommandKind::ScheduleActivity, &command.encode_to_vec()).unwrap();
    run.finish_activation().unwrap();
    let Some(step::Kind::Activation(second)) = run.next().unwrap().kind else { panic!("not an activation") };
    let Some(job::Variant::ResolveActivity(resolved)) = &second.jobs[0].variant else { panic!("not a resolution") };
    let Some(resolve_activity::Result::Failed(failure)) = &resolved.result else { panic!("not failed") };
    assert!(contains(failure, &UNKNOWN));
}

/// Result and failure of a child, and what a start of a child carries to the server.
#[test]
fn children_carry_what_is_not_known() {
    let mut events = first_task(Default::default());
    let completed = Attributes::WorkflowTaskCompletedEventAttributes(Default::default());
    events.push(event(4, EventType::WorkflowTaskCompleted, completed));
    let initiated = StartChildWorkflowExecutionInitiatedEventAttributes {
        workflow_id: "c".into(),
        workflow_type: Some(WorkflowType { name: "child".into() }),
        ..Default::default()
    };
    let initiated = Attributes::StartChildWorkflowExecutionInitiatedEventAttributes(Box::new(initiated));
    events.push(event(5, EventType::StartChildWorkflowExecutionInitiated, initiated));
    let started = ChildWorkflowExecutionStartedEventAttributes { initiated_event_id: 5, ..Default::default() };
    let started = Attributes::ChildWorkflowExecutionStartedEventAttributes(started);
    events.push(event(6, EventType::ChildWorkflowExecutionStarted, started));
    let result = Some(Payloads { payloads: vec![Payload { data: b"MARK".to_vec(), ..Default::default() }] });
    let completed = ChildWorkflowExecutionCompletedEventAttributes { result, initiated_event_id: 5, ..Default::default() };
    let completed = Attributes::ChildWorkflowExecutionCompletedEventAttributes(completed);
    let cause = temporalex_core::api::failure::v1::Failure { message: "MARK".into(), ..Default::default() };
    let failed =
        ChildWorkflowExecutionFailedEventAttributes { failure: Some(cause), initiated_event_id: 5, ..Default::default() };
    let failed = Attributes::ChildWorkflowExecutionFailedEventAttributes(Box::new(failed));
    let ends = [(EventType::ChildWorkflowExecutionCompleted, completed), (EventType::ChildWorkflowExecutionFailed, failed)];
    let input = vec![Payload { data: b"MARK".to_vec(), ..Default::default() }];
    let command =
        StartChildWorkflow { workflow_id: "c".into(), workflow_type: "child".into(), arguments: input, ..Default::default() };
    let command = with_unknown(command.encode_to_vec());
    for (kind, end) in ends {
        let events = [&events[..], &[event(7, kind, end)]].concat();
        let mut run = run();
        run.start_replay("id", &with_unknown(History { events }.encode_to_vec())).unwrap();
        activation(&mut run);
        run.command(CommandKind::StartChildWorkflow, &command).unwrap();
        run.finish_activation().unwrap();
        assert!(contains(&activation(&mut run), &UNKNOWN));
    }
    let mut run = run();
    run.start_task(&poll(first_task(Default::default()))).unwrap();
    activation(&mut run);
    run.command(CommandKind::StartChildWorkflow, &command).unwrap();
    run.finish_activation().unwrap();
    let Some(step::Kind::Outcome(outcome)) = run.next().unwrap().kind else { panic!("not an outcome") };
    let Some(task_outcome::Response::Completed(bytes)) = outcome.response else { panic!("not completed") };
    assert!(contains(&bytes, &UNKNOWN));
}

/// A payload whose metadata does not decode would reach workflow code as an exception: it is refused with the history.
#[test]
fn damaged_payloads_are_refused_with_the_history() {
    let payload = Payload { metadata: [("KEY".to_string(), b"v".to_vec())].into(), ..Default::default() };
    let started =
        WorkflowExecutionStartedEventAttributes { input: Some(Payloads { payloads: vec![payload] }), ..Default::default() };
    let mut history = History { events: first_task(started) }.encode_to_vec();
    let at = history.windows(3).position(|w| w == b"KEY").expect("the key");
    history[at] = 0xff;
    let error = run().start_replay("id", &history).unwrap_err();
    assert_eq!(error.code, codes::BAD_BYTES);
    assert_eq!(error.message, "cannot decode the history: event 1: text is not UTF-8");
}

#[test]
fn damaged_payloads_of_commands_are_refused() {
    let mut run = run();
    run.start_task(&poll(first_task(Default::default()))).unwrap();
    activation(&mut run);
    // CompleteWorkflow whose result claims 9 bytes and has one.
    let error = run.command(CommandKind::CompleteWorkflow, &[10, 3, 18, 9, 1]).unwrap_err();
    assert_eq!(error.code, codes::BAD_BYTES);
    use CommandKind::*;
    // A field 1 or 2 that runs past the end, for every kind whose attributes are kept as they came.
    let kinds = [StartChildWorkflow, CancelChildWorkflow, SignalExternalWorkflow, CancelExternalWorkflow, UpsertSearchAttributes];
    for kind in kinds.into_iter().chain([CancelSignalWorkflow, ModifyWorkflowProperties]) {
        for bytes in [&[10u8, 9, 1][..], &[18, 9, 1], &[8], &[9, 1]] {
            let mut run = self::run();
            run.start_task(&poll(first_task(Default::default()))).unwrap();
            activation(&mut run);
            let error = run.command(kind, bytes).unwrap_err();
            assert_eq!(error.code, codes::BAD_BYTES, "{kind:?} {bytes:?}");
        }
    }
}
