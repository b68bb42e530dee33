//! Drives the public `Run` through a history: task by task, whole, cut, or in pages.
//!
//! It plays the server: every live completion must hold exactly the commands whose events follow in the history (unless a test
//! turns that off), and update requests are delivered as messages with the task whose completion accepts them.
use std::collections::VecDeque;

use prost::Message as _;
use prost_types::Any;
use temporalex_core::api::common::v1::WorkflowExecution;
use temporalex_core::api::enums::v1::{CommandType, EventType};
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::{History, HistoryEvent};
use temporalex_core::api::protocol::v1::{Message, message::SequencingId};
use temporalex_core::api::query::v1::WorkflowQuery;
use temporalex_core::api::update::v1::Request;
use temporalex_core::api::workflowservice::v1::PollWorkflowTaskQueueResponse;
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{Activation, CoreError, JobOrder, RunOptions};
use temporalex_core::replay::Run;

use super::history::{HistoryBuilder, RUN_ID, WORKFLOW_ID};
use super::lang::Lang;
use super::session::{LocalResult, Response, Session};
use super::show;
use super::slim::{is_command_event, type_name};

/// A task of the history: its started event, and what came before it.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub from: i64,
    pub started: i64,
    pub previous_started: i64,
}

type Factory = Box<dyn Fn() -> Box<dyn Lang>>;

/// A history with the program that made it.
pub struct RunTest {
    pub events: Vec<HistoryEvent>,
    pub options: RunOptions,
    factory: Factory,
    /// Live completions are compared with the command events in the history.
    pub check_commands: bool,
}

impl RunTest {
    /// A native program.
    pub fn new<L: Lang + Clone + 'static>(history: &HistoryBuilder, lang: L) -> RunTest {
        RunTest::with(history.events.clone(), move || Box::new(lang.clone()))
    }

    pub fn with(events: Vec<HistoryEvent>, factory: impl Fn() -> Box<dyn Lang> + 'static) -> RunTest {
        let options = RunOptions {
            namespace: "ns".into(),
            identity: "worker".into(),
            sdk_name: "temporalex-ts".into(),
            sdk_version: "0.1.0".into(),
            ..Default::default()
        };
        RunTest { events, options, factory: Box::new(factory), check_commands: true }
    }

    /// The program takes its jobs in Core's order, as one of the compat layer.
    pub fn compat(mut self) -> Self {
        self.options.job_order = JobOrder::Compat as i32;
        self.options.sdk_name = "temporal-typescript".into();
        self
    }

    pub fn strict(mut self) -> Self {
        self.options.strict = true;
        self
    }

    pub fn unchecked(mut self) -> Self {
        self.check_commands = false;
        self
    }

    pub fn session(&self) -> Session {
        let run = Run::new(self.options.clone()).expect("a run");
        Session::new(run, (self.factory)(), self.events.clone(), self.run_id())
    }

    /// The tasks that a worker would have been given: those that completed, and the last one if it is open.
    pub fn tasks(&self) -> Vec<Task> {
        let (mut tasks, mut from, mut previous_started): (Vec<Task>, i64, i64) = (Vec::new(), 1, 0);
        for (i, event) in self.events.iter().enumerate() {
            if event.event_type() != EventType::WorkflowTaskStarted {
                continue;
            }
            let outcome = self.events.get(i + 1).map(HistoryEvent::event_type);
            if matches!(outcome, Some(EventType::WorkflowTaskFailed | EventType::WorkflowTaskTimedOut)) {
                continue;
            }
            tasks.push(Task { from, started: event.event_id, previous_started });
            (from, previous_started) = (event.event_id + 1, event.event_id);
        }
        tasks
    }

    fn run_id(&self) -> String {
        match self.events.first().and_then(|e| e.attributes.as_ref()) {
            Some(Attributes::WorkflowExecutionStartedEventAttributes(a)) => a.original_execution_run_id.clone(),
            _ => RUN_ID.into(),
        }
    }

    /// The response to a poll: events from..=started and the update requests that the task's completion accepts.
    pub fn poll(&self, from: i64, task: Task) -> PollWorkflowTaskQueueResponse {
        let events = self.events[from as usize - 1..task.started as usize].to_vec();
        PollWorkflowTaskQueueResponse {
            task_token: format!("task {}", task.started).into_bytes(),
            workflow_execution: Some(WorkflowExecution { workflow_id: WORKFLOW_ID.into(), run_id: self.run_id() }),
            workflow_type: Some(temporalex_core::api::common::v1::WorkflowType { name: "wf".into() }),
            previous_started_event_id: task.previous_started,
            started_event_id: task.started,
            attempt: 1,
            history: Some(History { events }),
            messages: self.messages(task.started),
            ..Default::default()
        }
    }

    /// Requests accepted by the completion of the task that was started by this event; reapplied ones came as events instead.
    fn messages(&self, started: i64) -> Vec<Message> {
        let admitted: Vec<&str> = self.events[..started as usize]
            .iter()
            .filter_map(|e| match e.attributes.as_ref()? {
                Attributes::WorkflowExecutionUpdateAdmittedEventAttributes(a) => {
                    Some(a.request.as_ref()?.meta.as_ref()?.update_id.as_str())
                }
                _ => None,
            })
            .collect();
        let behind = self.events[started as usize..].iter().skip(1).take_while(|e| is_command_event(e));
        let accepted = behind.filter_map(|e| match e.attributes.as_ref()? {
            Attributes::WorkflowExecutionUpdateAcceptedEventAttributes(a) => Some(a),
            _ => None,
        });
        accepted
            .filter(|a| !admitted.contains(&a.protocol_instance_id.as_str()))
            .filter_map(|a| Some(request_message(a.accepted_request.as_ref()?, a.accepted_request_sequencing_event_id)))
            .collect()
    }

    /// Names of the command events right behind the completion of the task.
    fn expected_commands(&self, started: i64) -> Option<Vec<String>> {
        let behind = &self.events[started as usize..];
        if behind.first().map(HistoryEvent::event_type) != Some(EventType::WorkflowTaskCompleted) {
            return None;
        }
        Some(behind[1..].iter().take_while(|e| is_command_event(e)).map(type_name).collect())
    }

    /// Task by task on one cached run; stops at the first task that does not complete.
    pub fn inc(&self) -> Session {
        let mut session = self.session();
        self.go_on(&mut session, 0);
        session
    }

    /// Starts a cold run at task `first` (0: the beginning) with full history, then continues task by task.
    pub fn cut(&self, first: usize) -> Session {
        let mut session = self.session();
        let task = self.tasks()[first];
        self.serve(&mut session, self.poll(1, task), task);
        self.go_on(&mut session, first + 1);
        session
    }

    fn go_on(&self, session: &mut Session, first: usize) {
        for task in self.tasks().into_iter().skip(first) {
            if session.ends.last().is_some_and(|end| end.evict || !matches!(end.response, Response::Completed(_))) {
                return;
            }
            self.serve(session, self.poll(task.from, task), task);
        }
    }

    fn serve(&self, session: &mut Session, poll: PollWorkflowTaskQueueResponse, task: Task) {
        session.results = local_results(&self.events[task.started as usize..]);
        let end = session.task(&poll);
        if let (true, Response::Completed(request), Some(expected)) =
            (self.check_commands, &end.response, self.expected_commands(task.started))
        {
            let sent: Vec<String> =
                request.commands.iter().map(|c| event_name_of(c.command_type, &request.messages, c)).collect();
            assert_eq!(sent, expected, "commands of the task that was started by event {}", task.started);
        }
    }

    /// The whole history in one task for a cold run, in pages of `page_size`, up to its last started event.
    pub fn paged(&self, page_size: usize) -> Session {
        let mut session = self.session();
        session.page_size = page_size;
        let task = *self.tasks().last().expect("the history has a task");
        let mut poll = self.poll(1, task);
        session.upto(task.started as usize);
        let events = &mut poll.history.as_mut().expect("history").events;
        if page_size < events.len() {
            events.truncate(page_size);
            poll.next_page_token = page_size.to_string().into_bytes();
        }
        self.serve(&mut session, poll, task);
        session
    }

    /// Only the task's own events reach a run that is not cached: it has to fetch the rest.
    pub fn missed(&self, index: usize, page_size: usize) -> Session {
        let mut session = self.session();
        session.page_size = page_size;
        let task = self.tasks()[index];
        session.upto(task.started as usize);
        self.serve(&mut session, self.poll(task.from, task), task);
        session
    }

    /// The whole history without a reporter.
    pub fn replay(&self) -> Session {
        let mut session = self.session();
        session.replay(&self.events);
        session
    }

    /// Replays and expects the verdict "ok".
    pub fn replay_ok(&self) -> Session {
        let session = self.replay();
        let end = session.end();
        assert!(matches!(end.response, Response::Finished(_)), "{:?}: {:?}", end.response, end.error);
        assert_eq!(end.error, None);
        session
    }

    /// Replays and expects an error.
    pub fn replay_error(&self) -> CoreError {
        let session = self.replay();
        session.end().error.clone().unwrap_or_else(|| panic!("replayed: {}", show::activations(&session.activations)))
    }

    /// inc == rep: [`RunTest::all_same`], and the activations are `expected`. Returns the incremental session.
    pub fn same(&self, expected: &str) -> Session {
        let inc = self.inc();
        for end in &inc.ends {
            assert_eq!(end.error, None, "task by task");
        }
        assert_eq!(show::activations(&inc.activations), expected, "task by task");
        self.all_same()
    }

    /// Task by task, whole, cut after every started event and continued, after a cache miss at every task, and in pages of
    /// every size: the same activations with the same times and lengths. Returns the incremental session.
    pub fn all_same(&self) -> Session {
        let inc = self.inc();
        for end in &inc.ends {
            assert_eq!(end.error, None, "task by task");
        }
        let live = normal(&inc.activations);
        assert_eq!(normal(&self.replay_ok().activations), live, "whole replay");
        self.pages_are_equal();
        for first in 1..self.tasks().len() {
            assert_eq!(normal(&self.cut(first).activations), live, "cold start at task {first}");
            let upto = self.tasks()[first].started;
            let missed = self.missed(first, 3);
            let prefix: Vec<_> = live.iter().filter(|a| a.started_event_id <= upto as u32).cloned().collect();
            assert_eq!(normal(&missed.activations), prefix, "cache miss at task {first}");
        }
        assert_eq!(normal(&self.paged(usize::MAX).activations), live, "one cold task");
        inc
    }

    /// A cold run has the same activations and completions in pages of every size, or when its task came partial.
    pub fn pages_are_equal(&self) {
        let whole = self.paged(usize::MAX);
        let last = self.tasks().len() - 1;
        for page_size in 1..self.events.len() {
            for (session, how) in [(self.paged(page_size), "paged"), (self.missed(last, page_size), "fetched")] {
                assert_eq!(session.activations, whole.activations, "{how} by {page_size}");
                let (end, expected) = (session.end(), whole.end());
                assert_eq!(format!("{end:?}"), format!("{expected:?}"), "{how} by {page_size}");
            }
        }
    }
}

/// What must not depend on how a run is fed: everything but whether it was a replay, and what only a replay can know (patches
/// and values found by looking ahead, markers of local activities, flags that the task itself recorded).
pub fn normal(activations: &[Activation]) -> Vec<Activation> {
    let mut list = activations.to_vec();
    for activation in &mut list {
        activation.is_replaying = false;
        activation.lang_flags.clear();
        activation.build_id.clear();
        activation.jobs.retain(|job| !matches!(job.variant, Some(Variant::NotifyHasPatch(_) | Variant::SideEffectValue(_))));
        for job in &mut activation.jobs {
            match job.variant.as_mut() {
                Some(Variant::DoUpdate(update)) => update.run_validator = false,
                Some(Variant::ResolveActivity(resolved)) if resolved.is_local => job.event_id = 0,
                _ => {}
            }
        }
    }
    list
}

pub fn request_message(request: &Request, sequencing: i64) -> Message {
    let update_id = request.meta.as_ref().map(|m| m.update_id.clone()).unwrap_or_default();
    Message {
        id: format!("{update_id}/request"),
        protocol_instance_id: update_id,
        body: Some(Any { type_url: "type.googleapis.com/temporal.api.update.v1.Request".into(), value: request.encode_to_vec() }),
        sequencing_id: Some(SequencingId::EventId(sequencing)),
    }
}

pub fn query(query_type: &str) -> WorkflowQuery {
    WorkflowQuery { query_type: query_type.into(), ..Default::default() }
}

fn event_name_of(command_type: i32, messages: &[Message], command: &temporalex_core::api::command::v1::Command) -> String {
    use temporalex_core::api::command::v1::command::Attributes::ProtocolMessageCommandAttributes;
    let name = match CommandType::try_from(command_type).expect("a known command") {
        CommandType::ScheduleActivityTask => "ActivityTaskScheduled",
        CommandType::RequestCancelActivityTask => "ActivityTaskCancelRequested",
        CommandType::StartTimer => "TimerStarted",
        CommandType::CancelTimer => "TimerCanceled",
        CommandType::RecordMarker => "MarkerRecorded",
        CommandType::StartChildWorkflowExecution => "StartChildWorkflowExecutionInitiated",
        CommandType::SignalExternalWorkflowExecution => "SignalExternalWorkflowExecutionInitiated",
        CommandType::RequestCancelExternalWorkflowExecution => "RequestCancelExternalWorkflowExecutionInitiated",
        CommandType::ScheduleNexusOperation => "NexusOperationScheduled",
        CommandType::RequestCancelNexusOperation => "NexusOperationCancelRequested",
        CommandType::ModifyWorkflowProperties => "WorkflowPropertiesModified",
        CommandType::UpsertWorkflowSearchAttributes => "UpsertWorkflowSearchAttributes",
        CommandType::CompleteWorkflowExecution => "WorkflowExecutionCompleted",
        CommandType::FailWorkflowExecution => "WorkflowExecutionFailed",
        CommandType::CancelWorkflowExecution => "WorkflowExecutionCanceled",
        CommandType::ContinueAsNewWorkflowExecution => "WorkflowExecutionContinuedAsNew",
        CommandType::ProtocolMessage => {
            let Some(ProtocolMessageCommandAttributes(a)) = &command.attributes else { panic!("{command:?}") };
            let message = messages.iter().find(|m| m.id == a.message_id).expect("the message of the command is sent with it");
            match message.body.as_ref().map(|b| b.type_url.rsplit('.').next()) {
                Some(Some("Acceptance")) => "WorkflowExecutionUpdateAccepted",
                Some(Some("Response")) => "WorkflowExecutionUpdateCompleted",
                other => panic!("no command goes with {other:?}"),
            }
        }
        other => panic!("not expected: {other:?}"),
    };
    name.into()
}

/// The results that the markers behind a started task tell of, as the one who runs the activities would give them.
fn local_results(behind: &[HistoryEvent]) -> VecDeque<LocalResult> {
    let commands = behind.iter().skip(1).take_while(|e| is_command_event(e));
    commands.filter_map(|e| e.attributes.as_ref()).filter_map(super::history_markers::local_result).collect()
}
