//! What several kinds of commands read or write: failures, results, retry policies, what user interfaces show.
use crate::boundary::{CoreError, VersioningIntent};
use crate::error::{Result, codes, fatal, misuse};
use crate::proto::views::boundary::RetryPolicy;
use crate::proto::views::command::Command;
use crate::proto::views::common::{self, Payload, Payloads};
use crate::proto::views::failure::Failure;
use crate::replay::convert::check_duration;
use crate::wire::Open;
use crate::wire::typed::{Encoded, Put, View, build};

/// A Failure that says that something was cancelled.
pub fn cancellation(message: &str, details: Option<View<Payloads>>) -> Encoded<Failure> {
    build(|w: Put<Failure>| w.message(message).canceled_failure_info(|w| w.copy_details(details)))
}

/// An application failure; its type names the server's cause.
pub fn server_refusal(message: &str, kind: &str) -> Encoded<Failure> {
    build(|w: Put<Failure>| w.message(message).application_failure_info(|w| w.r#type(kind)))
}

/// A result holds one payload or is absent; anything else was not written by a worker.
pub fn single_payload<'a>(of: &str, result: Option<View<'a, Payloads>>) -> Result<Option<View<'a, Payload>>> {
    let Some(result) = result else { return Ok(None) };
    let mut payloads = result.payloads().views();
    match (payloads.next(), payloads.next()) {
        (Some(one), None) => Ok(Some(one)),
        _ => Err(fatal(codes::PAYLOAD_COUNT, format!("Not exactly one payload in {of} result"))),
    }
}

pub fn check_retry_policy(policy: Option<View<RetryPolicy>>) -> Result<()> {
    let Some(p) = policy else { return Ok(()) };
    check_duration("retry initial_interval", p.initial_interval_ms())?;
    check_duration("retry maximum_interval", p.maximum_interval_ms())?;
    let coefficient = p.backoff_coefficient();
    if !coefficient.is_finite() || coefficient < 0.0 {
        return Err(misuse(
            codes::BAD_VALUE,
            format!("invalid retry backoff_coefficient {coefficient}: expected a finite number that is not negative"),
        ));
    }
    Ok(())
}

/// The boundary's policy as the server takes it.
pub fn write_retry_policy<'w>(w: Put<'w, common::RetryPolicy>, policy: View<RetryPolicy>) -> Put<'w, common::RetryPolicy> {
    w.initial_interval_ms(policy.initial_interval_ms())
        .backoff_coefficient(policy.backoff_coefficient())
        .maximum_interval_ms(policy.maximum_interval_ms())
        .maximum_attempts(i32::try_from(policy.maximum_attempts()).unwrap_or(i32::MAX))
        .copy_non_retryable_error_types(policy.non_retryable_error_types())
}

/// UserMetadata of a command: what user interfaces show of it.
pub fn write_metadata<'w>(
    w: Put<'w, Command>,
    summary: Option<View<Payload>>,
    details: Option<View<Payload>>,
) -> Put<'w, Command> {
    if summary.is_none() && details.is_none() {
        return w;
    }
    w.user_metadata(|w| w.copy_summary(summary).copy_details(details))
}

/// The value, or the run's own where it is empty.
pub fn or_own<'a>(value: &'a str, own: &'a str) -> &'a str {
    if value.is_empty() { own } else { value }
}

/// Whether what is started stays with the build of the run's worker: on the run's own queue, unless the caller says otherwise.
pub fn stays_with_build(intent: Open<VersioningIntent>, same_queue: bool) -> bool {
    match intent.known() {
        Some(VersioningIntent::Compatible) => true,
        Some(VersioningIntent::Default) => false,
        Some(VersioningIntent::Unspecified) | None => same_queue,
    }
}

/// A command that no server would take.
pub fn bad_value<T>(text: impl Into<String>) -> Result<T> {
    let error: Box<CoreError> = misuse(codes::BAD_VALUE, text);
    Err(error)
}
