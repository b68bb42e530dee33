// 64-bit integers as the official packages show them: objects with `low`, `high` and `unsigned`, which npm's `long` takes for its own (it
// looks at the mark `__isLong__`). Only what programs do with ids and counts; the arithmetic is bigint's.

const MASK = 0xffffffffn;
const bits = (value: bigint, unsigned: boolean): bigint => unsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value);

/** What stands for a 64-bit integer. */
export type LongLike =
  | Long
  | { readonly low: number; readonly high: number; readonly unsigned?: boolean }
  | bigint
  | number
  | string;

/** A 64-bit integer. Never changed. */
export class Long {
  /** The low 32 bits, signed. */
  readonly low: number;
  /** The high 32 bits, signed. */
  readonly high: number;
  /** Read as a number that is not negative. */
  readonly unsigned: boolean;

  constructor(low: number, high = 0, unsigned = false) {
    this.low = low | 0;
    this.high = high | 0;
    this.unsigned = unsigned;
  }

  /** 0. */
  static readonly ZERO: Long = new Long(0, 0, false);
  /** 0, unsigned. */
  static readonly UZERO: Long = new Long(0, 0, true);

  /** The integer of a bigint, cut to 64 bits. */
  static fromBigInt(value: bigint, unsigned = false): Long {
    return new Long(Number(BigInt.asIntN(32, value & MASK)), Number(BigInt.asIntN(32, (value >> 32n) & MASK)), unsigned);
  }

  /** The integer part of a number; 0 for NaN. */
  static fromNumber(value: number, unsigned = false): Long {
    return Long.fromBigInt(Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n, unsigned);
  }

  /** Decimal digits. */
  static fromString(text: string, unsigned = false): Long {
    return Long.fromBigInt(BigInt(text), unsigned);
  }

  /** Any form of an integer. */
  static fromValue(value: LongLike, unsigned?: boolean): Long {
    return Long.fromBigInt(bigintOf(value), unsigned ?? (typeof value === "object" && value.unsigned === true));
  }

  /** Is it one, of this package's or of npm's `long`? */
  static isLong(value: unknown): value is Long {
    return (value as { __isLong__?: unknown } | null | undefined)?.__isLong__ === true;
  }

  /** As a bigint. */
  toBigInt(): bigint {
    return bits((BigInt(this.high) << 32n) | (BigInt(this.low) & MASK), this.unsigned);
  }
  /** As a number; not exact beyond 2^53. */
  toNumber(): number {
    return Number(this.toBigInt());
  }
  /** The low 32 bits. */
  toInt(): number {
    return this.unsigned ? this.low >>> 0 : this.low;
  }
  /** Digits. */
  toString(radix?: number): string {
    return this.toBigInt().toString(radix);
  }
  /** Is it 0? */
  isZero(): boolean {
    return this.low === 0 && this.high === 0;
  }
  /** Is it below 0? */
  isNegative(): boolean {
    return !this.unsigned && this.high < 0;
  }
  /** -1, 0 or 1. */
  compare(other: LongLike): -1 | 0 | 1 {
    const mine = this.toBigInt(), its = bigintOf(other);
    return mine < its ? -1 : mine > its ? 1 : 0;
  }
  /** Are they the same number? */
  equals(other: LongLike): boolean {
    return this.compare(other) === 0;
  }
  /** This is smaller. */
  lessThan(other: LongLike): boolean {
    return this.compare(other) < 0;
  }
  /** This is larger. */
  greaterThan(other: LongLike): boolean {
    return this.compare(other) > 0;
  }
  /** The sum. */
  add(other: LongLike): Long {
    return Long.fromBigInt(this.toBigInt() + bigintOf(other), this.unsigned);
  }
  /** The difference. */
  subtract(other: LongLike): Long {
    return Long.fromBigInt(this.toBigInt() - bigintOf(other), this.unsigned);
  }
  /** The product. */
  multiply(other: LongLike): Long {
    return Long.fromBigInt(this.toBigInt() * bigintOf(other), this.unsigned);
  }
  /** The short names of npm's `long`. */
  eq(other: LongLike): boolean {
    return this.equals(other);
  }
  /** lessThan */
  lt(other: LongLike): boolean {
    return this.lessThan(other);
  }
  /** greaterThan */
  gt(other: LongLike): boolean {
    return this.greaterThan(other);
  }
  /** subtract */
  sub(other: LongLike): Long {
    return this.subtract(other);
  }
  /** multiply */
  mul(other: LongLike): Long {
    return this.multiply(other);
  }
}
Object.defineProperty(Long.prototype, "__isLong__", { value: true });

/** A bigint of any form of an integer. */
export function bigintOf(value: LongLike): bigint {
  if (typeof value !== "object") return BigInt(typeof value === "number" ? Math.trunc(value) : value);
  return bits((BigInt(value.high) << 32n) | (BigInt(value.low) & MASK), value.unsigned === true);
}
