// Opens histories from files, text, addresses and samples. All of them end in `openBytes`. The
// content stays in this tab.
import { batch } from "@preact/signals";
import { HistoryFileError } from "temporalex/debug";
import { historiesIn } from "../../../ts/history_files/history_file.ts";
import { keep } from "../store/kept.ts";
import { notify } from "../store/notices.ts";
import { readRun } from "../store/run_model.ts";
import {
  addRun,
  currentRun,
  intro,
  makeRun,
  openedRuns,
  type OpenRun,
  showRun,
} from "../store/state.ts";

/** In bytes. Servers limit a history to less. */
const LARGEST = 256 * 1024 * 1024;
const HOW =
  "Histories are exported by `temporal workflow show --output json`, by Download in Temporal's UI, and by `temporalex workflow show --output json`.";

export interface OpenOptions {
  /** Default: a digest of the bytes. */
  readonly key?: string;
  /** The event to start at. Default: `firstPosition` of the run. */
  readonly at?: number;
  /** Whether the run becomes the current one. Default: true. */
  readonly show?: boolean;
  /**
   * Whether the run is added to the list of opened runs. Default: true; false for the sample of the
   * first screen.
   */
  readonly listed?: boolean;
}

/**
 * Opens the histories of a file and makes the first one the current run. Without a history a notice
 * is shown and undefined returned.
 */
export async function openBytes(
  name: string,
  bytes: Uint8Array,
  options: OpenOptions = {},
): Promise<OpenRun | undefined> {
  try {
    const histories = await historiesIn(bytes);
    if (histories.length === 1) return await openOne(name, bytes, options);
    const opened: OpenRun[] = [];
    for (const { place, read } of histories) {
      const one = `${name}, ${place}`;
      const run = await refusing(
        one,
        () => openOne(one, bytesOf(one, () => read().bytes), { ...options, show: false }),
      );
      if (run !== undefined) opened.push(run);
    }
    if (options.show !== false && opened[0] !== undefined) show(opened[0], options.at);
    return opened[0];
  } catch (error) {
    return refused(name, error);
  }
}

async function refusing<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    return refused(name, error);
  }
}

function refused(name: string, error: unknown): undefined {
  if (!(error instanceof HistoryFileError)) throw error;
  notify({ title: `${name} cannot be opened:`, text: `${error.message}.`, advice: HOW });
  return undefined;
}

/**
 * Runs that are being opened, by key: the first screen and an address can ask for the same run at
 * the same time.
 */
const opening = new Map<string, Promise<OpenRun>>();

async function openOne(name: string, bytes: Uint8Array, options: OpenOptions): Promise<OpenRun> {
  const { at, show: shown = true, listed = true } = options;
  const key = options.key ?? await digest(bytes);
  const known = [...openedRuns.value, currentRun.value].find((known) => known?.key === key);
  const made = known === undefined
    ? opening.get(key) ?? readUpToGap(key, name, bytes)
    : Promise.resolve(known);
  opening.set(key, made);
  try {
    const run = await made;
    if (listed) addRun(run);
    if (!run.key.startsWith("sample:")) void keep(run.key, name, bytes);
    await takeSampleCode(run);
    if (shown) show(run, at);
    return run;
  } finally {
    opening.delete(key);
  }
}

/** If events are missing, opens the events before the gap and shows a notice. */
async function readUpToGap(key: string, name: string, bytes: Uint8Array): Promise<OpenRun> {
  try {
    return makeRun(key, name, bytes, await readRun(bytes));
  } catch (error) {
    const before = beforeGap(name, error);
    return makeRun(key, name, before, await readRun(before));
  }
}

function bytesOf(name: string, read: () => Uint8Array): Uint8Array {
  try {
    return read();
  } catch (error) {
    return beforeGap(name, error);
  }
}

function beforeGap(name: string, error: unknown): Uint8Array {
  if (!(error instanceof HistoryFileError) || error.before === undefined) throw error;
  const text = `${error.message}. Only the events before the gap are shown.`;
  notify({
    title: `${name} is damaged:`,
    text,
    advice: "Export the history again to see the whole run.",
  });
  return error.before;
}

function show(run: OpenRun, at: number | undefined): void {
  batch(() => {
    intro.value = false;
    showRun(run, at);
  });
  document.getElementById("main")?.focus({ preventScroll: true });
}

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Runs user input in order: code that is dropped just after a history belongs to that history, even
 * if reading takes long.
 */
export function inTurn(take: () => Promise<unknown>): void {
  lastTurn = lastTurn.then(take).catch(reportError);
}

/** Files of a drop or of the file dialog, all at once. The first that holds a history is shown. */
export async function openFiles(files: Iterable<File>): Promise<void> {
  let isFirst = true;
  for (const file of files) {
    if (file.size > LARGEST) {
      const mebibytes = Math.round(file.size / 1024 / 1024);
      notify({
        title: `${file.name} cannot be opened:`,
        text: `it has ${mebibytes} MiB; the limit is ${LARGEST / 1024 / 1024} MiB.`,
      });
      continue;
    }
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      notify({
        title: `${file.name} cannot be read:`,
        text: (error as Error).message,
        advice: "Folders are opened as code.",
      });
      continue;
    }
    if (await openBytes(file.name, bytes, { show: isFirst }) !== undefined) isFirst = false;
  }
}

/** Text from the clipboard. */
export const openText = async (text: string): Promise<OpenRun | undefined> =>
  await openBytes(pastedName(), new TextEncoder().encode(text));

const pastedName = () =>
  `pasted ${openedRuns.value.filter(({ name }) => name.startsWith("pasted")).length + 1}`;

/**
 * A history at an address of this page's own origin (`#history=...`): the page's policy allows no
 * other.
 */
export async function openAddress(address: string): Promise<OpenRun | undefined> {
  const name = address.split(/[?#]/)[0]!.split("/").at(-1) || address;
  try {
    const url = new URL(address, document.baseURI);
    if (url.origin !== location.origin) {
      const advice = "Save the file and drop it here, or start `temporalex debug FILE`.";
      notify({
        title: `${address} was not fetched:`,
        text: "this page sends no requests to other origins.",
        advice,
      });
      return undefined;
    }
    const response = await fetch(url);
    if (!response.ok) {
      throw new Error(`the server responded ${response.status} ${response.statusText}`);
    }
    return await openBytes(name, new Uint8Array(await response.arrayBuffer()));
  } catch (error) {
    notify({ title: `${address} cannot be fetched:`, text: `${(error as Error).message}.` });
    return undefined;
  }
}

/** The first 8 bytes of the SHA-256, in hex: short enough for an address. */
async function digest(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(
    await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>),
  );
  return [...hash.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Attaches the code of the samples without asking: it is part of this page. */
async function takeSampleCode(run: OpenRun): Promise<void> {
  const [{ sampleCode }, { putCode }] = await Promise.all([
    import("../realm/samples.ts"),
    import("../realm/run_code.ts"),
  ]);
  const code = sampleCode(run.model.facts.type);
  if (code === undefined || run.code.peek() !== undefined) return;
  putCode(run, code);
}
