//! A run that the store has purged is gone for every caller, and an open run cannot be forgotten.
#[path = "engine/invariants.rs"]
mod invariants;
#[path = "engine/support.rs"]
mod support;

use support::*;
use temporalex_core::api::enums::v1::WorkflowIdReusePolicy;

#[test]
fn a_purged_run_is_not_answered_from_memory() {
    let mut t = T::new();
    let closed = t.start("closed");
    t.start("open");
    t.terminate("closed").expect("a termination");
    assert_eq!(t.status("closed"), 5);
    let reject = |r: &mut temporalex_core::api::workflowservice::v1::StartWorkflowExecutionRequest| {
        r.workflow_id_reuse_policy = WorkflowIdReusePolicy::RejectDuplicate as i32;
    };
    assert_eq!(t.start_with("closed", reject).expect_err("the id was used").code, 6);
    t.store.runs.remove(&closed).expect("the run is stored");
    t.engine.forget(&closed);
    assert_eq!(t.describe("closed", "").expect_err("gone").code, 5);
    assert_eq!(t.describe("closed", &closed).expect_err("gone").code, 5);
    assert_ne!(t.start_with("closed", reject).expect("the id is free again").run_id, closed);
    let open = t.describe("open", "").expect("open").workflow_execution_info.expect("info").execution.expect("ids").run_id;
    t.engine.forget(&open);
    t.engine.forget("unknown");
    t.signal("open", "s").expect("still there");
    assert_eq!(t.status("open"), 1);
}
