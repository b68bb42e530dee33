//! Time inside the engine: whole microseconds since the Unix epoch, as i64. Milliseconds as f64 exist only at the boundary.
use prost_types::{Duration, Timestamp};

/// Microseconds since the epoch, or a length in microseconds.
pub type Micros = i64;

pub const MILLI: Micros = 1_000;
pub const SECOND: Micros = 1_000_000;

/// Durations are capped at 100 years, so that sums never overflow.
const MAX_DURATION: Micros = 100 * 365 * 24 * 3600 * SECOND;

/// Host time. Nonsense (NaN, negative, beyond the year 9999) becomes the nearest sane moment.
pub fn from_ms(ms: f64) -> Micros {
    if ms.is_nan() { 0 } else { (ms.clamp(0.0, 253_402_300_799_000.0) * 1_000.0).round() as Micros }
}

pub fn to_ms(t: Micros) -> f64 {
    t as f64 / 1_000.0
}

pub fn timestamp(t: Micros) -> Timestamp {
    Timestamp { seconds: t.div_euclid(SECOND), nanos: (t.rem_euclid(SECOND) * 1_000) as i32 }
}

/// None for 0, the mark of "never".
pub fn timestamp_opt(t: Micros) -> Option<Timestamp> {
    (t != 0).then(|| timestamp(t))
}

pub fn duration(d: Micros) -> Duration {
    Duration { seconds: d / SECOND, nanos: (d % SECOND * 1_000) as i32 }
}

/// Unset counts as 0; nanoseconds round up, so that nothing is ever early. Negative durations are refused, long ones capped.
pub fn micros(d: &Option<Duration>) -> Result<Micros, &'static str> {
    let Some(d) = d else { return Ok(0) };
    if d.seconds < 0 || d.nanos < 0 {
        return Err("negative duration");
    }
    if d.nanos > 999_999_999 {
        return Err("malformed duration");
    }
    if d.seconds >= MAX_DURATION / SECOND {
        return Ok(MAX_DURATION);
    }
    Ok(d.seconds * SECOND + (i64::from(d.nanos) + 999) / 1_000)
}

/// For durations that were checked when they came in.
pub fn micros_or_zero(d: &Option<Duration>) -> Micros {
    micros(d).unwrap_or(0)
}
