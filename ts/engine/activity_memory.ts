// The standalone activities of a memory store.
import type {
  ActivityRow,
  ActivityStore,
  ActivityWrite,
  ListPosition,
  ListQuery,
  RunRow,
  StoredActivity,
} from "./store.ts";
import { StoreError } from "./store_errors.ts";
import { type Condition, matches } from "./visibility/condition.ts";

interface Kept extends StoredActivity {
  /** Increases with each activity: the order of creation. */
  readonly key: number;
  readonly row: ActivityRow;
  readonly request: Uint8Array;
  /** As conditions test it. */
  readonly tested: RunRow;
}

const NONE: Uint8Array = new Uint8Array(0);

function testedRow(row: ActivityRow): RunRow {
  return {
    workflowId: row.activityId,
    runId: row.runId,
    workflowType: row.activityType,
    taskQueue: row.taskQueue,
    status: row.status,
    startTimeMs: row.startTimeMs,
    closeTimeMs: row.closeTimeMs,
    historyLength: 0,
    historySizeBytes: 0,
    wakeAtMs: 0,
    ready: false,
    firstRunId: row.runId,
    nextRunId: "",
    memo: NONE,
    searchAttributes: row.searchAttributes,
  };
}

export class ActivityMemory implements ActivityStore {
  readonly #kept = new Map<string, Kept>();
  readonly #latest = new Map<string, Kept[]>();
  #nextKey = 1;

  open(): StoredActivity[] {
    return [...this.#kept.values()].filter(({ row }) => row.closeTimeMs === 0);
  }

  find(activityId: string, runId?: string): StoredActivity | undefined {
    const found = runId === undefined
      ? this.#latest.get(activityId)?.at(-1)
      : this.#kept.get(runId);
    return found?.activityId === activityId ? found : undefined;
  }

  request(activityId: string, runId: string): Uint8Array | undefined {
    const found = this.#kept.get(runId);
    return found?.activityId === activityId ? found.request : undefined;
  }

  #matching(where: Condition | undefined): Kept[] {
    const all = [...this.#kept.values()];
    if (where === undefined) return all;
    return all.filter(({ tested, row: { executionTimeMs } }) =>
      matches({ row: tested, head: NONE, executionTimeMs }, where)
    );
  }

  list(
    { where, orderBy, descending }: ListQuery,
    size: number,
    after?: ListPosition,
  ): ReturnType<ActivityStore["list"]> {
    const sign = descending ? -1 : 1;
    const place = ({ row }: Kept) =>
      orderBy === "StartTime" ? row.startTimeMs : row.closeTimeMs || 9e15;
    const compare = (a: ListPosition, b: ListPosition) => sign * (a[0] - b[0] || a[1] - b[1]);
    const found = this.#matching(where)
      .map((kept) => ({ info: kept.info, at: [place(kept), kept.key] as const }))
      .filter(({ at }) => after === undefined || compare(at, after) > 0)
      .sort((a, b) => compare(a.at, b.at));
    const page = found.slice(0, size);
    return {
      infos: page.map(({ info }) => info),
      next: found.length > size ? page.at(-1)?.at : undefined,
    };
  }

  countByStatus(where?: Condition): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const { row: { status } } of this.#matching(where)) {
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return counts;
  }

  /** Rejects what SQLite would reject during the transaction. */
  refuse(writes: Iterable<ActivityWrite>): void {
    for (const { runId, ...write } of writes) {
      if (!("row" in write) || write.row === undefined || write.request !== undefined) continue;
      if (this.#kept.has(runId)) continue;
      throw new StoreError(`activity run ${runId} is not in the store`);
    }
  }

  write(write: ActivityWrite): void {
    const { runId } = write;
    const before = this.#kept.get(runId);
    if (write.row === undefined) return this.#remove(before);
    const { row } = write;
    const searchAttributes = row.searchAttributes.slice();
    const kept: Kept = {
      key: before?.key ?? this.#nextKey++,
      activityId: row.activityId,
      runId,
      row,
      info: write.info.slice(),
      outcome: write.outcome.slice(),
      state: write.state,
      request: write.request?.slice() ?? before?.request ?? NONE,
      tested: testedRow({ ...row, searchAttributes }),
    };
    this.#kept.set(runId, kept);
    const runs = (this.#latest.get(row.activityId) ?? []).filter((each) => each.runId !== runId);
    this.#latest.set(row.activityId, [...runs, kept].sort((a, b) => a.key - b.key));
  }

  #remove(kept: Kept | undefined): void {
    if (kept === undefined) return;
    this.#kept.delete(kept.runId);
    const runs = this.#latest.get(kept.activityId)!.filter(({ runId }) => runId !== kept.runId);
    if (runs.length === 0) this.#latest.delete(kept.activityId);
    else this.#latest.set(kept.activityId, runs);
  }

  /** Removes closed activities, the oldest first, and returns their run ids. */
  purge(closedBefore: number, limit: number): string[] {
    const old = [...this.#kept.values()]
      .filter(({ row }) => row.closeTimeMs > 0 && row.closeTimeMs < closedBefore)
      .sort((a, b) => a.row.closeTimeMs - b.row.closeTimeMs)
      .slice(0, limit);
    for (const kept of old) this.#remove(kept);
    return old.map(({ runId }) => runId);
  }
}
