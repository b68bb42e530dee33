//! What a run waits for: activities, timers, children. Each is a separate item in the store,
//! written only when it changes.
use crate::engine::message::message;
use crate::engine::messages::common::*;
use crate::engine::messages::events::ActivityScheduledAttrs;
use crate::engine::messages::nexus::{CallbackState, NexusState};
use crate::engine::messages::versioning::Version;
use crate::engine::queues::QueueKey;
use crate::engine::time::Micros;

message! {
    /// A pending activity at rest.
    ActivityState: engine::ActivityState {
        scheduled_id i64, attempt i32, scheduled_us i64, first_scheduled_us i64, started_us i64, nonce u64, life u64,
        request_id str, identity str, heartbeat_us i64, heartbeat_details payloads, last_failure failure,
        cancel_requested_id i64, last_complete_us i64, expiration_us i64, worker_version msg(WorkerVersionStamp),
        last_interval_us i64, attrs msg(ActivityScheduledAttrs), paused_us i64, paused_by str, pause_reason str, was_reset bool,
        resets_heartbeat bool, original msg(ActivityScheduledAttrs), deployment_version msg(Version),
    }
    /// A child whose end its parent has not seen. `run_id` is its first run's, empty until it is started; `started_id` that of the Started event,
    /// 0 while that is buffered.
    ChildState: engine::ChildState {
        initiated_id i64, started_id i64, workflow_id str, run_id str, workflow_type str, parent_close_policy i32,
    }
    TimerState: engine::TimerState { timer_id str, started_id i64, fire_us i64, }
}

/// A pending Nexus operation.
pub struct Nexus {
    pub state: NexusState,
    pub deadline: Option<Micros>,
    /// The host makes the call that starts it.
    pub calling: bool,
    /// And the one that cancels it.
    pub canceling: bool,
}

/// A callback of the run.
pub struct Callback {
    pub state: CallbackState,
    pub deadline: Option<Micros>,
    pub calling: bool,
}

pub struct Activity {
    pub state: ActivityState,
    /// Taken out of `state` while in memory.
    pub attrs: ActivityScheduledAttrs,
    pub deadline: Option<Micros>,
    /// Place in its task queue while it waits for a worker.
    pub queued: Option<QueueKey>,
    /// The attributes are a separate item (ACTIVITY_INPUT), not part of the state's.
    pub attrs_stored: bool,
}

impl Activity {
    pub fn started(&self) -> bool {
        self.state.started_us != 0
    }

    pub fn paused(&self) -> bool {
        self.state.paused_us != 0
    }

    /// Waits for a worker from its schedule on.
    pub fn is_first(&self) -> bool {
        self.state.attempt == 1 && self.state.scheduled_us == self.state.first_scheduled_us
    }
}
