//! Updates as requests and replies name them, and the parts of an update request that the engine looks at.
use super::common::WorkflowExecution;
use crate::engine::message::message;

message! {
    UpdateMeta: update::Meta { update_id str, identity str, }
    /// The parts of an update request that the engine looks at; the request itself travels encoded.
    UpdateRequestView: update::Request { meta msg(UpdateMeta), input msg(UpdateInputView), request_id str, }
    UpdateInputView: update::Input { name str, }
    WaitPolicy: update::WaitPolicy { lifecycle_stage i32, }
    UpdateRef: update::UpdateRef { workflow_execution msg(WorkflowExecution), update_id str, }
    Outcome: update::Outcome { success payloads, failure failure, }
}
