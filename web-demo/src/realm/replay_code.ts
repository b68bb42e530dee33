// Replays open runs against the code beside them. Each run keeps its frame while it is open, so the next text has its verdict fast.
import { type DebugSession, openSession, type PreparedHistory, prepareHistory } from "temporalex/debug";
import type { FirstVerdict } from "../app/state.ts";
import type { CodeSet } from "./code_set.ts";
import { CodeLoader } from "./load_code.ts";
import { PageRealms } from "./page_realm.ts";

interface Kept {
  readonly realms: PageRealms;
  /** Of the history that was read. */
  readonly bytes: Uint8Array;
  /** Read once for all texts of the code. */
  readonly history: Promise<PreparedHistory>;
}
/** A verdict that was told is in sight by then. */
const PAINT_MS = 50;
const kept = new Map<string, Kept>();

/** What is replayed: an OpenRun. */
export interface Replayed {
  /** Tells runs apart. */
  readonly key: string;
  /** Of the history's file. */
  readonly bytes: Uint8Array;
}

/**
 * Replays a run against code that may run. Rejects where the code cannot be loaded, and with a StoppedError once it is stopped. With `tell`
 * it is replayed twice: first without lines, values and call sites, which is several times faster and says whether the code replays. (That
 * it fails is not told early: the second replay knows whether it is a divergence after all.)
 */
export async function replayCode(
  { key, bytes }: Replayed,
  code: CodeSet,
  tell?: (said: FirstVerdict) => void,
): Promise<DebugSession> {
  let own = kept.get(key);
  // A run that goes on, or whose file was written again, has another history under the same key.
  if (own?.bytes !== bytes) {
    kept.set(key, own = { realms: own?.realms ?? new PageRealms(), bytes, history: prepareHistory(bytes) });
  }
  const [history, realm] = await Promise.all([own.history, own.realms.open(code)]);
  const { workflowId, workflowType } = history.file;
  try {
    if (tell !== undefined && (realm.takesAnyType === true || realm.workflowTypes.includes(workflowType))) {
      const { verdict } = await realm.replay(workflowId, history.bytes, { callSites: "never", explain: false });
      if (verdict !== "failed") tell(verdict === "ok" ? "replays" : "diverges");
      setTimeout(() => realm.prepareNext(), PAINT_MS);
    }
    return await openSession(history, { realm });
  } finally {
    realm.prepareNext();
  }
}

/** Ends the code of a run at once; the next replay starts again. */
export function stopCode({ key }: Pick<Replayed, "key">): void {
  kept.get(key)?.realms.stop();
}

/** The run is closed. */
export function closeCode({ key }: Pick<Replayed, "key">): void {
  kept.get(key)?.realms.dispose();
  kept.delete(key);
}

/** The code with all the files that its entry needs. Nothing is run. Rejects as a replay does where it cannot be loaded. */
export async function readCode(code: CodeSet): Promise<CodeSet> {
  const loader = new CodeLoader();
  try {
    return (await loader.load(code)).code;
  } finally {
    loader.stop();
  }
}
