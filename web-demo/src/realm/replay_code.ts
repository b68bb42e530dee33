// Replays open runs against their code. Each run keeps its frame while it is open, so that the next
// replay starts fast.
import {
  type DebugSession,
  openSession,
  type PreparedHistory,
  prepareHistory,
} from "temporalex/debug";
import type { FirstReplay, FirstVerdict } from "../store/state.ts";
import type { CodeSet } from "../store/code_set.ts";
import { CodeLoader } from "./load_code.ts";
import { PageRealms } from "./page_realm.ts";

interface Kept {
  readonly realms: PageRealms;
  /** Bytes of the history that was read. */
  readonly bytes: Uint8Array;
  /** Read once for all texts of the code. */
  readonly history: Promise<PreparedHistory>;
}
/** Milliseconds until a reported verdict is visible. */
const PAINT_MS = 50;
const kept = new Map<string, Kept>();

/** The replayed run: an OpenRun. */
export interface Replayed {
  /** Identifies the run. */
  readonly key: string;
  /** Bytes of the history's file. */
  readonly bytes: Uint8Array;
}

/**
 * Replays a run against permitted code. Rejects if the code cannot be loaded, and with a
 * StoppedError if it is stopped. With `tell` the run is replayed twice. The first replay records no
 * lines, values and call sites: it is several times faster, and reports whether the code replays.
 * Its failure is not reported, because only the second replay knows whether it is a divergence.
 */
export async function replayCode(
  { key, bytes }: Replayed,
  code: CodeSet,
  tell?: (said: FirstVerdict, replay: FirstReplay) => void,
): Promise<DebugSession> {
  let own = kept.get(key);
  // A run with new events, or whose file was written again, has another history under the same key.
  if (own?.bytes !== bytes) {
    kept.set(
      key,
      own = { realms: own?.realms ?? new PageRealms(), bytes, history: prepareHistory(bytes) },
    );
  }
  const [history, realm] = await Promise.all([own.history, own.realms.open(code)]);
  const { workflowId, workflowType } = history.file;
  try {
    if (
      tell !== undefined &&
      (realm.takesAnyType === true || realm.workflowTypes.includes(workflowType))
    ) {
      const { verdict, events, activations, warnings } = await realm.replay(
        workflowId,
        history.bytes,
        {
          callSites: "never",
          explain: false,
        },
      );
      if (verdict !== "failed") {
        tell(verdict === "ok" ? "replays" : "diverges", {
          events,
          activations,
          warnings: warnings.length,
        });
      }
      setTimeout(() => realm.prepareNext(), PAINT_MS);
    }
    return await openSession(history, { realm });
  } finally {
    realm.prepareNext();
  }
}

/** Stops the code of a run. The next replay starts it again. */
export function stopCode({ key }: Pick<Replayed, "key">): void {
  kept.get(key)?.realms.stop();
}

/** Disposes the realms of a closed run. */
export function closeCode({ key }: Pick<Replayed, "key">): void {
  kept.get(key)?.realms.dispose();
  kept.delete(key);
}

/**
 * Loads the code with all files that its entry needs, without running it. Rejects if the code
 * cannot be loaded.
 */
export async function readCode(code: CodeSet): Promise<CodeSet> {
  const loader = new CodeLoader();
  try {
    return (await loader.load(code)).code;
  } finally {
    loader.stop();
  }
}
