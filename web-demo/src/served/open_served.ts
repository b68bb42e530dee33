// The start of a page of `temporalex debug`: its histories are opened, and replayed against its
// code at every save.
import { batch, effect, type Signal, signal } from "@preact/signals";
import { dismiss, type Notice, notify } from "../store/notices.ts";
import { setLive } from "../store/live_runs.ts";
import { readRun } from "../store/run_model.ts";
import {
  addRun,
  codeFollows,
  intro,
  makeRun,
  openedRuns,
  type OpenRun,
  showRun,
  type Verdict,
} from "../store/state.ts";
import { openInEditor } from "../code/open_in_editor.ts";
import type { CodeSet } from "../store/code_set.ts";
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

/** Code on the disk that cannot be loaded. */
const refused: Signal<Refused | undefined> = signal<Refused | undefined>(undefined);
/** By index of the server's list. */
const runs: (OpenRun | undefined)[] = [];
const watches = new Map<OpenRun, () => void>();

/**
 * Opens the histories of the server. Resolves with whether one of them is shown: the address can
 * name another run.
 */
export async function openServedHistories(): Promise<boolean> {
  if (served?.by !== "debug") return false;
  codeFollows.current = served.code;
  const opened = await Promise.all(served.histories.map(async ({ name }, index) => {
    const bytes = await history(index);
    return makeRun(keyOf(index), name, bytes, await readRun(bytes));
  }));
  opened.forEach((run, index) => {
    runs[index] = run;
    addRun(run);
    watch(run);
    // The command follows open runs of a store or a cluster; it does not follow those of files.
    if (served?.by === "debug" && served.histories[index]!.open) setLive(run.key, true);
  });
  watchNewEvents();
  listenForSaves();
  const [first] = opened;
  if (first === undefined || /^#\/(?:runs|live)|[?&]run=/.test(location.hash)) return false;
  batch(() => {
    intro.value = false;
    showRun(first);
  });
  return true;
}

/** Runs that were fetched because an opened run links to them. */
const linked = new WeakSet<OpenRun>();

/** Adds a fetched run. */
export function takeServed(run: OpenRun): OpenRun {
  if (served?.by === "debug" || served?.code === true) linked.add(run);
  return run;
}

/** The newest code of the command line. */
let current: CodeSet | undefined;

/** Whether the run's code comes from the command line. */
export const isServedRun = (run: OpenRun): boolean => linked.has(run) || runs.includes(run);

/** Replays a fetched run against the command line's code, at every save. */
export function replayServed(run: OpenRun): void {
  if (runs.includes(run)) return;
  run.code.value = runs.find((known) => known?.code.peek() !== undefined)?.code.peek() ?? current ??
    run.code.peek();
  runs.push(run);
  watch(run);
}

const keyOf = (index: number): string => `served:${index}`;

async function history(index: number): Promise<Uint8Array> {
  const response = await fetch(dataAddress(`history/${index}`));
  if (!response.ok) {
    throw new Error(
      `the history cannot be fetched: the server responded with status ${response.status}`,
    );
  }
  return new Uint8Array(await response.arrayBuffer());
}

let replaying: typeof import("../realm/replay_code.ts") | undefined;
/** A reported verdict is visible after this time. */
const PAINT_MS = 30;
const shownVersions: ShownVersions = new ShownVersions((version) =>
  void setTimeout(() => post("shown", { version }).catch(() => {}), PAINT_MS)
);

/**
 * Replays the run against each version of the code. An error of the code is the verdict until the
 * code can be loaded again.
 */
function watch(run: OpenRun): void {
  const ends = [
    replayOnChange(run, async (it, code, tell) => {
      const version = servedCode.versionOf(code);
      const shown = shownVersions.begin(version);
      try {
        // If the module is loaded, the loader receives the code before the page is drawn.
        const { replayCode } = replaying ??= await import("../realm/replay_code.ts");
        return await replayCode(
          it,
          servedCode.runnable(code),
          tell && ((said, { warnings, ...replay }) => {
            tell(said);
            if (version !== undefined && said === "replays" && warnings === 0) {
              reportVerdict(it, { version, ...replay });
            }
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
      if (now === undefined || verdict.state === "not parsed" || verdict.state === "replaying") {
        return;
      }
      run.verdict.value = refusal(now, verdict);
    }),
  ];
  watches.set(run, () => ends.forEach((end) => end()));
}

/**
 * `temporalex debug` prints the verdict on one of its histories without a second replay. Linked runs
 * and those of `temporalex ui` are not its histories.
 */
function reportVerdict(run: OpenRun, verdict: { readonly version: number }): void {
  const index = runs.indexOf(run);
  if (served?.by !== "debug" || served.histories[index] === undefined) return;
  post("verdict", { index, ...verdict }).catch(() => {});
}

function refusal({ problems, message }: Refused, before: Verdict): Verdict {
  const [first] = problems;
  if (first === undefined) return { state: "not parsed", file: "", line: 0, message, before };
  return {
    state: "not parsed",
    file: first.file,
    line: first.line,
    message: first.message,
    before,
  };
}

let codeNotices: Notice[] = [];

function notifyOfCode(now: Refused | undefined): void {
  for (const notice of codeNotices) dismiss(notice);
  codeNotices =
    (now?.problems.length === 0
      ? [{ file: "The code", line: 0, message: now.message }]
      : now?.problems ?? []).slice(
        0,
        3,
      )
      .map(({ file, line, message }) => ({
        title: line > 0 ? `${file}:${line}` : file,
        text: message,
        advice: "The previous code is shown until the file is saved without the error.",
      }));
  for (const notice of codeNotices) notify(notice);
}

/** Listens for versions of the code and changes of the histories. */
export function listenForSaves(): void {
  if (served?.code === true) openInEditor.value = (path, line) => void editor(path, line);
  const feed = new EventSource(dataAddress("feed"));
  const on = <T>(name: string, take: (message: T) => void) =>
    feed.addEventListener(
      name,
      (event) => take(JSON.parse((event as MessageEvent<string>).data) as T),
    );
  let failures = 0;
  feed.onopen = () => (failures = 0);
  feed.onerror = () => {
    // The page of runs reports that its server is gone, and the next server can have the same
    // address.
    if (served?.by === "ui") return;
    if (++failures < 2 && feed.readyState !== EventSource.CLOSED) return;
    feed.close();
    openInEditor.value = undefined;
    notify({
      title: "temporalex debug has stopped.",
      text: "Opened runs stay on this page, but saved files are no longer replayed.",
      advice: "Start the command again and open its new address.",
    });
  };
  on<CodeMessage>("code", (message) => {
    const code = current = servedCode.take(message);
    notifyOfCode(undefined);
    batch(() => {
      refused.value = undefined;
      for (const run of runs) if (run !== undefined) run.code.value = code;
    });
  });
  on<Refused>("refused", (message) => {
    notifyOfCode(message);
    refused.value = message;
  });
  on<{ readonly index: number }>("changed", ({ index }) => void changed(index));
  on<{ readonly index: number; readonly events: number }>(
    "grown",
    ({ index, events }) => void grown(index, events),
  );
}

async function grown(index: number, events: number): Promise<void> {
  const known = runs[index];
  if (known === undefined || known.model.lines.length >= events) return;
  const bytes = await history(index);
  const model = await readRun(bytes);
  const before = runs[index]!;
  if (model.lines.length <= before.model.lines.length) return;
  // A run that the reader has closed stays closed.
  if (!openedRuns.value.includes(before)) return;
  replace(index, before, { ...before, bytes, model, encoded: undefined });
}

/** Replaces a run whose file was written again. It is replayed from the start. */
async function changed(index: number): Promise<void> {
  const known = runs[index];
  if (known === undefined) return;
  const bytes = await history(index);
  const model = await readRun(bytes);
  const before = runs[index]!;
  // The server repeats its last message each time that the feed is opened.
  if (same(bytes, before.encoded ?? before.bytes) || !openedRuns.value.includes(before)) return;
  const next = makeRun(before.key, before.name, bytes, model);
  next.code.value = before.code.peek();
  replace(index, before, next);
}

const same = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/**
 * Replaces a served run by the run that a codec decoded. Returns false if the run is not served.
 */
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
