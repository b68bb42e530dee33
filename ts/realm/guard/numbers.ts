// `Math.random().toString(36)` is how many make an id. The language leaves the digits of fractions in other bases than ten to the engine, and
// V8 and SpiderMonkey write different ones: in a realm they are written here, as V8 writes them, and integers beyond 2 ** 53 with all
// their digits. Base ten is the same everywhere.
import { defineMethod, type Globals } from "./patch.ts";

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

export function guardNumbers(globals: Globals): void {
  const { prototype } = globals["Number"] as NumberConstructor;
  const { toString, valueOf } = prototype;
  defineMethod(prototype, "toString", function (this: number, radix?: number) {
    // Refuses what is no number, and bases that there are none of.
    const text = toString.call(this, radix);
    const base = radix === undefined ? 10 : Math.trunc(Number(radix));
    const x = valueOf.call(this);
    return base === 10 || Number.isSafeInteger(x) || !Number.isFinite(x) ? text : inBase(x, base);
  });
}

const bits = new DataView(new ArrayBuffer(8));

/** Half of the distance to the next number: digits that say less than that do not tell it from its neighbours. */
function uncertainty(x: number): number {
  bits.setFloat64(0, x);
  bits.setBigUint64(0, bits.getBigUint64(0) + 1n);
  return Math.max((bits.getFloat64(0) - x) / 2, Number.MIN_VALUE);
}

/** A finite number in a base, with as many digits as tell it from its neighbours; the last one is rounded, half to even. */
export function inBase(x: number, base: number): string {
  const size = Math.abs(x);
  let whole = BigInt(Math.floor(size));
  // Exact: the multiplication loses only what is beyond the uncertainty.
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
