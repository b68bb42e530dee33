// Applies a proposed repair to the code of an open run. The changed lines are part of the
// divergence.
import type { Divergence } from "../../../ts/debug/divergence/types.ts";
import type { OpenRun } from "../store/state.ts";
import { editFile } from "./edits.ts";
import { frameLine } from "./view_facts.ts";

interface Repaired {
  readonly path: string;
  readonly text: string;
}

function repaired(run: OpenRun, { repair }: Divergence): Repaired | undefined {
  const code = run.code.value;
  if (code === undefined || repair?.changes === undefined) return undefined;
  const path = frameLine(repair.location, code)?.path;
  const text = code.files.find((file) => file.path === path)?.text;
  if (path === undefined || text === undefined) return undefined;
  const lines = text.split("\n");
  for (const { first, last, lines: by } of repair.changes) {
    lines.splice(first - 1, last - first + 1, ...by);
  }
  return { path, text: lines.join("\n") };
}

/** Whether the page can apply the repair. Otherwise the reader can copy it. */
export const canPutIn = (run: OpenRun, divergence: Divergence): boolean =>
  repaired(run, divergence) !== undefined;

/** Edits the code, which is replayed immediately. */
export function putIn(run: OpenRun, divergence: Divergence): void {
  const next = repaired(run, divergence);
  if (next !== undefined) editFile(run, next.path, next.text);
}
