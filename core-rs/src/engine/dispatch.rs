//! Pairs waiting tasks with waiting polls when a batch closes, and builds what the worker gets.
use super::Engine;
use super::codec;
use super::cx::{Cx, Wait};
use super::limits;
use super::queues::{Poll, Side, Task};
use super::rpc;
use super::state::{Recent, Run};
use super::time::timestamp_opt;
use super::tokens::{HistoryToken, TaskToken};
use super::wire::*;
use super::workflow_task::{self, normal_queue, outside_events};
use super::{activity, queries, updates};
use crate::api::enums::v1::TaskQueueKind;
use crate::boundary::HistorySplice;

/// Field of PollWorkflowTaskQueueResponse that holds the history.
const HISTORY_FIELD: u32 = 8;

/// The task as its worker sees it. With `partial` the history starts after the last completed task.
pub fn task_response(
    run: &mut Run,
    cx: &Cx,
    delivered: Option<Recent>,
    partial: bool,
    heartbeat: bool,
) -> (PollResponse, Option<HistorySplice>) {
    let Some(task) = run.head.task.clone() else { return (PollResponse::default(), None) };
    let messages = updates::send(run, task.started_id, heartbeat);
    let h = &run.head;
    let token = TaskToken {
        workflow_id: h.workflow_id.clone(),
        run_id: h.run_id.clone(),
        scheduled_id: task.scheduled_id,
        attempt: task.attempt,
        nonce: task.nonce,
        query: 0,
    };
    let response = PollResponse {
        task_token: codec::bytes(&token),
        workflow_execution: Some(WorkflowExecution { workflow_id: h.workflow_id.clone(), run_id: h.run_id.clone() }),
        workflow_type: Some(Named { name: h.workflow_type.clone() }),
        previous_started_event_id: h.last_completed_started_id,
        started_event_id: task.started_id,
        attempt: task.attempt,
        workflow_execution_task_queue: Some(normal_queue(&h.task_queue)),
        scheduled_time: timestamp_opt(task.scheduled_us),
        started_time: timestamp_opt(task.started_us),
        queries: queries::buffered(run),
        messages,
        ..Default::default()
    };
    debug_assert_eq!(cx.life, task.life);
    if !partial {
        return with_history(run, response, task.nonce);
    }
    let first = h.last_completed_started_id + 1;
    match delivered {
        Some(recent) if recent.first_id == first => (PollResponse { history: Some(recent.bytes), ..response }, None),
        _ => {
            let splice = splice(run, first, run.last_event_id(), outside_events(run));
            (response, Some(splice))
        }
    }
}

/// The whole history, or its first page with a token for the rest.
pub fn with_history(run: &Run, mut response: PollResponse, task_nonce: u64) -> (PollResponse, Option<HistorySplice>) {
    let last = run.last_event_id();
    let tail = if task_nonce != 0 { outside_events(run) } else { Vec::new() };
    if run.head.history_bytes <= limits::WHOLE_HISTORY_BYTES || last <= limits::PAGE_EVENTS {
        return (response, Some(splice(run, 1, last, tail)));
    }
    let token = HistoryToken {
        run_id: run.head.run_id.clone(),
        next_id: limits::PAGE_EVENTS + 1,
        last_id: last,
        task_nonce: if tail.is_empty() { 0 } else { task_nonce },
        ..Default::default()
    };
    response.next_page_token = codec::bytes(&token);
    (response, Some(splice(run, 1, limits::PAGE_EVENTS, Vec::new())))
}

fn splice(run: &Run, from: i64, to: i64, tail: Vec<u8>) -> HistorySplice {
    let stored = to >= from;
    HistorySplice {
        workflow_id: run.head.workflow_id.clone(),
        run_id: run.head.run_id.clone(),
        from_event_id: if stored { from as u32 } else { 0 },
        to_event_id: if stored { to as u32 } else { 0 },
        tail,
        field_number: HISTORY_FIELD,
    }
}

/// The build id that a poller shows, as the server stamps it into Started events.
fn stamp(c: Option<WorkerVersionCapabilities>) -> Option<WorkerVersionStamp> {
    c.filter(|c| !c.build_id.is_empty()).map(|c| WorkerVersionStamp { build_id: c.build_id, use_versioning: c.use_versioning })
}

impl Engine {
    pub(super) fn poll(
        &mut self,
        side: Side,
        request_id: u32,
        queue: Option<TaskQueue>,
        identity: String,
        capabilities: Option<WorkerVersionCapabilities>,
    ) {
        let Some(queue) = queue.filter(|q| !q.name.is_empty()) else {
            return self.cx.fail(request_id, rpc::invalid("TaskQueue is not set on request."));
        };
        if let Some(why) = limits::bad_id(&queue.name) {
            return self.cx.fail(request_id, rpc::invalid(format!("TaskQueue {why}")));
        }
        let sticky = queue.kind == TaskQueueKind::Sticky as i32;
        let poll = Poll { request_id, identity, worker_version: stamp(capabilities), sticky };
        let now = self.cx.now;
        let seq = self.cx.queues.poll(side, &queue.name, poll, now);
        self.cx.waiting.insert(request_id, Wait::Poll { side, queue: queue.name, seq });
    }

    /// Gives out every task that a poll waits for.
    pub(super) fn dispatch(&mut self) {
        while let Some((side, queue)) = self.cx.queues.next_matched() {
            let now = self.cx.now;
            while let Some(((slot, task), seq, poll)) = self.cx.queues.take_pair(side, &queue, now) {
                if !self.give(slot, task, &poll) {
                    self.cx.queues.give_back(side, &queue, seq, poll);
                }
            }
        }
    }

    /// False: the task is no longer there.
    fn give(&mut self, slot: u32, task: Task, poll: &Poll) -> bool {
        let request_id = poll.request_id;
        let given = self.with_run(slot, |run, cx| match task {
            Task::Workflow => {
                run.task_queued = None;
                if !run.open() || run.head.task.as_ref().is_none_or(|t| t.started_id != 0) {
                    return false;
                }
                let request = cx.rng.uuid4();
                let delivered = workflow_task::start(run, cx, poll, request, false);
                let partial = run.sticky() && poll.sticky;
                let (response, splice) = task_response(run, cx, delivered, partial, false);
                cx.reply_bytes(request_id, codec::bytes(&response), splice);
                true
            }
            Task::Activity(id) => match activity::start(run, cx, id, poll) {
                Some(response) => {
                    cx.reply(request_id, &response);
                    true
                }
                None => false,
            },
            Task::Query(id) => match queries::give(run, cx, id, poll) {
                Some((response, splice)) => {
                    cx.reply_bytes(request_id, codec::bytes(&response), splice);
                    true
                }
                None => false,
            },
        });
        given.unwrap_or(false)
    }
}
