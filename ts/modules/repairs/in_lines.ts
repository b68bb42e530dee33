// The repair of a divergence in the user's own lines: the step that is new behind a patch, the way of old beside the new one. Where the text
// does not allow it without a guess, the repair stays as it was: code with a place to fill in.
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

/** The text at a path of a location; undefined: it is not to be had. */
export type SourceOf = (path: string) => SourceText | undefined;

interface Proposal {
  readonly statement: StatementAt;
  /** The lines that stand in its place, without indent on the first; "${patched}" is the module's name for `patched`. */
  readonly code: string;
  /** How many statements of its list it stands for. */
  readonly statements: number;
  /** Values are to be filled in: it is there to be copied, not to be put in. */
  readonly unfinished?: boolean;
}

const MAX_TEXT = 2_000_000;

/** The divergence with its repair in the user's lines; as it was where that cannot be. */
export async function repairedInLines(divergence: Divergence, sourceOf: SourceOf): Promise<Divergence> {
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

/** The module with a repair applied; undefined where its text is not to be had. */
export function changedText({ changes = [], location }: Repair, sourceOf: SourceOf): SourceText | undefined {
  const source = sourceOf(pathOf(location));
  if (source === undefined) return undefined;
  const lines = source.text.split("\n");
  for (const { first, last, lines: by } of changes) lines.splice(first - 1, last - first + 1, ...by);
  return { url: source.url, text: lines.join("\n") };
}

/** These repairs keep the recorded step as the old way. */
const KEEPS_OLD: ReadonlySet<Divergence["edit"]["kind"]> = new Set(["renamed", "changedKind", "removed"]);
const NAMED: ReadonlySet<Step["kind"]> = new Set(["activity", "localActivity", "child", "signal", "transact"]);

/** The code has the recorded step further on: a run that takes the old way would come to it a second time. */
function wouldRepeat(text: ParsedText, { edit, first, following, location }: Divergence): boolean {
  const { history: old, code: now } = first;
  if (!KEEPS_OLD.has(edit.kind) || old === undefined || old.name === "" || !NAMED.has(old.kind)) return false;
  // A run that has ended was replayed to its end with the edit undone.
  if (following === "end") return false;
  const line = lineOf(now?.site || location);
  return text.callsAfter(line, old.name);
}

/** Without a claim that was not proven; `repair`: what is still offered. */
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

/** Of these the line of the command that differs is not the one to change. */
const AT_LOCATION: ReadonlySet<Divergence["edit"]["kind"]> = new Set(["endedEarly", "patchRenamed"]);

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
  const last = statements === 1 ? statement : text.statement(statement.among, statement.index + statements - 1);
  if (last === undefined) return undefined;
  const { indent } = statement;
  const before = statement.before.trim() === "" ? [] : [statement.before.trimEnd()];
  const behind = last.behind.trim() === "" ? [] : [`${indent}${last.behind.trim()}`];
  const change: LineChange = {
    first: statement.first,
    last: last.last,
    lines: [...before, ...`${indent}${lines}`.split("\n"), ...behind],
  };
  // From the end on, so that each leaves the lines of the others where they are.
  const changes = api.added === undefined ? [change] : [change, api.added];
  return { ...repair, code: shown, location: siteOf(divergence), changes: changes.sort((a, b) => b.first - a.first) };
}

/** As it is shown: without the indent of its place. */
const unindented = (text: string, indent: string): string =>
  text.split("\n").map((line) => line.startsWith(indent) ? line.slice(indent.length) : line).join("\n");

function proposed(text: ParsedText, divergence: Divergence, { patchId }: Repair): Proposal | undefined {
  const { edit, first, location } = divergence;
  const { history: old, code: now } = first;
  const own = now === undefined || now.site === "" ? undefined : text.statementAt(lineOf(now.site), makes(text, now));
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
      return here && { statement: here, code: `${isPatched};\n${here.indent}${here.text}`, statements: 1 };
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

function bothNames(statement: StatementAt, isPatched: string, old: Step, now: Step): Proposal | undefined {
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
  return { statement, code: declared + branches(isPatched, indent, [moved.text], [before]), statements: 1 };
}

/** The step that history has first comes next in the code. */
function bothOrders(text: ParsedText, statement: StatementAt, isPatched: string, old: Step): Proposal | undefined {
  const next = text.statement(statement.among, statement.index + 1);
  if (next === undefined) return undefined;
  const again = text.statementAt(next.first, makes(text, old));
  if (again?.isAll !== true || again.node !== next.node) return undefined;
  const [a, b] = [movable(statement), movable(next)];
  if (a === undefined || b === undefined) return undefined;
  const uses = (names: readonly string[], other: string) => names.some((name) => withName(other, name, "") !== undefined);
  // One that needs what the other gives cannot have come first.
  if (uses(a.names, b.text) || uses(b.names, a.text)) return undefined;
  const { indent } = statement;
  const declared = [a.declared, b.declared].filter((one) => one !== "").map((one) => `${one}\n${indent}`).join("");
  return { statement, code: declared + branches(isPatched, indent, [a.text, b.text], [b.text, a.text]), statements: 2 };
}

/** The new way as it is, the old one by the module's own proxy: its values are to be filled in. */
function beside(text: ParsedText, statement: StatementAt, isPatched: string, old: Step): Proposal | undefined {
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

function asBefore(text: ParsedText, statement: StatementAt, isPatched: string, gone: Step): Proposal | undefined {
  const call = findCall(text, gone);
  if (call === undefined) return undefined;
  const { indent } = statement;
  const old = branches(`!${isPatched}`, indent, [call.code]);
  // Before the step that the code comes to instead.
  const code = call.unfinished ? old : `${old}\n${indent}${statement.text}`;
  return { statement, code, statements: 1, unfinished: call.unfinished };
}

/** `return` for new runs alone, in an `if` of its own or not. */
function endBehindPatch(statement: StatementAt | undefined, isPatched: string): Proposal | undefined {
  if (statement === undefined) return undefined;
  const { node, indent, text } = statement;
  const isEnd = isReturn(node) || (node.type === "IfStatement" && node.alternate == null && endsAtOnce(node.consequent));
  // Behind a `return` that every run comes to there is nothing to go on with.
  if (!isEnd || (isReturn(node) && statement.index === statement.among.length - 1)) return undefined;
  return { statement, code: branches(isPatched, indent, [text]), statements: 1 };
}

const endsAtOnce = (node: StatementAt["node"]): boolean =>
  isReturn(node) || (node.type === "BlockStatement" && node.body.length > 0 && isReturn(node.body.at(-1)!));

function anotherId(statement: StatementAt | undefined, patchId: string): Proposal | undefined {
  const code = statement?.text.replace(
    /\b((?:deprecatePatch|patched)\(\s*)(["'])[^"']*\2/,
    (_, call) => `${call}${JSON.stringify(patchId)}`,
  );
  return statement === undefined || code === undefined || code === statement.text
    ? undefined
    : { statement, code, statements: 1 };
}
