// The engine of one branch: in memory, with virtual time, with only the run, its children and the
// workflows to which it sends messages. Time advances only on request of the branch. Real runs are
// not affected.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EngineTimerState } from "../messages/generated/fields.ts";
import {
  type HistoryEvent,
  HistorySchema,
} from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  type PollWorkflowTaskQueueResponse,
  PollWorkflowTaskQueueResponseSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { WorkflowIdConflictPolicy } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { concat, Message } from "../messages/wire.ts";
import { VirtualClock } from "../engine/clock.ts";
import { EmbeddedEngine } from "../engine/embedded_engine.ts";
import { buildOpenRun, type OpenRunToMake } from "../engine/maintenance/open_run.ts";
import { MemoryStore } from "../engine/memory_store.ts";
import type { EmbeddedEngineOptions } from "../engine/options.ts";
import type { Store } from "../engine/store.ts";
import { hop } from "../platform/hop.ts";
import { type TypedService, typedService } from "../service/typed.ts";

/** The type of store items for timers. */
const TIMER = 3;
/** A task queue without pollers. */
const UNSERVED = "what-if-unserved";

export const IDENTITY = "what-if";

/** The engine's options for reducers. */
export type ReducingOptions = Pick<EmbeddedEngineOptions, "reducers" | "reducing" | "converter">;

export class World {
  readonly clock: VirtualClock;
  readonly namespace = "default";
  readonly #store: Store;
  readonly #main: OpenRunToMake;
  readonly #reducing: ReducingOptions;
  #engine!: EmbeddedEngine;
  #service!: TypedService;
  readonly #moved = new Set<string>();

  private constructor(main: OpenRunToMake, nowMs: number, reducing: ReducingOptions, store: Store) {
    this.#main = main;
    this.#store = store;
    this.#reducing = reducing;
    this.clock = new VirtualClock(nowMs);
  }

  /**
   * Opens an engine with the run and its open children. `store`: a store with tables, whose
   * transaction may be open. Throws an ImportError for events that are not a valid run.
   */
  static async open(
    main: OpenRunToMake,
    children: readonly OpenRunToMake[],
    nowMs: number,
    reducing: ReducingOptions,
    store: Store = new MemoryStore(),
  ): Promise<World> {
    const world = new World(main, nowMs, reducing, store);
    world.#store.commit([main, ...children].map((run) => buildOpenRun(run)));
    await world.#start();
    return world;
  }

  async #start(): Promise<void> {
    const { clock, namespace } = this;
    // Errors that the engine recovers from are visible in the branch's history, or have no effect.
    const options = {
      store: this.#store,
      clock,
      namespace,
      remoteWorkers: true,
      onError: () => {},
      ...this.#reducing,
    };
    this.#engine = await EmbeddedEngine.open(options);
    this.#service = typedService(this.#engine);
  }

  get service(): TypedService {
    return this.#service;
  }

  get nowMs(): number {
    return this.clock.nowMs();
  }

  /** When the engine has something due; Infinity: never. */
  get nextMs(): number {
    const { nextWakeMs } = this.#engine.stats();
    return nextWakeMs === 0 ? Infinity : nextWakeMs;
  }

  /** Resolves when the engine has processed all requests. */
  async quiet(): Promise<void> {
    do await hop(); while (this.#engine.busy);
  }

  tasks(queue: string): { workflow: number; activity: number } {
    const { workflow, activity } = this.#engine.backlog(queue);
    return { workflow: workflow.tasks, activity: activity.tasks };
  }

  get events(): number {
    return this.#row()?.historyLength ?? 0;
  }

  get closed(): boolean {
    return (this.#row()?.closeTimeMs ?? 0) > 0;
  }

  #row() {
    return this.#store.load(this.#main.workflowId, this.#main.runId)?.row;
  }

  history(): { bytes: Uint8Array; events: HistoryEvent[] } {
    const parts = this.#store.historyRange(this.#main.workflowId, this.#main.runId, 1, this.events);
    const bytes = concat(parts);
    return { bytes, events: fromBinary(HistorySchema, bytes).events };
  }

  /** Returns the next workflow task with its full history, from any queue that has one. */
  async workflowTask(
    queue: string,
  ): Promise<{ task: PollWorkflowTaskQueueResponse; bytes: Uint8Array } | undefined> {
    const { namespace } = this;
    const task = await this.#service.pollWorkflowTaskQueue({
      namespace,
      taskQueue: { name: queue },
      identity: IDENTITY,
    });
    if (task.taskToken.length === 0) return undefined;
    const events = [...task.history?.events ?? []];
    for (let nextPageToken = task.nextPageToken; nextPageToken.length > 0;) {
      const execution = task.workflowExecution!;
      const page = await this.#service.getWorkflowExecutionHistory({
        namespace,
        execution,
        nextPageToken,
      });
      events.push(...page.history?.events ?? []);
      nextPageToken = page.nextPageToken;
    }
    task.history = create(HistorySchema, { events });
    task.nextPageToken = new Uint8Array(0);
    return { task, bytes: toBinary(PollWorkflowTaskQueueResponseSchema, task) };
  }

  /** Creates another workflow to which the run sends something. */
  async other(workflowId: string): Promise<void> {
    const { namespace } = this;
    await this.#service.startWorkflowExecution({
      ...{ namespace, workflowId, identity: IDENTITY, requestId: crypto.randomUUID() },
      workflowType: { name: UNSERVED },
      taskQueue: { name: UNSERVED },
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    }).catch(() => undefined);
  }

  /**
   * Sets when a timer that was just started fires; once per timer. Returns whether a timer with
   * that ID exists.
   */
  async moveTimer(timerId: string, afterMs: number): Promise<boolean> {
    const { workflowId, runId } = this.#main;
    if (this.#moved.has(timerId)) return true;
    const record = this.#store.load(workflowId, runId);
    const timer = record?.items.find(({ kind, id }) => kind === TIMER && id === timerId);
    if (record?.row === undefined || timer === undefined) return false;
    this.#moved.add(timerId);
    const atMs = this.nowMs + afterMs;
    await this.#engine.close();
    const value = concat([
      timer.value,
      new Message().int(EngineTimerState.fireUs, Math.round(atMs * 1000)).finish(),
    ]);
    const row = { ...record.row, wakeAtMs: atMs, ready: true };
    this.#store.commit([{
      create: false,
      row,
      head: record.head,
      append: [],
      put: [{ ...timer, value }],
      remove: [],
    }]);
    await this.#start();
    return true;
  }

  /** The prefix has already set this timer. */
  noteMoved(timerId: string): void {
    this.#moved.add(timerId);
  }

  async close(): Promise<void> {
    await this.#engine.close();
    this.#store.close();
  }
}
