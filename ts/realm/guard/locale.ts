// Replaces the machine's locale and time zone. The defaults are en-US and UTC, and a locale that
// the machine lacks falls back to en-US. Locale data still depends on the engine (ICU versions).
import { defineMethod, type Globals, LOCALE, override, UTC } from "./patch.ts";
import type { GuardContext } from "./violations.ts";

/** Appends en-US to the requested locales. */
function withDefault(locales: unknown): unknown {
  if (locales === undefined) return LOCALE;
  return Array.isArray(locales) ? [...locales, LOCALE] : [locales, LOCALE];
}

const inUtc = (options: unknown): object => {
  const given = (options ?? {}) as { timeZone?: unknown };
  return given.timeZone === undefined ? { ...given, timeZone: UTC } : given;
};

// deno-lint-ignore no-explicit-any
type Method = (this: any, ...args: any[]) => any;

export function guardLocale(globals: Globals, context: GuardContext): void {
  const intl = globals.Intl as unknown as { [name: string]: unknown };
  for (const name of Object.getOwnPropertyNames(intl)) {
    const constructor = intl[name];
    if (
      typeof constructor !== "function" || name === "Locale" ||
      !("supportedLocalesOf" in constructor)
    ) continue;
    const zoned = name === "DateTimeFormat";
    const args = (
      [locales, options, ...rest]: unknown[],
    ) => [withDefault(locales), zoned ? inUtc(options) : options, ...rest];
    const replacement = new Proxy(constructor, {
      construct: (target, given, newTarget) => Reflect.construct(target, args(given), newTarget),
      apply: (target, self, given) => Reflect.apply(target, self, args(given)),
    });
    override(
      (constructor as unknown as { prototype: object }).prototype,
      "constructor",
      replacement,
    );
    override(intl, name, replacement);
  }
  guardFormat(globals.Intl.DateTimeFormat.prototype, context);
  const wrap = (prototype: object, method: string, args: (given: unknown[]) => unknown[]) => {
    const real = (prototype as { [name: string]: unknown })[method];
    if (typeof real !== "function") return;
    defineMethod(prototype, method, function (this: unknown, ...given: unknown[]) {
      return Reflect.apply(real, this, args(given));
    });
  };
  const first = ([locales, ...rest]: unknown[]) => [withDefault(locales), ...rest];
  const dated = ([locales, options]: unknown[]) => [withDefault(locales), inUtc(options)];
  wrap(
    String.prototype,
    "localeCompare",
    ([that, locales, options]) => [that, withDefault(locales), options],
  );
  wrap(String.prototype, "toLocaleLowerCase", first);
  wrap(String.prototype, "toLocaleUpperCase", first);
  wrap(Number.prototype, "toLocaleString", first);
  wrap(BigInt.prototype, "toLocaleString", first);
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
    wrap(Date.prototype, name, dated);
  }
  const temporal = globals["Temporal"] as { [type: string]: { prototype?: object } } | undefined;
  for (const name of temporal === undefined ? [] : Object.getOwnPropertyNames(temporal)) {
    const prototype = temporal![name]?.prototype;
    if (prototype !== undefined) {
      wrap(prototype, "toLocaleString", name === "Instant" ? dated : first);
    }
  }
}

/**
 * Engines write an ordinary space where their data has a narrow one; older versions of V8 do so
 * only in part.
 */
const plainSpaces = (text: string): string => text.replace(/[\u202f\u2009]/g, " ");

/** A DateTimeFormat without an argument formats the current time. */
function guardFormat(prototype: Intl.DateTimeFormat, context: GuardContext): void {
  const getFormat = Object.getOwnPropertyDescriptor(prototype, "format")!.get as Method;
  const now = () => context.now("Intl.DateTimeFormat.format()");
  // The getter returns the same function each time, as the language defines.
  const bound = new WeakMap<object, (date?: unknown) => string>();
  Object.defineProperty(prototype, "format", {
    get(this: object) {
      const known = bound.get(this);
      if (known !== undefined) return known;
      const real = getFormat.call(this) as (date: unknown) => string;
      const format = (date?: unknown) => real(date === undefined ? now() : date);
      bound.set(this, format);
      return format;
    },
    configurable: true,
  });
  const { formatToParts } = prototype;
  defineMethod(
    prototype,
    "formatToParts",
    function (this: Intl.DateTimeFormat, date?: Date | number) {
      const parts = formatToParts.call(this, date === undefined ? now() : date);
      for (const part of parts) part.value = plainSpaces(part.value);
      return parts;
    },
  );
}
