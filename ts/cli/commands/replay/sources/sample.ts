// Selects at most n of each group by a hash of seed and id: the same runs yield the same sample in
// any order.

interface Entry<T> {
  readonly rank: number;
  readonly value: T;
}

export class Sample<T> {
  readonly #n: number;
  readonly #seed: string;
  /** By group, lowest ranks first. */
  readonly #groups = new Map<string, Entry<T>[]>();

  constructor(n: number, seed: string) {
    this.#n = n;
    this.#seed = seed;
  }

  add(group: string, id: string, value: T): void {
    const rank = hash(`${this.#seed}\0${id}`);
    const entries = this.#groups.get(group) ?? [];
    this.#groups.set(group, entries);
    if (entries.length === this.#n && rank >= entries.at(-1)!.rank) return;
    const at = entries.findIndex((entry) => rank < entry.rank);
    entries.splice(at < 0 ? entries.length : at, 0, { rank, value });
    if (entries.length > this.#n) entries.pop();
  }

  /** Returns the sample by group. */
  chosen(): T[] {
    return [...this.#groups.values()].flatMap((entries) => entries.map(({ value }) => value));
  }
}

/** 53 bits of FNV-1a in two halves with final mixing, because ids differ in few characters. */
function hash(text: string): number {
  let a = 0x811c9dc5;
  let b = 0x1b873593;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 0x01000193);
    b = Math.imul(b ^ c, 0x85ebca6b);
  }
  return stir(a) * 0x200000 + (stir(b) >>> 11);
}

function stir(hash: number): number {
  const h = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  const k = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return (k ^ (k >>> 15)) >>> 0;
}
