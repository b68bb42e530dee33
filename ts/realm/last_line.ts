// Finds the line at which code took down its realm, by a second replay that reports lines.
import { type LineAt, TOLD_EACH } from "../executor/tasks/line_follower.ts";
import type { FetchHistory } from "../executor/tasks/cached_run.ts";
import { concat } from "../messages/wire.ts";
import { endsComputingThreads } from "../platform/threads.ts";
import type { BareReplay } from "./explained.ts";
import type { Loss } from "./lost_task.ts";
import type { ReplayOptions } from "./realm.ts";

/** The line of the code. */
export interface LastLine {
  /** "file:line:column" */
  readonly location: string;
  /** Id of the WorkflowTaskStarted event of its task. */
  readonly eventId: number;
}

/**
 * Code that moves from line to line reports more often than this, unless the realm is starved for
 * seconds.
 */
const QUIET_MS = 250;

/**
 * Maximum number of runs per realm for which the line is searched: each needs a realm, and the time
 * of the watchdog.
 */
const MOST = 8;

export class LastLines {
  readonly #follows: BareReplay | undefined;
  #asked = 0;

  /** `follows`: a replay with `follow`, in a realm whose modules have probes. */
  constructor(follows: BareReplay | undefined) {
    this.#follows = follows;
  }

  /**
   * `task`: id of the WorkflowTaskStarted event of the lost task; 0: unknown. Undefined if the line
   * cannot be found.
   */
  async of(
    workflowId: string,
    history: Uint8Array,
    { strict = false, runId }: Pick<ReplayOptions, "strict" | "runId">,
    lost: Loss["kind"],
    task: number,
  ): Promise<LastLine | undefined> {
    const follows = this.#follows;
    // In Deno the thread would compute until the process ends.
    if (follows === undefined || !endsComputingThreads() || ++this.#asked > MOST) return undefined;
    const how = {
      strict,
      trace: true,
      callSites: "never",
      explain: false,
      ...(runId === undefined ? {} : { runId }),
    } as const;
    const follow = async (task: number, after: number): Promise<Stood | undefined> => {
      // The sources may have changed, or the realm is disposed.
      const verdict = await follows(workflowId, history, { ...how, follow: { task, after } }).catch(
        () => undefined,
      );
      const error = verdict?.error;
      return error?.lost === lost && error.lastLine !== undefined
        ? { ...error.lastLine, eventId: error.eventId }
        : undefined;
    };
    const first = await follow(task, 0);
    if (first === undefined || first.ran < TOLD_EACH || first.quietMs < QUIET_MS) return first;
    // The code left the reported line and reached another one at which it stays.
    return await follow(first.eventId, first.ran) ?? first;
  }

  /** Finds the line of a run whose task was lost. */
  async ofRun(
    workflowId: string,
    runId: string,
    lost: Loss["kind"],
    fetch: FetchHistory,
  ): Promise<LastLine | undefined> {
    const history = await wholeHistory(workflowId, runId, fetch).catch(() => undefined);
    return history === undefined
      ? undefined
      : await this.of(workflowId, history, { runId }, lost, 0);
  }
}

/** Fetches a run's history page by page. Rejects when the run is gone or the service fails. */
async function wholeHistory(
  workflowId: string,
  runId: string,
  fetch: FetchHistory,
): Promise<Uint8Array> {
  const pages: Uint8Array[] = [];
  let token: Uint8Array = new Uint8Array(0);
  do {
    const page = await fetch(workflowId, runId, token);
    pages.push(page.history);
    token = page.nextPageToken;
  } while (token.length > 0);
  // Concatenated protobuf messages merge their lists.
  return concat(pages);
}

interface Stood extends LineAt, LastLine {
  readonly quietMs: number;
}
