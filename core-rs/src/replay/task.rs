//! The workflow task that is open, or the replay without a reporter that stands for one.

use crate::api::failure::v1::Failure;
use crate::api::query::v1::WorkflowQuery;
use crate::boundary::job::Variant;
use crate::boundary::{CoreError, Job, QueryResult, QueryWorkflow, query_result};
use crate::error::{Result, codes, misuse};
use crate::replay::convert::payload_vec;
use crate::sorted::SortedMap;

/// Query id of the `query` field of a task.
pub const LEGACY_QUERY: &str = "legacy_query";

/// Why the task fails, and what the server is told.
#[derive(Debug)]
pub struct Failed {
    pub error: Box<CoreError>,
    /// Workflow code's own failure; otherwise one is made from the error.
    pub failure: Option<Failure>,
    /// temporal.api.enums.v1.WorkflowTaskFailedCause; 0: by kind.
    pub cause: i32,
}

impl From<Box<CoreError>> for Failed {
    fn from(error: Box<CoreError>) -> Failed {
        Failed { error, failure: None, cause: 0 }
    }
}

#[derive(Debug, Default)]
pub struct Task {
    /// Nobody waits for an answer.
    pub is_replay: bool,
    pub token: Vec<u8>,
    pub attempt: i32,
    pub previous_started: i64,
    /// Of the page behind those that have come; empty: from event 1.
    pub page_token: Vec<u8>,
    /// The task is a `query`: it is answered by itself, and no command is sent.
    pub is_query_task: bool,
    pub legacy_query: Option<WorkflowQuery>,
    pub queries: std::collections::BTreeMap<String, WorkflowQuery>,
    pub answers: SortedMap<String, query_result::Result>,
    /// The queries were handed out.
    pub queried: bool,
    pub failed: Option<Failed>,
    pub activations: u32,
}

impl Task {
    /// The query jobs, once.
    pub fn take_queries(&mut self) -> Vec<Job> {
        if self.queried {
            return Vec::new();
        }
        self.queried = true;
        let legacy = self.legacy_query.take();
        let queries = std::mem::take(&mut self.queries);
        let named = legacy.map(|q| (LEGACY_QUERY.to_string(), q)).into_iter().chain(queries);
        named.map(|(id, query)| query_job(id, query)).collect()
    }

    pub fn answer(&mut self, result: QueryResult, asked: &[String]) -> Result<()> {
        if !asked.contains(&result.query_id) {
            return Err(misuse(codes::BAD_VALUE, format!("there is no query {} in this activation", result.query_id)));
        }
        let answer = result.result.ok_or_else(|| misuse(codes::BAD_VALUE, "a query result without a result"))?;
        self.answers.insert(result.query_id, answer);
        Ok(())
    }
}

fn query_job(query_id: String, query: WorkflowQuery) -> Job {
    let job = QueryWorkflow {
        query_id,
        query_type: query.query_type,
        arguments: payload_vec(query.query_args),
        headers: query.header.map(|h| h.fields).unwrap_or_default(),
    };
    Job { event_id: 0, variant: Some(Variant::QueryWorkflow(job)) }
}
