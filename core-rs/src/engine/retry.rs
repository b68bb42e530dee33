//! Retry policies: whether a failed attempt is tried again, and when. The order of the checks is the server's.
use super::messages::common::RetryPolicy;
use super::messages::failure::Failure;
use super::time::{Micros, SECOND, duration, micros, micros_or_zero};
use crate::api::enums::v1::{RetryState, TimeoutType};

/// Server defaults: 1 s, factor 2, at most 100 times the first interval, unlimited attempts.
pub fn fill_defaults(p: &mut RetryPolicy) {
    if micros(&p.initial_interval) == Ok(0) {
        p.initial_interval = Some(duration(SECOND));
    }
    if p.backoff_coefficient == 0.0 {
        p.backoff_coefficient = 2.0;
    }
    if micros(&p.maximum_interval) == Ok(0) {
        let initial = micros(&p.initial_interval).unwrap_or(SECOND);
        p.maximum_interval = Some(duration(initial.saturating_mul(100)));
    }
}

/// Refuses what a server refuses.
pub fn check(p: &RetryPolicy) -> Result<(), String> {
    let initial =
        micros(&p.initial_interval).map_err(|e| format!("InitialInterval cannot be negative on retry policy ({e})."))?;
    let maximum =
        micros(&p.maximum_interval).map_err(|e| format!("MaximumInterval cannot be negative on retry policy ({e})."))?;
    if p.maximum_attempts == 1 {
        return Ok(());
    }
    if p.backoff_coefficient.is_nan() || p.backoff_coefficient < 1.0 {
        return Err("BackoffCoefficient cannot be less than 1 on retry policy.".into());
    }
    if maximum > 0 && maximum < initial {
        return Err("MaximumInterval cannot be less than InitialInterval on retry policy.".into());
    }
    if p.maximum_attempts < 0 {
        return Err("MaximumAttempts cannot be negative on retry policy.".into());
    }
    Ok(())
}

/// A failure whose type is listed (timeouts as "TemporalTimeout:StartToClose" and so on), or that says so itself, is final.
pub fn retryable(failure: &Failure, non_retryable: &[String]) -> bool {
    if failure.terminated_info.is_some() || failure.canceled_info.is_some() {
        return false;
    }
    if let Some(info) = &failure.timeout_info {
        let kind = TimeoutType::try_from(info.timeout_type).unwrap_or(TimeoutType::Unspecified);
        return matches!(kind, TimeoutType::StartToClose | TimeoutType::Heartbeat)
            && !non_retryable.iter().any(|t| *t == format!("TemporalTimeout:{kind:?}"));
    }
    if let Some(info) = &failure.server_info {
        return !info.non_retryable;
    }
    if let Some(info) = &failure.application_info {
        return !info.non_retryable && !non_retryable.contains(&info.r#type);
    }
    true
}

fn next_delay(failure: &Failure) -> Option<Micros> {
    failure.application_info.as_ref().and_then(|i| i.next_retry_delay.as_ref()).map(|d| micros(&Some(*d)).unwrap_or(0))
}

/// The interval that the policy wants after this attempt.
pub fn interval(policy: &RetryPolicy, attempt: i32) -> Micros {
    let initial = micros_or_zero(&policy.initial_interval) as f64;
    let maximum = micros_or_zero(&policy.maximum_interval);
    let grown = initial * policy.backoff_coefficient.max(1.0).powi(attempt.clamp(1, 10_000) - 1);
    if maximum > 0 && (grown.is_nan() || grown > maximum as f64) { maximum } else { grown as Micros }
}

/// Returns (time, interval) of the attempt after `attempt`, or why no further attempt follows.
pub fn next(
    policy: &RetryPolicy,
    attempt: i32,
    now: Micros,
    expiration: Micros,
    failure: &Failure,
) -> Result<(Micros, Micros), RetryState> {
    if !retryable(failure, &policy.non_retryable_error_types) {
        return Err(RetryState::NonRetryableFailure);
    }
    if policy.maximum_attempts > 0 && attempt.max(1) >= policy.maximum_attempts {
        return Err(RetryState::MaximumAttemptsReached);
    }
    let interval = match next_delay(failure) {
        Some(delay) => delay,
        None => {
            let interval = interval(policy, attempt);
            if interval <= 0 && micros_or_zero(&policy.maximum_interval) <= 0 {
                return Err(RetryState::Timeout);
            }
            interval
        }
    };
    let at = now.saturating_add(interval);
    if expiration > 0 && at > expiration {
        return Err(RetryState::Timeout);
    }
    Ok((at, interval))
}
