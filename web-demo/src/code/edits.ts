// The reader's edits: the changed lines compared with the code as it was opened, and the undo.
import { type Signal, signal } from "@preact/signals";
import type { OpenRun } from "../store/state.ts";
import { type CodeSet, withText } from "../store/code_set.ts";

const originals: Signal<ReadonlyMap<OpenRun, CodeSet>> = signal<ReadonlyMap<OpenRun, CodeSet>>(
  new Map(),
);

/** The code as it was opened; undefined if it is not edited. */
export const originalCode = (run: OpenRun): CodeSet | undefined => originals.value.get(run);

/** Replaces the text of a file of the run's code. The code is replayed immediately. */
export function editFile(run: OpenRun, path: string, text: string): void {
  const code = run.code.peek();
  const file = code?.files.find((one) => one.path === path);
  if (code === undefined || file === undefined || file.text === text) return;
  const original = originals.peek().get(run) ?? code;
  const edited = withText(code, path, text);
  const isAsOpened = edited.files.every((one) =>
    original.files.find(({ path }) => path === one.path)?.text === one.text
  );
  const next = new Map(originals.peek());
  if (isAsOpened) next.delete(run);
  else next.set(run, original);
  originals.value = next;
  run.code.value = isAsOpened ? original : edited;
}

/** Restores the code as it was opened. */
export function undoEdits(run: OpenRun): void {
  const original = originals.peek().get(run);
  if (original === undefined) return;
  originals.value = new Map([...originals.peek()].filter(([key]) => key !== run));
  run.code.value = original;
}

export interface EditSize {
  readonly added: number;
  readonly removed: number;
  /** Lines of the newer text that are new, from 1. */
  readonly lines: ReadonlySet<number>;
}

/**
 * In lines. The middle of a larger change counts as one change, because alignment costs the product
 * of both lengths.
 */
const MOST = 2_000;

/** Added and removed lines between two texts. */
export function editSize(before: string, after: string): EditSize {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (
    tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)
  ) tail++;
  const [gone, come] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  const isKept = gone.length > MOST || come.length > MOST
    ? come.map(() => false)
    : keptLines(gone, come);
  const lines = new Set(come.flatMap((_, i) => isKept[i] ? [] : [head + i + 1]));
  const kept = come.length - lines.size;
  return { added: lines.size, removed: gone.length - kept, lines };
}

/** Which of the newer lines are part of the longest common subsequence. */
function keptLines(old: readonly string[], now: readonly string[]): boolean[] {
  const width = now.length + 1;
  const best = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      best[i * width + j] = old[i] === now[j]
        ? best[(i + 1) * width + j + 1]! + 1
        : Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!);
    }
  }
  const kept = now.map(() => false);
  for (let i = 0, j = 0; i < old.length && j < now.length;) {
    if (old[i] === now[j]) {
      kept[j] = true;
      i++;
      j++;
    } else if (best[(i + 1) * width + j]! >= best[i * width + j + 1]!) i++;
    else j++;
  }
  return kept;
}

/** "+1 line", "+2 −1 lines"; "" where nothing changed. */
export function editText({ added, removed }: EditSize): string {
  const parts = [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`−${removed}`] : [])];
  return parts.length === 0 ? "" : `${parts.join(" ")} ${added + removed === 1 ? "line" : "lines"}`;
}
