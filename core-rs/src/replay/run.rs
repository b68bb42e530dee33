//! The protocol between a run and its caller.
//!
//! | phase | calls | leads to |
//! |---|---|---|
//! | Idle | start_task, start_replay, task_reported | Working |
//! | Working | next | Activated, Querying, Fetching, Local, or Idle with an outcome |
//! | Activated | event_groups, command, cancel, random, finish_activation, fail_activation | Working |
//! | Querying | command(QUERY_RESULT), finish_activation, fail_activation | Working |
//! | Fetching | feed_history, fail_activation (the history cannot be had) | Working |
//! | Local | resolve_local_activity, heartbeat, fail_activation (it cannot be run) | Local |
//! | Local | next | as from Working |
//!
//! Errors of history, machines or workflow code are data: the task fails and `next` returns the
//! outcome with its error. Misuse by the caller is thrown, and thrown again by every call until the
//! next task, or until `fail_activation` fails this one.
use prost::Message as _;

use crate::api::enums::v1::WorkflowTaskFailedCause;
use crate::boundary::{
    CommandKind, CoreError, ErrorKind, EvictionReason, NeedHistory, Nothing, ReplayFinished, RunOptions, Step, TaskOutcome,
    task_outcome,
};
use crate::error::{Result, codes, decode, error, misuse};
use crate::history::{HistoryBuffer, Next, decode_history};
use crate::proto::views;
use crate::proto::views::boundary::LocalActivityResolution;
use crate::proto::views::failure::Failure;
use crate::replay::apply::Frontier;
use crate::replay::commands::{Given, Groups, read_groups};
use crate::replay::completion;
use crate::replay::convert::{check_duration, checked, id32};
use crate::replay::jobs::Jobs;
use crate::replay::task::{Failed, Task, query_job};
use crate::replay::workflow::Workflow;
use crate::wire::typed::{Encoded, Put, build};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Working,
    Activated,
    /// Ids of the queries handed out.
    Querying(Vec<String>),
    Fetching,
    /// Local activities are to be run, or waited for.
    Local,
}

/// A workflow run as its worker sees it: tasks go in, activations come out, commands go in, completions come out.
///
/// Protocol: `start_task` (or `start_replay`), then `next` until it returns an outcome. After each activation the caller issues
/// `command`/`cancel` calls and ends it with `finish_activation` or `fail_activation`, then calls `next` again. On `NeedHistory`
/// it fetches the page, calls `feed_history`, then `next`. Errors are sticky until the next task.
///
/// After an outcome with `evict` (or an error that was not turned into an outcome) the run's state is void: the next task replays
/// the whole history.
pub struct Run {
    pub(super) options: RunOptions,
    pub(super) workflow: Workflow,
    pub(super) history: HistoryBuffer,
    pub(super) task: Task,
    pub(super) phase: Phase,
    given: Vec<(Given, Groups)>,
    /// Of the command that is given next.
    groups: Groups,
    error: Option<Box<CoreError>>,
    /// The state is unusable: the next task begins at event 1.
    void: bool,
}

impl Run {
    /// Bad options are misuse.
    pub fn new(options: RunOptions) -> Result<Run> {
        check_duration("sticky_schedule_to_start_timeout_ms", options.sticky_schedule_to_start_timeout_ms)?;
        Ok(Run {
            workflow: Workflow::new(&options),
            history: HistoryBuffer::with_job_order(options.job_order()),
            task: Task::default(),
            phase: Phase::Idle,
            given: Vec::new(),
            groups: Groups::default(),
            error: None,
            void: false,
            options,
        })
    }

    /// A workflow task: bytes of PollWorkflowTaskQueueResponse.
    pub fn start_task(&mut self, poll_response: &[u8]) -> Result<()> {
        self.begin()?;
        let started = self.open_task(poll_response);
        self.keep(started)
    }

    /// A whole (or cut) history to replay without a reporter: bytes of History.
    pub fn start_replay(&mut self, workflow_id: &str, history: &[u8]) -> Result<()> {
        self.begin()?;
        self.reset();
        let started = decode_history(history).map(|events| self.open_replay(workflow_id, events));
        self.keep(started)
    }

    /// The page asked for by `NeedHistory`: bytes of History, and the token of the next one (empty: the last).
    pub fn feed_history(&mut self, history: &[u8], next_page_token: &[u8]) -> Result<()> {
        self.expect(self.phase == Phase::Fetching, "feed_history")?;
        let page = decode_history(history);
        let events = self.keep(page)?;
        self.phase = Phase::Working;
        self.task.page_token = next_page_token.to_vec();
        let pushed = self.history.push(events, next_page_token.is_empty());
        self.note(pushed);
        Ok(())
    }

    /// What is to be done next. Errors of history and workflow code are inside the outcome.
    #[allow(clippy::should_implement_trait)] // The name of the protocol; it fails, and its end is an outcome.
    pub fn next(&mut self) -> Result<Step> {
        decode("Step", &self.next_bytes()?)
    }

    /// The same, encoded: what crosses to the caller.
    pub fn next_bytes(&mut self) -> Result<Vec<u8>> {
        self.expect(matches!(self.phase, Phase::Working | Phase::Fetching | Phase::Local), "next")?;
        let step = match self.advance() {
            Ok(step) => step,
            Err(error) => self.fail(error.into()),
        };
        Ok(step.into_bytes())
    }

    /// The command or cancel that is given next carries these markers: bytes of EventGroups.
    pub fn event_groups(&mut self, groups: &[u8]) -> Result<()> {
        self.expect(self.phase == Phase::Activated, "event_groups")?;
        let groups = read_groups(groups);
        self.groups = self.keep(groups)?;
        Ok(())
    }

    /// Queues a command; nothing is matched before `finish_activation`. Returns the seq (0 for
    /// kinds without one).
    pub fn command(&mut self, kind: CommandKind, attributes: &[u8]) -> Result<u32> {
        let open = matches!(self.phase, Phase::Activated | Phase::Querying(_));
        self.expect(open, "command")?;
        let groups = std::mem::take(&mut self.groups);
        let taken = match &self.phase {
            Phase::Querying(asked) if kind == CommandKind::QueryResult => self.task.answer(attributes, asked).map(|()| 0),
            Phase::Querying(_) => {
                let text = format!(
                    "{} is not allowed while a query is handled: query handlers cannot schedule work",
                    kind.as_str_name()
                );
                Err(misuse(codes::OUT_OF_ORDER_CALL, text))
            }
            _ => self.workflow.machines.read_command(kind, attributes, self.workflow.run.is_compat()).map(|(seq, mut given)| {
                let groups = given.keep_groups(groups);
                self.given.push((given, groups));
                seq
            }),
        };
        self.keep(taken)
    }

    /// Cancels the timer, activity or local activity `seq`.
    pub fn cancel(&mut self, kind: CommandKind, seq: u32) -> Result<()> {
        self.expect(self.phase == Phase::Activated, "cancel")?;
        let groups = std::mem::take(&mut self.groups);
        let given = self.workflow.machines.read_cancel(kind, seq);
        let given = self.keep(given)?;
        self.given.push((given, groups));
        Ok(())
    }

    /// Workflow code is done with the activation: its commands are matched, or queued as new.
    pub fn finish_activation(&mut self) -> Result<()> {
        let open = matches!(self.phase, Phase::Activated | Phase::Querying(_));
        self.expect(open, "finish_activation")?;
        if let Phase::Querying(asked) = std::mem::replace(&mut self.phase, Phase::Working) {
            completion::fill_unanswered(&mut self.task.answers, &asked);
            return Ok(());
        }
        let given = std::mem::take(&mut self.given);
        let taken = self.workflow.take_commands(given);
        self.note(taken);
        Ok(())
    }

    /// What a local activity came to: bytes of LocalActivityResolution. One that is not waited for (any more) changes nothing.
    pub fn resolve_local_activity(&mut self, resolution: &[u8]) -> Result<()> {
        self.expect(self.phase == Phase::Local, "resolve_local_activity")?;
        let workflow = &mut self.workflow;
        let resolved = checked::<LocalActivityResolution>(resolution)
            .and_then(|r| workflow.machines.local_activities.resolve(r, workflow.run.activation_index));
        if let Some(resolved) = self.keep(resolved)? {
            self.workflow.record_local_activity(resolved);
        }
        Ok(())
    }

    /// Completes the task with the work done so far; its local activities keep running into the
    /// next task.
    pub fn heartbeat(&mut self) -> Result<()> {
        self.expect(self.phase == Phase::Local, "heartbeat")?;
        self.task.heartbeat = true;
        Ok(())
    }

    /// Workflow code failed the task: bytes of Failure, and the cause (temporal.api.enums.v1.WorkflowTaskFailedCause; 0: by kind).
    ///
    /// Also allowed instead of `feed_history`, when the page cannot be had, and after a call of this task threw.
    pub fn fail_activation(&mut self, failure: &[u8], cause: i32) -> Result<()> {
        let message = checked::<Failure>(failure)?.message();
        let thrown = self.error.is_some();
        let fetching = self.phase == Phase::Fetching;
        if self.phase == Phase::Idle || (self.phase == Phase::Working && !thrown) {
            return self.expect(false, "fail_activation");
        }
        self.error = None;
        self.given.clear();
        self.phase = Phase::Working;
        let (code, kind) = if fetching && !thrown {
            (codes::HISTORY_FETCH, ErrorKind::Fatal)
        } else if cause == WorkflowTaskFailedCause::NonDeterministicError as i32 {
            (codes::FOUND_BY_CODE, ErrorKind::Nondeterminism)
        } else {
            (codes::LANG_FAILED, ErrorKind::Lang)
        };
        self.task.failed =
            Some(Failed { error: error(code, kind, message), failure: Some(Encoded::of(failure.to_vec())), cause });
        Ok(())
    }

    /// The server's response to the last completion: bytes of RespondWorkflowTaskCompletedResponse.
    ///
    /// If the server dropped a speculative task, its two events are removed
    /// (docs/dev/semantics/updates.md#speculative-tasks-may-be-taken-back).
    pub fn task_reported(&mut self, response: &[u8]) -> Result<()> {
        self.expect(self.phase == Phase::Idle, "task_reported")?;
        let reset_to =
            checked::<views::workflowservice::RespondWorkflowTaskCompletedResponse>(response)?.reset_history_event_id();
        if reset_to > 0 && !self.void {
            let last = self.history.last_taken_id().saturating_sub(2).max(0);
            self.history.rewind(last, reset_to);
            self.workflow.rewind(last, reset_to);
        }
        Ok(())
    }

    /// Next number of the run's seeded generator, in [0, 1).
    pub fn random(&mut self) -> f64 {
        self.workflow.random.number()
    }

    /// Next bytes of the run's seeded generator, at most [`crate::replay::MAX_RANDOM_BYTES`].
    pub fn random_bytes(&mut self, len: usize) -> Vec<u8> {
        self.workflow.random.bytes(len)
    }

    /// A task may begin. Drops the state of the last one, and the whole state if it is unusable.
    fn begin(&mut self) -> Result<()> {
        if self.phase != Phase::Idle && self.error.is_none() {
            return self.expect(false, "another task");
        }
        if self.void || self.error.is_some() {
            self.reset();
        }
        self.task = Task::default();
        Ok(())
    }

    fn reset(&mut self) {
        self.workflow = Workflow::new(&self.options);
        self.history = HistoryBuffer::with_job_order(self.options.job_order());
        self.given.clear();
        self.error = None;
        self.phase = Phase::Idle;
        self.void = false;
    }

    fn advance(&mut self) -> Result<Encoded<views::boundary::Step>> {
        if let Some(failed) = self.task.failed.take() {
            return Ok(self.fail(failed));
        }
        loop {
            if let Some(activation) = self.workflow.take_activation() {
                self.phase = Phase::Activated;
                self.task.activations = self.task.activations.saturating_add(1);
                return Ok(activation);
            }
            match self.history.take_next() {
                Next::Sequence(events) => {
                    let is_last = self.history.peek().is_none();
                    self.workflow.apply(
                        &events,
                        Frontier {
                            is_last,
                            ends_replay: is_last && self.task.is_replay,
                            previous_started: self.task.previous_started,
                        },
                    )?;
                    if let Some(next) = self.history.peek() {
                        self.workflow.look_ahead(next)?;
                    }
                }
                Next::NeedMore => {
                    self.phase = Phase::Fetching;
                    let need = NeedHistory {
                        workflow_id: self.workflow.workflow_id.clone(),
                        run_id: self.workflow.run_id.clone(),
                        next_page_token: self.task.page_token.clone(),
                    };
                    let need = Encoded::of(need.encode_to_vec());
                    return Ok(build(|w: Put<views::boundary::Step>| w.copy_need_history(Some(need.view()))));
                }
                Next::End if self.settle_cancelled_local() => {}
                Next::End => break,
            }
        }
        if let Some(work) = self.local_work() {
            self.phase = Phase::Local;
            return Ok(build(|w: Put<views::boundary::Step>| w.copy_local_work(Some(work.view()))));
        }
        if !self.task.queries.is_empty() {
            return Ok(self.query_activation());
        }
        Ok(self.complete())
    }

    /// All queries of the task, at once.
    fn query_activation(&mut self) -> Encoded<views::boundary::Step> {
        let mut jobs = Jobs::new(self.options.job_order());
        let mut asked = Vec::new();
        for (id, query) in std::mem::take(&mut self.task.queries) {
            jobs.same_task(query_job(&id, query.view()));
            asked.push(id);
        }
        self.phase = Phase::Querying(asked);
        self.workflow.activation(true, true, jobs.take().view())
    }

    /// One that history left cancelled and unrecorded: it makes another activation.
    fn settle_cancelled_local(&mut self) -> bool {
        if self.task.is_replay || self.task.is_query_task || self.workflow.run.closing {
            return false;
        }
        let resolved = self.workflow.machines.local_activities.settle_next_cancelled(self.workflow.run.activation_index);
        resolved.map(|r| self.workflow.record_local_activity(r)).is_some()
    }

    /// What the caller is to do for local activities before the task is completed. Query results
    /// and the task that carries them are sent before the wait for a local activity: queries must
    /// not wait.
    fn local_work(&mut self) -> Option<Encoded<views::boundary::LocalWork>> {
        if self.task.is_replay || self.task.is_query_task {
            return None;
        }
        let workflow = &mut self.workflow;
        let wait = !self.task.heartbeat && self.task.queries.is_empty();
        let work = workflow.machines.local_activities.work(workflow.run.closing, wait, workflow.task_timeout_ms);
        self.task.heartbeat |= !wait && workflow.machines.local_activities.are_running();
        work
    }

    /// All work is done: completes the task.
    fn complete(&mut self) -> Encoded<views::boundary::Step> {
        self.phase = Phase::Idle;
        let warnings = std::mem::take(&mut self.workflow.run.warnings);
        let mut outcome = TaskOutcome { warnings, heartbeat: self.task.heartbeat, ..Default::default() };
        let response = if self.task.is_replay {
            self.void = true;
            self.replay_finished()
        } else if self.task.is_query_task {
            task_outcome::Response::QueryCompleted(completion::query_completed(&self.options, &mut self.task).into_bytes())
        } else {
            if self.workflow.run.closing {
                self.void = true;
                outcome.evict = true;
                outcome.eviction_reason = EvictionReason::WorkflowExecutionEnding as i32;
            }
            let completed = completion::completed(&self.options, &mut self.workflow, &self.task);
            task_outcome::Response::Completed(completed.into_bytes())
        };
        outcome.response = Some(response);
        outcome_step(&outcome)
    }

    /// The task failed. It is reported once: of further attempts the server learns by their timeout, and waits longer each time.
    fn fail(&mut self, mut failed: Failed) -> Encoded<views::boundary::Step> {
        self.phase = Phase::Idle;
        self.given.clear();
        if failed.error.task_started_event_id == 0 {
            failed.error.task_started_event_id = id32(self.workflow.started_event_id);
        }
        let expired = failed.error.code == codes::QUERY_EXPIRED;
        self.void = !expired;
        let retried = self.task.is_query_task && failed.error.code == codes::HISTORY_FETCH;
        let response = if self.task.is_replay {
            self.replay_finished()
        } else if retried {
            // The caller of the query may ask again; a response would be final.
            task_outcome::Response::Nothing(Nothing {})
        } else if self.task.is_query_task {
            task_outcome::Response::QueryCompleted(completion::query_failed(&self.options, &self.task, &failed).into_bytes())
        } else if self.task.attempt <= 1 {
            task_outcome::Response::Failed(completion::failed(&self.options, &self.task, &failed).into_bytes())
        } else {
            task_outcome::Response::Nothing(Nothing {})
        };
        let reason = if expired { EvictionReason::Unspecified } else { completion::eviction_of(&failed) };
        let outcome = TaskOutcome {
            response: Some(response),
            evict: !expired,
            eviction_reason: reason as i32,
            error: Some(*failed.error),
            warnings: std::mem::take(&mut self.workflow.run.warnings),
            heartbeat: false,
        };
        outcome_step(&outcome)
    }

    fn replay_finished(&self) -> task_outcome::Response {
        let (activations, events) = (self.task.activations, id32(self.workflow.last_event_id));
        task_outcome::Response::ReplayFinished(ReplayFinished { activations, events })
    }

    /// Keeps what the task failed with until `next` asks.
    pub(super) fn note(&mut self, result: Result<()>) {
        if let Err(error) = result
            && self.task.failed.is_none()
        {
            self.task.failed = Some(error.into());
        }
    }

    /// Keeps an error that is thrown.
    fn keep<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.error = Some(error.clone());
        }
        result
    }

    fn expect(&mut self, allowed: bool, call: &str) -> Result<()> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if allowed {
            return Ok(());
        }
        let text = format!("{call} is not allowed in phase {:?} of the run", self.phase);
        self.keep(Err(misuse(codes::OUT_OF_ORDER_CALL, text)))
    }
}

fn outcome_step(outcome: &TaskOutcome) -> Encoded<views::boundary::Step> {
    let outcome = Encoded::of(outcome.encode_to_vec());
    build(|w: Put<views::boundary::Step>| w.copy_outcome(Some(outcome.view())))
}
