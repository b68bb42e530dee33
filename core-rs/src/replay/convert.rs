//! What comes over the boundary is checked: messages decode, durations are doubles in milliseconds, event ids have 32 bits.
use crate::error::{Result, codes, misuse};
use crate::wire::typed::{self, Checked, View};

/// A message of the caller that has the form that it should have.
pub fn checked<M: Checked>(bytes: &[u8]) -> Result<View<'_, M>> {
    typed::read(bytes).map_err(|e| misuse(codes::BAD_BYTES, format!("cannot decode {}: {e}", M::NAME)))
}

/// Checked when the command is given: finite and not negative. `Writer::duration_ms` bounds one that is too long for protobuf.
pub fn check_duration(what: &str, ms: f64) -> Result<()> {
    if ms.is_finite() && ms >= 0.0 {
        return Ok(());
    }
    Err(misuse(codes::BAD_VALUE, format!("invalid {what}: {ms} (expected finite milliseconds, not negative)")))
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
        for ms in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(check_duration("x", ms).unwrap_err().code, codes::BAD_VALUE);
        }
        assert!(check_duration("x", f64::MAX).is_ok());
    }
}
