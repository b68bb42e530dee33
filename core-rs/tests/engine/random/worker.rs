//! The responses of the worker of a random life: commands that mostly make sense, results, rejections.
use std::collections::BTreeSet;

use temporalex_core::api::command::v1::Command;
use temporalex_core::api::history::v1::{HistoryEvent, history_event::Attributes as A};
use temporalex_core::api::query::v1::WorkflowQueryResult;
use temporalex_core::api::workflowservice::v1::*;
use temporalex_core::boundary::EngineMethod as M;

use super::sim::{Sent, Sim, take, workflow};
use crate::support::*;

impl Sim {
    pub fn complete_task(&mut self, a: u16) {
        let Some(task) = take(&mut self.tasks, a) else { return };
        let n = self.next();
        let run = task.workflow_execution.clone().unwrap().run_id;
        let marker_name = format!("m{n}");
        let known = self.t.store.runs.get(&run).map(|s| s.events()).unwrap_or_default();
        // Some responses contain no command: an empty name represents that.
        let silent = a % 5 == 4;
        let (commands, marker_name) = if silent {
            (vec![], String::new())
        } else {
            let mut commands = vec![marker(&marker_name)];
            commands.extend(self.commands(&known, n, a));
            (commands, marker_name)
        };
        let mut messages = vec![];
        let mut open = self.open_updates.get(&run).cloned().unwrap_or_default();
        for (i, m) in task.messages.iter().enumerate() {
            match (usize::from(a) / 5 + i) % if silent { 2 } else { 4 } {
                0 => messages.push(reject(m)),
                1 => {}
                _ => {
                    messages.push(accept(m));
                    open.insert(m.protocol_instance_id.clone());
                }
            }
        }
        if a % 3 == 0 && !silent {
            for id in &open {
                messages.push(answer(id, &n.to_string()));
            }
        }
        let mut r = self.t.completion(&task, commands);
        r.messages = messages;
        if a % 4 != 0 {
            r = sticky(r);
        }
        r.force_create_new_workflow_task = a % 13 == 0;
        for id in task.queries.keys() {
            r.query_results
                .insert(id.clone(), WorkflowQueryResult { result_type: 1, answer: Some(json("1")), ..Default::default() });
        }
        self.send(M::RespondWorkflowTaskCompleted, &r, Sent::Complete { marker: marker_name });
    }

    /// Mostly sensible commands for a run with this history; some are wrong.
    pub fn commands(&self, known: &[HistoryEvent], n: u32, a: u16) -> Vec<Command> {
        let mut out = vec![];
        let mut timers = BTreeSet::new();
        let mut activities = BTreeSet::new();
        for e in known {
            match attrs(e) {
                A::TimerStartedEventAttributes(x) => {
                    let _ = timers.insert(x.timer_id.clone());
                }
                A::TimerFiredEventAttributes(x) => {
                    let _ = timers.remove(&x.timer_id);
                }
                A::TimerCanceledEventAttributes(x) => {
                    let _ = timers.remove(&x.timer_id);
                }
                A::ActivityTaskScheduledEventAttributes(_) => {
                    let _ = activities.insert(e.event_id);
                }
                A::ActivityTaskCancelRequestedEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                A::ActivityTaskCompletedEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                A::ActivityTaskFailedEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                A::ActivityTaskTimedOutEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                A::ActivityTaskCanceledEventAttributes(x) => {
                    let _ = activities.remove(&x.scheduled_event_id);
                }
                _ => {}
            }
        }
        if a & 1 == 0 {
            out.push(timer(&format!("t{n}"), 1 + i64::from(a % 5_000)));
        }
        if a & 2 == 0 {
            out.push(activity_with(&format!("a{n}"), |x| {
                x.retry_policy = retry_policy(i32::from(a % 3));
                x.start_to_close_timeout = dur(30_000);
                if a & 4 == 0 {
                    x.heartbeat_timeout = dur(1_500);
                }
                if a & 8 == 0 {
                    x.schedule_to_close_timeout = dur(6_000);
                }
                if a & 16 == 0 {
                    x.input = Some(json(&format!("\"{}\"", "x".repeat(3_000))));
                }
            }));
        }
        if a & 12 == 12
            && let Some(id) = timers.first()
        {
            out.push(cancel_timer(id));
        }
        if a & 20 == 20
            && let Some(id) = activities.first()
        {
            out.push(cancel_activity(*id));
        }
        if n % 3 == 0 {
            // Children of children come by themselves: every run lives by the same rules.
            out.push(child_with(&format!("c{}", a % 4), |x| {
                x.task_queue = Some(queue(QUEUE));
                x.parent_close_policy = i32::from(a / 4 % 4);
                x.workflow_id_reuse_policy = i32::from(a / 16 % 5);
                if a % 5 == 0 {
                    x.retry_policy = retry_policy(2);
                }
                if a % 7 == 0 {
                    x.workflow_run_timeout = dur(20_000);
                }
            }));
        }
        let other = if a & 0x20 == 0 { workflow(a / 2) } else { format!("c{}", a / 8 % 4) };
        if n % 4 == 1 {
            out.push(signal_external(&other, &format!("x{n}"), a & 0x40 == 0));
        }
        if n % 11 == 5 {
            out.push(cancel_external(&other, a & 0x40 == 0));
        }
        match a % 17 {
            0 => out.push(done()),
            1 => out.push(continue_as_new(|c| {
                if a % 2 == 0 {
                    c.backoff_start_interval = dur(500);
                }
            })),
            2 => out.push(fail_workflow(failure("E", "x"))),
            3 => out.push(timer("", 1)),
            4 => out.push(cancel_timer("never")),
            _ => {}
        }
        out
    }

    pub fn end_activity(&mut self, a: u16) {
        let Some(task) = take(&mut self.activities, a) else { return };
        let execution = task.workflow_execution.clone().unwrap();
        let result = format!("\"result{}\"", self.next());
        match a % 5 {
            0 => {
                let r = RespondActivityTaskFailedRequest {
                    task_token: task.task_token,
                    failure: Some(failure("E", "x")),
                    ..Default::default()
                };
                self.send(M::RespondActivityTaskFailed, &r, Sent::Other);
            }
            1 => {
                let r = RespondActivityTaskCanceledRequest { task_token: task.task_token, ..Default::default() };
                self.send(M::RespondActivityTaskCanceled, &r, Sent::Other);
            }
            2 => {
                let r = RespondActivityTaskCompletedByIdRequest {
                    workflow_id: execution.workflow_id,
                    run_id: execution.run_id,
                    activity_id: task.activity_id,
                    result: Some(json(&result)),
                    ..Default::default()
                };
                self.send(M::RespondActivityTaskCompletedById, &r, Sent::ActivityResult { result });
            }
            _ => {
                let r = RespondActivityTaskCompletedRequest {
                    task_token: task.task_token.clone(),
                    result: Some(json(&result)),
                    ..Default::default()
                };
                self.send(M::RespondActivityTaskCompleted, &r, Sent::ActivityResult { result });
                if a % 7 == 0 {
                    // Sent twice: the second must not count.
                    self.send(M::RespondActivityTaskCompleted, &r, Sent::Other);
                }
            }
        }
    }
}
