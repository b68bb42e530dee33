// Breakpoints outlive a reload: they are kept for the tab, by the name of the file, as its storage keeps the list of opened runs. Only what the
// reader set is kept, nothing of a run.
import { effect } from "@preact/signals";
import { type Breakpoint, breakpoints, restoreBreakpoints } from "./breakpoints.ts";

const KEY = "temporalex.breakpoints";
const MOST = 200;
const KINDS: readonly unknown[] = ["line", "event", "command", "when"] satisfies Breakpoint["kind"][];

/** Takes up what was kept, then keeps each change. Returns what ends that. */
export function keepBreakpoints(storage: () => Pick<Storage, "getItem" | "setItem">): () => void {
  // Storage is refused where a reader forbids it; breakpoints then last as long as the page.
  try {
    restoreBreakpoints(parseBreakpoints(storage().getItem(KEY)));
  } catch {
    return () => {};
  }
  return effect(() => {
    const kept = breakpoints.value.slice(-MOST).map(({ kind, path, line, text, isOn }) => ({ kind, path, line, text, isOn }));
    try {
      storage().setItem(KEY, JSON.stringify(kept));
    } catch {
      // It is full: they last as long as the page.
    }
  });
}

/** Other versions of the page may have written it: what is no breakpoint is left out. */
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
  return KINDS.includes(kind) && typeof path === "string" && Number.isInteger(line) && typeof text === "string" &&
    typeof isOn === "boolean";
}
