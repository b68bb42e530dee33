//! The run's seed and its generator
//! (docs/dev/semantics/activations.md#the-seed-comes-from-the-original-run-id).
//!
//! Seed: SipHash-1-3 with a zero key over the original run id and one byte 0xFF, so that it survives a reset of the run's code
//! and equals the seed that Core hands to other languages. Generator: xoshiro256** whose state is filled by splitmix64; it lives
//! here so that every runtime draws the same numbers. A reset of the run (WorkflowTaskFailed RESET_WORKFLOW) reseeds it.
use std::hash::Hasher;

use siphasher::sip::SipHasher13;

/// Most bytes that one call of [`Random::bytes`] gives: the quota of Web Crypto's `getRandomValues`.
pub const MAX_BYTES: usize = 65_536;

pub fn seed_of(run_id: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(run_id.as_bytes());
    hasher.write_u8(0xff);
    hasher.finish()
}

#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut x = seed;
        let mut splitmix = || {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = x;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Random { state: [splitmix(), splitmix(), splitmix(), splitmix()] }
    }

    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= t;
        *s3 = s3.rotate_left(45);
        result
    }

    /// In [0, 1), 53 bits.
    pub fn number(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Little-endian draws; the rest of the last one is dropped.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let len = len.min(MAX_BYTES);
        let mut out = Vec::with_capacity(len + 8);
        while out.len() < len {
            out.extend_from_slice(&self.next_u64().to_le_bytes());
        }
        out.truncate(len);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seeds that Core gives for these run ids.
    #[test]
    fn seeds_equal_cores() {
        assert_eq!(seed_of("86E39A5F-AE31-4626-BDFE-398EE072D156"), 2262813760565899150);
        assert_eq!(seed_of(""), 3476900567878811119);
    }

    /// First outputs for the state 1, 2, 3, 4 as published with the algorithm's reference implementation.
    #[test]
    fn xoshiro_reference_vector() {
        let mut r = Random { state: [1, 2, 3, 4] };
        let got: Vec<u64> = (0..5).map(|_| r.next_u64()).collect();
        assert_eq!(got, [11520, 0, 1509978240, 1215971899390074240, 1216172134540287360]);
    }

    /// splitmix64 from seed 0 begins with 0xe220a8397b1dcdaf.
    #[test]
    fn state_is_filled_by_splitmix() {
        assert_eq!(Random::new(0).state[0], 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn bytes_are_bounded_and_draws_stay_in_range() {
        let mut r = Random::new(7);
        assert_eq!(r.bytes(usize::MAX).len(), MAX_BYTES);
        assert_eq!(r.bytes(3).len(), 3);
        assert!((0..1000).map(|_| r.number()).all(|x| (0.0..1.0).contains(&x)));
    }
}
