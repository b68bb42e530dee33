// Keeps breakpoints over a reload: they are in the tab's session storage, by file name. Only
// settings of the reader are stored, no data of a run.
import { effect } from "@preact/signals";
import { type Breakpoint, breakpoints, restoreBreakpoints } from "./breakpoints.ts";

const KEY = "temporalex.breakpoints";
const MOST = 200;
const KINDS: readonly unknown[] = [
  "line",
  "event",
  "command",
  "when",
] satisfies Breakpoint["kind"][];

/** Restores stored breakpoints, then stores each change. Returns a function that stops it. */
export function keepBreakpoints(storage: () => Pick<Storage, "getItem" | "setItem">): () => void {
  // Storage can be blocked by the browser. Breakpoints then last until the page is closed.
  try {
    restoreBreakpoints(parseBreakpoints(storage().getItem(KEY)));
  } catch {
    return () => {};
  }
  return effect(() => {
    const kept = breakpoints.value.slice(-MOST).map(({ kind, path, line, text, isOn }) => ({
      kind,
      path,
      line,
      text,
      isOn,
    }));
    try {
      storage().setItem(KEY, JSON.stringify(kept));
    } catch {
      // The storage is full: breakpoints last until the page is closed.
    }
  });
}

/** Skips invalid entries, for example of another version of the page. */
function parseBreakpoints(json: string | null): Omit<Breakpoint, "id">[] {
  let all: unknown;
  try {
    all = JSON.parse(json ?? "[]");
  } catch {
    return [];
  }
  return Array.isArray(all) ? all.filter(isBreakpoint) : [];
}

function isBreakpoint(one: unknown): one is Omit<Breakpoint, "id"> {
  if (typeof one !== "object" || one === null) return false;
  const { kind, path, line, text, isOn } = one as { readonly [name: string]: unknown };
  return KINDS.includes(kind) && typeof path === "string" && Number.isInteger(line) &&
    typeof text === "string" &&
    typeof isOn === "boolean";
}
