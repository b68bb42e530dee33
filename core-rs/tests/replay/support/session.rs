//! One cached run with its program, fed task by task.
use std::collections::{BTreeMap, VecDeque};

use prost::Message as _;
use temporalex_core::api::history::v1::{History, HistoryEvent};
use temporalex_core::api::workflowservice::v1::{
    PollWorkflowTaskQueueResponse, RespondQueryTaskCompletedRequest, RespondWorkflowTaskCompletedRequest,
    RespondWorkflowTaskCompletedResponse, RespondWorkflowTaskFailedRequest,
};
use temporalex_core::boundary::job::Variant;
use temporalex_core::boundary::{
    Activation, CommandKind, CoreError, CoreWarning, EvictionReason, LocalActivityResolution, LocalWork, QueryResult,
    ReplayFinished, step, task_outcome,
};
use temporalex_core::error::Result;
use temporalex_core::replay::Run;

use super::history::WORKFLOW_ID;
use super::lang::{Calls, Lang, Reply};
use super::show;

/// The completion of a task, decoded.
#[derive(Clone, Debug)]
pub enum Response {
    Completed(RespondWorkflowTaskCompletedRequest),
    Failed(RespondWorkflowTaskFailedRequest),
    Query(RespondQueryTaskCompletedRequest),
    Finished(#[expect(dead_code, reason = "failures print it")] ReplayFinished),
    Nothing,
}

/// How a task, or a replay, ended.
#[derive(Clone, Debug)]
pub struct TaskEnd {
    pub response: Response,
    pub evict: bool,
    pub eviction_reason: EvictionReason,
    pub error: Option<CoreError>,
    pub warnings: Vec<CoreWarning>,
}

impl TaskEnd {
    pub fn completed(&self) -> &RespondWorkflowTaskCompletedRequest {
        match &self.response {
            Response::Completed(request) => request,
            other => panic!("not completed: {other:?}, error {:?}", self.error),
        }
    }

    pub fn failed(&self) -> &RespondWorkflowTaskFailedRequest {
        match &self.response {
            Response::Failed(request) => request,
            other => panic!("not failed: {other:?}"),
        }
    }

    pub fn query(&self) -> &RespondQueryTaskCompletedRequest {
        match &self.response {
            Response::Query(request) => request,
            other => panic!("no answer to a query: {other:?}, error {:?}", self.error),
        }
    }

    pub fn commands(&self) -> String {
        show::commands(&self.completed().commands)
    }

    pub fn message(&self) -> &str {
        &self.error.as_ref().unwrap_or_else(|| panic!("no error: {:?}", self.response)).message
    }
}

/// One cached run with its program, all its input and all its completions.
pub struct Session {
    run: Run,
    lang: Box<dyn Lang>,
    pub activations: Vec<Activation>,
    pub ends: Vec<TaskEnd>,
    /// Completions as they are sent.
    pub sent: Vec<Vec<u8>>,
    /// Events served to NeedHistory, and how many at a time.
    pages: Vec<HistoryEvent>,
    pub page_size: usize,
    /// Pages cannot be fetched.
    pub fetch_fails: bool,
    /// The outcomes of the next task's local activities, in this order. When no outcome is left for a running one, the task
    /// completes with a heartbeat.
    pub results: VecDeque<LocalResult>,
    /// What the core asked for.
    pub works: Vec<LocalWork>,
    /// Workflow time at which local activities were started, by seq, of those that run.
    running: BTreeMap<u32, f64>,
    run_id: String,
}

/// A result of a local activity for the core.
#[derive(Clone, Debug)]
pub struct LocalResult {
    pub resolution: LocalActivityResolution,
    /// Not before this activation of its task.
    pub activation_index: u32,
    /// Workflow time at its end, milliseconds; 0: that of its start.
    pub complete_ms: f64,
}

impl Session {
    /// `pages`: the whole history, for the core to ask for.
    pub fn new(run: Run, lang: Box<dyn Lang>, pages: Vec<HistoryEvent>, run_id: String) -> Session {
        Session {
            run,
            lang,
            activations: Vec::new(),
            ends: Vec::new(),
            sent: Vec::new(),
            pages,
            page_size: usize::MAX,
            fetch_fails: false,
            results: VecDeque::new(),
            works: Vec::new(),
            running: BTreeMap::new(),
            run_id,
        }
    }

    pub fn end(&self) -> &TaskEnd {
        self.ends.last().expect("a task ended")
    }

    pub fn shown(&self) -> String {
        show::activations(&self.activations)
    }

    /// Commands of all completions: "StartTimer 1 | CompleteWorkflowExecution"
    pub fn commands(&self) -> String {
        self.ends.iter().map(TaskEnd::commands).collect::<Vec<_>>().join(" | ")
    }

    pub fn jobs(&self, activation: usize) -> &[temporalex_core::boundary::Job] {
        &self.activations[activation].jobs
    }

    /// What can be fetched ends with this event.
    pub fn upto(&mut self, last: usize) {
        self.pages.truncate(last);
    }

    /// Serves one task to its end and reports a completion as received.
    pub fn task(&mut self, poll: &PollWorkflowTaskQueueResponse) -> TaskEnd {
        let started = self.run.start_task(&poll.encode_to_vec());
        self.finish(started)
    }

    /// Replays events without a reporter.
    pub fn replay(&mut self, events: &[HistoryEvent]) -> TaskEnd {
        let history = History { events: events.to_vec() };
        let started = self.run.start_replay(WORKFLOW_ID, &history.encode_to_vec());
        self.finish(started)
    }

    fn finish(&mut self, started: Result<()>) -> TaskEnd {
        let end = match started.and_then(|()| self.drive()) {
            Ok(end) => end,
            Err(error) => TaskEnd {
                response: Response::Nothing,
                evict: true,
                eviction_reason: EvictionReason::Unspecified,
                error: Some(*error),
                warnings: Vec::new(),
            },
        };
        self.ends.push(end.clone());
        if matches!(end.response, Response::Completed(_)) {
            self.reported(&RespondWorkflowTaskCompletedResponse::default());
        }
        end
    }

    pub fn reported(&mut self, response: &RespondWorkflowTaskCompletedResponse) {
        self.run.task_reported(&response.encode_to_vec()).expect("the report is taken");
    }

    fn drive(&mut self) -> Result<TaskEnd> {
        let before = self.activations.len();
        loop {
            match self.run.next()?.kind.expect("a step says what it is") {
                step::Kind::LocalWork(work) => self.work(work, self.activations.len() - before)?,
                step::Kind::Activation(activation) => {
                    let reply = self.answer(&activation)?;
                    self.activations.push(activation);
                    match reply {
                        Reply::Finish => self.run.finish_activation()?,
                        Reply::FailTask(why, cause) => self.run.fail_activation(&why.encode_to_vec(), cause as i32)?,
                    }
                }
                step::Kind::NeedHistory(_) if self.fetch_fails => {
                    let why = super::failure("the server is away");
                    self.run.fail_activation(&why.encode_to_vec(), 0)?;
                }
                step::Kind::NeedHistory(need) => {
                    assert_eq!((need.workflow_id.as_str(), need.run_id.as_str()), (WORKFLOW_ID, self.run_id.as_str()));
                    let token = String::from_utf8(need.next_page_token).expect("our token");
                    let from: usize = if token.is_empty() { 0 } else { token.parse().expect("our token") };
                    let to = from.saturating_add(self.page_size).min(self.pages.len());
                    let next = if to < self.pages.len() { to.to_string() } else { String::new() };
                    let page = History { events: self.pages[from..to].to_vec() };
                    self.run.feed_history(&page.encode_to_vec(), next.as_bytes())?;
                }
                step::Kind::Outcome(outcome) => {
                    use task_outcome::Response as R;
                    let response = match outcome.response.expect("an outcome has a response") {
                        R::Completed(bytes) => {
                            let completion = Response::Completed(decode(&bytes));
                            self.sent.push(bytes);
                            completion
                        }
                        R::Failed(bytes) => Response::Failed(decode(&bytes)),
                        R::QueryCompleted(bytes) => Response::Query(decode(&bytes)),
                        R::ReplayFinished(finished) => Response::Finished(finished),
                        R::Nothing(_) => Response::Nothing,
                    };
                    return Ok(TaskEnd {
                        response,
                        evict: outcome.evict,
                        eviction_reason: EvictionReason::try_from(outcome.eviction_reason).expect("a known reason"),
                        error: outcome.error,
                        warnings: outcome.warnings,
                    });
                }
            }
        }
    }

    /// Plays the one who runs local activities.
    fn work(&mut self, work: LocalWork, activations: usize) -> Result<()> {
        let now = self.activations.last().map_or(0.0, |a| a.time_ms);
        self.running.extend(work.start.iter().map(|start| (start.seq, now)));
        for seq in work.cancel.iter().chain(&work.abandon) {
            self.running.remove(seq);
        }
        let wait = work.wait;
        self.works.push(work);
        if !wait {
            return Ok(());
        }
        let mut given = false;
        while let Some(next) = self.results.front()
            && (next.activation_index as usize <= activations || !given)
            && let Some(since) = self.running.remove(&next.resolution.seq)
        {
            let mut resolution = next.resolution.clone();
            resolution.runtime_ms = (next.complete_ms - since).max(0.0);
            self.run.resolve_local_activity(&resolution.encode_to_vec())?;
            self.results.pop_front();
            given = true;
        }
        if given { Ok(()) } else { self.run.heartbeat() }
    }

    fn answer(&mut self, activation: &Activation) -> Result<Reply> {
        let mut calls = Calls::new(&mut self.run);
        let queries: Vec<_> = activation
            .jobs
            .iter()
            .filter_map(|job| match job.variant.as_ref() {
                Some(Variant::QueryWorkflow(query)) => Some(query),
                _ => None,
            })
            .collect();
        assert_eq!(activation.query_only, !queries.is_empty());
        assert!(queries.is_empty() || queries.len() == activation.jobs.len(), "queries are alone in their activation");
        let mut reply = Reply::Finish;
        for query in &queries {
            let result = Some(self.lang.query(query));
            calls.raw(CommandKind::QueryResult, &QueryResult { query_id: query.query_id.clone(), result });
        }
        if queries.is_empty() {
            reply = self.lang.activate(activation, &mut calls);
        }
        match calls.error {
            Some(error) => Err(error),
            None => Ok(reply),
        }
    }
}

fn decode<M: prost::Message + Default>(bytes: &[u8]) -> M {
    M::decode(bytes).expect("the response decodes")
}
