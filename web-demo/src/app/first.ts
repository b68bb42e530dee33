// What is open when the page is: the run of the address, the runs of this tab before a reload, or the first screen with a sample that plays.
import { batch, effect } from "@preact/signals";
import { openAddress, openBytes, type OpenOptions } from "./doors.ts";
import { keptHistory } from "./kept.ts";
import { notify } from "./notices.ts";
import { addRun, currentRun, intro, openedRuns, type OpenRun, playing, room, showRun } from "./state.ts";

const TAB = "temporalex.open";
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/** Opens a sample by its id; undefined: there is none. */
export async function openSample(id: string, options: OpenOptions = {}): Promise<OpenRun | undefined> {
  const { samples } = await import("../realm/sample_histories.ts");
  const sample = samples.find((known) => known.id === id);
  if (sample === undefined) return undefined;
  return await openBytes(`${sample.name} (sample)`, new TextEncoder().encode(sample.text), { ...options, key: `sample:${id}` });
}

/** Opens the run that an address names. Returns whether it is open now. */
export async function findRun(key: string): Promise<boolean> {
  if (key.startsWith("sample:")) return await openSample(key.slice("sample:".length), { show: false }) !== undefined;
  const found = await keptHistory(key);
  if (found !== undefined) return await openBytes(found.name, found.bytes, { key, show: false }) !== undefined;
  notify({
    title: "The history of this link is not in this browser.",
    text: "It was opened elsewhere, or forgotten since.",
    advice: "Open its file again.",
  });
  return false;
}

/** The runs that this tab had open before it was loaded again, without the one that the address names. */
export async function openTabsRuns(): Promise<void> {
  let keys: readonly string[] = [];
  try {
    keys = JSON.parse(sessionStorage.getItem(TAB) ?? "[]") as string[];
  } catch {
    // Storage is refused, or holds something else: the list starts again.
  }
  for (const key of keys) {
    if (openedRuns.value.some((run) => run.key === key)) continue;
    if (key.startsWith("sample:")) await openSample(key.slice("sample:".length), { show: false });
    else {
      const found = await keptHistory(key);
      if (found !== undefined) await openBytes(found.name, found.bytes, { key, show: false });
    }
  }
}

/** From now on the tab's list of runs is kept for a reload. */
export function keepTabsRuns(): void {
  effect(() => {
    const keys = openedRuns.value.map(({ key }) => key);
    try {
      sessionStorage.setItem(TAB, JSON.stringify(keys));
    } catch {
      // The list lasts as long as the page.
    }
  });
}

/** `#history=ADDRESS` opens what is there, `#zip=...` the history that the address holds. Returns whether the address is of such a form. */
export async function openFromAddress(): Promise<boolean> {
  const [, form, text] = /^#(history|zip)=(.+)$/s.exec(location.hash) ?? [];
  if (form === undefined) return false;
  history.replaceState(null, "", location.pathname + location.search);
  if (form === "history") await openAddress(decodeURIComponent(text!));
  else {
    try {
      const { historyOfLink } = await import("./history_link.ts");
      await openBytes("history of a link", await historyOfLink(text!));
    } catch (error) {
      const advice = "Ask for the link again, or for a file.";
      notify({ title: "The history of this link cannot be opened:", text: `${(error as Error).message}.`, advice });
    }
  }
  return true;
}

/** Where no run is open the first screen is, with a sample that plays. With reduced motion it stands still, in the middle of the run. */
export function watchFirstScreen(): void {
  effect(() => {
    if (room.value === "open" && currentRun.value === undefined) void startIntro("shopping_cart");
  });
}

/** Shows a sample on the first screen. */
export async function startIntro(id: string): Promise<void> {
  intro.value = true;
  const run = await openSample(id, { show: false, listed: false });
  if (run === undefined || !intro.value) return;
  showRun(run, reduced.matches ? Math.ceil(run.model.lines.length * 0.6) : 1);
  playing.value = !reduced.matches;
}

/** The reader takes over: the same run, in full, where it stands. */
export function endIntro(): void {
  if (!intro.value) return;
  batch(() => {
    playing.value = false;
    intro.value = false;
    if (currentRun.value !== undefined) addRun(currentRun.value);
  });
}
