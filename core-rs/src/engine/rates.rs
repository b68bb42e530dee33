//! How many tasks a queue takes in and gives out a second, as an average of the last half minute.
use super::time::{Micros, SECOND};

const BUCKETS: i64 = 6;
const BUCKET: Micros = 5 * SECOND;

#[derive(Default)]
pub struct Rate {
    /// When the first was counted.
    since: Option<Micros>,
    /// Number of the newest bucket.
    newest: i64,
    /// A ring. A bucket is counted while it is one of the last `BUCKETS`.
    counts: [u32; BUCKETS as usize],
}

impl Rate {
    pub fn count(&mut self, now: Micros) {
        self.since.get_or_insert(now);
        self.forget(now);
        let at = self.newest.rem_euclid(BUCKETS) as usize;
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
    }

    /// Clears the buckets between the newest and now.
    fn forget(&mut self, now: Micros) {
        let bucket = now.div_euclid(BUCKET).max(self.newest);
        for old in self.newest.max(bucket - BUCKETS)..bucket {
            if let Some(count) = self.counts.get_mut((old + 1).rem_euclid(BUCKETS) as usize) {
                *count = 0;
            }
        }
        self.newest = bucket;
    }

    /// A second, over the last 30 seconds, or since the first one but at least over one second.
    pub fn per_second(&mut self, now: Micros) -> f64 {
        let Some(since) = self.since else { return 0.0 };
        self.forget(now);
        let counted = self.counts.iter().map(|count| f64::from(*count)).sum::<f64>();
        let seconds = (now - since).clamp(SECOND, BUCKETS * BUCKET) as f64 / SECOND as f64;
        counted / seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_of_the_last_half_minute() {
        let mut rate = Rate::default();
        let start = 1_750_000_000 * SECOND + 7;
        assert_eq!(rate.per_second(start), 0.0);
        for i in 0..100 {
            rate.count(start + i * SECOND / 10);
        }
        assert_eq!(rate.per_second(start + 10 * SECOND), 10.0);
        assert!((rate.per_second(start + 20 * SECOND) - 5.0).abs() < 0.01);
        assert_eq!(rate.per_second(start + 100 * SECOND), 0.0);
        rate.count(start + 100 * SECOND);
        assert!((rate.per_second(start + 100 * SECOND) - 1.0 / 30.0).abs() < 0.001);
        let mut once = Rate::default();
        once.count(start);
        assert_eq!(once.per_second(start), 1.0, "at least one second");
    }
}
