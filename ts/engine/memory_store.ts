// A store in memory, with the contract of the SQLite store and its rejections: a commit is checked
// whole before any of it is kept. Bytes are copied, because those of a commit share one buffer.
import type {
  HistoryBatch,
  StateItem,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { ActivityMemory } from "./activity_memory.ts";
import { cutBatch } from "./history_bytes.ts";
import type {
  AttributeTypes,
  BatchWrite,
  HostWrites,
  ListPage,
  ListPosition,
  ListQuery,
  PurgeOptions,
  RunRecord,
  RunRow,
  RunWrite,
  ShownOfRuns,
  Store,
  StoredBatch,
  StoredDeployment,
  StoredRun,
  StoredSchedule,
  StoredTaskQueueConfig,
  TaskQueueConfigStore,
} from "./store.ts";
import { StoreError } from "./store_errors.ts";
import { attributeValues, Kind } from "./visibility/attributes.ts";
import { type Condition, matches } from "./visibility/condition.ts";

interface StoredState {
  /** Increases with each run: the order of creation. */
  readonly key: number;
  row: RunRow;
  head: Uint8Array;
  readonly history: HistoryBatch[];
  readonly items: Map<string, StateItem>;
}

const itemKey = (item: StateItem) => `${item.kind}/${item.id}`;
/** Open runs sort after all closed ones. */
const placeOf = (
  row: RunRow,
  query: ListQuery,
) => (query.orderBy === "StartTime" ? row.startTimeMs : row.closeTimeMs || 9e15);

interface Placed {
  readonly place: number;
  readonly run: StoredState;
}

/** Collects the first `limit` of items added in any order, without sorting all of them. */
class FirstOf {
  readonly #order: (a: Placed, b: Placed) => number;
  readonly #limit: number;
  #kept: Placed[] = [];
  /** The place of the last kept item, once `limit` items are kept. */
  #last: number | undefined;
  readonly #sign: number;

  constructor(order: (a: Placed, b: Placed) => number, limit: number, sign: number) {
    this.#order = order;
    this.#limit = limit;
    this.#sign = sign;
  }

  /** Whether an item at this place can be among them. */
  takes(place: number): boolean {
    return this.#last === undefined || this.#sign * (place - this.#last) <= 0;
  }

  add(placed: Placed): void {
    this.#kept.push(placed);
    if (this.#kept.length >= this.#limit * 2) this.#cut();
  }

  #cut(): void {
    this.#kept = this.#kept.sort(this.#order).slice(0, this.#limit);
    if (this.#kept.length === this.#limit) this.#last = this.#kept.at(-1)?.place;
  }

  sorted(): readonly Placed[] {
    this.#cut();
    return this.#kept;
  }
}

const NONE: Uint8Array = new Uint8Array(0);
const placesOf = (attributes: Uint8Array): string[] =>
  attributeValues(attributes).filter(({ kind }) => kind === Kind.TEXT).map(({ name, value }) =>
    `${name}=${value}`
  );

/** A store that ends with the process, for tests and trials. */
export class MemoryStore implements Store {
  readonly description = "memory store";
  readonly #runs = new Map<string, StoredState>();
  readonly #byWorkflow = new Map<string, StoredState[]>();
  /**
   * Runs that are ready or have a wake time. They are queried after each batch and are usually few.
   */
  readonly #active = new Set<StoredState>();
  readonly #subscribers = new Map<string, Set<StoredState>>();
  #attributeTypes: AttributeTypes | undefined;
  readonly #schedules = new Map<string, StoredSchedule>();
  readonly #batches = new Map<string, StoredBatch>();
  readonly #deployments = new Map<string, StoredDeployment>();
  readonly activities: ActivityMemory = new ActivityMemory();
  readonly #queueConfigs = new Map<string, StoredTaskQueueConfig>();
  readonly taskQueueConfigs: TaskQueueConfigStore = {
    all: () => [...this.#queueConfigs.values()],
    set: (config) => {
      this.#open();
      this.#queueConfigs.set(`${config.type} ${config.taskQueue}`, config);
    },
  };
  #nextKey = 1;
  #closed = false;

  #open(): void {
    if (this.#closed) throw new StoreError("the memory store is closed");
  }

  load(workflowId: string, runId?: string): RunRecord | undefined {
    this.#open();
    const found = runId === undefined || runId === ""
      ? this.#byWorkflow.get(workflowId)?.at(-1)
      : this.#runs.get(runId);
    if (found === undefined || found.row.workflowId !== workflowId) return undefined;
    const items = [...found.items.values()].sort((a, b) =>
      a.kind - b.kind || (a.id < b.id ? -1 : 1)
    );
    const row = { ...found.row };
    return {
      askedWorkflowId: workflowId,
      askedRunId: runId ?? "",
      found: true,
      row,
      head: found.head,
      items,
      unavailable: "",
      history: new Uint8Array(0),
    };
  }

  historyRange(workflowId: string, runId: string, from: number, to: number): Uint8Array[] {
    this.#open();
    const found = this.#runs.get(runId);
    if (found === undefined || found.row.workflowId !== workflowId) {
      throw new StoreError(`run ${runId} of workflow ${workflowId} is not in the store`);
    }
    const last = found.history.at(-1)?.lastEventId ?? 0;
    if (from < 1 || to > last || from > to) {
      throw new StoreError(
        `events ${from} to ${to} were requested from a history of ${last} events`,
      );
    }
    return found.history
      .filter((batch) => batch.lastEventId >= from && batch.firstEventId <= to)
      .map((batch) => cutBatch(batch.events, batch.firstEventId, batch.lastEventId, from, to));
  }

  ready(limit: number, after: StoredRun["position"] = [0, 0]): StoredRun[] {
    this.#open();
    return this.#stored((run) => (run.row.ready ? run.key : undefined), limit, after);
  }

  due(nowMs: number, limit: number, after: StoredRun["position"] = [0, 0]): StoredRun[] {
    this.#open();
    return this.#stored(
      ({ row }) => (row.wakeAtMs > 0 && row.wakeAtMs <= nowMs ? row.wakeAtMs : undefined),
      limit,
      after,
    );
  }

  #stored(
    first: (run: StoredState) => number | undefined,
    limit: number,
    after: StoredRun["position"],
  ): StoredRun[] {
    const found: StoredRun[] = [];
    for (const run of this.#active) {
      const place = first(run);
      if (place === undefined || place < after[0] || (place === after[0] && run.key <= after[1])) {
        continue;
      }
      found.push({
        workflowId: run.row.workflowId,
        runId: run.row.runId,
        position: [place, run.key],
      });
    }
    return found.sort((a, b) => a.position[0] - b.position[0] || a.position[1] - b.position[1])
      .slice(0, limit);
  }

  nextWake(): number {
    this.#open();
    let next = Infinity;
    for (const { row } of this.#active) {
      if (row.wakeAtMs > 0 && row.wakeAtMs < next) next = row.wakeAtMs;
    }
    return next === Infinity ? 0 : next;
  }

  list(query: ListQuery, size: number, after?: ListPosition): ListPage {
    this.#open();
    const sign = query.descending ? -1 : 1;
    const order = (a: Placed, b: Placed) => sign * (a.place - b.place || a.run.key - b.run.key);
    // Newest first for descending order: then most other runs are beyond the page at once.
    const runs = [...this.#runs.values()];
    if (query.descending) runs.reverse();
    const first = new FirstOf(order, size + 1, sign);
    const from = after === undefined ? undefined : { place: after[0], key: after[1] };
    for (const run of runs) {
      const place = placeOf(run.row, query);
      if (from !== undefined && sign * (place - from.place || run.key - from.key) <= 0) continue;
      if (!first.takes(place)) continue;
      if (query.where === undefined || matches(run, query.where)) first.add({ place, run });
    }
    const found = first.sorted();
    const page = found.slice(0, size);
    const last = page.at(-1);
    return {
      rows: page.map(({ run }) => ({ ...run.row })),
      heads: page.map(({ run }) => run.head),
      next: found.length > size && last !== undefined ? [last.place, last.run.key] : undefined,
    };
  }

  count(where?: Condition): number {
    this.#open();
    if (where === undefined) return this.#runs.size;
    let n = 0;
    for (const run of this.#runs.values()) if (matches(run, where)) n++;
    return n;
  }

  countByStatus(where?: Condition): ReadonlyMap<number, number> {
    this.#open();
    const counts = new Map<number, number>();
    for (const run of this.#runs.values()) {
      if (where === undefined || matches(run, where)) {
        counts.set(run.row.status, (counts.get(run.row.status) ?? 0) + 1);
      }
    }
    return counts;
  }

  subscribers(
    attribute: string,
    values: readonly string[],
  ): { workflowId: string; runId: string }[] {
    this.#open();
    const found = new Set(
      values.flatMap((value) => [...this.#subscribers.get(`${attribute}=${value}`) ?? []]),
    );
    return [...found].sort((a, b) => a.key - b.key).map(({ row: { workflowId, runId } }) => ({
      workflowId,
      runId,
    }));
  }

  /** Indexes the text attributes of open runs, by which broadcasts find them. */
  #index(run: StoredState, was: RunRow | undefined): void {
    const { row } = run;
    const before = was === undefined || was.closeTimeMs > 0 ? NONE : was.searchAttributes;
    const after = row.closeTimeMs > 0 ? NONE : row.searchAttributes;
    if (before.length === 0 && after.length === 0) return;
    for (const place of placesOf(before)) {
      const runs = this.#subscribers.get(place);
      runs?.delete(run);
      if (runs?.size === 0) this.#subscribers.delete(place);
    }
    for (const place of placesOf(after)) {
      const runs = this.#subscribers.get(place);
      if (runs === undefined) this.#subscribers.set(place, new Set([run]));
      else runs.add(run);
    }
  }

  attributeTypes(): AttributeTypes | undefined {
    return this.#attributeTypes;
  }

  setAttributeTypes(types: AttributeTypes): void {
    this.#open();
    this.#attributeTypes = types;
  }

  schedules(): StoredSchedule[] {
    this.#open();
    return [...this.#schedules.values()];
  }

  batches(): StoredBatch[] {
    this.#open();
    return [...this.#batches.values()];
  }

  deployments(): StoredDeployment[] {
    this.#open();
    return [...this.#deployments.values()];
  }

  commit(
    writes: readonly RunWrite[],
    _shown?: ShownOfRuns,
    ...[schedules, batches, activities, deployments]: HostWrites
  ): void {
    this.#open();
    this.#refuse(writes);
    this.activities.refuse(activities?.values() ?? []);
    for (const write of activities?.values() ?? []) this.activities.write(write);
    for (const [id, write] of schedules ?? []) {
      if ("state" in write) this.#schedules.set(id, write);
      else this.#schedules.delete(id);
    }
    for (const write of batches?.values() ?? []) this.#writeBatch(write);
    for (const { name, state } of deployments?.values() ?? []) {
      if (state === undefined) this.#deployments.delete(name);
      else this.#deployments.set(name, { name, state });
    }
    for (const write of writes) {
      const row = {
        ...write.row!,
        memo: write.row!.memo.slice(),
        searchAttributes: write.row!.searchAttributes.slice(),
      };
      let run = this.#runs.get(row.runId);
      const was = run?.row;
      if (run === undefined) {
        run = { key: this.#nextKey++, row, head: write.head, history: [], items: new Map() };
        this.#runs.set(row.runId, run);
        const siblings = this.#byWorkflow.get(row.workflowId);
        if (siblings === undefined) this.#byWorkflow.set(row.workflowId, [run]);
        else siblings.push(run);
      }
      run.row = row;
      this.#index(run, was);
      if (row.ready || row.wakeAtMs > 0) this.#active.add(run);
      else this.#active.delete(run);
      run.head = write.head.slice();
      for (const batch of write.append) {
        run.history.push({ ...batch, events: batch.events.slice() });
      }
      for (const item of write.put) {
        run.items.set(itemKey(item), { ...item, value: item.value.slice() });
      }
      for (const item of write.remove) run.items.delete(itemKey(item));
    }
  }

  #writeBatch({ jobId, state, request = this.#batches.get(jobId)?.request }: BatchWrite): void {
    if (state === undefined) this.#batches.delete(jobId);
    else if (request !== undefined) this.#batches.set(jobId, { jobId, state, request });
  }

  /** Rejects what SQLite would reject during the transaction. */
  #refuse(writes: readonly RunWrite[]): void {
    const lasts = new Map<string, number>();
    for (const { row, create, append } of writes) {
      if (row === undefined) throw new StoreError("a write has no run");
      const known = lasts.has(row.runId) || this.#runs.has(row.runId);
      if (create && known) throw new StoreError(`run ${row.runId} is already in the store`);
      if (!create && !known) throw new StoreError(`run ${row.runId} is not in the store`);
      let last = lasts.get(row.runId) ?? this.#runs.get(row.runId)?.row.historyLength ?? 0;
      for (const { firstEventId, lastEventId } of append) {
        if (firstEventId !== last + 1 || lastEventId < firstEventId) {
          throw new StoreError(
            `events ${firstEventId} to ${lastEventId} do not follow event ${last} of run ${row.runId}`,
          );
        }
        last = lastEventId;
      }
      if (last !== row.historyLength) {
        throw new StoreError(
          `run ${row.runId} declares ${row.historyLength} events, but ${last} are written`,
        );
      }
      lasts.set(row.runId, last);
    }
  }

  backup(_path: string): void {
    throw new StoreError("a memory store has no file to copy; open the engine with a path");
  }

  purge(options: PurgeOptions): string[] {
    this.#open();
    const purged: string[] = [];
    for (const [runId, run] of this.#runs) {
      const { row } = run;
      if (purged.length >= (options.limit ?? Infinity)) break;
      if (
        row.closeTimeMs === 0 || row.closeTimeMs >= options.closedBefore || row.ready ||
        row.wakeAtMs > 0
      ) continue;
      if (options.where !== undefined && !matches(run, options.where)) continue;
      this.#runs.delete(runId);
      const siblings = this.#byWorkflow.get(row.workflowId)!.filter((run) =>
        run.row.runId !== runId
      );
      if (siblings.length === 0) this.#byWorkflow.delete(row.workflowId);
      else this.#byWorkflow.set(row.workflowId, siblings);
      purged.push(runId);
    }
    if (options.where !== undefined) return purged;
    const left = (options.limit ?? Infinity) - purged.length;
    return [...purged, ...this.activities.purge(options.closedBefore, left)];
  }

  check(): string[] {
    this.#open();
    return [];
  }

  close(): void {
    this.#closed = true;
  }
}
