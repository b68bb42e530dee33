// Functions of the language, taken when this module is loaded. Code that formats stacks also runs
// while a module of workflow code has replaced built-ins, before the guard reverts that.

const { call } = Function.prototype;
// `bind` creates functions that look up nothing when they are called.
const includes = /* @__PURE__ */ call.bind(String.prototype.includes) as (
  text: string,
  part: string,
) => boolean;
const indexOf = /* @__PURE__ */ call.bind(String.prototype.indexOf) as (
  text: string,
  part: string,
  from?: number,
) => number;
const slice = /* @__PURE__ */ call.bind(String.prototype.slice) as (
  text: string,
  from: number,
  to?: number,
) => string;
const exec = /* @__PURE__ */ call.bind(RegExp.prototype.exec) as (
  pattern: RegExp,
  text: string,
) => RegExpExecArray | null;
const { defineProperty } = Reflect;

export { exec as execPattern, includes as includesText, slice as sliceText };

/**
 * Appends to a list without a lookup on its prototype: an inherited setter for the index has no
 * effect.
 */
export function append<T>(list: T[], value: T): void {
  // A literal inherits from Object.prototype, where a module may have defined `get`.
  const descriptor = {
    __proto__: null,
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  };
  defineProperty(list, list.length, descriptor as PropertyDescriptor);
}

export function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let at = 0;;) {
    const end = indexOf(text, "\n", at);
    append(lines, end < 0 ? slice(text, at) : slice(text, at, end));
    if (end < 0) return lines;
    at = end + 1;
  }
}

/** Replaces the first occurrence. */
export function replaceText(text: string, part: string, by: string): string {
  const at = indexOf(text, part);
  return at < 0 ? text : slice(text, 0, at) + by + slice(text, at + part.length);
}

/** A set of strings without methods. */
export type Names = { [name: string]: true | undefined };

export const newNames = (): Names => ({ __proto__: null } as unknown as Names);
