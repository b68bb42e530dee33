//! Checks of what the caller gives, and times of history. Times and durations are doubles in milliseconds on the boundary.
use crate::error::{Result, codes, misuse};
use crate::wire::{Message, Writer};

/// Largest duration that protobuf allows, in milliseconds (10,000 years).
const MAX_DURATION_MS: f64 = 315_576_000_000_000.0;

/// A Duration of history; 0 when absent.
pub fn duration_ms(d: Option<Message>) -> f64 {
    let (seconds, nanos) = d.unwrap_or_default().seconds_and_nanos();
    seconds as f64 * 1000.0 + f64::from(nanos) / 1e6
}

/// Checked when the command is given: finite, not negative, within protobuf's range.
pub fn check_duration(what: &str, ms: f64) -> Result<()> {
    if ms.is_finite() && (0.0..=MAX_DURATION_MS).contains(&ms) {
        return Ok(());
    }
    Err(misuse(codes::BAD_VALUE, format!("{what} is not a duration in milliseconds: {ms}")))
}

/// boundary.RetryPolicy.
pub fn check_retry_policy(policy: Option<Message>) -> Result<()> {
    let Some(p) = policy else { return Ok(()) };
    check_duration("retry initial_interval", p.double(1))?;
    check_duration("retry maximum_interval", p.double(3))?;
    let coefficient = p.double(2);
    if !coefficient.is_finite() || coefficient < 0.0 {
        return Err(misuse(codes::BAD_VALUE, format!("retry backoff_coefficient is {coefficient}")));
    }
    Ok(())
}

/// boundary.RetryPolicy as the server takes it.
pub fn write_retry_policy(w: &mut Writer, field: u32, policy: Message) {
    w.nested(field, |w| {
        let attempts = policy.int(4).clamp(0, i64::from(i32::MAX));
        w.duration_ms(1, policy.double(1)).double(2, policy.double(2)).duration_ms(3, policy.double(3)).int(4, attempts);
        w.each(5, policy.all(5));
    });
}

/// A message that holds nothing but these elements in field 1 (Payloads, Header, Memo, SearchAttributes); left out when there
/// are none, as Core sends it.
pub fn write_wrapped<'a>(w: &mut Writer, field: u32, elements: impl Iterator<Item = &'a [u8]>) {
    let mut elements = elements.peekable();
    if elements.peek().is_some() {
        w.nested(field, |w| {
            w.each(1, elements);
        });
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
    fn bad_durations_are_misuse() {
        for ms in [-1.0, f64::NAN, f64::INFINITY, MAX_DURATION_MS * 2.0] {
            assert_eq!(check_duration("x", ms).unwrap_err().code, codes::BAD_VALUE);
        }
    }

    #[test]
    fn durations_round_trip_to_the_nanosecond() {
        for ms in [0.5, 1.0, 999.0, 1000.0, 86_400_000.25] {
            let mut w = Writer::new();
            w.duration_ms(1, ms);
            assert_eq!(duration_ms(Message(&w.finish()).get(1)), ms);
        }
        assert_eq!(duration_ms(None), 0.0);
    }
}
