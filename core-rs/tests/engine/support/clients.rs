//! What clients ask of the engine.
use temporalex_core::api::common::v1::WorkflowType;
use temporalex_core::api::history::v1::HistoryEvent;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::*;

impl T {
    pub fn start_request(&self, id: &str) -> StartWorkflowExecutionRequest {
        StartWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_id: id.into(),
            workflow_type: Some(WorkflowType { name: "Flow".into() }),
            task_queue: Some(queue(QUEUE)),
            identity: "client".into(),
            request_id: format!("start-{id}"),
            input: Some(json("1")),
            ..Default::default()
        }
    }

    pub fn start(&mut self, id: &str) -> String {
        let request = self.start_request(id);
        let r: StartWorkflowExecutionResponse = self.call(M::StartWorkflowExecution, &request).expect("a start");
        r.run_id
    }

    pub fn start_with(
        &mut self,
        id: &str,
        change: impl FnOnce(&mut StartWorkflowExecutionRequest),
    ) -> Answer<StartWorkflowExecutionResponse> {
        let mut request = self.start_request(id);
        request.request_id = format!("start-{id}-{}", self.next_id);
        change(&mut request);
        self.call(M::StartWorkflowExecution, &request)
    }

    pub fn signal(&mut self, id: &str, name: &str) -> Answer<SignalWorkflowExecutionResponse> {
        let request = self.signal_request(id, name);
        self.call(M::SignalWorkflowExecution, &request)
    }

    pub fn signal_request(&self, id: &str, name: &str) -> SignalWorkflowExecutionRequest {
        SignalWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_execution: Some(exec(id, "")),
            signal_name: name.into(),
            identity: "client".into(),
            ..Default::default()
        }
    }

    pub fn cancel(&mut self, id: &str) -> Answer<RequestCancelWorkflowExecutionResponse> {
        let request = RequestCancelWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_execution: Some(exec(id, "")),
            reason: "enough".into(),
            identity: "client".into(),
            ..Default::default()
        };
        self.call(M::RequestCancelWorkflowExecution, &request)
    }

    pub fn terminate(&mut self, id: &str) -> Answer<TerminateWorkflowExecutionResponse> {
        let request = TerminateWorkflowExecutionRequest {
            namespace: "default".into(),
            workflow_execution: Some(exec(id, "")),
            reason: "no more".into(),
            identity: "client".into(),
            ..Default::default()
        };
        self.call(M::TerminateWorkflowExecution, &request)
    }

    pub fn describe(&mut self, id: &str, run: &str) -> Answer<DescribeWorkflowExecutionResponse> {
        let request = DescribeWorkflowExecutionRequest { namespace: "default".into(), execution: Some(exec(id, run)) };
        self.call(M::DescribeWorkflowExecution, &request)
    }

    pub fn status(&mut self, id: &str) -> i32 {
        self.describe(id, "").expect("a description").workflow_execution_info.expect("info").status
    }

    pub fn history_request(&self, id: &str, run: &str) -> GetWorkflowExecutionHistoryRequest {
        GetWorkflowExecutionHistoryRequest { namespace: "default".into(), execution: Some(exec(id, run)), ..Default::default() }
    }

    pub fn history(&mut self, id: &str, run: &str) -> Vec<HistoryEvent> {
        let mut request = self.history_request(id, run);
        let mut events = Vec::new();
        loop {
            let r: GetWorkflowExecutionHistoryResponse = self.call(M::GetWorkflowExecutionHistory, &request).expect("a history");
            events.extend(r.history.expect("history is set").events);
            if r.next_page_token.is_empty() {
                return events;
            }
            request.next_page_token = r.next_page_token;
        }
    }

    /// Short names of the events of the latest run: "Started WTScheduled ...".
    pub fn shape(&mut self, id: &str) -> String {
        shape(&self.history(id, ""))
    }
}
