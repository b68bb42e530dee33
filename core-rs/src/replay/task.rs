//! The workflow task that is open, or the replay without a reporter that stands for one.
use crate::boundary::CoreError;
use crate::error::{Result, codes, misuse};
use crate::replay::given::checked;
use crate::sorted::SortedMap;
use crate::wire::schema::Kind::{Message, Text};
use crate::wire::schema::{FAILURE, PAYLOAD, Schema};
use crate::wire::{self, Writer};

/// Query id of the `query` field of a task.
pub const LEGACY_QUERY: &str = "legacy_query";

static QUERY_RESULT: Schema = Schema(&[(1, Text), (2, Message(&PAYLOAD)), (3, Message(&FAILURE))]);

/// Why the task fails, and what the server is told.
#[derive(Debug)]
pub struct Failed {
    pub error: Box<CoreError>,
    /// Workflow code's own Failure, encoded; otherwise one is made from the error.
    pub failure: Option<Vec<u8>>,
    /// temporal.api.enums.v1.WorkflowTaskFailedCause; 0: by kind.
    pub cause: i32,
}

impl From<Box<CoreError>> for Failed {
    fn from(error: Box<CoreError>) -> Failed {
        Failed { error, failure: None, cause: 0 }
    }
}

/// Workflow code's answer to a query: a Payload or a Failure, encoded.
#[derive(Clone, Debug)]
pub enum QueryAnswer {
    Succeeded(Vec<u8>),
    Failed(Vec<u8>),
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
    /// WorkflowQuery by id, sorted; taken when they are handed out.
    pub queries: SortedMap<String, Vec<u8>>,
    pub answers: SortedMap<String, QueryAnswer>,
    pub failed: Option<Failed>,
    pub activations: u32,
}

impl Task {
    /// boundary.QueryResult.
    pub fn answer(&mut self, bytes: &[u8], asked: &[String]) -> Result<()> {
        let result = checked("QueryResult", bytes, &QUERY_RESULT)?;
        let id = result.text(1);
        if !asked.iter().any(|a| a == id) {
            return Err(misuse(codes::BAD_VALUE, format!("there is no query {id} in this activation")));
        }
        let answer = match result.fields().filter(|(n, _)| matches!(n, 2 | 3)).last() {
            Some((2, wire::Value::Bytes(payload))) => QueryAnswer::Succeeded(payload.to_vec()),
            Some((_, wire::Value::Bytes(failure))) => QueryAnswer::Failed(failure.to_vec()),
            _ => return Err(misuse(codes::BAD_VALUE, "a query result without a result")),
        };
        self.answers.insert(id.to_string(), answer);
        Ok(())
    }
}

/// boundary.QueryWorkflow of a WorkflowQuery.
pub fn query_job(id: &str, query: wire::Message) -> Vec<u8> {
    let mut w = Writer::new();
    w.text(1, id).text(2, query.text(1)).each(3, query.sub(2).all(1)).each(4, query.sub(3).all(1));
    w.finish()
}
