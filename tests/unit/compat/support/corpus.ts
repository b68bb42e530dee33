// The corpus of recorded histories and official verdicts (../shared/fixtures/compat). It is read
// from a folder next to the checkout; if it is missing, tests that need it skip by name.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Variant {
  file: string;
  /** The workflow type to put into event 1. */
  retype?: string;
}

export interface Case {
  name: string;
  variants: { [variant: string]: Variant };
  /** The variant that recorded a history, by the history's first name; otherwise "base". */
  recordedWith?: { [history: string]: string };
  interceptors?: string[];
  histories?: { name: string; path: string }[];
}

export interface Row {
  case: string;
  history: string;
  /** The history is cut after this event. */
  cutAt?: number;
  variant: string;
  verdict: "OK" | "NONDETERMINISM" | "TASK_FAILURE";
  /** What the official replayer says. */
  reason?: string;
}

// deno-lint-ignore no-explicit-any
export type HistoryJson = { events: any[] };

/** Replaces the names of the cases if the corpus is missing. */
export const NO_CASES = "all cases";

/** The folder of the corpus; undefined if it is missing. */
export function corpusRoot(): string | undefined {
  let here = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(here, "package.json"))) here = dirname(here);
  const root = join(here, "../shared/fixtures/compat");
  return existsSync(join(root, "verdicts.json")) ? root : undefined;
}

const json = (path: string) => JSON.parse(readFileSync(path, "utf8"));

export function loadCase(root: string, name: string): Case {
  return json(join(root, "cases", `${name}.json`));
}

export function loadRows(root: string): Row[] {
  return json(join(root, "verdicts.json")).rows;
}

export function caseNames(root: string): string[] {
  return readdirSync(join(root, "cases")).filter((file) => file.endsWith(".json")).map((file) =>
    file.slice(0, -5)
  ).sort();
}

/** The history of a row as it is to be replayed: with the variant's workflow type, and cut. */
export function historyOf(root: string, found: Case, row: Row): HistoryJson {
  const path = found.histories?.find(({ name }) => name === row.history)?.path ??
    `corpus/${row.case}@${row.history}.json`;
  const read = json(join(root, path));
  const { events } = (Array.isArray(read) ? read[0] : read) as HistoryJson;
  const variant = found.variants[row.variant];
  if (variant === undefined) throw new Error(`case ${row.case} has no variant ${row.variant}`);
  if (variant.retype !== undefined) {
    events[0].workflowExecutionStartedEventAttributes.workflowType.name = variant.retype;
  }
  return {
    events: row.cutAt === undefined
      ? events
      : events.filter((event) => Number(event.eventId) <= row.cutAt!),
  };
}

/** Differences that recording left in messages: ids and the paths of another machine. */
export function normalized(message: string): string {
  return message
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>")
    .replace(/hb-[0-9a-z]+-/g, "hb-<tag>-")
    .replace(/\n[\s\S]*/, "");
}

/** Histories that the official SDK replays with the program that recorded them, by program. */
export function* unchangedPrograms(
  root: string,
): Generator<{ name: string; workflows: string; histories: { of: string; json: Uint8Array }[] }> {
  const rows = loadRows(root).filter(({ verdict }) => verdict === "OK");
  for (const name of caseNames(root)) {
    const found = loadCase(root, name);
    for (const [variant, { file }] of Object.entries(found.variants)) {
      const own = rows.filter((row) =>
        row.case === name && row.variant === variant &&
        variant === (found.recordedWith?.[row.history.split(".")[0]!] ?? "base")
      );
      if (own.length === 0) continue;
      yield {
        name,
        workflows: join(root, "workflows", file),
        histories: own.map((row) => ({
          of: `${name} ${row.history} ${row.cutAt}`,
          json: new TextEncoder().encode(JSON.stringify(historyOf(root, found, row))),
        })),
      };
    }
  }
}
