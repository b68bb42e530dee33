// Opens the first run of the page: from the address, from this tab before a reload, or a sample
// that plays on the first screen.
import { batch, effect } from "@preact/signals";
import { openAddress, openBytes, type OpenOptions } from "./open_history.ts";
import { keptHistory } from "../store/kept.ts";
import { notify } from "../store/notices.ts";
import {
  addRun,
  currentRun,
  intro,
  openedRuns,
  type OpenRun,
  playing,
  room,
  showRun,
} from "../store/state.ts";

const TAB = "temporalex.open";
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/** Opens a sample by its id. Resolves with undefined for an unknown id. */
export async function openSample(
  id: string,
  options: OpenOptions = {},
): Promise<OpenRun | undefined> {
  const { samples } = await import("../realm/sample_histories.ts");
  const sample = samples.find((known) => known.id === id);
  if (sample === undefined) return undefined;
  return await openBytes(`${sample.name} (sample)`, new TextEncoder().encode(sample.text), {
    ...options,
    key: `sample:${id}`,
  });
}

/** Opens a stored history with its code. Resolves with false if it is not stored. */
async function reopen(key: string): Promise<boolean> {
  const found = await keptHistory(key);
  if (found === undefined) return false;
  const run = await openBytes(found.name, found.bytes, { key, show: false });
  if (run === undefined) return false;
  await (await import("../realm/run_code.ts")).restoreCode(run);
  return true;
}

/** Opens the run of a key in the address. Resolves with whether the run is open. */
export async function findRun(key: string): Promise<boolean> {
  if (key.startsWith("sample:")) {
    return await openSample(key.slice("sample:".length), { show: false }) !== undefined;
  }
  if (await reopen(key)) return true;
  notify({
    title: "The history of this link is not in this browser.",
    text: "It was opened in another browser, or has been deleted since.",
    advice: "Open the file again.",
  });
  return false;
}

/** Opens the runs that this tab had open before a reload, except the run of the address. */
export async function openTabsRuns(): Promise<void> {
  let keys: readonly string[] = [];
  try {
    keys = JSON.parse(sessionStorage.getItem(TAB) ?? "[]") as string[];
  } catch {
    // Storage is blocked or holds something else: start with an empty list.
  }
  for (const key of keys) {
    if (openedRuns.value.some((run) => run.key === key)) continue;
    if (key.startsWith("sample:")) await openSample(key.slice("sample:".length), { show: false });
    else await reopen(key);
  }
}

/** Stores the tab's list of runs on each change, for a reload. */
export function keepTabsRuns(): void {
  effect(() => {
    const keys = openedRuns.value.map(({ key }) => key);
    try {
      sessionStorage.setItem(TAB, JSON.stringify(keys));
    } catch {
      // Storage is blocked: the list is lost on reload.
    }
  });
}

/**
 * Opens `#history=ADDRESS` (a file to fetch) or `#zip=...` (a history in the address, with its
 * position in `e` and its code in `code`). Resolves with false for other forms.
 */
export async function openFromAddress(): Promise<boolean> {
  const [, form, text] = /^#(history|zip)=(.+)$/s.exec(location.hash) ?? [];
  if (form === undefined) return false;
  history.replaceState(null, "", location.pathname + location.search);
  if (form === "history") await openAddress(decodeURIComponent(text!));
  else {
    try {
      const { readHistoryLink } = await import("./history_link.ts");
      const { history, at, code } = await readHistoryLink(text!);
      const run = await openBytes("history of a link", history, at === undefined ? {} : { at });
      if (run !== undefined && code !== undefined) {
        const [{ putCode }, { codeSet }] = await Promise.all([
          import("../realm/run_code.ts"),
          import("../store/code_set.ts"),
        ]);
        putCode(run, codeSet({ ...code, origin: "link" }));
      }
    } catch (error) {
      const advice = "Ask the sender for a new link, or for the file.";
      notify({
        title: "The history of this link cannot be opened:",
        text: `${(error as Error).message}.`,
        advice,
      });
    }
  }
  return true;
}

/**
 * Shows the first screen while no run is open. With reduced motion the sample does not play: the
 * middle of the run is shown.
 */
export function watchFirstScreen(): void {
  effect(() => {
    if (room.value === "open" && currentRun.value === undefined) void startIntro("shopping_cart");
  });
}

/** Starts a sample on the first screen. */
export async function startIntro(id: string): Promise<void> {
  intro.value = true;
  const run = await openSample(id, { show: false, listed: false });
  if (run === undefined || !intro.value) return;
  showRun(run, reduced.matches ? Math.ceil(run.model.lines.length * 0.6) : 1);
  playing.value = !reduced.matches;
}

/** Leaves the first screen: the run is opened at the current position. */
export function endIntro(): void {
  if (!intro.value) return;
  batch(() => {
    playing.value = false;
    intro.value = false;
    if (currentRun.value !== undefined) addRun(currentRun.value);
  });
}
