//! The open workflow task, or the replay without a reporter in its place.
use crate::boundary::CoreError;
use crate::error::{Result, codes, misuse};
use crate::proto::views::boundary::{QueryResult, QueryResultResult, QueryWorkflow};
use crate::proto::views::common::Payload;
use crate::proto::views::failure::Failure;
use crate::proto::views::query::WorkflowQuery;
use crate::replay::convert::checked;
use crate::sorted::SortedMap;
use crate::wire::typed::{Encoded, Put, View, build};

/// Query id of the `query` field of a task.
pub const LEGACY_QUERY: &str = "legacy_query";

/// Why the task fails, and the error that the server receives.
#[derive(Debug)]
pub struct Failed {
    pub error: Box<CoreError>,
    /// Workflow code's own; otherwise one is made from the error.
    pub failure: Option<Encoded<Failure>>,
    /// temporal.api.enums.v1.WorkflowTaskFailedCause; 0: by kind.
    pub cause: i32,
}

impl From<Box<CoreError>> for Failed {
    fn from(error: Box<CoreError>) -> Failed {
        Failed { error, failure: None, cause: 0 }
    }
}

/// Workflow code's answer to a query.
#[derive(Clone, Debug)]
pub enum QueryAnswer {
    Succeeded(Encoded<Payload>),
    Failed(Encoded<Failure>),
}

#[derive(Debug, Default)]
pub struct Task {
    /// The result is not sent to a server.
    pub is_replay: bool,
    pub token: Vec<u8>,
    pub attempt: i32,
    pub previous_started: i64,
    /// Of the page behind those that have come; empty: from event 1.
    pub page_token: Vec<u8>,
    /// The task is a `query`: its response is a query result, and no command is sent.
    pub is_query_task: bool,
    /// By id, sorted; taken when they are handed out.
    pub queries: SortedMap<String, Encoded<WorkflowQuery>>,
    pub answers: SortedMap<String, QueryAnswer>,
    pub failed: Option<Failed>,
    /// The task is completed although local activities run on, and a further task is requested.
    pub heartbeat: bool,
    pub activations: u32,
}

impl Task {
    /// Takes a QueryResult of workflow code.
    pub fn answer(&mut self, bytes: &[u8], asked: &[String]) -> Result<()> {
        let result = checked::<QueryResult>(bytes)?;
        let id = result.query_id();
        if !asked.iter().any(|a| a == id) {
            return Err(misuse(codes::BAD_VALUE, format!("result for query {id}: the activation has no such query")));
        }
        let answer = match result.result() {
            Some(QueryResultResult::Succeeded(payload)) => QueryAnswer::Succeeded(payload.to_owned()),
            Some(QueryResultResult::Failed(failure)) => QueryAnswer::Failed(failure.to_owned()),
            None => {
                let text = format!("result for query {id}: neither `succeeded` nor `failed` is set");
                return Err(misuse(codes::BAD_VALUE, text));
            }
        };
        self.answers.insert(id.to_string(), answer);
        Ok(())
    }
}

/// The job that asks workflow code.
pub fn query_job(id: &str, query: View<WorkflowQuery>) -> Encoded<QueryWorkflow> {
    build(|w: Put<QueryWorkflow>| {
        w.query_id(id)
            .query_type(query.query_type())
            .copy_arguments(query.query_args().payloads())
            .copy_headers(query.header().fields())
    })
}
