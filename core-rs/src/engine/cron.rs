//! Cron schedules. The engine has no calendars: it asks the host for the next time of a schedule (`LoadRequest.cron`), and the step that
//! needs the time waits for it. A time is used in the batch in which it was asked for.
use super::codec;
use super::message::message;
use super::state::request::Again;
use super::state::run::Run;
use super::time::{Micros, SECOND};
use crate::boundary::{CronQuery, CronTime, LoadRequest};

message! {
    Scheduled: history::WorkflowExecutionStartedEventAttributes { cron_schedule str, }
}

/// A step that waits for the time of a schedule. Runs are named by their ids, because they may leave memory.
pub enum Waiting {
    Request(Again),
    /// The timeout of a run.
    Timeout(String),
    /// Orders of a run that start children.
    Orders(String),
}

#[derive(Default)]
pub struct Crons {
    /// For the next flush.
    queries: Vec<LoadRequest>,
    waiting: Vec<(CronQuery, Waiting)>,
    times: Vec<CronTime>,
}

impl Crons {
    fn time(&self, schedule: &str, scheduled: Micros) -> Option<&CronTime> {
        self.times.iter().find(|t| t.query.as_ref().is_some_and(|q| is_same(q, schedule, scheduled)))
    }

    /// The delay until the next time, from the moment at which it was asked for, rounded up to whole seconds as on servers. None: no
    /// time matches any more.
    pub fn backoff(&self, schedule: &str, scheduled: Micros) -> Option<Micros> {
        let time = self.time(schedule, scheduled).filter(|t| t.next_us > 0.0)?;
        let asked_us = time.query.as_ref().map_or(0.0, |q| q.now_us);
        let delay = (time.next_us - asked_us).max(0.0) as Micros;
        Some((delay + SECOND - 1) / SECOND * SECOND)
    }

    /// The same for a start; 0 without a schedule. An error says why the schedule is invalid.
    pub fn delay(&self, schedule: &str) -> Result<Micros, &str> {
        match self.time(schedule, 0) {
            Some(time) if !time.invalid.is_empty() => Err(&time.invalid),
            _ => Ok(self.backoff(schedule, 0).unwrap_or(0)),
        }
    }

    /// Whether a step must wait for the time of a schedule: then the host is asked for it. False without a schedule. `scheduled` is 0
    /// for the first run of a schedule.
    pub fn wait(&mut self, schedule: &str, scheduled: Micros, now: Micros, waiting: impl FnOnce() -> Waiting) -> bool {
        if schedule.is_empty() || self.time(schedule, scheduled).is_some() {
            return false;
        }
        let query = CronQuery { schedule: schedule.into(), scheduled_us: scheduled as f64, now_us: now as f64 };
        if !self.waiting.iter().any(|(q, _)| is_same(q, schedule, scheduled)) {
            self.queries.push(LoadRequest { cron: Some(query.clone()), ..Default::default() });
        }
        self.waiting.push((query, waiting()));
        true
    }

    /// What the host is to compute.
    pub fn take_queries(&mut self) -> Vec<LoadRequest> {
        std::mem::take(&mut self.queries)
    }

    /// Takes a time of the host; returns the steps that waited for it.
    pub fn take(&mut self, time: CronTime) -> Vec<Waiting> {
        let query = time.query.clone().unwrap_or_default();
        let scheduled = query.scheduled_us as Micros;
        self.times.push(time);
        let mut answered = Vec::new();
        for (asked, step) in std::mem::take(&mut self.waiting) {
            if is_same(&asked, &query.schedule, scheduled) {
                answered.push(step);
            } else {
                self.waiting.push((asked, step));
            }
        }
        answered
    }

    /// The batch is closed or lost: its times are not used again.
    pub fn batch_ended(&mut self) {
        self.times.clear();
    }
}

fn is_same(query: &CronQuery, schedule: &str, scheduled: Micros) -> bool {
    query.schedule == schedule && query.scheduled_us as Micros == scheduled
}

/// The schedule of a run, and when the run was due.
pub fn schedule_of(run: &Run) -> Option<(String, Micros)> {
    let schedule = codec::read::<Scheduled>(run.started_attrs.as_deref()?).ok()?.cron_schedule;
    (!schedule.is_empty()).then_some((schedule, run.head.execution_time_us))
}
