//! What comes in with a task: its fields are checked, read, and handed to the history and the run.
use crate::api::enums::v1::EventType;
use crate::boundary::ErrorKind;
use crate::error::{Result, codes, error, fatal, misuse};
use crate::history::event::event_type;
use crate::history::{Event, decode_history};
use crate::proto::views::workflowservice::PollWorkflowTaskQueueResponse;
use crate::replay::commands::update::read_message;
use crate::replay::convert::checked;
use crate::replay::run::{Phase, Run};
use crate::replay::task::{LEGACY_QUERY, Task};
use crate::wire::typed::View;

impl Run {
    pub(super) fn open_task(&mut self, poll: &[u8]) -> Result<()> {
        let poll = checked::<PollWorkflowTaskQueueResponse>(poll)?;
        let lacks = |what: &str| misuse(codes::BAD_TASK, format!("the workflow task has no {what}"));
        let token = Some(poll.task_token()).filter(|t| !t.is_empty()).ok_or_else(|| lacks("token"))?;
        let execution = poll.opt_workflow_execution().ok_or_else(|| lacks("workflow execution"))?;
        poll.opt_workflow_type().ok_or_else(|| lacks("workflow type"))?;
        // A host may add pages to a task by appending a further history.
        let mut events = Vec::new();
        for history in poll.history().bytes() {
            events.append(&mut decode_history(history)?);
        }
        let workflow = &mut self.workflow;
        let run_id = execution.run_id();
        if workflow.run_id.is_empty() {
            workflow.workflow_id = execution.workflow_id().into();
            workflow.run_id = run_id.into();
        } else if workflow.run_id != run_id {
            let text = format!("the workflow task is for run {run_id}, but this instance replays run {}", workflow.run_id);
            return Err(misuse(codes::WRONG_RUN, text));
        }
        if workflow.run.inherited.task_queue.is_empty() {
            workflow.run.inherited.task_queue = poll.workflow_execution_task_queue().name().into();
        }
        workflow.run.replaying = poll.previous_started_event_id() > 0;
        workflow.incoming.clear();
        workflow.run.outgoing.clear();
        workflow.run.warnings.clear();
        self.task = Task {
            token: token.into(),
            attempt: poll.attempt(),
            previous_started: poll.previous_started_event_id(),
            is_query_task: poll.opt_query().is_some(),
            ..Default::default()
        };
        self.phase = Phase::Working;
        let opened = self.open_history(poll, events);
        self.note(opened);
        Ok(())
    }

    fn open_history(&mut self, poll: View<PollWorkflowTaskQueueResponse>, events: Vec<Event>) -> Result<()> {
        let (started, page_token) = (poll.started_event_id(), poll.next_page_token());
        for entry in poll.queries().views() {
            self.task.queries.insert(entry.key().into(), entry.value().to_owned());
        }
        let query_only = self.task.is_query_task;
        if query_only && !self.task.queries.is_empty() {
            return Err(fatal(
                codes::NOTHING_TO_DO,
                "the workflow task has both `query` and `queries`: only one of them can be set",
            ));
        }
        if let Some(query) = poll.opt_query() {
            self.task.queries.insert(LEGACY_QUERY.into(), query.to_owned());
        }
        if events.is_empty() && page_token.is_empty() && !query_only {
            return Err(fatal(codes::NOTHING_TO_DO, "the workflow task has neither events nor a query"));
        }
        let previous = self.task.previous_started;
        if query_only && started == 0 && previous < self.history.last_taken_started_id() {
            return Err(error(codes::QUERY_EXPIRED, ErrorKind::Fatal, "Query expired"));
        }
        for message in poll.messages().views() {
            let incoming = read_message(message)?;
            self.workflow.incoming.push_back(incoming);
        }
        let missing_all = events.is_empty() && self.history.last_taken_id() == 0;
        if query_only {
            self.history.begin_query(previous);
        } else {
            self.history.begin_task(previous, if events.is_empty() { 0 } else { started });
        }
        self.history.set_update_positions(self.workflow.incoming.iter().map(|m| m.sequencing_id).collect());
        if missing_all && page_token.is_empty() {
            // A query for a run that is not cached: its history is asked for by the first `next`.
            return Ok(());
        }
        self.history.push(events, page_token.is_empty())?;
        self.task.page_token = if self.history.is_missing_prefix() { Vec::new() } else { page_token.into() };
        Ok(())
    }

    pub(super) fn open_replay(&mut self, workflow_id: &str, events: Vec<Event>) {
        let previous_started = last_completed_start(&events);
        self.task = Task { is_replay: true, attempt: 1, previous_started, ..Default::default() };
        self.workflow.workflow_id = workflow_id.to_string();
        self.workflow.run.replaying = previous_started > 0;
        self.phase = Phase::Working;
        let opened = self.open_replayed_history(events);
        self.note(opened);
    }

    fn open_replayed_history(&mut self, events: Vec<Event>) -> Result<()> {
        match events.first() {
            None => {
                return Err(fatal(codes::NOTHING_TO_DO, "the history is empty: event 1 (WorkflowExecutionStarted) is missing"));
            }
            Some(first) if first.event_id != 1 => {
                let text = format!("History is out of order. Last processed event: 0, event id: {}", first.event_id);
                return Err(fatal(codes::HISTORY_OUT_OF_ORDER, text));
            }
            Some(_) => {}
        }
        self.history.begin_task(self.task.previous_started, 0);
        self.history.push(events, true)
    }
}

/// The last WorkflowTaskStarted whose task a worker completed; workflow code never saw the events
/// behind its commands.
fn last_completed_start(events: &[Event]) -> i64 {
    let completed = |pair: &&[Event]| match pair {
        [started, completed] => {
            event_type(started) == Some(EventType::WorkflowTaskStarted)
                && event_type(completed) == Some(EventType::WorkflowTaskCompleted)
        }
        _ => false,
    };
    events.windows(2).rev().find(completed).and_then(|pair| pair.first()).map_or(0, |e| e.event_id)
}
