//! The host has computed the next time of a cron schedule: the steps that waited for it continue.
use super::close;
use super::cron::Waiting;
use super::machine::Engine;
use super::requests::handle;
use crate::boundary::{CronTime, LoadRequest};

impl Engine {
    /// What the host is to load or to compute.
    pub(super) fn take_loads(&mut self) -> Vec<LoadRequest> {
        let mut loads = std::mem::take(&mut self.runs.loads);
        loads.append(&mut self.cx.crons.take_queries());
        loads
    }

    pub(super) fn take_cron_time(&mut self, time: CronTime) {
        for step in self.cx.crons.take(time) {
            match step {
                Waiting::Request(request) => handle(self, request),
                Waiting::Timeout(run_id) => {
                    let Some(slot) = self.runs.by_id.get(&run_id).copied() else { continue };
                    self.with_run(slot, |run, cx| {
                        if run.open() {
                            close::timed_out(run, cx);
                        }
                    });
                }
                Waiting::Orders(run_id) => {
                    let Some(slot) = self.runs.by_id.get(&run_id).copied() else { continue };
                    self.carry_out_of(slot, None);
                }
            }
        }
    }
}
