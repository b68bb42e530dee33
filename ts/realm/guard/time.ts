// Time in a realm is workflow time, in UTC: Date, performance, Temporal.Now, Event.timeStamp.
// Methods of Date in local time would reveal the machine's time zone, so they return UTC.
import { defineMethod, type Globals, override, UTC } from "./patch.ts";
import type { GuardContext } from "./violations.ts";

const FIELDS = [
  "Date",
  "Day",
  "FullYear",
  "Hours",
  "Milliseconds",
  "Minutes",
  "Month",
  "Seconds",
] as const;
const ZONED = /(?:Z|GMT|UTC|\bUT|\b[ECMP][SD]T|[+-]\d{2}:?\d{2})\s*(?:\(.*\))?\s*$/i;
const ISO_LOCAL = /^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
const ISO = /^[+-]?\d{4,6}(?:-\d\d(?:-\d\d)?)?(?:T.*)?$/;

export function guardTime(globals: Globals, context: GuardContext): void {
  guardDate(globals, context);
  guardPerformance(globals, context);
  guardTemporal(globals, context);
  const event = (globals as { Event?: { prototype: object } }).Event;
  if (event !== undefined) {
    // The time at which an event object was created.
    Object.defineProperty(event.prototype, "timeStamp", {
      get: () => context.now("Event.timeStamp"),
      configurable: true,
      enumerable: true,
    });
  }
}

function guardDate(globals: Globals, context: GuardContext): void {
  const Real = globals.Date;
  const realNow = Real.now;
  const now = () => context.inSideEffect ? realNow() : context.now("Date.now()");
  const realParse = Real.parse;
  const parse = (text: string): number => {
    const s = String(text).trim();
    if (ISO_LOCAL.test(s)) return realParse(`${s}Z`);
    if (ISO.test(s) || ZONED.test(s)) return realParse(s);
    const utc = realParse(`${s} UTC`);
    return Number.isNaN(utc) ? realParse(s) : utc;
  };
  const utcOf = Real.UTC;

  function Date(this: unknown, ...args: unknown[]): unknown {
    if (new.target === undefined) return new Real(now()).toString();
    const construct = (value: number) =>
      Reflect.construct(Real, [value], new.target as unknown as typeof Real);
    if (args.length === 0) return construct(now());
    if (args.length > 1) return construct(utcOf(...args as [number, number]));
    const [only] = args;
    return typeof only === "string"
      ? construct(parse(only))
      : Reflect.construct(Real, [only], new.target as unknown as typeof Real);
  }
  Object.defineProperty(Date, "length", { value: 7, configurable: true });
  Object.defineProperty(Date, "prototype", {
    value: Real.prototype,
    writable: false,
    enumerable: false,
    configurable: false,
  });
  defineMethod(Date, "now", () => now());
  defineMethod(Date, "parse", parse);
  defineMethod(Date, "UTC", (...args: [number, number]) => utcOf(...args));
  override(Real.prototype, "constructor", Date);
  override(globals, "Date", Date);
  utcMethods(Real.prototype);
}

function utcMethods(proto: Date): void {
  const table = proto as unknown as {
    [method: string]: (this: Date, ...args: unknown[]) => unknown;
  };
  for (const field of FIELDS) {
    const get = table[`getUTC${field}`]!;
    defineMethod(proto, `get${field}`, function (this: Date) {
      return get.call(this);
    });
    if (field === "Day") continue;
    const set = table[`setUTC${field}`]!;
    defineMethod(proto, `set${field}`, function (this: Date, ...args: unknown[]) {
      return set.apply(this, args);
    });
  }
  const { getUTCFullYear, setUTCFullYear, getTime, toUTCString } = proto;
  defineMethod(proto, "getTimezoneOffset", function (this: Date) {
    return Number.isNaN(getTime.call(this)) ? NaN : 0;
  });
  defineMethod(proto, "getYear", function (this: Date) {
    return getUTCFullYear.call(this) - 1900;
  });
  defineMethod(proto, "setYear", function (this: Date, year: number) {
    const n = Math.trunc(Number(year));
    return setUTCFullYear.call(this, n >= 0 && n <= 99 ? 1900 + n : n);
  });
  // "Wed, 01 Jan 2020 00:00:00 GMT"
  const parts = (date: Date) =>
    /^(\w+), (\d+) (\w+) (-?\d+) (\S+) GMT$/.exec(toUTCString.call(date));
  const zone = "GMT+0000 (Coordinated Universal Time)";
  const day = ([, weekday, date, month, year]: RegExpExecArray) =>
    `${weekday} ${month} ${date} ${year}`;
  const text = (format: (p: RegExpExecArray) => string) =>
    function (this: Date): string {
      const p = parts(this);
      return p === null ? "Invalid Date" : format(p);
    };
  defineMethod(proto, "toString", text((p) => `${day(p)} ${p[5]} ${zone}`));
  defineMethod(proto, "toDateString", text(day));
  defineMethod(proto, "toTimeString", text((p) => `${p[5]} ${zone}`));
}

function guardPerformance(globals: Globals, context: GuardContext): void {
  const real = globals.performance as Performance | undefined;
  const no = (name: string) => () =>
    context.refuse(`performance.${name}()`, "time is workflow time; measure in an activity");
  const performance = {
    now: () =>
      context.inSideEffect && real !== undefined
        ? real.timeOrigin + real.now()
        : context.now("performance.now()"),
    /** performance.now() counts from the epoch: the same in every process. */
    timeOrigin: 0,
  };
  for (
    const name of [
      "mark",
      "measure",
      "clearMarks",
      "clearMeasures",
      "getEntries",
      "getEntriesByName",
      "getEntriesByType",
      "timerify",
      "eventLoopUtilization",
    ]
  ) {
    defineMethod(performance, name, no(name));
  }
  override(globals, "performance", Object.freeze(performance));
}

/** The part of Temporal that is used here. */
interface TemporalShape {
  readonly Now: object;
  readonly Instant: {
    fromEpochMilliseconds(ms: number): { toZonedDateTimeISO(zone: string): ZonedShape };
  };
}
interface ZonedShape {
  toPlainDateTime(): unknown;
  toPlainDate(): unknown;
  toPlainTime(): unknown;
}

function guardTemporal(globals: Globals, context: GuardContext): void {
  const Temporal = globals["Temporal"] as TemporalShape | undefined;
  if (Temporal === undefined) return;
  const realNow = globals.Date.now;
  const instant = () =>
    Temporal.Instant.fromEpochMilliseconds(
      context.inSideEffect ? realNow() : context.now("Temporal.Now"),
    );
  const zoned = (zone: unknown = UTC) => instant().toZonedDateTimeISO(zone as string);
  const Now = {
    instant,
    timeZoneId: () => UTC,
    zonedDateTimeISO: zoned,
    plainDateTimeISO: (zone?: unknown) => zoned(zone).toPlainDateTime(),
    plainDateISO: (zone?: unknown) => zoned(zone).toPlainDate(),
    plainTimeISO: (zone?: unknown) => zoned(zone).toPlainTime(),
  };
  Object.defineProperty(Now, Symbol.toStringTag, { value: "Temporal.Now", configurable: true });
  override(Temporal, "Now", Object.freeze(Now));
}
