//! An update of a run: its stage, and its callers that wait.
use super::request::Again;
use crate::api::enums::v1::UpdateWorkflowExecutionLifecycleStage as Wanted;
use crate::engine::message::message;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Admitted,
    Sent,
    Accepted,
    Completed,
}

pub struct UpdateWait {
    pub request_id: u32,
    pub wanted: Wanted,
    /// PollWorkflowExecutionUpdate, whose answer is another message.
    pub poll: bool,
    /// The request, if it may move to the run that follows this one.
    pub again: Option<Again>,
}

pub struct Update {
    pub stage: Stage,
    /// Order of admission.
    pub seq: u64,
    /// encoded temporal update Request, until it is accepted
    pub request: Option<Vec<u8>>,
    pub accepted_id: i64,
    /// encoded temporal update Outcome
    pub outcome: Option<Vec<u8>>,
    pub waits: Vec<UpdateWait>,
    /// Its request is an event of history, as after a reset: it is not sent as a message, and stays until it is decided.
    pub admitted: bool,
}

message! {
    /// An update at rest: accepted, completed, or admitted by an event.
    UpdateState: engine::UpdateState { accepted_id i64, outcome raw(OUTCOME), completed bool, admitted bool, }
}

impl Update {
    /// All of it is in the store, and it has no waiters.
    pub fn at_rest(&self) -> bool {
        (self.stage >= Stage::Accepted || self.admitted) && self.waits.is_empty()
    }

    pub fn to_state(&self) -> Option<UpdateState> {
        // The failure of an accepted update whose run has ended is not stored: it follows from the end.
        let completed = self.stage == Stage::Completed;
        let outcome = if completed { self.outcome.clone() } else { None };
        let admitted = self.admitted && self.stage < Stage::Accepted;
        let stored = UpdateState { accepted_id: self.accepted_id, outcome, completed, admitted };
        (self.stage >= Stage::Accepted || admitted).then_some(stored)
    }

    pub fn from_state(s: UpdateState) -> Update {
        let stage = match (s.completed, s.admitted) {
            (true, _) => Stage::Completed,
            (_, true) => Stage::Admitted,
            _ => Stage::Accepted,
        };
        let (accepted_id, outcome) = (s.accepted_id, s.outcome);
        Update { stage, seq: 0, request: None, accepted_id, outcome, waits: Vec::new(), admitted: s.admitted }
    }
}
