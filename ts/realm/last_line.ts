// The line at which code stood when it took its realm down. It does so once more, while its lines are followed.
import { type LineAt, TOLD_EACH } from "../executor/tasks/line_follower.ts";
import type { FetchHistory } from "../executor/tasks/cached_run.ts";
import { concat } from "../api/wire.ts";
import { endsComputingThreads } from "../platform/threads.ts";
import type { BareReplay } from "./explained.ts";
import type { Loss } from "./lost_task.ts";
import type { ReplayOptions } from "./realm.ts";

/** Where code stood. */
export interface LastLine {
  /** "file:line:column" */
  readonly location: string;
  /** The WorkflowTaskStarted of its task. */
  readonly eventId: number;
}

/** Code that goes from line to line tells one more often than that, as long as no realm has more than seconds. */
const QUIET_MS = 250;

/** Runs whose line is looked for, of all that are lost: each takes a realm, and the time that the watchdog gives. */
const MOST = 8;

export class LastLines {
  readonly #follows: (lost: Loss["kind"]) => BareReplay | undefined;
  #asked = 0;

  /** `follows`: replays with `follow`, in a realm whose modules have probes, what is lost in this way. */
  constructor(follows: (lost: Loss["kind"]) => BareReplay | undefined) {
    this.#follows = follows;
  }

  /** `task`: the WorkflowTaskStarted of the task that was lost; 0: not known. Undefined where the line cannot be told. */
  async of(
    workflowId: string,
    history: Uint8Array,
    { strict = false, runId }: Pick<ReplayOptions, "strict" | "runId">,
    lost: Loss["kind"],
    task: number,
  ): Promise<LastLine | undefined> {
    const follows = this.#follows(lost);
    // Deno would compute it for good in one more thread.
    if (follows === undefined || !endsComputingThreads() || ++this.#asked > MOST) return undefined;
    const how = { strict, trace: true, callSites: "never", explain: false, ...(runId === undefined ? {} : { runId }) } as const;
    const follow = async (task: number, after: number): Promise<Stood | undefined> => {
      // The sources may have changed since, or the realm is disposed.
      const verdict = await follows(workflowId, history, { ...how, follow: { task, after } }).catch(() => undefined);
      const error = verdict?.error;
      return error?.lost === lost && error.lastLine !== undefined ? { ...error.lastLine, eventId: error.eventId } : undefined;
    };
    const first = await follow(task, 0);
    if (first === undefined || first.ran < TOLD_EACH || first.quietMs < QUIET_MS) return first;
    // It went on for a while after the line that was told last, to one at which it stays.
    return await follow(first.eventId, first.ran) ?? first;
  }

  /** Of a run whose task was lost. */
  async ofRun(workflowId: string, runId: string, lost: Loss["kind"], fetch: FetchHistory): Promise<LastLine | undefined> {
    const history = await wholeHistory(workflowId, runId, fetch).catch(() => undefined);
    return history === undefined ? undefined : await this.of(workflowId, history, { runId }, lost, 0);
  }
}

/** A run's history up to now, page by page. Rejects when it is gone, or the service is. */
async function wholeHistory(workflowId: string, runId: string, fetch: FetchHistory): Promise<Uint8Array> {
  const pages: Uint8Array[] = [];
  let token: Uint8Array = new Uint8Array(0);
  do {
    const page = await fetch(workflowId, runId, token);
    pages.push(page.history);
    token = page.nextPageToken;
  } while (token.length > 0);
  // Lists of a message add up.
  return concat(pages);
}

interface Stood extends LineAt, LastLine {
  readonly quietMs: number;
}
