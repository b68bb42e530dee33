// What the code pane shows of a line at a position, as plain data.
import type { CodeSet } from "../store/code_set.ts";

/** The badge of a fiber. `title` is its full name. */
export interface FiberBadge {
  readonly text: string;
  readonly title: string;
}

/** An await at which the code waits. */
export interface ParkedHere {
  /** `activity "charge"`, `add_item, remove_item or checkout`. */
  readonly waitsFor: string;
  readonly sinceMs: number | undefined;
  /** Undefined if there is only one fiber. */
  readonly badge: FiberBadge | undefined;
}

/** A value that was recorded at a line. */
export interface LineValue {
  readonly kind: string;
  /** "state", "totalCents"; "" without a name. */
  readonly name: string;
  /** Shortened for the end of a line. */
  readonly text: string;
  /** For the sheet. Undefined if the recorded copy was cut: then only `text` exists. */
  readonly value: unknown;
  /** The previous value, shortened. */
  readonly before: string | undefined;
  /** A later value replaced it: published state of an earlier line. */
  readonly isOverwritten: boolean;
  readonly badge: FiberBadge | undefined;
  /** The event of the task in which it was recorded. */
  readonly eventId: number;
  readonly isNew: boolean;
}

/** Facts of the lines of one file at one position. Lines count from 1. */
export interface FileFacts {
  /** How often it ran; 0 also if nothing was recorded. */
  hits(line: number): number;
  /** Whether a statement begins on the line. */
  canRun(line: number): boolean;
  values(line: number): readonly LineValue[];
  /** Lines of the awaits at which the code waits, the newest first. */
  readonly parked: ReadonlyMap<number, readonly ParkedHere[]>;
}

export interface CodeFacts {
  file(path: string): FileFacts;
  /** The await that the code reached last; undefined if no code waits. */
  readonly at: { readonly path: string; readonly line: number } | undefined;
  /** Of all files; undefined if it was not recorded. */
  readonly ran: { readonly lines: number; readonly of: number } | undefined;
}

const NO_FILE: FileFacts = {
  hits: () => 0,
  canRun: () => false,
  values: () => [],
  parked: new Map(),
};
export const NO_FACTS: CodeFacts = { file: () => NO_FILE, at: undefined, ran: undefined };

/** A line of the open code. */
export interface LineAt {
  readonly path: string;
  readonly line: number;
}

/**
 * The file of a code set that a path or address of a stack frame refers to: the one with the
 * longest common end.
 */
export function pathInSet(address: string, code: CodeSet): string | undefined {
  const wanted = address.replace(/[?#].*$/, "").split(/[/\\]/).filter((part) =>
    part !== "" && part !== "."
  );
  let best: string | undefined;
  let most = 0;
  for (const { path } of code.files) {
    const parts = path.split("/");
    let same = 0;
    while (
      same < parts.length && same < wanted.length && parts.at(-1 - same) === wanted.at(-1 - same)
    ) same++;
    if (same > most) [best, most] = [path, same];
  }
  return best;
}

/** Converts "function (file:line:column)" to a line of a code set. */
export function lineOfSite(site: string, code: CodeSet): LineAt | undefined {
  const m = /\(?([^()\s]+?):(\d+)(?::\d+)?\)?$/.exec(site);
  const path = m === null ? undefined : pathInSet(m[1]!, code);
  return path === undefined ? undefined : { path, line: Number(m![2]) };
}
