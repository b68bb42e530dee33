// The doors through which histories come in: files, text, addresses, samples. All of them end in `openBytes`. What is read stays in this tab.
import { batch } from "@preact/signals";
import { HistoryFileError } from "temporalex/debug";
import { historiesIn } from "../../../ts/history_files/history_file.ts";
import { keep } from "./kept.ts";
import { notify } from "./notices.ts";
import { readRun } from "./run_model.ts";
import { addRun, currentRun, intro, makeRun, openedRuns, type OpenRun, showRun } from "./state.ts";

/** More than any server keeps in one history. */
const LARGEST = 256 * 1024 * 1024;
const HOW =
  "Histories are exported by `temporal workflow show --output json`, by Download in Temporal's UI, and by `temporalex workflow show --output json`.";

export interface OpenOptions {
  /** Default: a digest of the bytes. */
  readonly key?: string;
  /** The position to begin at. Default: where a run is shown first. */
  readonly at?: number;
  /** Whether it becomes the current run. Default: yes. */
  readonly show?: boolean;
  /** Whether it is in the list of opened runs. Default: yes; the first screen's sample is not. */
  readonly listed?: boolean;
}

/** Opens the histories of a file, and makes the first of them the current run. Undefined: it holds none, and a notice says why. */
export async function openBytes(name: string, bytes: Uint8Array, options: OpenOptions = {}): Promise<OpenRun | undefined> {
  try {
    const histories = await historiesIn(bytes);
    if (histories.length === 1) return await openOne(name, bytes, options);
    const opened: OpenRun[] = [];
    for (const { place, read } of histories) {
      const one = `${name}, ${place}`;
      const run = await refusing(one, () => openOne(one, bytesOf(one, () => read().bytes), { ...options, show: false }));
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

/** What is being opened, by key: the first screen and an address may ask for one run at once, and it must not be there twice. */
const opening = new Map<string, Promise<OpenRun>>();

async function openOne(name: string, bytes: Uint8Array, options: OpenOptions): Promise<OpenRun> {
  const { at, show: shown = true, listed = true } = options;
  const key = options.key ?? await digest(bytes);
  const known = [...openedRuns.value, currentRun.value].find((known) => known?.key === key);
  const made = known === undefined ? opening.get(key) ?? readUpToGap(key, name, bytes) : Promise.resolve(known);
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

/** Where events are missing, what is before them is opened, and it is said what is not. */
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
  const text = `${error.message}. What is before the gap is shown; how the run went on is not known.`;
  notify({ title: `${name} is damaged:`, text, advice: "Export it again for the whole." });
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

/** What comes in by hand is taken in its order: code that is dropped just after a history is for that history, however long its reading takes. */
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
        text: `it has ${mebibytes} MiB; a history may have ${LARGEST / 1024 / 1024}.`,
      });
      continue;
    }
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      notify({ title: `${file.name} cannot be read:`, text: (error as Error).message, advice: "A folder is opened as code." });
      continue;
    }
    if (await openBytes(file.name, bytes, { show: isFirst }) !== undefined) isFirst = false;
  }
}

/** Text from the clipboard. */
export const openText = async (text: string): Promise<OpenRun | undefined> =>
  await openBytes(pastedName(), new TextEncoder().encode(text));

const pastedName = () => `pasted ${openedRuns.value.filter(({ name }) => name.startsWith("pasted")).length + 1}`;

/** A history at an address of this page's own origin (`#history=...`): the page's policy allows no other. */
export async function openAddress(address: string): Promise<OpenRun | undefined> {
  const name = address.split(/[?#]/)[0]!.split("/").at(-1) || address;
  try {
    const url = new URL(address, document.baseURI);
    if (url.origin !== location.origin) {
      const advice = "Save the file and drop it here, or start `temporalex debug FILE`.";
      notify({ title: `${address} was not fetched:`, text: "this page asks nothing of other origins.", advice });
      return undefined;
    }
    const response = await fetch(url);
    if (!response.ok) throw new Error(`the server says ${response.status} ${response.statusText}`);
    return await openBytes(name, new Uint8Array(await response.arrayBuffer()));
  } catch (error) {
    notify({ title: `${address} cannot be fetched:`, text: `${(error as Error).message}.` });
    return undefined;
  }
}

/** Of its bytes, short enough for an address. */
async function digest(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
  return [...hash.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The examples' code is taken by itself where it has the workflow: it is this page's own. */
async function takeSampleCode(run: OpenRun): Promise<void> {
  const [{ sampleCode }, { putCode }] = await Promise.all([import("../realm/samples.ts"), import("../realm/run_code.ts")]);
  const code = sampleCode(run.model.facts.type);
  if (code === undefined || run.code.peek() !== undefined) return;
  putCode(run, code);
}
