// Applies the repair of a divergence to the user's lines: the new step after a patch, the old one
// in the other branch. If the text does not determine the edit, the repair stays code with a
// placeholder.
import type { Divergence, LineChange, Repair, Step } from "../../debug/divergence/types.ts";
import { loadSucrase, needsSucrase } from "../loader/strip.ts";
import { branches, isReturn, movable, withName } from "./forms.ts";
import { apiName, findCall, isPatchCall, makes } from "./names.ts";
import { ParsedText, type StatementAt } from "./parsed_text.ts";

/** A module of the code. */
export interface SourceText {
  readonly url: string;
  readonly text: string;
}

/** Returns the text of the file at a path of a location; undefined if it is unavailable. */
export type SourceOf = (path: string) => SourceText | undefined;

interface Proposal {
  readonly statement: StatementAt;
  /**
   * The replacing lines, the first without indent. "${patched}" is the module's name for `patched`.
   */
  readonly code: string;
  /** Number of statements of the list that it replaces. */
  readonly statements: number;
  /** True if values must be filled in: the code is for copying, and is not applied. */
  readonly unfinished?: boolean;
}

const MAX_TEXT = 2_000_000;

/** Returns the divergence with its repair in the user's lines; unchanged if that is impossible. */
export async function repairedInLines(
  divergence: Divergence,
  sourceOf: SourceOf,
): Promise<Divergence> {
  const { repair } = divergence;
  if (repair === undefined || repair.patchId === "") return divergence;
  const source = sourceOf(pathOf(siteOf(divergence)));
  if (source === undefined || source.text.length > MAX_TEXT) return divergence;
  try {
    if (needsSucrase(source.url)) await loadSucrase();
    const text = new ParsedText(source.url, source.text);
    if (wouldRepeat(text, divergence)) return unverified(divergence, undefined);
    const inLines = repairOf(text, divergence, repair);
    if (KEEPS_OLD.has(divergence.edit.kind) && divergence.following === "nothing") {
      const { changes: _, ...shown } = inLines ?? repair;
      return unverified(divergence, shown);
    }
    return inLines === undefined ? divergence : { ...divergence, repair: inLines };
  } catch {
    // The text has changed since it was loaded, and does not parse.
    return divergence;
  }
}

/** Returns the module with a repair applied; undefined if its text is unavailable. */
export function changedText(
  { changes = [], location }: Repair,
  sourceOf: SourceOf,
): SourceText | undefined {
  const source = sourceOf(pathOf(location));
  if (source === undefined) return undefined;
  const lines = source.text.split("\n");
  for (const { first, last, lines: by } of changes) {
    lines.splice(first - 1, last - first + 1, ...by);
  }
  return { url: source.url, text: lines.join("\n") };
}

/** Repairs of these kinds keep the recorded step in the old branch. */
const KEEPS_OLD: ReadonlySet<Divergence["edit"]["kind"]> = new Set([
  "renamed",
  "changedKind",
  "removed",
]);
const NAMED: ReadonlySet<Step["kind"]> = new Set([
  "activity",
  "localActivity",
  "child",
  "signal",
  "transact",
]);

/**
 * Whether the code has the recorded step further on: a run in the old branch would reach it a
 * second time.
 */
function wouldRepeat(text: ParsedText, { edit, first, following, location }: Divergence): boolean {
  const { history: old, code: now } = first;
  if (!KEEPS_OLD.has(edit.kind) || old === undefined || old.name === "" || !NAMED.has(old.kind)) {
    return false;
  }
  // A closed run was replayed to its end with the edit undone.
  if (following === "end") return false;
  const line = lineOf(now?.site || location);
  return text.callsAfter(line, old.name);
}

/** Removes the claim that the repair is verified. `repair`: the repair that is still offered. */
export function unverified(divergence: Divergence, repair: Repair | undefined): Divergence {
  const { edit, sentence } = divergence;
  const isClaimed = edit.confidence === "verified";
  return {
    ...divergence,
    edit: isClaimed ? { ...edit, confidence: "likely" } : edit,
    sentence: isClaimed ? sentence.replace(/\.$/, "?") : sentence,
    repair,
  };
}

/** For these kinds the line to change is not that of the differing command. */
const AT_LOCATION: ReadonlySet<Divergence["edit"]["kind"]> = new Set([
  "endedEarly",
  "patchRenamed",
]);

const siteOf = ({ edit, first, location }: Divergence): string =>
  AT_LOCATION.has(edit.kind) ? location : first.code?.site || location;

const PLACE = /^(?:.* \()?(.*?):(\d+):\d+\)?$/;
const pathOf = (site: string): string => PLACE.exec(site)?.[1] ?? "";
const lineOf = (site: string): number => Number(PLACE.exec(site)?.[2] ?? 0);

function repairOf(text: ParsedText, divergence: Divergence, repair: Repair): Repair | undefined {
  const proposal = proposed(text, divergence, repair);
  if (proposal === undefined) return undefined;
  const { statement, code, statements, unfinished = false } = proposal;
  const api = apiName(text, divergence.edit.kind === "patchRemoved" ? "deprecatePatch" : "patched");
  const lines = code.replaceAll("${patched}", () => api.name);
  const shown = unindented(`${statement.indent}${lines}`, statement.indent);
  if (unfinished) return { ...repair, code: shown };
  const last = statements === 1
    ? statement
    : text.statement(statement.among, statement.index + statements - 1);
  if (last === undefined) return undefined;
  const { indent } = statement;
  const before = statement.before.trim() === "" ? [] : [statement.before.trimEnd()];
  const behind = last.behind.trim() === "" ? [] : [`${indent}${last.behind.trim()}`];
  const change: LineChange = {
    first: statement.first,
    last: last.last,
    lines: [...before, ...`${indent}${lines}`.split("\n"), ...behind],
  };
  // From the last change to the first, so that each keeps the lines of the others.
  const changes = api.added === undefined ? [change] : [change, api.added];
  return {
    ...repair,
    code: shown,
    location: siteOf(divergence),
    changes: changes.sort((a, b) => b.first - a.first),
  };
}

/** Returns the text for display, without the indent of its place. */
const unindented = (text: string, indent: string): string =>
  text.split("\n").map((line) => line.startsWith(indent) ? line.slice(indent.length) : line).join(
    "\n",
  );

function proposed(
  text: ParsedText,
  divergence: Divergence,
  { patchId }: Repair,
): Proposal | undefined {
  const { edit, first, location } = divergence;
  const { history: old, code: now } = first;
  const own = now === undefined || now.site === ""
    ? undefined
    : text.statementAt(lineOf(now.site), makes(text, now));
  const isPatched = `\${patched}(${JSON.stringify(patchId)})`;
  switch (edit.kind) {
    case "inserted":
    case "endedLate":
      return own?.isAll === true ? behindPatch(own, isPatched) : undefined;
    case "renamed":
      return own && old && now && bothNames(own, isPatched, old, now);
    case "reordered":
      return own?.isAll === true && old ? bothOrders(text, own, isPatched, old) : undefined;
    case "changedKind":
      return own?.isAll === true && old ? beside(text, own, isPatched, old) : undefined;
    case "removed": {
      const here = own ?? text.beginsAt(lineOf(location));
      return here && old && asBefore(text, here, isPatched, old);
    }
    case "endedEarly":
      return endBehindPatch(text.beginsAt(lineOf(location)), isPatched);
    case "patchRenamed":
      return anotherId(text.statementAt(lineOf(location), isPatchCall), patchId);
    case "patchRemoved": {
      const here = own ?? text.beginsAt(lineOf(location));
      return here &&
        { statement: here, code: `${isPatched};\n${here.indent}${here.text}`, statements: 1 };
    }
    default:
      return undefined;
  }
}

function behindPatch(statement: StatementAt, isPatched: string): Proposal | undefined {
  const moved = movable(statement);
  if (moved === undefined) return undefined;
  const { indent } = statement;
  const declared = moved.declared === "" ? "" : `${moved.declared}\n${indent}`;
  return { statement, code: declared + branches(isPatched, indent, [moved.text]), statements: 1 };
}

function bothNames(
  statement: StatementAt,
  isPatched: string,
  old: Step,
  now: Step,
): Proposal | undefined {
  const { indent } = statement;
  if (isReturn(statement.node)) {
    const before = withName(statement.text, now.name, old.name);
    return before === undefined
      ? undefined
      : { statement, code: branches(isPatched, indent, [statement.text], [before]), statements: 1 };
  }
  const moved = movable(statement);
  const before = moved && withName(moved.text, now.name, old.name);
  if (moved === undefined || before === undefined) return undefined;
  const declared = moved.declared === "" ? "" : `${moved.declared}\n${indent}`;
  return {
    statement,
    code: declared + branches(isPatched, indent, [moved.text], [before]),
    statements: 1,
  };
}

/** The first step of history is the next one in the code: both orders. */
function bothOrders(
  text: ParsedText,
  statement: StatementAt,
  isPatched: string,
  old: Step,
): Proposal | undefined {
  const next = text.statement(statement.among, statement.index + 1);
  if (next === undefined) return undefined;
  const again = text.statementAt(next.first, makes(text, old));
  if (again?.isAll !== true || again.node !== next.node) return undefined;
  const [a, b] = [movable(statement), movable(next)];
  if (a === undefined || b === undefined) return undefined;
  const uses = (names: readonly string[], other: string) =>
    names.some((name) => withName(other, name, "") !== undefined);
  // If one needs the other's result, it cannot have come first.
  if (uses(a.names, b.text) || uses(b.names, a.text)) return undefined;
  const { indent } = statement;
  const declared = [a.declared, b.declared].filter((one) => one !== "").map((one) =>
    `${one}\n${indent}`
  ).join("");
  return {
    statement,
    code: declared + branches(isPatched, indent, [a.text, b.text], [b.text, a.text]),
    statements: 2,
  };
}

/**
 * Keeps the new branch as it is, and calls the old step by the module's proxy, with a placeholder
 * for its values.
 */
function beside(
  text: ParsedText,
  statement: StatementAt,
  isPatched: string,
  old: Step,
): Proposal | undefined {
  const call = findCall(text, old);
  const moved = movable(statement);
  if (call === undefined || moved === undefined) return undefined;
  const { indent } = statement;
  const [name] = moved.names;
  const before = name === undefined ? call.code : `${name} = ${call.code}`;
  const declared = moved.declared === "" ? "" : `${moved.declared}\n${indent}`;
  return {
    statement,
    code: declared + branches(isPatched, indent, [moved.text], [before]),
    statements: 1,
    unfinished: call.unfinished,
  };
}

function asBefore(
  text: ParsedText,
  statement: StatementAt,
  isPatched: string,
  gone: Step,
): Proposal | undefined {
  const call = findCall(text, gone);
  if (call === undefined) return undefined;
  const { indent } = statement;
  const old = branches(`!${isPatched}`, indent, [call.code]);
  // Before the step that the code reaches instead.
  const code = call.unfinished ? old : `${old}\n${indent}${statement.text}`;
  return { statement, code, statements: 1, unfinished: call.unfinished };
}

/** Returns from new runs only, in a separate `if` or not. */
function endBehindPatch(
  statement: StatementAt | undefined,
  isPatched: string,
): Proposal | undefined {
  if (statement === undefined) return undefined;
  const { node, indent, text } = statement;
  const isEnd = isReturn(node) ||
    (node.type === "IfStatement" && node.alternate == null && endsAtOnce(node.consequent));
  // After a `return` that every run reaches, no code is left to continue with.
  if (!isEnd || (isReturn(node) && statement.index === statement.among.length - 1)) {
    return undefined;
  }
  return { statement, code: branches(isPatched, indent, [text]), statements: 1 };
}

const endsAtOnce = (node: StatementAt["node"]): boolean =>
  isReturn(node) ||
  (node.type === "BlockStatement" && node.body.length > 0 && isReturn(node.body.at(-1)!));

function anotherId(statement: StatementAt | undefined, patchId: string): Proposal | undefined {
  const code = statement?.text.replace(
    /\b((?:deprecatePatch|patched)\(\s*)(["'])[^"']*\2/,
    (_, call) => `${call}${JSON.stringify(patchId)}`,
  );
  return statement === undefined || code === undefined || code === statement.text
    ? undefined
    : { statement, code, statements: 1 };
}
