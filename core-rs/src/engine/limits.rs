//! Limits, with the figures of a Temporal server where it has them, resolved from the host's options.
use super::backlog::{LOWEST_PRIORITY, Rank};
use super::codec;
use super::message::message;
use super::time::{Micros, SECOND};
use crate::boundary::EngineOptions;
use crate::proto::fields::common;
use crate::wire::schema as check;

message! {
    Priority: common::Priority { priority_key i32, fairness_key str, }
}

#[derive(Clone)]
pub struct Limits {
    /// 0: none.
    pub open_runs: u32,
    pub inbox: u32,
    pub cached_runs: usize,
    pub payload_bytes: usize,
    pub suggest_events: i64,
    pub suggest_bytes: i64,
    pub suggest_updates: usize,
    pub history_events: i64,
    pub history_bytes: i64,
    pub updates_in_flight: usize,
    pub updates_total: usize,
}

/// Longest id, name or queue name.
pub const ID_BYTES: usize = 1000;
const FAIRNESS_KEY_BYTES: usize = 64;
/// A server does not limit headers by themselves; a transaction that holds one is limited.
pub const HEADER_BYTES: usize = 4 * 1024 * 1024;
pub const PENDING_ACTIVITIES: usize = 2000;
pub const PENDING_CHILDREN: usize = 2000;
/// Signals and cancel requests to other runs that are not carried out yet, of each kind.
pub const PENDING_EXTERNALS: usize = 2000;
pub const BUFFERED_QUERIES: usize = 1000;
/// Attempts of a workflow task from which queries and updates are refused at once.
pub const FAILING_TASK_ATTEMPTS: i32 = 3;
/// A worker that only heartbeats its task for so long loses it.
pub const TASK_HEARTBEAT: Micros = 30 * 60 * SECOND;
/// Events that a discarded speculative task may ship again.
pub const SPECULATIVE_EVENTS: i64 = 10;
pub const MEMO_BYTES: usize = 2 * 1024 * 1024;
pub const DEFAULT_TASK_TIMEOUT: Micros = 10 * SECOND;
pub const MAX_TASK_TIMEOUT: Micros = 120 * SECOND;
/// Bytes of history that one response carries whole; a longer one comes in pages of PAGE_EVENTS.
pub const WHOLE_HISTORY_BYTES: i64 = 2 * 1024 * 1024;
pub const PAGE_EVENTS: i64 = 256;
pub const MAX_PAGE_EVENTS: i64 = 1000;

/// Why an id or a name cannot be taken. Not every store keeps a NUL character, and a run that one store takes must fit into all.
pub fn bad_id(id: &str) -> Option<&'static str> {
    if id.len() > ID_BYTES {
        Some("length exceeds limit.")
    } else if id.contains('\0') {
        Some("contains a NUL character.")
    } else {
        None
    }
}

/// The form of the ids that runs have here and on a server.
pub fn is_run_id(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(i, b)| if matches!(i, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() })
}

/// Why a name cannot be that of a task queue.
pub fn bad_queue(name: &str) -> Option<&'static str> {
    if name.starts_with("/_sys/") { Some("cannot start with reserved prefix /_sys/") } else { bad_id(name) }
}

/// The only `float` of all messages that the engine reads.
fn fairness_weight(mut bytes: &[u8]) -> f32 {
    let mut weight = 0.0;
    while let Ok((field, wire_type)) = check::key(&mut bytes) {
        if field == common::Priority::fairness_weight && wire_type == 5 {
            let Ok(v) = check::take(&mut bytes, 4) else { break };
            weight = f32::from_le_bytes([v[0], v[1], v[2], v[3]]);
        } else if check::skip(&mut bytes, wire_type).is_err() {
            break;
        }
    }
    weight
}

/// Why an encoded Priority is invalid.
pub fn bad_priority(priority: Option<&[u8]>) -> Option<&'static str> {
    let weight = fairness_weight(priority?);
    let priority = codec::read::<Priority>(priority?).unwrap_or_default();
    if priority.priority_key < 0 {
        Some("PriorityKey can't be negative")
    } else if priority.fairness_key.len() > FAIRNESS_KEY_BYTES {
        Some("FairnessKey length exceeds limit")
    } else if weight < 0.0 {
        Some("FairnessWeight can't be negative")
    } else {
        None
    }
}

/// How tasks with an encoded Priority are ordered; `over` has the fields that replace those of `base`.
pub fn rank(base: Option<&[u8]>, over: Option<&[u8]>) -> Rank {
    let mut rank = Rank::default();
    for bytes in [base, over].into_iter().flatten() {
        let Priority { priority_key, fairness_key } = codec::read(bytes).unwrap_or_default();
        if priority_key > 0 {
            rank.priority = priority_key.min(LOWEST_PRIORITY);
        }
        if !fairness_key.is_empty() {
            rank.fairness_key = fairness_key;
        }
        let weight = fairness_weight(bytes);
        if weight > 0.0 {
            rank.weight = weight;
        }
    }
    rank
}

impl Limits {
    pub fn new(o: &EngineOptions) -> Limits {
        let or = |v: u32, default: i64| if v == 0 { default } else { i64::from(v) };
        let updates = or(o.max_updates, 2000);
        Limits {
            open_runs: o.max_open_runs,
            inbox: o.max_inbox,
            cached_runs: or(o.max_cached_runs, 10_000) as usize,
            payload_bytes: or(o.max_payload_bytes, 2 * 1024 * 1024) as usize,
            suggest_events: or(o.suggest_continue_as_new_events, 4096),
            suggest_bytes: or(o.suggest_continue_as_new_bytes, 4 * 1024 * 1024),
            suggest_updates: or(o.suggest_continue_as_new_updates, updates - updates / 10) as usize,
            history_events: or(o.max_history_events, 51_200),
            history_bytes: 50 * 1024 * 1024,
            updates_in_flight: or(o.max_updates_in_flight, 10) as usize,
            updates_total: updates as usize,
        }
    }
}
