// A store in front of another one that a test can watch and make fail.
import type {
  ActivityStore,
  ActivityWrite,
  AttributeTypes,
  BatchWrite,
  ListPage,
  ListPosition,
  ListQuery,
  PurgeOptions,
  RunRecord,
  RunWrite,
  ScheduleWrite,
  ShownOfRuns,
  Store,
  StoredBatch,
  StoredRun,
  StoredSchedule,
} from "../../../../ts/engine/store.ts";
import type { Condition } from "../../../../ts/engine/visibility/condition.ts";

export class ProbeStore implements Store {
  readonly inner: Store;
  commits = 0;
  /** Writes of each commit that was tried. */
  readonly sizes: number[] = [];
  /**
   * Called with the number of each commit (from 1) before it is written; what it throws fails the
   * commit.
   */
  onCommit: ((n: number, writes: readonly RunWrite[]) => void) | undefined;
  onCommitted: ((n: number) => void) | undefined;
  onLoad: ((workflowId: string) => void) | undefined;

  constructor(inner: Store) {
    this.inner = inner;
  }

  get description(): string {
    return `probe of ${this.inner.description}`;
  }

  schedules(): StoredSchedule[] {
    return this.inner.schedules!();
  }

  get activities(): ActivityStore {
    return this.inner.activities!;
  }

  batches(): StoredBatch[] {
    return this.inner.batches!();
  }

  commit(
    writes: readonly RunWrite[],
    shown?: ShownOfRuns,
    schedules?: ReadonlyMap<string, ScheduleWrite>,
    batches?: ReadonlyMap<string, BatchWrite>,
    activities?: ReadonlyMap<string, ActivityWrite>,
  ): void {
    const n = ++this.commits;
    this.sizes.push(writes.length);
    this.onCommit?.(n, writes);
    this.inner.commit(writes, shown, schedules, batches, activities);
    this.onCommitted?.(n);
  }

  load(workflowId: string, runId?: string): RunRecord | undefined {
    this.onLoad?.(workflowId);
    return this.inner.load(workflowId, runId);
  }

  historyRange(workflowId: string, runId: string, from: number, to: number): Uint8Array[] {
    return this.inner.historyRange(workflowId, runId, from, to);
  }

  ready(limit: number, after?: StoredRun["position"]): StoredRun[] {
    return this.inner.ready(limit, after);
  }

  due(nowMs: number, limit: number, after?: StoredRun["position"]): StoredRun[] {
    return this.inner.due(nowMs, limit, after);
  }

  nextWake(): number {
    return this.inner.nextWake();
  }

  list(query: ListQuery, size: number, after?: ListPosition): ListPage {
    return this.inner.list(query, size, after);
  }

  count(where?: Condition): number {
    return this.inner.count(where);
  }

  countByStatus(where?: Condition): ReadonlyMap<number, number> {
    return this.inner.countByStatus(where);
  }

  subscribers(
    attribute: string,
    values: readonly string[],
  ): { workflowId: string; runId: string }[] {
    return this.inner.subscribers(attribute, values);
  }

  attributeTypes(): AttributeTypes | undefined {
    return this.inner.attributeTypes();
  }

  setAttributeTypes(types: AttributeTypes): void {
    this.inner.setAttributeTypes(types);
  }

  backup(path: string): void {
    this.inner.backup(path);
  }

  purge(options: PurgeOptions): string[] {
    return this.inner.purge(options);
  }

  check(): string[] {
    return this.inner.check();
  }

  close(): void {
    this.inner.close();
  }
}
