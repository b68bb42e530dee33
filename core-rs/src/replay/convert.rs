//! Milliseconds as doubles on the boundary, Timestamps and Durations on the wire.
//!
//! Values from the caller are checked (a bad one is misuse); values from history are taken as they are and never panic.
use prost_types::{Duration, Timestamp};

use crate::api::common::v1::{Payload, Payloads, RetryPolicy};
use crate::boundary;
use crate::error::{Result, codes, misuse};

/// Largest duration that protobuf allows, in milliseconds (10,000 years).
const MAX_DURATION_MS: f64 = 315_576_000_000_000.0;

/// Whole milliseconds since the epoch; parts of a millisecond are cut off, as the official SDKs do.
pub fn timestamp_ms(t: &Timestamp) -> f64 {
    t.seconds as f64 * 1000.0 + f64::from(t.nanos.div_euclid(1_000_000))
}

pub fn duration_ms(d: Option<&Duration>) -> f64 {
    d.map_or(0.0, |d| d.seconds as f64 * 1000.0 + f64::from(d.nanos) / 1e6)
}

/// Checked when the command is given: finite, not negative, within protobuf's range.
pub fn check_duration(what: &str, ms: f64) -> Result<()> {
    if ms.is_finite() && (0.0..=MAX_DURATION_MS).contains(&ms) {
        return Ok(());
    }
    Err(misuse(codes::BAD_VALUE, format!("{what} is not a duration in milliseconds: {ms}")))
}

/// A checked duration on the wire; 0 is unset.
pub fn optional_duration(ms: f64) -> Option<Duration> {
    (ms > 0.0).then(|| duration(ms))
}

pub fn duration(ms: f64) -> Duration {
    let seconds = (ms / 1000.0).trunc();
    Duration { seconds: seconds as i64, nanos: ((ms - seconds * 1000.0) * 1e6).round() as i32 }
}

/// Absent when there are none, as Core sends it.
pub fn payloads(list: &[Payload]) -> Option<Payloads> {
    (!list.is_empty()).then(|| Payloads { payloads: list.to_vec() })
}

pub fn one_payload(payload: &Option<Payload>) -> Option<Payloads> {
    payload.as_ref().map(|p| Payloads { payloads: vec![p.clone()] })
}

pub fn payload_vec(list: Option<Payloads>) -> Vec<Payload> {
    list.map(|p| p.payloads).unwrap_or_default()
}

pub fn check_retry_policy(policy: &Option<boundary::RetryPolicy>) -> Result<()> {
    let Some(p) = policy else { return Ok(()) };
    check_duration("retry initial_interval", p.initial_interval_ms)?;
    check_duration("retry maximum_interval", p.maximum_interval_ms)?;
    if !p.backoff_coefficient.is_finite() || p.backoff_coefficient < 0.0 {
        return Err(misuse(codes::BAD_VALUE, format!("retry backoff_coefficient is {}", p.backoff_coefficient)));
    }
    Ok(())
}

pub fn retry_policy(p: &boundary::RetryPolicy) -> RetryPolicy {
    RetryPolicy {
        initial_interval: optional_duration(p.initial_interval_ms),
        backoff_coefficient: p.backoff_coefficient,
        maximum_interval: optional_duration(p.maximum_interval_ms),
        maximum_attempts: i32::try_from(p.maximum_attempts).unwrap_or(i32::MAX),
        non_retryable_error_types: p.non_retryable_error_types.clone(),
    }
}

/// Event ids on the boundary are 32 bits.
pub fn id32(id: i64) -> u32 {
    u32::try_from(id.max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_round_trip_to_the_nanosecond() {
        for ms in [0.5, 1.0, 999.0, 1000.0, 86_400_000.25] {
            assert_eq!(duration_ms(Some(&duration(ms))), ms);
        }
        assert_eq!(optional_duration(0.0), None);
    }

    #[test]
    fn bad_durations_are_misuse() {
        for ms in [-1.0, f64::NAN, f64::INFINITY, MAX_DURATION_MS * 2.0] {
            assert_eq!(check_duration("x", ms).unwrap_err().code, codes::BAD_VALUE);
        }
    }

    #[test]
    fn times_before_the_epoch_are_cut_downwards() {
        assert_eq!(timestamp_ms(&Timestamp { seconds: 1, nanos: 1_999_999 }), 1001.0);
        assert_eq!(timestamp_ms(&Timestamp { seconds: -1, nanos: 500_000_000 }), -500.0);
    }
}
