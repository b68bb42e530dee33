//! A caller of a waiting request is gone, or its long poll has lasted long enough.
use super::machine::Engine;
use super::rpc;
use super::state::request::Wait;
use super::{history_readers, queries, updates};

impl Engine {
    pub(super) fn drop_wait(&mut self, request_id: u32, expired: bool) {
        if !expired {
            self.cx.pairs.remove(&request_id);
        }
        let Some(wait) = self.cx.waiting.remove(&request_id) else { return };
        match wait {
            Wait::Poll { side, queue, seq } => {
                let now = self.cx.now;
                self.cx.queues.cancel_poll(side, &queue, seq, now);
                if expired {
                    self.cx.reply_bytes(request_id, Vec::new(), None);
                }
            }
            Wait::Parked { workflow_id, run_id } => {
                self.unpark(&workflow_id, &run_id, request_id);
                if expired {
                    self.cx.fail(request_id, rpc::unavailable(format!("the state of workflow \"{workflow_id}\" was not read from the store before the deadline of the call; retry")));
                }
            }
            Wait::History { slot } => {
                self.with_run(slot, |run, cx| {
                    if expired {
                        history_readers::expire(run, cx, request_id);
                    } else {
                        run.history_waits.retain(|w| w.request_id != request_id);
                    }
                });
            }
            Wait::Update { slot, update_id } => {
                self.with_run(slot, |run, cx| {
                    if expired {
                        updates::expire(run, cx, &update_id, request_id);
                    } else if let Some(u) = run.updates.get_mut(&update_id) {
                        u.waits.retain(|w| w.request_id != request_id);
                    }
                });
            }
            Wait::Query { slot, query } => {
                self.with_run(slot, |run, cx| {
                    queries::remove(run, cx, query);
                    if expired {
                        cx.fail(request_id, rpc::query_timed_out(&run.head.task_queue));
                    }
                });
            }
        }
    }
}
