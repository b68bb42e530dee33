//! What workers ask of the engine: polls, and reports of tasks and activities.
use temporalex_core::api::command::v1::Command;
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::api::taskqueue::v1::TaskQueue;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::*;

impl T {
    pub fn poll_id(&mut self, queue_name: &str) -> u32 {
        self.send(
            M::PollWorkflowTaskQueue,
            &PollWorkflowTaskQueueRequest {
                namespace: "default".into(),
                task_queue: Some(queue(queue_name)),
                identity: "worker".into(),
                ..Default::default()
            },
        )
    }

    pub fn poll_sticky_id(&mut self, name: &str) -> u32 {
        let q = TaskQueue { name: name.into(), kind: 2, normal_name: QUEUE.into() };
        self.send(
            M::PollWorkflowTaskQueue,
            &PollWorkflowTaskQueueRequest {
                namespace: "default".into(),
                task_queue: Some(q),
                identity: "worker".into(),
                ..Default::default()
            },
        )
    }

    pub fn try_task(&mut self) -> Option<PollWorkflowTaskQueueResponse> {
        let id = self.poll_id(QUEUE);
        self.finish_poll(id)
    }

    /// The workflow task of a run on a separate queue.
    pub fn task_on(&mut self, queue: &str) -> PollWorkflowTaskQueueResponse {
        let id = self.poll_id(queue);
        self.finish_poll(id).unwrap_or_else(|| panic!("a workflow task on {queue}"))
    }

    pub fn try_sticky_task(&mut self) -> Option<PollWorkflowTaskQueueResponse> {
        let id = self.poll_sticky_id(STICKY);
        self.finish_poll(id)
    }

    pub fn finish_poll(&mut self, id: u32) -> Option<PollWorkflowTaskQueueResponse> {
        self.flush();
        match self.take(id) {
            Some(r) => Some(r.expect("a poll succeeds")),
            None => {
                self.engine.cancel_request(id);
                None
            }
        }
    }

    pub fn task(&mut self) -> PollWorkflowTaskQueueResponse {
        self.try_task().expect("a workflow task")
    }

    pub fn sticky_task(&mut self) -> PollWorkflowTaskQueueResponse {
        self.try_sticky_task().expect("a sticky workflow task")
    }

    pub fn completion(
        &self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
    ) -> RespondWorkflowTaskCompletedRequest {
        RespondWorkflowTaskCompletedRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            identity: "worker".into(),
            commands,
            ..Default::default()
        }
    }

    pub fn complete(
        &mut self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
    ) -> RespondWorkflowTaskCompletedResponse {
        self.try_complete(task, commands).expect("a completion")
    }

    pub fn try_complete(
        &mut self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
    ) -> Answer<RespondWorkflowTaskCompletedResponse> {
        let request = self.completion(task, commands);
        self.call(M::RespondWorkflowTaskCompleted, &request)
    }

    /// Completes as SDKs do: sticky, and asking for the next task.
    pub fn complete_sticky(
        &mut self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
    ) -> RespondWorkflowTaskCompletedResponse {
        let request = sticky(self.completion(task, commands));
        self.call(M::RespondWorkflowTaskCompleted, &request).expect("a completion")
    }

    pub fn complete_with(
        &mut self,
        task: &PollWorkflowTaskQueueResponse,
        commands: Vec<Command>,
        change: impl FnOnce(&mut RespondWorkflowTaskCompletedRequest),
    ) -> Answer<RespondWorkflowTaskCompletedResponse> {
        let mut request = self.completion(task, commands);
        change(&mut request);
        self.call(M::RespondWorkflowTaskCompleted, &request)
    }

    pub fn fail_task(&mut self, task: &PollWorkflowTaskQueueResponse) -> Answer<RespondWorkflowTaskFailedResponse> {
        let request = RespondWorkflowTaskFailedRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            cause: 14,
            failure: Some(failure("Bug", "a bug")),
            identity: "worker".into(),
            ..Default::default()
        };
        self.call(M::RespondWorkflowTaskFailed, &request)
    }

    pub fn poll_activity_id(&mut self, name: &str) -> u32 {
        self.send(
            M::PollActivityTaskQueue,
            &PollActivityTaskQueueRequest {
                namespace: "default".into(),
                task_queue: Some(queue(name)),
                identity: "worker".into(),
                ..Default::default()
            },
        )
    }

    pub fn try_activity(&mut self) -> Option<PollActivityTaskQueueResponse> {
        let id = self.poll_activity_id(QUEUE);
        self.flush();
        match self.take(id) {
            Some(r) => Some(r.expect("a poll succeeds")),
            None => {
                self.engine.cancel_request(id);
                None
            }
        }
    }

    pub fn activity(&mut self) -> PollActivityTaskQueueResponse {
        self.try_activity().expect("an activity task")
    }

    pub fn complete_activity(
        &mut self,
        task: &PollActivityTaskQueueResponse,
        result: &str,
    ) -> Answer<RespondActivityTaskCompletedResponse> {
        let request = RespondActivityTaskCompletedRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            result: Some(json(result)),
            identity: "worker".into(),
            ..Default::default()
        };
        self.call(M::RespondActivityTaskCompleted, &request)
    }

    pub fn fail_activity(
        &mut self,
        task: &PollActivityTaskQueueResponse,
        f: Failure,
    ) -> Answer<RespondActivityTaskFailedResponse> {
        let request = RespondActivityTaskFailedRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            failure: Some(f),
            identity: "worker".into(),
            ..Default::default()
        };
        self.call(M::RespondActivityTaskFailed, &request)
    }

    pub fn heartbeat(
        &mut self,
        task: &PollActivityTaskQueueResponse,
        details: &str,
    ) -> Answer<RecordActivityTaskHeartbeatResponse> {
        let request = RecordActivityTaskHeartbeatRequest {
            namespace: "default".into(),
            task_token: task.task_token.clone(),
            details: Some(json(details)),
            identity: "worker".into(),
            ..Default::default()
        };
        self.call(M::RecordActivityTaskHeartbeat, &request)
    }
}
