//! Pairs waiting tasks with waiting polls when a batch closes.
use super::codec;
use super::machine::Engine;
use super::queues::{Poll, Task};
use super::task_response::task_response;
use super::{activity, queries, versioning, workflow_task};

impl Engine {
    /// Gives out every task that a poll waits for.
    pub(super) fn dispatch(&mut self) {
        while let Some((side, queue)) = self.cx.queues.next_matched() {
            let now = self.cx.now;
            while let Some((taken, seq, poll)) = self.cx.queues.take_pair(side, &queue, now) {
                if !self.give(taken.slot, taken.task, &poll) {
                    self.cx.queues.give_back(side, &queue, &taken, (seq, poll), now);
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
                versioning::workflow_task_taken(run, cx, poll);
                let partial = run.sticky() && poll.sticky;
                let (response, splice) = task_response(run, cx, delivered, partial, false);
                cx.reply_bytes(request_id, codec::bytes(&response), splice);
                true
            }
            Task::Activity(id) if versioning::activity_moves_run(run, cx, id, poll) => false,
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
