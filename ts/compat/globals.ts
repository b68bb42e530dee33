// The globals that modules of the official API see: Date is workflow time, Math.random the run's Alea, setTimeout and clearTimeout are
// durable timers under scopes, console goes to the run's log. The loader hands them to each module as parameters, so nothing of the
// host is replaced; a worker realm may install the same table for good.
import { stackText } from "../converter/stack.ts";
import { currentRun, maybeCurrentRun } from "./current.ts";
import { clearTimeout, setTimeout } from "./workflow/timers.ts";

const RealDate = globalThis.Date;
const realRandom = Math.random.bind(Math);

/** What a workflow may not use, because when it acts depends on the garbage collector. */
function refused(name: string): unknown {
  return function () {
    throw new TypeError(`${name} cannot be used in workflow code: when it acts depends on the garbage collector`);
  };
}

function createDate(): DateConstructor {
  const now = () => maybeCurrentRun()?.timeMs ?? RealDate.now();
  const WorkflowDate = function (this: unknown, ...args: unknown[]): unknown {
    if (new.target === undefined) return new RealDate(now()).toString();
    const made: unknown = Reflect.construct(
      RealDate,
      args.length === 0 ? [now()] : args,
      new.target === WorkflowDate ? RealDate : new.target,
    );
    return made;
  } as unknown as DateConstructor;
  Object.defineProperties(WorkflowDate, {
    prototype: { value: RealDate.prototype },
    now: { value: now },
    parse: { value: RealDate.parse },
    UTC: { value: RealDate.UTC },
    name: { value: "Date" },
  });
  return WorkflowDate;
}

function createMath(): Math {
  const math = Object.create(Object.prototype, Object.getOwnPropertyDescriptors(Math)) as Math;
  Object.defineProperty(math, "random", { value: () => maybeCurrentRun()?.random() ?? realRandom() });
  return math;
}

function createConsole(): Pick<Console, "log" | "debug" | "info" | "warn" | "error" | "trace"> {
  const say = (level: "debug" | "info" | "warn" | "error") => (...parts: unknown[]) =>
    currentRun().log(level, parts.map(shown).join(" "), {});
  return {
    log: say("info"),
    debug: say("debug"),
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
    trace: say("debug"),
  };
}

function shown(part: unknown): string {
  if (typeof part === "string") return part;
  if (part instanceof Error) return stackText(part);
  try {
    return JSON.stringify(part) ?? String(part);
  } catch {
    return String(part);
  }
}

/** The table, by name. */
export function compatGlobals(): { readonly [name: string]: unknown } {
  return {
    Date: createDate(),
    Math: createMath(),
    setTimeout,
    clearTimeout,
    console: createConsole(),
    WeakRef: refused("WeakRef"),
    FinalizationRegistry: refused("FinalizationRegistry"),
  };
}
