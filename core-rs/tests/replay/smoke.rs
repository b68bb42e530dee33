//! A few whole ways through `replay::Run`: live from a first task, cached task by task, replay of a history.
use prost::Message;
use temporalex_core::api::command::v1::Command;
use temporalex_core::api::command::v1::command::Attributes as CommandAttributes;
use temporalex_core::api::common::v1::{ActivityType, Payload, Payloads, WorkflowExecution, WorkflowType};
use temporalex_core::api::enums::v1::{EventType, WorkflowTaskFailedCause};
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::*;
use temporalex_core::api::taskqueue::v1::TaskQueue;
use temporalex_core::api::workflowservice::v1::{
    PollWorkflowTaskQueueResponse, RespondWorkflowTaskCompletedRequest, RespondWorkflowTaskFailedRequest,
};
use temporalex_core::boundary::{
    Activation, CommandKind, CompleteWorkflow, RunOptions, ScheduleActivity, StartTimer, Step, TaskOutcome, job,
    resolve_activity, step, task_outcome,
};
use temporalex_core::replay::Run;

/// Builds histories event by event; ids are positions.
#[derive(Default)]
struct Builder {
    events: Vec<HistoryEvent>,
}

impl Builder {
    fn add(&mut self, kind: EventType, attributes: Attributes) -> i64 {
        let event_id = self.events.len() as i64 + 1;
        let event_time = Some(prost_types::Timestamp { seconds: 1000 + event_id, nanos: 0 });
        let attributes = Some(attributes);
        self.events.push(HistoryEvent { event_id, event_time, event_type: kind as i32, attributes, ..Default::default() });
        event_id
    }

    fn started() -> Builder {
        let mut b = Builder::default();
        b.add(
            EventType::WorkflowExecutionStarted,
            Attributes::WorkflowExecutionStartedEventAttributes(Box::new(WorkflowExecutionStartedEventAttributes {
                workflow_type: Some(WorkflowType { name: "wf".into() }),
                task_queue: Some(TaskQueue { name: "q".into(), ..Default::default() }),
                original_execution_run_id: "run".into(),
                input: Some(Payloads { payloads: vec![payload("in")] }),
                ..Default::default()
            })),
        );
        b
    }

    fn task_open(&mut self) -> &mut Self {
        let scheduled_event_id = self.add(
            EventType::WorkflowTaskScheduled,
            Attributes::WorkflowTaskScheduledEventAttributes(WorkflowTaskScheduledEventAttributes::default()),
        );
        self.add(
            EventType::WorkflowTaskStarted,
            Attributes::WorkflowTaskStartedEventAttributes(WorkflowTaskStartedEventAttributes {
                scheduled_event_id,
                history_size_bytes: 77,
                ..Default::default()
            }),
        );
        self
    }

    fn task(&mut self) -> &mut Self {
        self.task_open();
        let started_event_id = self.events.len() as i64;
        self.add(
            EventType::WorkflowTaskCompleted,
            Attributes::WorkflowTaskCompletedEventAttributes(WorkflowTaskCompletedEventAttributes {
                scheduled_event_id: started_event_id - 1,
                started_event_id,
                ..Default::default()
            }),
        );
        self
    }

    fn timer_started(&mut self, id: &str) -> i64 {
        let timer_id = id.into();
        self.add(
            EventType::TimerStarted,
            Attributes::TimerStartedEventAttributes(TimerStartedEventAttributes { timer_id, ..Default::default() }),
        )
    }

    fn timer_fired(&mut self, id: &str, started_event_id: i64) -> i64 {
        let timer_id = id.into();
        self.add(
            EventType::TimerFired,
            Attributes::TimerFiredEventAttributes(TimerFiredEventAttributes { timer_id, started_event_id }),
        )
    }

    fn signal(&mut self, name: &str) -> i64 {
        self.add(
            EventType::WorkflowExecutionSignaled,
            Attributes::WorkflowExecutionSignaledEventAttributes(WorkflowExecutionSignaledEventAttributes {
                signal_name: name.into(),
                ..Default::default()
            }),
        )
    }

    fn completed(&mut self) -> i64 {
        self.add(
            EventType::WorkflowExecutionCompleted,
            Attributes::WorkflowExecutionCompletedEventAttributes(WorkflowExecutionCompletedEventAttributes::default()),
        )
    }

    fn history(&self) -> Vec<u8> {
        History { events: self.events.clone() }.encode_to_vec()
    }

    /// A task whose history begins behind `after`.
    fn poll(&self, after: i64, previous_started: i64) -> Vec<u8> {
        let started_event_id = self.events.len() as i64;
        let events = self.events.iter().filter(|e| e.event_id > after).cloned().collect();
        PollWorkflowTaskQueueResponse {
            task_token: b"token".to_vec(),
            workflow_execution: Some(WorkflowExecution { workflow_id: "id".into(), run_id: "run".into() }),
            workflow_type: Some(WorkflowType { name: "wf".into() }),
            previous_started_event_id: previous_started,
            started_event_id,
            attempt: 1,
            history: Some(History { events }),
            ..Default::default()
        }
        .encode_to_vec()
    }
}

fn payload(data: &str) -> Payload {
    Payload { data: data.as_bytes().to_vec(), ..Default::default() }
}

fn run() -> Run {
    Run::new(RunOptions {
        namespace: "ns".into(),
        identity: "me".into(),
        sdk_name: "temporalex-ts".into(),
        sdk_version: "1".into(),
        sticky_queue: "sticky".into(),
        sticky_schedule_to_start_timeout_ms: 10_000.0,
        ..Default::default()
    })
    .unwrap()
}

fn activation(run: &mut Run) -> Activation {
    match run.next().unwrap() {
        Step { kind: Some(step::Kind::Activation(a)) } => a,
        other => panic!("not an activation: {other:?}"),
    }
}

fn outcome(run: &mut Run) -> TaskOutcome {
    match run.next().unwrap() {
        Step { kind: Some(step::Kind::Outcome(o)) } => o,
        other => panic!("not an outcome: {other:?}"),
    }
}

fn completed(outcome: &TaskOutcome) -> RespondWorkflowTaskCompletedRequest {
    match &outcome.response {
        Some(task_outcome::Response::Completed(bytes)) => RespondWorkflowTaskCompletedRequest::decode(bytes.as_slice()).unwrap(),
        other => panic!("not completed: {other:?} {:?}", outcome.error),
    }
}

fn start_timer(run: &mut Run, ms: f64) -> u32 {
    let bytes = StartTimer { duration_ms: ms, summary: None, seq: 0 }.encode_to_vec();
    run.command(CommandKind::StartTimer, &bytes).unwrap()
}

fn complete(run: &mut Run) {
    run.command(CommandKind::CompleteWorkflow, &CompleteWorkflow { result: Some(payload("out")) }.encode_to_vec()).unwrap();
}

fn kinds(a: &Activation) -> Vec<&'static str> {
    a.jobs
        .iter()
        .map(|j| match j.variant.as_ref().unwrap() {
            job::Variant::InitializeWorkflow(_) => "init",
            job::Variant::FireTimer(_) => "fire",
            job::Variant::SignalWorkflow(_) => "signal",
            job::Variant::ResolveActivity(_) => "resolve",
            _ => "other",
        })
        .collect()
}

fn attributes(c: &Command) -> &CommandAttributes {
    c.attributes.as_ref().unwrap()
}

/// Case 20, live: the first task starts a timer, the second (cached, partial history) completes.
#[test]
fn timer_live_then_cached() {
    let mut b = Builder::started();
    b.task_open();
    let mut run = run();
    run.start_task(&b.poll(0, 0)).unwrap();
    let first = activation(&mut run);
    assert_eq!(kinds(&first), ["init"]);
    assert!(!first.is_replaying);
    assert_eq!((first.started_event_id, first.history_length, first.time_ms), (3, 3, 1_003_000.0));
    assert_eq!(start_timer(&mut run, 1500.0), 1);
    run.finish_activation().unwrap();
    let request = completed(&outcome(&mut run));
    let CommandAttributes::StartTimerCommandAttributes(timer) = attributes(&request.commands[0]) else { panic!() };
    assert_eq!(timer.timer_id, "1");
    assert_eq!(timer.start_to_fire_timeout, Some(prost_types::Duration { seconds: 1, nanos: 500_000_000 }));
    assert_eq!((request.namespace.as_str(), request.identity.as_str()), ("ns", "me"));
    assert_eq!(request.task_token, b"token");
    let sticky = request.sticky_attributes.unwrap().worker_task_queue.unwrap();
    assert_eq!((sticky.name.as_str(), sticky.normal_name.as_str()), ("sticky", "q"));
    assert_eq!(request.sdk_metadata.unwrap().core_used_flags, [1, 2, 3]);

    b.events.clear();
    let mut b = Builder::started();
    b.task();
    let started = b.timer_started("1");
    b.timer_fired("1", started);
    b.task_open();
    run.start_task(&b.poll(3, 3)).unwrap();
    let second = activation(&mut run);
    assert_eq!(kinds(&second), ["fire"]);
    assert!(!second.is_replaying);
    assert_eq!(second.jobs[0].event_id, 6);
    complete(&mut run);
    run.finish_activation().unwrap();
    let o = outcome(&mut run);
    assert!(o.evict);
    assert_eq!(completed(&o).commands.len(), 1);
}

/// Cases 21 and 52: jobs come in the order of their events; the replay ends with nothing to report.
#[test]
fn replay_in_event_order() {
    let mut b = Builder::started();
    b.task();
    let (one, two) = (b.timer_started("1"), b.timer_started("2"));
    b.timer_fired("2", two);
    b.signal("a");
    b.timer_fired("1", one);
    b.signal("b");
    b.task();
    b.completed();
    let mut run = run();
    run.start_replay("id", &b.history()).unwrap();
    assert_eq!(kinds(&activation(&mut run)), ["init"]);
    start_timer(&mut run, 1.0);
    start_timer(&mut run, 1.0);
    run.finish_activation().unwrap();
    let second = activation(&mut run);
    assert!(second.is_replaying);
    assert_eq!(kinds(&second), ["fire", "signal", "fire", "signal"]);
    let ids: Vec<u32> = second.jobs.iter().map(|j| j.event_id).collect();
    assert_eq!(ids, [7, 8, 9, 10]);
    complete(&mut run);
    run.finish_activation().unwrap();
    let o = outcome(&mut run);
    assert_eq!(o.error, None);
    assert!(o.warnings.is_empty(), "{:?}", o.warnings);
    let Some(task_outcome::Response::ReplayFinished(end)) = o.response else { panic!() };
    assert_eq!((end.activations, end.events), (2, 14));
}

/// Case 41: history holds an activity where the code starts a timer.
#[test]
fn wrong_command_is_nondeterminism() {
    let mut b = Builder::started();
    b.task();
    b.add(
        EventType::ActivityTaskScheduled,
        Attributes::ActivityTaskScheduledEventAttributes(ActivityTaskScheduledEventAttributes {
            activity_id: "1".into(),
            activity_type: Some(ActivityType { name: "a".into() }),
            ..Default::default()
        }),
    );
    b.task_open();
    let mut run = run();
    run.start_task(&b.poll(0, 3)).unwrap();
    activation(&mut run);
    start_timer(&mut run, 1.0);
    run.finish_activation().unwrap();
    let o = outcome(&mut run);
    let e = o.error.unwrap();
    assert_eq!(
        e.message,
        "[TMPRL1100] Nondeterminism error: Timer machine does not handle this event: HistoryEvent(id: 5, ActivityTaskScheduled)"
    );
    assert_eq!((e.event_id, e.event_type.as_str(), e.seq, e.task_started_event_id), (5, "ActivityTaskScheduled", 1, 3));
    assert_eq!(e.command_kind, CommandKind::StartTimer as i32);
    assert!(o.evict);
    let Some(task_outcome::Response::Failed(bytes)) = o.response else { panic!() };
    let request = RespondWorkflowTaskFailedRequest::decode(bytes.as_slice()).unwrap();
    assert_eq!(request.cause, WorkflowTaskFailedCause::NonDeterministicError as i32);
}

/// Case 31: TRY_CANCEL resolves in a further activation of the same task.
#[test]
fn try_cancel_resolves_at_once() {
    let scheduled = |b: &mut Builder| {
        b.add(
            EventType::ActivityTaskScheduled,
            Attributes::ActivityTaskScheduledEventAttributes(ActivityTaskScheduledEventAttributes {
                activity_id: "1".into(),
                activity_type: Some(ActivityType { name: "a".into() }),
                ..Default::default()
            }),
        )
    };
    let mut b = Builder::started();
    b.task();
    scheduled(&mut b);
    b.signal("stop");
    b.task_open();
    let mut run = run();
    run.start_task(&b.poll(0, 3)).unwrap();
    assert!(activation(&mut run).is_replaying);
    let a = ScheduleActivity { activity_type: "a".into(), start_to_close_timeout_ms: 1000.0, ..Default::default() };
    assert_eq!(run.command(CommandKind::ScheduleActivity, &a.encode_to_vec()).unwrap(), 1);
    run.finish_activation().unwrap();
    assert_eq!(kinds(&activation(&mut run)), ["signal"]);
    run.cancel(CommandKind::ScheduleActivity, 1).unwrap();
    run.finish_activation().unwrap();
    let third = activation(&mut run);
    let Some(job::Variant::ResolveActivity(r)) = &third.jobs[0].variant else { panic!() };
    assert!(matches!(r.result, Some(resolve_activity::Result::Cancelled(_))));
    complete(&mut run);
    run.finish_activation().unwrap();
    let request = completed(&outcome(&mut run));
    assert_eq!(request.commands.len(), 2);
    let CommandAttributes::RequestCancelActivityTaskCommandAttributes(cancel) = attributes(&request.commands[0]) else {
        panic!()
    };
    assert_eq!(cancel.scheduled_event_id, 5);
}

/// A broken contract is thrown, again and again, until the next task begins from event 1.
#[test]
fn misuse_is_sticky_until_the_next_task() {
    let mut b = Builder::started();
    b.task_open();
    let mut run = run();
    run.start_task(&b.poll(0, 0)).unwrap();
    let e = run.command(CommandKind::StartTimer, &[]).unwrap_err();
    assert!(e.message.contains("command is not allowed in phase"), "{}", e.message);
    assert_eq!(run.next().unwrap_err(), e);
    run.start_task(&b.poll(0, 0)).unwrap();
    assert_eq!(kinds(&activation(&mut run)), ["init"]);
}
