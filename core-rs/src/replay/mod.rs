//! The worker's side: one [`Run`] per cached workflow run.
use crate::boundary::{CommandKind, RunOptions, Step};
use crate::error::{Result, codes, misuse};

/// A workflow run as its worker sees it: tasks go in, activations come out, commands go in, completions come out.
///
/// Protocol: `start_task` (or `start_replay`), then `next` until it answers an outcome. After each activation the caller issues
/// `command`/`cancel` calls and ends it with `finish_activation` or `fail_activation`, then calls `next` again. On `NeedHistory`
/// it fetches the page, calls `feed_history`, then `next`. Errors are sticky until the next task.
pub struct Run {
    #[allow(dead_code)]
    options: RunOptions,
}

impl Run {
    pub fn new(options: RunOptions) -> Result<Run> {
        Ok(Run { options })
    }

    /// A workflow task: bytes of PollWorkflowTaskQueueResponse.
    pub fn start_task(&mut self, _poll_response: &[u8]) -> Result<()> {
        Err(misuse(codes::OUT_OF_ORDER_CALL, "not built yet"))
    }

    /// A whole (or cut) history to replay without a reporter: bytes of History.
    pub fn start_replay(&mut self, _workflow_id: &str, _history: &[u8]) -> Result<()> {
        Err(misuse(codes::OUT_OF_ORDER_CALL, "not built yet"))
    }

    /// The page asked for by `NeedHistory`: bytes of History, and the token of the next one (empty: the last).
    pub fn feed_history(&mut self, _history: &[u8], _next_page_token: &[u8]) -> Result<()> {
        Err(misuse(codes::OUT_OF_ORDER_CALL, "not built yet"))
    }

    pub fn next(&mut self) -> Result<Step> {
        Err(misuse(codes::OUT_OF_ORDER_CALL, "not built yet"))
    }

    /// Queues a command; nothing is matched before `finish_activation`. Answers the seq (0 for kinds without one).
    pub fn command(&mut self, _kind: CommandKind, _attributes: &[u8]) -> Result<u32> {
        Err(misuse(codes::OUT_OF_ORDER_CALL, "not built yet"))
    }

    /// Cancels the timer, activity or local activity `seq`.
    pub fn cancel(&mut self, _kind: CommandKind, _seq: u32) -> Result<()> {
        Err(misuse(codes::OUT_OF_ORDER_CALL, "not built yet"))
    }

    pub fn finish_activation(&mut self) -> Result<()> {
        Err(misuse(codes::OUT_OF_ORDER_CALL, "not built yet"))
    }

    /// Workflow code failed the task: bytes of Failure, and the cause (temporal.api.enums.v1.WorkflowTaskFailedCause; 0: by kind).
    pub fn fail_activation(&mut self, _failure: &[u8], _cause: i32) -> Result<()> {
        Err(misuse(codes::OUT_OF_ORDER_CALL, "not built yet"))
    }

    /// The server's answer to the last completion: bytes of RespondWorkflowTaskCompletedResponse.
    pub fn task_reported(&mut self, _response: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Next number of the run's seeded generator, in [0, 1).
    pub fn random(&mut self) -> f64 {
        0.0
    }

    /// Next bytes of the run's seeded generator.
    pub fn random_bytes(&mut self, len: usize) -> Vec<u8> {
        vec![0; len]
    }
}
