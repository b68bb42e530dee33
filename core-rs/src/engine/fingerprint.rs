//! FarmHash's Fingerprint32, by which servers decide whether a workflow id is in the ramped share. Its values never change.

const C1: u32 = 0xcc9e_2d51;
const C2: u32 = 0x1b87_3593;

fn mix(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

fn scramble(a: u32) -> u32 {
    a.wrapping_mul(C1).rotate_right(17).wrapping_mul(C2)
}

fn step(h: u32) -> u32 {
    h.rotate_right(19).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

fn mur(a: u32, h: u32) -> u32 {
    step(h ^ scramble(a))
}

/// Little-endian; 0 beyond the end.
fn word(text: &[u8], at: usize) -> u32 {
    text.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}

pub fn fingerprint(text: &[u8]) -> u32 {
    let size = text.len();
    let length = size as u32;
    match size {
        0..=4 => {
            let (mut b, mut c) = (0_u32, 9_u32);
            for byte in text {
                b = b.wrapping_mul(C1).wrapping_add(*byte as i8 as u32);
                c ^= b;
            }
            mix(mur(b, mur(length, c)))
        }
        5..=12 => {
            let b = length.wrapping_mul(5);
            let first = mur(length.wrapping_add(word(text, 0)), b);
            let last = mur(b.wrapping_add(word(text, size - 4)), first);
            mix(mur(9_u32.wrapping_add(word(text, (size >> 1) & 4)), last))
        }
        13..=24 => {
            let (a, b, c) = (word(text, (size >> 1) - 4), word(text, 4), word(text, size - 8));
            let (d, e, f) = (word(text, size >> 1), word(text, 0), word(text, size - 4));
            let h = d.wrapping_mul(C1).wrapping_add(length);
            let a = a.rotate_right(12).wrapping_add(f);
            let h = mur(c, h).wrapping_add(a);
            let a = a.rotate_right(3).wrapping_add(c);
            let h = mur(e, h).wrapping_add(a);
            let a = a.wrapping_add(f).rotate_right(12).wrapping_add(d);
            mix(mur(b, h).wrapping_add(a))
        }
        _ => long(text),
    }
}

fn long(text: &[u8]) -> u32 {
    let size = text.len();
    let mut h = size as u32;
    let mut g = C1.wrapping_mul(h);
    let mut f = g;
    let end = |back: usize| scramble(word(text, size - back));
    h = step(step(h ^ end(4)) ^ end(16));
    g = step(step(g ^ end(8)) ^ end(12));
    f = f.wrapping_add(end(20)).rotate_right(19).wrapping_add(113);
    let mut at = 0;
    while size - at > 20 {
        let [a, b, c, d, e] = [0, 4, 8, 12, 16].map(|offset| word(text, at + offset));
        h = h.wrapping_add(a);
        g = g.wrapping_add(b);
        f = f.wrapping_add(c);
        h = mur(d, h).wrapping_add(e);
        g = mur(c, g).wrapping_add(a);
        f = mur(b.wrapping_add(e.wrapping_mul(C1)), f).wrapping_add(d);
        f = f.wrapping_add(g);
        g = g.wrapping_add(f);
        at += 20;
    }
    let fold = |x: u32| x.rotate_right(11).wrapping_mul(C1).rotate_right(17).wrapping_mul(C1);
    for other in [fold(g), fold(f)] {
        h = step(h.wrapping_add(other)).rotate_right(17).wrapping_mul(C1);
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the library that servers use (github.com/dgryski/go-farm).
    #[test]
    fn values_are_those_of_servers() {
        let text = "workflow-id/é:".repeat(10);
        for (size, value) in [
            (0, 3_696_677_242),
            (1, 1_260_754_544),
            (3, 3_135_512_633),
            (4, 3_676_114_069),
            (5, 1_596_745_234),
            (12, 492_655_026),
            (13, 1_312_782_959),
            (24, 636_276_619),
            (25, 1_217_835_756),
            (40, 3_934_592_595),
            (41, 1_110_423_121),
            (61, 4_056_679_014),
            (100, 2_699_108_299),
        ] {
            assert_eq!(fingerprint(&text.as_bytes()[..size]), value, "{size} bytes");
        }
        for (text, value) in [("é", 1_973_972_843), ("aé", 2_859_185_745), ("日本", 2_399_832_147)] {
            assert_eq!(fingerprint(text.as_bytes()), value, "{text}");
        }
    }
}
