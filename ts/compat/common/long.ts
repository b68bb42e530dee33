// 64-bit integers of the official packages: objects with `low`, `high` and `unsigned`, which npm's
// `long` accepts by the marker `__isLong__`. Has the operations for ids and counts, implemented
// with bigint.

const MASK = 0xffffffffn;
const bits = (value: bigint, unsigned: boolean): bigint =>
  unsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value);

/** Representations of a 64-bit integer. */
export type LongLike =
  | Long
  | { readonly low: number; readonly high: number; readonly unsigned?: boolean }
  | bigint
  | number
  | string;

/** An immutable 64-bit integer. */
export class Long {
  /** The low 32 bits, signed. */
  readonly low: number;
  /** The high 32 bits, signed. */
  readonly high: number;
  readonly unsigned: boolean;

  constructor(low: number, high = 0, unsigned = false) {
    this.low = low | 0;
    this.high = high | 0;
    this.unsigned = unsigned;
  }

  // Frozen: messages share them as the values of fields that are not set.
  /** 0. */
  static readonly ZERO: Long = Object.freeze(new Long(0, 0, false));
  /** 0, unsigned. */
  static readonly UZERO: Long = Object.freeze(new Long(0, 0, true));

  /** Converts a bigint, truncated to 64 bits. */
  static fromBigInt(value: bigint, unsigned = false): Long {
    return new Long(
      Number(BigInt.asIntN(32, value & MASK)),
      Number(BigInt.asIntN(32, (value >> 32n) & MASK)),
      unsigned,
    );
  }

  /** Converts the integer part of a number; 0 for NaN. */
  static fromNumber(value: number, unsigned = false): Long {
    return Long.fromBigInt(Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n, unsigned);
  }

  /** Parses decimal digits. */
  static fromString(text: string, unsigned = false): Long {
    return Long.fromBigInt(BigInt(text), unsigned);
  }

  /** Converts any representation. */
  static fromValue(value: LongLike, unsigned?: boolean): Long {
    return Long.fromBigInt(
      bigintOf(value),
      unsigned ?? (typeof value === "object" && value.unsigned === true),
    );
  }

  /** Returns whether a value is a Long of this package or of npm's `long`. */
  static isLong(value: unknown): value is Long {
    return (value as { __isLong__?: unknown } | null | undefined)?.__isLong__ === true;
  }

  /** Returns a bigint. */
  toBigInt(): bigint {
    return bits((BigInt(this.high) << 32n) | (BigInt(this.low) & MASK), this.unsigned);
  }
  /** Returns a number; inexact above 2^53. */
  toNumber(): number {
    return Number(this.toBigInt());
  }
  /** Returns the low 32 bits. */
  toInt(): number {
    return this.unsigned ? this.low >>> 0 : this.low;
  }
  /** Returns the digits. */
  toString(radix?: number): string {
    return this.toBigInt().toString(radix);
  }
  /** Returns whether the value is 0. */
  isZero(): boolean {
    return this.low === 0 && this.high === 0;
  }
  /** Returns whether the value is negative. */
  isNegative(): boolean {
    return !this.unsigned && this.high < 0;
  }
  /** Returns -1, 0 or 1. */
  compare(other: LongLike): -1 | 0 | 1 {
    const mine = this.toBigInt(), its = bigintOf(other);
    return mine < its ? -1 : mine > its ? 1 : 0;
  }
  /** Returns whether the values are equal. */
  equals(other: LongLike): boolean {
    return this.compare(other) === 0;
  }
  /** Returns whether this value is less. */
  lessThan(other: LongLike): boolean {
    return this.compare(other) < 0;
  }
  /** Returns whether this value is greater. */
  greaterThan(other: LongLike): boolean {
    return this.compare(other) > 0;
  }
  /** Returns the sum. */
  add(other: LongLike): Long {
    return Long.fromBigInt(this.toBigInt() + bigintOf(other), this.unsigned);
  }
  /** Returns the difference. */
  subtract(other: LongLike): Long {
    return Long.fromBigInt(this.toBigInt() - bigintOf(other), this.unsigned);
  }
  /** Returns the product. */
  multiply(other: LongLike): Long {
    return Long.fromBigInt(this.toBigInt() * bigintOf(other), this.unsigned);
  }
  /** Alias of equals, as in npm's `long`. */
  eq(other: LongLike): boolean {
    return this.equals(other);
  }
  /** Alias of lessThan. */
  lt(other: LongLike): boolean {
    return this.lessThan(other);
  }
  /** Alias of greaterThan. */
  gt(other: LongLike): boolean {
    return this.greaterThan(other);
  }
  /** Alias of subtract. */
  sub(other: LongLike): Long {
    return this.subtract(other);
  }
  /** Alias of multiply. */
  mul(other: LongLike): Long {
    return this.multiply(other);
  }
}
Object.defineProperty(Long.prototype, "__isLong__", { value: true });

/** Converts any representation to a bigint. */
export function bigintOf(value: LongLike): bigint {
  if (typeof value !== "object") {
    return BigInt(typeof value === "number" ? Math.trunc(value) : value);
  }
  return bits((BigInt(value.high) << 32n) | (BigInt(value.low) & MASK), value.unsigned === true);
}
