// SHA-256 (FIPS 180-4), synchronous: `crypto.subtle` is asynchronous and missing on pages without
// HTTPS.

/** The first 32 bits of the fractional parts of a root of the first `count` primes. */
function fractions(count: number, root: (prime: number) => number): Uint32Array {
  const out = new Uint32Array(count);
  for (let n = 2, i = 0; i < count; n++) {
    let isPrime = true;
    for (let d = 2; d * d <= n && isPrime; d++) isPrime = n % d !== 0;
    if (isPrime) out[i++] = (root(n) % 1) * 2 ** 32;
  }
  return out;
}

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;

let tables: { readonly round: Uint32Array; readonly initial: Uint32Array } | undefined;

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

function padded(bytes: Uint8Array): DataView {
  const blocks = Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK_BYTES);
  const out = new Uint8Array(blocks * BLOCK_BYTES);
  out.set(bytes);
  out[bytes.length] = 0x80;
  const view = new DataView(out.buffer);
  view.setBigUint64(out.length - LENGTH_BYTES, BigInt(bytes.length) * 8n);
  return view;
}

/** The digest of the bytes: 64 lower-case hexadecimal digits. */
export function sha256Hex(bytes: Uint8Array): string {
  const { round, initial } = tables ??= {
    round: fractions(64, Math.cbrt),
    initial: fractions(8, Math.sqrt),
  };
  const hash = initial.slice();
  const view = padded(bytes);
  const w = new Uint32Array(64);
  for (let block = 0; block < view.byteLength; block += BLOCK_BYTES) {
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15]!, y = w[i - 2]!;
      const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3),
        s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
      w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
    }
    let [a, b, c, d, e, f, g, h] = hash as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (let i = 0; i < 64; i++) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25), choice = (e & f) ^ (~e & g);
      const t1 = (h + s1 + choice + round[i]! + w[i]!) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22),
        majority = (a & b) ^ (a & c) ^ (b & c);
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + s0 + majority) | 0];
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) hash[i] = hash[i]! + word;
  }
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}
