// The run of the open panel: an open run of the page that grows while it is visible, in the panel
// or in the room Open.
import { batch, type Signal, signal } from "@preact/signals";
import type { Client } from "temporalex/client";
import { bindToAddress, parseRoute } from "../store/router.ts";
import { setLive } from "../store/live_runs.ts";
import { readRun } from "../store/run_model.ts";
import {
  addRun,
  currentRun,
  goTo,
  intro,
  makeRun,
  openedRuns,
  type OpenRun,
  room,
  showRun,
} from "../store/state.ts";
import { served } from "../served/about.ts";
import { replaceRun } from "../served/grown.ts";
import { replaceServed, replayServed } from "../served/open_served.ts";
import { client } from "./state.ts";

export interface Watched {
  readonly workflowId: string;
  readonly runId: string;
}

export const watched: Signal<Watched | undefined> = signal<Watched | undefined>(undefined);
/** The run with the events that have arrived. */
export const watchedRun: Signal<OpenRun | undefined> = signal<OpenRun | undefined>(undefined);
export const watchTrouble: Signal<string | undefined> = signal<string | undefined>(undefined);

/** Milliseconds. Events that arrive within this time are one change. */
const GATHER_MS = 150;
let ending = new AbortController();

const keyOf = ({ workflowId, runId }: Watched): string => `run:${runId}/${workflowId}`;

/** The run of a key in the address; undefined for other kinds of keys. */
export function watchedOf(key: string): Watched | undefined {
  const [, runId, workflowId] = /^run:([^/]+)\/(.+)$/s.exec(key) ?? [];
  return runId === undefined ? undefined : { runId, workflowId: workflowId! };
}

/** Synchronizes the run of the panel with the address. */
export function keepPanelInAddress(): void {
  const open = (key: string | undefined) =>
    void watchRun(key === undefined ? undefined : watchedOf(`run:${key}`));
  const given = parseRoute(location.hash);
  if (given?.room === "runs" && given.more.has("panel")) open(given.more.get("panel"));
  bindToAddress("panel", {
    get value() {
      return room.value === "runs" && watched.value !== undefined
        ? `${watched.value.runId}/${watched.value.workflowId}`
        : undefined;
    },
    set value(key) {
      if (parseRoute(location.hash)?.room === "runs") open(key);
    },
  });
}

/**
 * Opens the panel of a run and follows it. Resolves when its history has arrived, or `watchTrouble`
 * has an error.
 */
export async function watchRun(run: Watched | undefined): Promise<void> {
  const before = watched.peek();
  if (run !== undefined && before?.runId === run.runId && before.workflowId === run.workflowId) {
    return;
  }
  ending.abort();
  if (before !== undefined) setLive(keyOf(before), false);
  const { signal } = ending = new AbortController();
  batch(() => {
    watched.value = run;
    watchedRun.value = undefined;
    watchTrouble.value = undefined;
  });
  if (run === undefined || client === undefined) return;
  await new Promise<void>((there) => {
    setLive(keyOf(run), true);
    follow(client!, run, signal, there).catch((error: Error) => {
      if (signal.aborted) return;
      watchTrouble.value = error.message;
      setLive(keyOf(run), false);
    }).finally(there);
  });
}

async function follow(
  client: Client,
  run: Watched,
  signal: AbortSignal,
  there: () => void,
): Promise<void> {
  const handle = client.getHandle(undefined as string | undefined, run.workflowId, run.runId);
  const { create, toBinary } = await import("@bufbuild/protobuf");
  const { HistorySchema } = await import(
    "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts"
  );
  const history = create(HistorySchema);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let telling = Promise.resolve();
  const tell = () => {
    clearTimeout(timer);
    timer = undefined;
    const bytes = toBinary(HistorySchema, history);
    telling = telling.then(async () => {
      const model = await readRun(bytes);
      if (signal.aborted) return;
      take(run, bytes, model);
      there();
    });
  };
  for await (const event of handle.history({ follow: true, decode: true, signal })) {
    history.events.push(event);
    timer ??= setTimeout(tell, history.events.length < 3 ? 0 : GATHER_MS);
  }
  tell();
  await telling;
}

function take(run: Watched, bytes: Uint8Array, model: OpenRun["model"]): void {
  const before = watchedRun.peek();
  const key = keyOf(run);
  const known = before ?? openedRuns.peek().find((open) => open.key === key);
  if (known === undefined) {
    const made = makeRun(key, run.workflowId, bytes, model);
    batch(() => {
      watchedRun.value = made;
      if (room.peek() === "runs") {
        currentRun.value = made;
        goTo(model.lines.length);
      }
    });
    return;
  }
  if (known.model.lines.length >= model.lines.length) {
    watchedRun.value = known;
    return;
  }
  const next: OpenRun = { ...known, bytes, model, encoded: undefined };
  batch(() => {
    if (!replaceServed(known, next)) replaceRun(known, next);
    watchedRun.value = next;
  });
}

/** Opens the watched run at its end in the room Open, which continues to follow it. */
export function debugWatched(): void {
  const run = watchedRun.peek();
  if (run === undefined) return;
  batch(() => {
    addRun(run);
    if (served?.code === true) replayServed(run);
    intro.value = false;
    showRun(run, run.model.lines.length);
  });
}
