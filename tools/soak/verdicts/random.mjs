/** Numbers from a seed (mulberry32), so that a difference can be made again. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  number() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number from 0 to n - 1. */
  below(n) {
    return Math.floor(this.number() * n);
  }

  of(list) {
    return list[this.below(list.length)];
  }

  chance(p) {
    return this.number() < p;
  }
}
