// What `temporalex debug` was started with: its histories are open from the start, its code is beside them and is replayed at every save.
import { batch, effect, type Signal, signal } from "@preact/signals";
import { dismiss, type Notice, notify } from "../app/notices.ts";
import { readRun } from "../app/run_model.ts";
import { addRun, intro, makeRun, openedRuns, type OpenRun, showRun, type Verdict } from "../app/state.ts";
import { openInEditor } from "../code/open_in_editor.ts";
import type { CodeSet } from "../realm/code_set.ts";
import { replayOnChange } from "../realm/replaying.ts";
import { dataAddress, served } from "./about.ts";
import { replaceRun } from "./grown.ts";
import { watchNewEvents } from "./new_events.tsx";
import { type CodeMessage, servedCode } from "./served_code.ts";
import { ShownVersions } from "./shown_versions.ts";

interface Refused {
  readonly version: number;
  readonly message: string;
  readonly problems: readonly {
    readonly file: string;
    readonly line: number;
    readonly column: number;
    readonly message: string;
  }[];
}

/** The code that does not load, as it is on the disk now. */
const refused: Signal<Refused | undefined> = signal<Refused | undefined>(undefined);
/** By index of the server's list. */
const runs: (OpenRun | undefined)[] = [];
const watches = new Map<OpenRun, () => void>();

/** Opens what the server has. Returns whether a run is in sight now: the address names none of them. */
export async function openServed(): Promise<boolean> {
  if (served?.by !== "debug") return false;
  const opened = await Promise.all(served.histories.map(async ({ name }, index) => {
    const bytes = await history(index);
    return makeRun(keyOf(index), name, bytes, await readRun(bytes));
  }));
  opened.forEach((run, index) => {
    runs[index] = run;
    addRun(run);
    watch(run);
  });
  watchNewEvents();
  listen();
  const [first] = opened;
  if (first === undefined || /^#\/(?:runs|live)|[?&]run=/.test(location.hash)) return false;
  batch(() => {
    intro.value = false;
    showRun(first);
  });
  return true;
}

/** Runs that were fetched because one of these names them. */
const linked = new WeakSet<OpenRun>();

/** Adds a run that was fetched in addition to these. */
export function takeServed(run: OpenRun): OpenRun {
  if (served?.by === "debug" || served?.code === true) linked.add(run);
  return run;
}

/** The newest code of the command line. */
let current: CodeSet | undefined;

/** Whether the run's code is the command line's. */
export const isServedRun = (run: OpenRun): boolean => linked.has(run) || runs.includes(run);

/** Replays a fetched run against the command line's code from now on, at every save. */
export function replayServed(run: OpenRun): void {
  if (runs.includes(run)) return;
  run.code.value = runs.find((known) => known?.code.peek() !== undefined)?.code.peek() ?? current ?? run.code.peek();
  runs.push(run);
  watch(run);
}

const keyOf = (index: number): string => `served:${index}`;

async function history(index: number): Promise<Uint8Array> {
  const response = await fetch(dataAddress(`history/${index}`));
  if (!response.ok) throw new Error(`the history cannot be fetched: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

let replaying: typeof import("../realm/replay_code.ts") | undefined;
/** A verdict that was told is painted by then. */
const PAINT_MS = 30;
const shownVersions: ShownVersions = new ShownVersions((version) =>
  void setTimeout(() => post("shown", { version }).catch(() => {}), PAINT_MS)
);

/** Replays the run at each version of the code; a refusal is the verdict until the code loads again. */
function watch(run: OpenRun): void {
  const ends = [
    replayOnChange(run, async (it, code, tell) => {
      const shown = shownVersions.begin(servedCode.versionOf(code));
      try {
        // With a module that is there the loader has the code before the page draws it.
        const { replayCode } = replaying ??= await import("../realm/replay_code.ts");
        return await replayCode(
          it,
          servedCode.runnable(code),
          tell && ((said) => {
            tell(said);
            shown();
          }),
        );
      } finally {
        shown();
      }
    }),
    effect(() => {
      const now = refused.value;
      const verdict = run.verdict.value;
      if (now === undefined || verdict.state === "not parsed" || verdict.state === "replaying") return;
      run.verdict.value = refusal(now, verdict);
    }),
  ];
  watches.set(run, () => ends.forEach((end) => end()));
}

function refusal({ problems, message }: Refused, before: Verdict): Verdict {
  const [first] = problems;
  if (first === undefined) return { state: "not parsed", file: "", line: 0, message, before };
  return { state: "not parsed", file: first.file, line: first.line, message: first.message, before };
}

let told: Notice[] = [];

function tell(now: Refused | undefined): void {
  for (const notice of told) dismiss(notice);
  told = (now?.problems.length === 0 ? [{ file: "The code", line: 0, message: now.message }] : now?.problems ?? []).slice(0, 3)
    .map(({ file, line, message }) => ({
      title: line > 0 ? `${file}:${line}` : file,
      text: message,
      advice: "The code before it stays until the file is saved again.",
    }));
  for (const notice of told) notify(notice);
}

/** Listens for versions of the code, and for what becomes of the histories. */
export function listen(): void {
  if (served?.code === true) openInEditor.value = (path, line) => void editor(path, line);
  const feed = new EventSource(dataAddress("feed"));
  const on = <T>(name: string, take: (message: T) => void) =>
    feed.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T));
  let failures = 0;
  feed.onopen = () => (failures = 0);
  feed.onerror = () => {
    // The page of runs reports that its server is gone, and its next start can have the same address.
    if (served?.by === "ui") return;
    if (++failures < 2 && feed.readyState !== EventSource.CLOSED) return;
    feed.close();
    openInEditor.value = undefined;
    notify({
      title: "temporalex debug has ended.",
      text: "What is open stays as it is, and saves are not seen any more.",
      advice: "Start the command again: it has another address then.",
    });
  };
  on<CodeMessage>("code", (message) => {
    const code = current = servedCode.take(message);
    tell(undefined);
    batch(() => {
      refused.value = undefined;
      for (const run of runs) if (run !== undefined) run.code.value = code;
    });
  });
  on<Refused>("refused", (message) => {
    tell(message);
    refused.value = message;
  });
  on<{ readonly index: number }>("changed", ({ index }) => void changed(index));
  on<{ readonly index: number; readonly events: number }>("grown", ({ index, events }) => void grown(index, events));
}

async function grown(index: number, events: number): Promise<void> {
  const known = runs[index];
  if (known === undefined || known.model.lines.length >= events) return;
  const bytes = await history(index);
  const model = await readRun(bytes);
  const before = runs[index]!;
  if (model.lines.length <= before.model.lines.length) return;
  // Closed by hand: it stays closed.
  if (!openedRuns.value.includes(before)) return;
  replace(index, before, { ...before, bytes, model, encoded: undefined });
}

/** The file of a history was written again: what it holds now takes the place of what it held, and is replayed from the start. */
async function changed(index: number): Promise<void> {
  const known = runs[index];
  if (known === undefined) return;
  const bytes = await history(index);
  const model = await readRun(bytes);
  const before = runs[index]!;
  // The server's last word comes again with each start of the feed.
  if (same(bytes, before.encoded ?? before.bytes) || !openedRuns.value.includes(before)) return;
  const next = makeRun(before.key, before.name, bytes, model);
  next.code.value = before.code.peek();
  replace(index, before, next);
}

const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Puts a run that a codec has decoded in the place of one of these. Returns false for runs of other doors. */
export function replaceServed(before: OpenRun, next: OpenRun): boolean {
  const index = runs.indexOf(before);
  if (index === -1) return false;
  replace(index, before, next);
  return true;
}

function replace(index: number, before: OpenRun, next: OpenRun): void {
  watches.get(before)?.();
  watches.delete(before);
  runs[index] = next;
  replaceRun(before, next);
  watch(next);
}

const post = (path: string, body: object): Promise<Response> =>
  fetch(dataAddress(path), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

async function editor(path: string, line: number): Promise<void> {
  const response = await post("open", { file: path, line });
  if (response.ok) return;
  const why = response.headers.get("content-type") === "application/json"
    ? (await response.json() as { message: string }).message
    : await response.text();
  notify({ title: `${path}:${line} cannot be opened in the editor:`, text: why });
}
