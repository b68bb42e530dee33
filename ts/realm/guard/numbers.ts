// `Math.random().toString(36)` is a common way to make an id. The language leaves digits of
// fractions in bases other than ten to the engine, and V8 and SpiderMonkey differ. In a realm they
// are written here, like V8 writes them; integers beyond 2 ** 53 get all their digits.
import { defineMethod, type Globals } from "./patch.ts";

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

export function guardNumbers(globals: Globals): void {
  const { prototype } = globals["Number"] as NumberConstructor;
  const { toString, valueOf } = prototype;
  defineMethod(prototype, "toString", function (this: number, radix?: number) {
    // Throws for values that are not numbers, and for invalid bases.
    const text = toString.call(this, radix);
    const base = radix === undefined ? 10 : Math.trunc(Number(radix));
    const x = valueOf.call(this);
    return base === 10 || Number.isSafeInteger(x) || !Number.isFinite(x) ? text : inBase(x, base);
  });
}

const bits = new DataView(new ArrayBuffer(8));

/** Half the distance to the next number: smaller digits are not needed to identify it. */
function uncertainty(x: number): number {
  bits.setFloat64(0, x);
  bits.setBigUint64(0, bits.getBigUint64(0) + 1n);
  return Math.max((bits.getFloat64(0) - x) / 2, Number.MIN_VALUE);
}

/**
 * Formats a finite number in a base, with the digits needed to identify it; the last one is
 * rounded, half to even.
 */
export function inBase(x: number, base: number): string {
  const size = Math.abs(x);
  let whole = BigInt(Math.floor(size));
  // Exact: the multiplication loses only digits below the uncertainty.
  let rest = size - Math.floor(size);
  let unsure = uncertainty(size);
  const digits: number[] = [];
  while (rest >= unsure) {
    rest *= base;
    unsure *= base;
    const digit = Math.floor(rest);
    digits.push(digit);
    rest -= digit;
    if ((rest > 0.5 || (rest === 0.5 && digit % 2 === 1)) && rest + unsure > 1) {
      while (digits.length > 0 && digits[digits.length - 1] === base - 1) digits.pop();
      if (digits.length > 0) digits[digits.length - 1]!++;
      else whole++;
      break;
    }
  }
  const fraction = digits.map((digit) => DIGITS[digit]).join("");
  return `${x < 0 ? "-" : ""}${whole.toString(base)}${fraction === "" ? "" : `.${fraction}`}`;
}
