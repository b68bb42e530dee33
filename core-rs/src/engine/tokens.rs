//! Task tokens and page tokens. A token names one hand-out: `nonce` is random, so that no later attempt can be completed by the
//! holder of an earlier one, not even after a restart.
use super::codec;
use super::rpc::{Rpc, bad_token, invalid};
use super::wire::wire;

wire! {
    TaskToken {
        1 workflow_id str, 2 run_id str, 3 scheduled_id i64, 4 attempt i32, 5 nonce u64, 6 query u64,
    }
    /// Where a reader of history stands.
    HistoryToken {
        1 run_id str, 2 next_id i64, 3 last_id i64, 4 following bool, 5 close_only bool,
        6 task_nonce u64,
    }
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
