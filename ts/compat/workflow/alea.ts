// Johannes Baagoe's Alea generator (2010), with the same numbers as in the official SDK: ids of
// child workflows and arguments of activities in histories derive from it. The seed is a list of
// small integers (the bytes of the run's seed, most significant first); each is mixed in as one
// unit.
import { uuidOf } from "../../platform/uuid.ts";

const TWO_POW_32 = 0x100000000;
const TWO_POW_MINUS_32 = 2.3283064365386963e-10;

/** Baagoe's Mash: a running hash of numbers to [0, 1). */
function createMash(): (data: readonly number[]) => number {
  let state = 0xefc8249d;
  return (data) => {
    for (const unit of data) {
      state += unit;
      let spread = 0.02519603282416938 * state;
      state = spread >>> 0;
      spread = (spread - state) * state;
      state = spread >>> 0;
      state += (spread - state) * TWO_POW_32;
    }
    return (state >>> 0) * TWO_POW_MINUS_32;
  };
}

/** Returns a generator of numbers in [0, 1). */
export function alea(seed: readonly number[]): () => number {
  const mash = createMash();
  let a = mash([32]), b = mash([32]), c = mash([32]), carry = 1;
  const wrapped = (value: number) => (value < 0 ? value + 1 : value);
  a = wrapped(a - mash(seed));
  b = wrapped(b - mash(seed));
  c = wrapped(c - mash(seed));
  return () => {
    const next = 2091639 * a + carry * TWO_POW_MINUS_32;
    a = b;
    b = c;
    carry = next | 0;
    return c = next - carry;
  };
}

/** Returns the bytes of a 64-bit seed in decimal, most significant first. */
export function seedBytes(decimal: string): number[] {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, BigInt(decimal)), i = 0; i < 8; i++, rest >>= 8n) {
    bytes.unshift(Number(rest & 0xffn));
  }
  return bytes;
}

const STREAM = "temporal-workflow-random-stream-v1";

/** Returns the seed of a named stream: the run's seed and the name, each preceded by its length. */
export function streamSeed(seed: readonly number[], name: string): number[] {
  const bytes = (text: string) => [...new TextEncoder().encode(text)];
  const sized = (part: readonly number[]) =>
    [24, 16, 8, 0].map((shift) => (part.length >>> shift) & 0xff).concat(part);
  return [...bytes(STREAM), ...sized(seed), ...sized(bytes(name))];
}

/** Returns a version 4 UUID from four draws, most significant first. */
export function uuid4From(random: () => number): string {
  const bytes = new DataView(new ArrayBuffer(16));
  for (let at = 0; at < 16; at += 4) bytes.setUint32(at, random() * TWO_POW_32);
  return uuidOf(new Uint8Array(bytes.buffer));
}
