//! Limits of the rate at which a queue gives out tasks: of the whole queue and of each fairness key. The queue's configuration comes
//! before the rate that the last poll of a worker had. As on a server, one second's tasks may leave at once.
use super::time::{Micros, SECOND};
use crate::sorted::SortedMap;

const NANOS: i64 = 1_000;
const BURST: i64 = SECOND * NANOS;
/// Keys that a queue may remember besides those at their limit.
const REMEMBERED_KEYS: usize = 64;

/// What is set of a queue by UpdateTaskQueueConfig.
#[derive(Default, Clone)]
pub struct QueueConfig {
    /// Tasks a second.
    pub rate: Option<f64>,
    /// Of each fairness key of weight 1.
    pub key_rate: Option<f64>,
    /// By fairness key.
    pub weights: SortedMap<String, f32>,
}

/// When the next task may leave, in nanoseconds since the epoch (a GCRA limiter).
#[derive(Default, Clone, Copy, PartialEq, Debug)]
struct Ready(i64);

/// The ideal distance of two tasks in nanoseconds. None: no task may leave.
fn interval(rate: f64) -> Option<i64> {
    if rate <= 1e-9 { None } else { Some((1e9 / rate) as i64) }
}

impl Ready {
    const NEVER: Ready = Ready(i64::MAX);

    fn is_due(self, now: i64) -> bool {
        self.0 <= now
    }

    /// After `tokens` tasks have left; negative: they were returned to the queue.
    fn consume(self, rate: f64, now: i64, tokens: i64) -> Ready {
        let Some(interval) = interval(rate) else { return Ready::NEVER };
        let start = now.max(self.0.saturating_add(BURST)) - BURST;
        Ready(start.saturating_add(tokens * interval))
    }

    /// With another rate, after it was low.
    fn clip(self, rate: f64, now: i64) -> Ready {
        let Some(interval) = interval(rate) else { return Ready::NEVER };
        Ready(self.0.min(now.saturating_add(interval).saturating_add(BURST)))
    }
}

/// The limits of one queue.
#[derive(Default)]
pub struct Throttle {
    config: QueueConfig,
    /// Tasks a second, of the last poll.
    worker_rate: Option<f64>,
    /// The rate in effect.
    rate: Option<f64>,
    ready: Ready,
    /// By fairness key.
    keys: SortedMap<String, Ready>,
}

impl Throttle {
    pub fn configure(&mut self, config: QueueConfig, now: Micros) {
        let now = now * NANOS;
        match config.key_rate {
            None => self.keys = SortedMap::new(),
            Some(rate) => self.keys.iter_mut().for_each(|(_, ready)| *ready = ready.clip(rate, now)),
        }
        self.config = config;
        self.refresh(now);
    }

    /// The rate of a poll; the last one counts.
    pub fn polled(&mut self, worker_rate: Option<f64>, now: Micros) {
        self.worker_rate = worker_rate;
        self.refresh(now * NANOS);
    }

    fn refresh(&mut self, now: i64) {
        let rate = self.config.rate.or(self.worker_rate);
        if rate != self.rate {
            self.rate = rate;
            self.ready = rate.map_or(Ready::default(), |rate| self.ready.clip(rate, now));
        }
    }

    pub fn is_configured(&self) -> bool {
        let QueueConfig { rate, key_rate, weights } = &self.config;
        rate.is_some() || key_rate.is_some() || !weights.is_empty()
    }

    pub fn weight(&self, key: &str, weight: f32) -> f32 {
        self.config.weights.get(key).copied().unwrap_or(weight)
    }

    /// When the queue may give out a task of any key; None: never.
    pub fn due(&self) -> Option<Micros> {
        micros(if self.rate.is_some() { self.ready } else { Ready::default() })
    }

    /// The same of a key, without the limit of the queue.
    pub fn key_due(&self, key: &str) -> Option<Micros> {
        let Some(rate) = self.config.key_rate else { return Some(0) };
        micros(if interval(rate).is_none() { Ready::NEVER } else { self.keys.get(key).copied().unwrap_or_default() })
    }

    /// A task has left; `tokens` is -1 if it was returned to the queue.
    pub fn consume(&mut self, key: &str, weight: f32, now: Micros, tokens: i64) {
        let now = now * NANOS;
        if let Some(rate) = self.rate {
            self.ready = self.ready.consume(rate, now, tokens);
        }
        if let Some(rate) = self.config.key_rate {
            let rate = rate * f64::from(self.weight(key, weight));
            if self.keys.len() > REMEMBERED_KEYS {
                self.keys.retain(|_, ready| !ready.is_due(now - BURST));
            }
            let ready = self.keys.get_or_insert_with(key.into(), Ready::default);
            *ready = ready.consume(rate, now, tokens);
        }
    }
}

/// The first microsecond at which it is due.
fn micros(ready: Ready) -> Option<Micros> {
    (ready != Ready::NEVER).then(|| ready.0.div_euclid(NANOS) + i64::from(ready.0.rem_euclid(NANOS) > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Micros = 1_750_000_000 * SECOND;

    /// Tasks of a key that leave at this moment.
    fn burst(t: &mut Throttle, key: &str, now: Micros) -> usize {
        let mut left = 0;
        while left < 1_000 && [t.due(), t.key_due(key)].iter().all(|due| due.is_some_and(|due| due <= now)) {
            t.consume(key, 1.0, now, 1);
            left += 1;
        }
        left
    }

    #[test]
    fn a_second_of_tasks_leaves_at_once_and_then_one_at_a_time() {
        let mut t = Throttle::default();
        assert_eq!(burst(&mut t, "", START), 1_000);
        t.polled(Some(5.0), START);
        assert_eq!(burst(&mut t, "", START), 6);
        assert_eq!(t.due(), Some(START + SECOND / 5));
        assert_eq!(burst(&mut t, "", START + SECOND), 5);
        t.configure(QueueConfig { rate: Some(2.0), ..Default::default() }, START + SECOND);
        assert_eq!(burst(&mut t, "", START + 10 * SECOND), 3, "the configuration comes before the worker");
        t.polled(None, START + 10 * SECOND);
        assert_eq!(burst(&mut t, "", START + 20 * SECOND), 3);
    }

    #[test]
    fn a_rate_of_zero_pauses_the_queue_until_it_changes() {
        let mut t = Throttle::default();
        t.configure(QueueConfig { rate: Some(0.0), ..Default::default() }, START);
        assert_eq!((t.due(), burst(&mut t, "", START)), (None, 0));
        t.configure(QueueConfig { rate: Some(1.0), ..Default::default() }, START);
        assert_eq!(burst(&mut t, "", START + 3 * SECOND), 2);
        t.configure(QueueConfig::default(), START);
        assert_eq!(burst(&mut t, "", START), 1_000);
    }

    #[test]
    fn each_key_has_its_share_by_weight() {
        let mut t = Throttle::default();
        let weights = [("heavy".to_string(), 3.0)].into_iter().collect();
        t.configure(QueueConfig { key_rate: Some(2.0), weights, ..Default::default() }, START);
        assert_eq!((burst(&mut t, "a", START), burst(&mut t, "heavy", START), burst(&mut t, "b", START)), (3, 7, 3));
        assert_eq!(burst(&mut t, "heavy", START + SECOND), 6);
        t.consume("a", 1.0, START, -1);
        assert_eq!(burst(&mut t, "a", START), 1, "a returned task leaves again");
    }
}
