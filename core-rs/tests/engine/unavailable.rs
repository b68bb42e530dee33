//! The store cannot tell whether a run exists: its callers are refused for now, and the id is not taken for free.
use crate::support::*;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::{EngineMethod as M, RunRecord};
use temporalex_core::engine::Engine;

#[test]
fn what_the_store_cannot_read_is_unavailable_and_not_missing() {
    let mut t = T::new();
    let first = t.start("a");
    // A cold engine asks for the run; the store fails, for a signal and for a start of the same id.
    t.engine = Engine::new(t.options.clone()).expect("an engine");
    let mut again = t.start_request("a");
    again.request_id = "another".into();
    let signal = t.signal_request("a", "s");
    let ids = [t.send(M::SignalWorkflowExecution, &signal), t.send(M::StartWorkflowExecution, &again)];
    let flush = t.engine.flush();
    assert!(!flush.loads.is_empty() && flush.replies.is_empty());
    for load in &flush.loads {
        let record = RunRecord {
            asked_workflow_id: load.workflow_id.clone(),
            asked_run_id: load.run_id.clone(),
            unavailable: "the disk does not answer".into(),
            ..Default::default()
        };
        t.engine.load(record, t.now);
    }
    t.flush();
    for id in ids {
        let error = t.take::<SignalWorkflowExecutionResponse>(id).expect("a response").expect_err("refused");
        assert_eq!((error.code, error.message.as_str()), (14, "the disk does not answer"));
    }
    assert_eq!(t.store.runs.len(), 1, "no second run was made of an id that could not be looked up");
    // When the store responds again, everything is as before.
    t.signal("a", "s").expect("a signal");
    let info = t.describe("a", "").expect("a description").workflow_execution_info.expect("info");
    assert_eq!(info.execution.expect("ids").run_id, first);
}
