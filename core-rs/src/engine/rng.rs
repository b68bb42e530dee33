//! The engine's only randomness: xoshiro256** over the 32 bytes that the host gave at start. Run ids have the form of a server's:
//! version 7 (time-ordered) for started workflows, version 4 for what the engine makes itself.
use super::time::{MILLI, Micros};

#[derive(Clone)]
pub struct Rng([u64; 4]);

impl Rng {
    /// None unless there are exactly 32 bytes that are not all zero.
    pub fn new(seed: &[u8]) -> Option<Rng> {
        let mut s = [0u64; 4];
        if seed.len() != 32 || seed.iter().all(|b| *b == 0) {
            return None;
        }
        for (word, bytes) in s.iter_mut().zip(seed.chunks_exact(8)) {
            *word = bytes.iter().fold(0, |a, b| a << 8 | u64::from(*b));
        }
        let mut rng = Rng(s);
        // Seeds that differ in few bits must not give numbers that do.
        for _ in 0..16 {
            rng.next();
        }
        Some(rng)
    }

    pub fn next(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Never 0, which marks "none" in stored state.
    pub fn nonzero(&mut self) -> u64 {
        loop {
            let n = self.next();
            if n != 0 {
                return n;
            }
        }
    }

    pub fn uuid4(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        uuid(a & !0xf000 | 0x4000, b)
    }

    pub fn uuid7(&mut self, now: Micros) -> String {
        let (a, b) = (self.next(), self.next());
        uuid(((now / MILLI) as u64) << 16 | a & 0x0fff | 0x7000, b)
    }
}

fn uuid(high: u64, low: u64) -> String {
    let low = low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}
