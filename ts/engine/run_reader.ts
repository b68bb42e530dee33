// Reads runs from the store for the core. An unreadable run is unavailable and read again later; a
// run whose state crashes the core is quarantined.
import type {
  CronQuery,
  CronTime,
  LoadRequest,
  RunRecord,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { RunRow, Store } from "./store.ts";
import { concat } from "../messages/wire.ts";
import { invalidCron, nextCronUs } from "./schedules/cron.ts";
import { isFinalStoreError } from "./store_errors.ts";

/** Delays until an unreadable run is read again; each failure doubles the delay. */
const MIN_REREAD_MS = 100;
const MAX_REREAD_MS = 60_000;

export interface RunReaderEvents {
  /** The store failed to read a run, or a cron schedule has no next run. */
  failed(error: Error): void;
  /** Requests to load runs again that could not be read: they may have pending work. */
  again(loads: readonly LoadRequest[]): void;
}

function cronTime(query: CronQuery): CronTime {
  const { schedule, scheduledUs, nowUs } = query;
  try {
    const nextUs = nextCronUs(schedule, scheduledUs, nowUs) ?? 0;
    const why = nextUs === 0 ? "no time matches within five years" : undefined;
    return { query, nextUs, invalid: why === undefined ? "" : invalidCron(schedule, why) };
  } catch (error) {
    return { query, nextUs: 0, invalid: invalidCron(schedule, (error as Error).message) };
  }
}

export class RunReader {
  readonly #store: Pick<Store, "load" | "historyRange">;
  readonly #events: RunReaderEvents;
  /** Reasons by run id. */
  readonly #quarantined = new Map<string, string>();
  readonly #unread = new Map<string, LoadRequest>();
  #timer: unknown;
  #delayMs = MIN_REREAD_MS;

  constructor(store: Pick<Store, "load" | "historyRange">, events: RunReaderEvents) {
    this.#store = store;
    this.#events = events;
  }

  quarantine(runId: string, reason: string): void {
    this.#quarantined.set(runId, reason);
  }

  isQuarantined(runId: string): boolean {
    return this.#quarantined.has(runId);
  }

  /**
   * Reads a run; without a run id the workflow's last one. Or computes the next time of a cron
   * schedule.
   */
  read(
    { workflowId, runId, history = false, cron }: Omit<LoadRequest, "history"> & {
      history?: boolean;
    },
  ): RunRecord {
    const record = {
      askedWorkflowId: workflowId,
      askedRunId: runId,
      found: false,
      head: new Uint8Array(0),
      items: [],
      unavailable: "",
      history: new Uint8Array(0),
    };
    if (cron !== undefined) {
      const next = cronTime(cron);
      // A start is rejected with the reason; a following run has no caller.
      if (next.invalid !== "" && cron.scheduledUs > 0) {
        this.#events.failed(
          new Error(`a workflow's cron schedule ended, without a next run: ${next.invalid}`),
        );
      }
      return { ...record, cron: next };
    }
    try {
      const found = this.#store.load(workflowId, runId === "" ? undefined : runId);
      const reason = found === undefined ? undefined : this.#quarantined.get(found.row!.runId);
      if (reason !== undefined) return { ...record, unavailable: reason };
      if (found === undefined || !history) return found ?? record;
      return { ...found, history: this.#historyOf(found.row!) };
    } catch (e) {
      this.#events.failed(e as Error);
      if (!isFinalStoreError(e)) this.#readLater({ workflowId, runId, history });
      return {
        ...record,
        unavailable: `the store could not read workflow ${workflowId}: ${(e as Error).message}`,
      };
    }
  }

  /** All events of a run, as one encoded History. */
  #historyOf({ workflowId, runId, historyLength }: RunRow): Uint8Array {
    return concat(this.#store.historyRange(workflowId, runId, 1, historyLength));
  }

  #readLater(load: LoadRequest): void {
    this.#unread.set(`${load.runId} ${load.workflowId}`, load);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const loads = [...this.#unread.values()];
      this.#unread.clear();
      this.#events.again(loads);
      this.#delayMs = this.#unread.size === 0
        ? MIN_REREAD_MS
        : Math.min(this.#delayMs * 2, MAX_REREAD_MS);
    }, this.#delayMs);
  }

  close(): void {
    clearTimeout(this.#timer as number | undefined);
  }
}
