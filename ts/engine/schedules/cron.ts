// The next time of a workflow's cron schedule. Its syntax is not that of a schedule's cron strings: a
// day that is restricted by date and by weekday matches either of them, Sunday is 0 only, names have
// three letters, and "@every" counts from the previous time.
import { Calendar } from "./calendar.ts";
import { splitCronZone } from "./canonical.ts";
import { parseGoDuration } from "./durations.ts";
import { MAX_YEAR } from "./ranges.ts";
import { type Zone, zoneNamed } from "./zones.ts";

const SECOND_US = 1_000_000;
/** Years that are searched for a time. */
const YEARS = 5;
/** Characters of a schedule, and of the reason, in an error text. */
const MAX_QUOTED = 100;
const MAX_REASON = 200;

/** The longest duration of "@every", in ms: 64 bits of nanoseconds. */
const MAX_EVERY_MS = 2 ** 63 / 1e6;

const PREDEFINED: { readonly [name: string]: string } = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** One field of a schedule. */
interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of values, the first one of `min`. */
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly Field[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: MONTHS },
  { name: "day of week", min: 0, max: 6, names: DAYS },
];

/** The values that match a field. */
interface Values {
  readonly values: ReadonlySet<number>;
  /** A part of the field is "*" or "?". */
  readonly isAny: boolean;
}

type CompiledCron =
  | { readonly everySeconds: number }
  | { readonly calendar: Calendar; readonly zone: Zone };

/**
 * Returns the first time of a cron schedule that is after `scheduledUs` and not before `nowUs`, in
 * µs since the epoch; undefined if no time within five years matches. `scheduledUs` is 0 for the first
 * run. Throws an Error that says what is invalid.
 */
export function nextCronUs(
  schedule: string,
  scheduledUs: number,
  nowUs: number,
): number | undefined {
  const cron = parseCron(schedule);
  const scheduled = scheduledUs === 0 ? nowUs : scheduledUs;
  if (nowUs < scheduled) return scheduled;
  if ("everySeconds" in cron) {
    const from = Math.floor(scheduled / SECOND_US) * SECOND_US;
    const every = cron.everySeconds * SECOND_US;
    return from + Math.max(1, Math.ceil((nowUs - from) / every)) * every;
  }
  const { calendar, zone } = cron;
  const after = Math.max(Math.floor(scheduled / SECOND_US), Math.ceil(nowUs / SECOND_US) - 1);
  const local = after + 1 + zone.spanAt(after + 1).offset;
  const lastYear = new Date(local * 1000).getUTCFullYear() + YEARS;
  const next = calendar.next(after, Math.min(lastYear, MAX_YEAR));
  return next === undefined ? undefined : next * SECOND_US;
}

/** The error text of a schedule. */
export function invalidCron(schedule: string, why: string): string {
  const shown = JSON.stringify(cutText(schedule, MAX_QUOTED));
  return `invalid CronSchedule ${shown}: ${cutText(why, MAX_REASON)}`;
}

function cutText(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}...` : text;
}

function parseCron(schedule: string): CompiledCron {
  const { zone: zoneName, rest } = splitCronZone(schedule);
  const zone = zoneNamed(zoneName);
  const text = rest === schedule ? schedule : rest.trim();
  if (text.startsWith("@every ")) return { everySeconds: parseEvery(text.slice(7)) };
  const expression = text.startsWith("@") ? PREDEFINED[text] : text;
  if (expression === undefined) {
    throw new Error(
      `unknown descriptor ${text}; use @every <duration> or one of ${
        Object.keys(PREDEFINED).join(", ")
      }`,
    );
  }
  const fields = expression.split(/\s+/u).filter((field) => field !== "");
  if (fields.length !== FIELDS.length) {
    throw new Error(
      `expected ${FIELDS.length} fields (minute, hour, day of month, month, day of week), found ${fields.length}`,
    );
  }
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields.map((field, at) =>
    parseField(field, FIELDS[at]!)
  ) as [Values, Values, Values, Values, Values];
  const needsBoth = dayOfMonth.isAny || dayOfWeek.isAny;
  const calendar = new Calendar({
    second: new Set([0]),
    minute: minute.values,
    hour: hour.values,
    month: month.values,
    year: undefined,
    day(date, weekday) {
      const [byDate, byWeekday] = [dayOfMonth.values.has(date), dayOfWeek.values.has(weekday)];
      return needsBoth ? byDate && byWeekday : byDate || byWeekday;
    },
  }, zone);
  return { calendar, zone };
}

/** Whole seconds, at least one. */
function parseEvery(text: string): number {
  const ms = text.includes("d") ? undefined : parseGoDuration(text);
  if (ms === undefined || Math.abs(ms) >= MAX_EVERY_MS) {
    throw new Error(
      `invalid duration ${JSON.stringify(text)} after @every; write 90s, 15m or 1h30m`,
    );
  }
  // 4.35m is 260999.99999999997 ms: rounded to nanoseconds, as in Go.
  return Math.max(1, Math.floor(Math.round(ms * 1e6) / 1e9));
}

function parseField(text: string, field: Field): Values {
  const values = new Set<number>();
  let isAny = false;
  for (const part of text.split(",")) {
    if (part !== "" && addPart(part, field, values)) isAny = true;
  }
  return { values, isAny };
}

/** Adds the values of "*", "5", "1-5" and the same with a step. Returns whether all values match. */
function addPart(part: string, field: Field, values: Set<number>): boolean {
  const { name, min, max } = field;
  const [base, stepText, ...slashes] = part.split("/");
  const [low, high, ...hyphens] = base!.split("-");
  if (slashes.length > 0) throw new Error(`too many slashes in ${name} ${part}`);
  const isStar = low === "*" || low === "?";
  if (!isStar && hyphens.length > 0) throw new Error(`too many hyphens in ${name} ${part}`);
  const start = isStar ? min : valueOf(low!, part, field);
  let end = isStar ? max : high === undefined ? start : valueOf(high, part, field);
  let step = 1;
  if (stepText !== undefined) {
    step = integer(stepText) ?? 0;
    if (step < 1) throw new Error(`the step of ${name} ${part} is not a positive number`);
    // "5/15" continues to the maximum.
    if (high === undefined) end = max;
  }
  if (start < min || end > max) {
    throw new Error(`${name} ${part} is not in the range ${min}-${max}`);
  }
  if (start > end) throw new Error(`${name} ${part} begins after its end`);
  for (let value = start; value <= end; value += step) values.add(value);
  return isStar && step === 1;
}

function valueOf(text: string, part: string, { name, min, names = [] }: Field): number {
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? named + min : integer(text);
  if (value === undefined) throw new Error(`${name} ${part} has the invalid value "${text}"`);
  return value;
}

function integer(text: string): number | undefined {
  return /^\+?\d{1,18}$/.test(text) ? Number(text) : undefined;
}
