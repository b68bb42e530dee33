// What the code pane draws of a line at a position, as plain data: the one shape between what a session knows and what is drawn.
import type { CodeSet } from "../realm/code_set.ts";

/** A fiber as a badge: its name at full length in `title`. */
export interface FiberBadge {
  readonly text: string;
  readonly title: string;
}

/** An await at which the code stands, at its line. */
export interface ParkedHere {
  /** `activity "charge"`, `add_item, remove_item or checkout`. */
  readonly waitsFor: string;
  readonly sinceMs: number | undefined;
  /** Undefined: there is one fiber alone. */
  readonly badge: FiberBadge | undefined;
}

/** A value that crossed at a line. */
export interface LineValue {
  readonly kind: string;
  /** "state", "totalCents"; "" where it has none. */
  readonly name: string;
  /** On part of a line. */
  readonly text: string;
  /** For the sheet. Undefined where the copy was cut: then only `text` has it. */
  readonly value: unknown;
  /** What stood there before, on part of a line. */
  readonly before: string | undefined;
  /** Something newer took its place elsewhere: the published state of a line above. */
  readonly isOverwritten: boolean;
  readonly badge: FiberBadge | undefined;
  /** The event of the task in which it crossed. */
  readonly eventId: number;
  readonly isNew: boolean;
}

/** What is known of the lines of one file at one position. All by line number, from 1. */
export interface FileFacts {
  /** How often it ran; 0: it has not, or nothing is known. */
  hits(line: number): number;
  /** A statement begins on it. */
  canRun(line: number): boolean;
  values(line: number): readonly LineValue[];
  /** Lines of the awaits at which the code stands, the one that moved last first. */
  readonly parked: ReadonlyMap<number, readonly ParkedHere[]>;
}

export interface CodeFacts {
  file(path: string): FileFacts;
  /** Path and line of the await that moved last; undefined: no code stands anywhere. */
  readonly at: { readonly path: string; readonly line: number } | undefined;
  /** Of the files together; undefined: not recorded. */
  readonly ran: { readonly lines: number; readonly of: number } | undefined;
}

const NO_FILE: FileFacts = { hits: () => 0, canRun: () => false, values: () => [], parked: new Map() };
export const NO_FACTS: CodeFacts = { file: () => NO_FILE, at: undefined, ran: undefined };

/** A line of the code that is open. */
export interface LineAt {
  readonly path: string;
  readonly line: number;
}

/** The file of a set that a path or address of a stack frame means: the one with the longest common end. */
export function pathInSet(address: string, code: CodeSet): string | undefined {
  const wanted = address.replace(/[?#].*$/, "").split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  let best: string | undefined;
  let most = 0;
  for (const { path } of code.files) {
    const parts = path.split("/");
    let same = 0;
    while (same < parts.length && same < wanted.length && parts.at(-1 - same) === wanted.at(-1 - same)) same++;
    if (same > most) [best, most] = [path, same];
  }
  return best;
}

/** "function (file:line:column)" as a line of a set of files. */
export function lineOfSite(site: string, code: CodeSet): LineAt | undefined {
  const m = /\(?([^()\s]+?):(\d+)(?::\d+)?\)?$/.exec(site);
  const path = m === null ? undefined : pathInSet(m[1]!, code);
  return path === undefined ? undefined : { path, line: Number(m![2]) };
}
