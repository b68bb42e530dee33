// The source place of a difference: the line of the command that differs, otherwise the await at
// which the run waits, or the one that it passed last before it ended.
import { CommandKind } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { MissedPatch } from "../../executor/tasks/recording.ts";
import type { ReplayEvidence } from "../../executor/tasks/replay.ts";
import type { Wait } from "../../executor/program/snapshot.ts";
import type { Place, Sides } from "./align.ts";
import type { CodeStep } from "./code_steps.ts";

/** A source place and how the code relates to it. */
export interface Where {
  /** "function (file:line:column)"; "" when not known. */
  readonly location: string;
  readonly fiber: string;
  /**
   * "command": issued the command. "waits": waits there. "after": continued from there. "last": ran
   * last. "canceled": issued the command that history cancels.
   */
  readonly how: "command" | "waits" | "after" | "last" | "canceled" | "unknown";
  readonly wait: Wait | undefined;
  /** With "waits": the await of the same fiber that the code passed last in the task. */
  readonly passed?: Wait | undefined;
  /**
   * With "command": the `select` that issued it. Its timers come before the steps of its other
   * branches, whatever their lines.
   */
  readonly select?: Wait | undefined;
}

const NOWHERE: Where = { location: "", fiber: "", how: "unknown", wait: undefined };

type Span = ReplayEvidence["waits"][number];

/**
 * Returns whether the step has no line in user code: the end of a function, the result of a
 * handler.
 */
export const OWN_LINE = (code: CodeStep | undefined): boolean =>
  code !== undefined && code.site !== "" && code.kind !== "update" && code.kind !== "end";

/** Finds the source place of the first difference. */
export function findSourcePlace(place: Place, evidence: ReplayEvidence): Where {
  const own = place.pairs[place.at]!.code;
  const code = own ?? findNextSharedStep(place);
  const { startedEventId } = place.task;
  const last = evidence.activations.findLastIndex((activation) =>
    activation.startedEventId === startedEventId
  );
  const first = evidence.activations.findIndex((activation) =>
    activation.startedEventId === startedEventId
  );
  const sited = evidence.waits.filter(({ value }) => value.site !== "");
  const resolved = sited.filter(({ from, to }) =>
    from <= last && to !== undefined && to >= first && to <= last
  );
  if (OWN_LINE(code)) {
    const { function: caller } = splitSite(code!.site);
    const same = resolved.filter(({ value }) => splitSite(value.site).function === caller);
    const from = newest(same.length > 0 ? same : resolved);
    const select = newest(
      sited.filter(({ from, to, value }) =>
        value.kind === "select" && from >= first && from <= last &&
        (to === undefined || to > last) && isAbove(value.site, code!.site)
      ),
    );
    return {
      ...NOWHERE,
      ...(select !== undefined && { select: select.value }),
      ...(from === undefined ? {} : { wait: from.value }),
      location: code!.site,
      how: "command",
    };
  }
  const canceled = canceledSite(place, evidence);
  if (own === undefined && canceled !== "") {
    return { ...NOWHERE, location: canceled, how: "canceled" };
  }
  const open = sited.filter(({ from, to }) => from <= last && (to === undefined || to > last));
  const begun = open.filter(({ from }) => from >= first);
  const waits = code === undefined || !["end", "update"].includes(code.kind);
  if (waits && begun.length > 0) {
    const standing = newest(begun)!;
    const own = resolved.filter(({ value }) => value.fiber === standing.value.fiber);
    return { ...at(standing, "waits"), passed: newest(own)?.value };
  }
  if (resolved.length > 0) return at(newest(resolved)!, "after");
  if (waits && open.length > 0) return at(newest(open)!, "waits");
  const before = newest(sited.filter(({ to }) => to !== undefined && to <= last));
  if (before !== undefined) return at(before, "after");
  const issued = lastIssued(evidence, last);
  if (issued !== "") return { ...NOWHERE, location: issued, how: "after" };
  return open.length > 0 ? at(newest(open)!, "waits") : NOWHERE;
}

/** Returns the line of the step that history cancels and the code does not. */
function canceledSite({ at, pairs }: Place, { activations }: ReplayEvidence): string {
  const { history: here } = pairs[at]!;
  if (here?.kind !== "cancel") return "";
  const [, seq] = /^timer (\d+)$/.exec(here.name) ?? [];
  if (seq === undefined) return "";
  return activations.flatMap(({ commands }) => commands).find((command) =>
    command.kind === CommandKind.COMMAND_KIND_START_TIMER && !command.cancel &&
    String(command.seq) === seq
  )?.site ?? "";
}

/** Returns the code's next step that history also has, if the code skips a step. */
export const findNextSharedStep = ({ at, pairs }: Place): CodeStep | undefined =>
  pairs[at]!.code === undefined
    ? pairs.slice(at).find(({ same, code, history }) => same && code && history)?.code
    : undefined;

const at = ({ value }: Span, how: Where["how"]): Where => ({
  location: value.site,
  fiber: shortFiberName(value.fiber),
  how,
  wait: value,
});

/** Returns the await that resolved last, or, for equal positions, the one that started last. */
const newest = (spans: readonly Span[]): Span | undefined =>
  spans.length === 0
    ? undefined
    : spans.reduce((a, b) => ((b.to ?? 0) - (a.to ?? 0) || b.from - a.from) >= 0 ? b : a);

/**
 * From this many lines on, the line that the code came from is closer to a removed step than the
 * line that the code reached.
 */
const FAR = 2;

const LONG: ReadonlySet<Wait["kind"]> = new Set(["receive", "select", "children"]);

/**
 * Shortens "Object.eval [as run] (f)" to "run (f)": the name from the user's code, without
 * additions of the engine. A function without a name gets the name of its fiber, if known: "handler
 * of add (f)".
 */
export function simplifyLocation(location: string, fiber: string): string {
  const [, name, place] = /^(?:async )?(.*) \((.*)\)$/.exec(location) ?? [];
  if (name === undefined) {
    return fiber === "" || location === "" ? location : `${fiber} (${location})`;
  }
  const [, of = "", as] = /^(.*?)(?: \[as (.*)\])?$/.exec(name) ?? [];
  const own = of.replace(/^.*\./, "");
  // Any other name is internal: how this package calls a handler or a branch.
  const plain = !/^(?:eval|<anonymous>|)$/.test(own) ? own : as === "run" ? as : "";
  if (plain === "") return simplifyLocation(place!, fiber);
  return `${plain} (${place})`;
}

/**
 * From this many lines on, the line of the last passed await is closer to a removed step than the
 * line at which the code waits.
 */
const FAR_FROM_WAIT = 5;

/**
 * Returns the line for a removed step: after the command before it in its task, or between the last
 * passed await and the current one.
 */
export function placeBeforeRemoved(where: Where, { pairs, at }: Place): Where {
  if (where.how === "waits") return afterPassed(where);
  const before = pairs.slice(0, at).findLast(({ code }) => OWN_LINE(code))?.code?.site ?? "";
  const issued = splitSite(before);
  if (where.how === "after") {
    const passed = splitSite(where.location);
    const isLater = issued.file === passed.file && issued.line > passed.line;
    return isLater ? { ...where, location: before, fiber: "" } : where;
  }
  if (where.how !== "command" || where.wait === undefined) return where;
  const [from, to] = [splitSite(where.wait.site), splitSite(where.location)];
  if (issued.file === to.file && from.line < issued.line && issued.line < to.line) {
    return { ...where, location: before, fiber: "", how: "after" };
  }
  if (where.select !== undefined) return where;
  // These calls span many lines, and the code after them is at their end.
  if (LONG.has(where.wait.kind) && to.line > from.line) return where;
  if (from.file !== to.file || (to.line > from.line && to.line - from.line < FAR)) return where;
  return {
    ...where,
    location: where.wait.site,
    fiber: shortFiberName(where.wait.fiber),
    how: "after",
  };
}

function afterPassed(where: Where): Where {
  const { passed } = where;
  if (passed === undefined || LONG.has(passed.kind)) return where;
  const [from, to] = [splitSite(passed.site), splitSite(where.location)];
  if (from.file !== to.file || to.line - from.line < FAR_FROM_WAIT) return where;
  return { ...where, location: passed.site, how: "after" };
}

/** Splits "function (file:line:column)"; empty parts and line 0 if the text has another form. */
export function splitSite(
  location: string,
): { readonly function: string; readonly file: string; readonly line: number } {
  const [, name = "", file = "", line = "0"] = /^(?:(.*) \()?(.*?):(\d+):\d+\)?$/.exec(location) ??
    [];
  return { function: name, file, line: Number(line) };
}

function isAbove(site: string, other: string): boolean {
  const [upper, lower] = [splitSite(site), splitSite(other)];
  return upper.file === lower.file && upper.line <= lower.line;
}

function lastIssued({ activations }: ReplayEvidence, last: number): string {
  for (const { commands } of activations.slice(0, last + 1).toReversed()) {
    const site = commands.findLast(({ site }) => site !== "")?.site;
    if (site !== undefined) return site;
  }
  return "";
}

/** Shortens `run of workflow "Cart"` to "run"; handlers and branches keep their names. */
export function shortFiberName(label: string): string {
  if (/^(?:run of )?workflow "/.test(label)) return "run";
  const [, name] = /^handler of (?:update|signal) "(.*)"$/.exec(label) ?? [];
  return name === undefined
    ? label.replace(/ in (?:run|handler) of .*$/, "")
    : `handler of ${name}`;
}

/**
 * Returns the first patch that the code queried in the newest task with any, up to this one, and
 * that no task of the history has.
 */
export function findNewPatch(
  { task }: Place,
  { history }: Sides,
  { missedPatches }: ReplayEvidence,
): MissedPatch | undefined {
  const recorded = new Set(
    history.flatMap(({ steps }) => steps).flatMap(({ kind, name }) =>
      kind === "patch" ? [name] : []
    ),
  );
  const missed = missedPatches.filter(({ startedEventId, patchId }) =>
    startedEventId <= task.startedEventId && !recorded.has(patchId)
  );
  const newest = missed.at(-1)?.startedEventId;
  return missed.find(({ startedEventId }) => startedEventId === newest);
}

/** Shortens "run (file:///app/workflows.ts:70:5)" to "workflows.ts:70"; "" without a line. */
export function shortPlace(location: string): string {
  const [, file = "", line] = /([^\s()]*?):(\d+)(?::\d+)?\)?$/.exec(location) ?? [];
  if (line === undefined) return "";
  return `${file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1)}:${line}`;
}
