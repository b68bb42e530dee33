// The read methods of WorkflowService over a store that is not open elsewhere: lists and counts
// from its index, descriptions and histories from an engine whose clock never advances and that
// recovers nothing, so that reading changes nothing.
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
import type { Clock } from "./clock.ts";
import { EmbeddedEngine } from "./embedded_engine.ts";
import type { Store } from "./store.ts";
import { StoreError } from "./store_errors.ts";

export const READ_METHODS: ReadonlySet<MethodName> = new Set<MethodName>([
  "getSystemInfo",
  "getClusterInfo",
  "getSearchAttributes",
  "describeNamespace",
  "listNamespaces",
  "listWorkflowExecutions",
  "listOpenWorkflowExecutions",
  "listClosedWorkflowExecutions",
  "scanWorkflowExecutions",
  "countWorkflowExecutions",
  "describeWorkflowExecution",
  "getWorkflowExecutionHistory",
  "getWorkflowExecutionHistoryReverse",
  "describeSchedule",
  "listSchedules",
  "countSchedules",
  "listScheduleMatchingTimes",
  "describeBatchOperation",
  "listBatchOperations",
  "describeWorkerDeployment",
  "describeWorkerDeploymentVersion",
  "listWorkerDeployments",
  "describeActivityExecution",
  "pollActivityExecution",
  "listActivityExecutions",
  "countActivityExecutions",
]);

const STANDING: Clock = { nowMs: () => 0, setTimer: () => () => {} };

function refuseWrite(): never {
  throw new StoreError("cannot write: the store is open read-only");
}

/** The store for an engine that must not act on it. */
function asItIs(store: Store): Store {
  return {
    description: store.description,
    load: (workflowId, runId) => store.load(workflowId, runId),
    historyRange: (workflowId, runId, from, to) => store.historyRange(workflowId, runId, from, to),
    ready: () => [],
    due: () => [],
    nextWake: () => 0,
    list: (query, size, after) => store.list(query, size, after),
    count: (where) => store.count(where),
    countByStatus: (where) => store.countByStatus(where),
    subscribers: (attribute, values) => store.subscribers(attribute, values),
    attributeTypes: () => store.attributeTypes(),
    setAttributeTypes: refuseWrite,
    schedules: () => store.schedules?.() ?? [],
    taskQueueConfigs: { all: () => store.taskQueueConfigs?.all() ?? [], set: refuseWrite },
    batches: () => store.batches?.() ?? [],
    deployments: () => store.deployments?.() ?? [],
    ...(store.activities !== undefined && { activities: store.activities }),
    commit: refuseWrite,
    backup: (path) => store.backup(path),
    purge: () => [],
    check: () => store.check(),
    close: () => {},
  };
}

export class ReadOnlyService implements RawService {
  readonly #engine: EmbeddedEngine;
  readonly #store: Store;

  /** Opens the service; `close` also closes the store. */
  static async open(store: Store, namespace = "default"): Promise<ReadOnlyService> {
    try {
      const engine = await EmbeddedEngine.open({
        store: asItIs(store),
        namespace,
        clock: STANDING,
        remoteWorkers: true,
        onError: () => {},
        isReadOnly: true,
      });
      return new ReadOnlyService(engine, store);
    } catch (e) {
      store.close();
      throw e;
    }
  }

  private constructor(engine: EmbeddedEngine, store: Store) {
    this.#engine = engine;
    this.#store = store;
  }

  /** Calls one of `READ_METHODS`. A long poll for new events waits until its deadline. */
  call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    if (READ_METHODS.has(method)) return this.#engine.call(method, request, options);
    return Promise.reject(
      new ServiceError(
        Code.UNIMPLEMENTED,
        `${method} is not available: the store is open read-only`,
        "Unimplemented",
      ),
    );
  }

  async close(): Promise<void> {
    await this.#engine.close();
    this.#store.close();
  }
}
