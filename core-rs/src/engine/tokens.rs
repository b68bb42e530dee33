//! Task tokens and page tokens. A token names one hand-out: `nonce` is random, so that no later attempt can be completed by the
//! holder of an earlier one, not even after a restart.
use super::codec;
use super::message::message;
use super::rpc::{Rpc, bad_token, invalid};

message! {
    TaskToken: engine::TaskToken { workflow_id str, run_id str, scheduled_id i64, attempt i32, nonce u64, query u64, }
    /// Position of a reader of history.
    HistoryToken: engine::HistoryToken { run_id str, next_id i64, last_id i64, following bool, close_only bool, task_nonce u64, }
}

pub fn task(bytes: &[u8]) -> Rpc<TaskToken> {
    match codec::read::<TaskToken>(bytes) {
        Ok(t) if !t.workflow_id.is_empty() && !t.run_id.is_empty() => Ok(t),
        _ => Err(bad_token()),
    }
}

pub fn history(bytes: &[u8]) -> Rpc<HistoryToken> {
    match codec::read::<HistoryToken>(bytes) {
        Ok(t) if !t.run_id.is_empty() && t.next_id >= 1 => Ok(t),
        _ => Err(invalid("Invalid NextPageToken.")),
    }
}
