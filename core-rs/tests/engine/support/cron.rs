//! The host's part of cron schedules, for "@every <seconds>s" alone.
use temporalex_core::boundary::{CronQuery, CronTime, RunRecord};

const SECOND: f64 = 1_000_000.0;

pub fn answer(query: &CronQuery) -> RunRecord {
    let every = query.schedule.strip_prefix("@every ").and_then(|s| s.strip_suffix('s')).and_then(|s| s.parse::<f64>().ok());
    let from = if query.scheduled_us > 0.0 { query.scheduled_us } else { query.now_us };
    let from = (from / SECOND).floor() * SECOND;
    let (next_us, invalid) = match every {
        Some(seconds) => {
            let steps = ((query.now_us - from) / (seconds * SECOND)).ceil().max(1.0);
            (from + steps * seconds * SECOND, String::new())
        }
        None => (0.0, format!("invalid CronSchedule \"{}\"", query.schedule)),
    };
    RunRecord { cron: Some(CronTime { query: Some(query.clone()), next_us, invalid }), ..Default::default() }
}
