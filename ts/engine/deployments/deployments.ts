// The worker deployments of an engine whose workers are other processes. A poll of a versioned worker
// registers its version and task queue; methods change the routing. Changes run when a batch is closed,
// before it is flushed: their rows and the tasks that follow from them are in one commit.
import {
  PollWorkflowTaskQueueRequest as Poll,
  TaskQueue,
  WorkerDeploymentOptions,
} from "../../messages/generated/fields.ts";
import { WorkerVersioningMode } from "../../messages/generated/temporal/api/enums/v1/deployment_pb.ts";
import {
  TaskQueueKind,
  TaskQueueType,
} from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import { EngineMethod } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { Fields, intOf, readTextField } from "../../messages/wire.ts";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import { type PriorityStats, readStats } from "../backlog.ts";
import { namespaceCheck } from "../host_methods.ts";
import { callCanceled } from "../refusals.ts";
import type { DeploymentWrite, Store } from "../store.ts";
import type { MessageHost } from "../transaction_messages.ts";
import { parseQuery } from "../visibility/parse.ts";
import { WaitingCalls } from "../waiting_calls.ts";
import { failedPrecondition } from "./context.ts";
import { queueVersioning } from "./descriptions.ts";
import { deploymentMethods } from "./methods.ts";
import { checkDeploymentName } from "./names.ts";
import { encodeRouting, routedQueues, type VersionName } from "./routing.ts";
import {
  decodeDeployment,
  type DeploymentState,
  encodeDeployment,
  findVersion,
  newDeployment,
  newVersion,
  type VersionQueue,
  type VersionState,
} from "./state.ts";

/** As on servers. */
const MAX_DEPLOYMENTS = 100;
const MAX_VERSIONS = 100;
const MAX_QUEUES = 100;
/** Workers that polled in this time are counted as pollers, as on servers. */
const POLLER_MS = 5 * 60_000;

export interface DeploymentsContext {
  readonly namespace: string;
  readonly store: Store;
  readonly host: MessageHost;
  report(error: Error): void;
}

type DeploymentMethod = keyof ReturnType<typeof deploymentMethods>;

/** A task queue that a version polls. */
interface PolledQueue extends VersionName {
  readonly queue: VersionQueue;
}

const keyOf = ({ deployment, buildId, queue: [name, type] }: PolledQueue) =>
  JSON.stringify([deployment, buildId, type, name]);

export class Deployments {
  readonly #context: DeploymentsContext;
  readonly #isReadOnly: boolean;
  readonly #calls: WaitingCalls;
  readonly #methods: ReturnType<typeof deploymentMethods>;
  readonly #kept = new Map<string, DeploymentState>();
  /** Why deployments cannot be read: their rows stay as they are. */
  readonly #unreadable = new Map<string, string>();
  /** Registered queues of versions, with the time of the last poll in this process. */
  readonly #polls = new Map<string, number>();
  /** Queues that the next batch registers, by key. */
  readonly #registering = new Map<string, PolledQueue>();
  #writes = new Map<string, DeploymentWrite>();
  #stale = true;
  /** The core has another routing. */
  #moved = false;

  /** `isReadOnly`: deployments are described, and do not change. */
  constructor(context: DeploymentsContext, isReadOnly = false) {
    this.#context = context;
    this.#isReadOnly = isReadOnly;
    const { namespace, host } = context;
    this.#calls = new WaitingCalls(host);
    this.#methods = deploymentMethods({
      ours: namespaceCheck(namespace),
      nowMs: () => host.nowMs(),
      find: (name) => this.#find(name),
      all: () =>
        [...this.#kept.values()].sort((a, b) => a.name === b.name ? 0 : a.name < b.name ? -1 : 1),
      create: (name) => this.#create(name),
      addVersion: (state, buildId) => this.#addVersion(state, buildId, "created"),
      changed: (state) => this.#changed(state),
      remove: (state) => this.#remove(state),
      removeVersion: (state, version) => this.#removeVersion(state, version),
      refresh: (state) => this.#refresh(state),
      hasPollers: (state, version) => this.#hasPollers(state, version),
      stats: (state, version, queue) => this.#stats(state, version, queue),
    });
  }

  /** Changes that the next commit must contain. */
  get writes(): ReadonlyMap<string, DeploymentWrite> {
    return this.#writes;
  }

  /** The routing for a new core. */
  routing(): Uint8Array {
    if (this.#stale) this.#read();
    return encodeRouting(routedQueues(this.#kept.values()));
  }

  /** The versions of a task queue, as its description has them. */
  versioningOf(name: string, type: TaskQueueType): ReturnType<typeof queueVersioning> {
    if (this.#stale) this.#read();
    return queueVersioning(
      routedQueues(this.#kept.values())
        .find(({ queue }) => queue[0] === name && queue[1] === type),
    );
  }

  /** Calls a method in the next batch, and resolves after its commit. Undefined: another method. */
  call(
    method: MethodName,
    request: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> | undefined {
    if (!(method in this.#methods)) return undefined;
    if (signal?.aborted) return Promise.reject(callCanceled());
    const { store } = this.#context;
    if (store.deployments === undefined) {
      return Promise.reject(
        new ServiceError(
          Code.UNIMPLEMENTED,
          `${store.description} does not keep worker deployments; use a store of this package`,
          "Unimplemented",
        ),
      );
    }
    return this.#calls.add(() => this.#methods[method as DeploymentMethod](request));
  }

  /**
   * Notes a poll of a versioned worker; the next batch registers what is new. Throws a ServiceError
   * for names that servers reject and beyond limits.
   */
  notePoll(method: MethodName, request: Uint8Array): void {
    const type = method === "pollWorkflowTaskQueue"
      ? TaskQueueType.WORKFLOW
      : method === "pollActivityTaskQueue"
      ? TaskQueueType.ACTIVITY
      : undefined;
    const polled = type === undefined ? undefined : readPoll(request, type);
    if (polled === undefined || this.#context.store.deployments === undefined) return;
    const key = keyOf(polled);
    const isKnown = this.#polls.has(key);
    if (!isKnown) {
      checkDeploymentName("WorkerDeploymentName", polled.deployment);
      checkDeploymentName("BuildID", polled.buildId);
      this.#checkRoom(polled);
      this.#registering.set(key, polled);
    }
    this.#polls.set(key, this.#context.host.nowMs());
  }

  /** Registers queues and runs waiting calls. Throws the error of the store or the core. */
  run(): void {
    if (this.#stale) {
      this.#read();
      this.#moved = true;
    }
    for (const [key, polled] of this.#registering) {
      this.#registering.delete(key);
      try {
        this.#register(polled);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        // Polls before it in this batch have reached the limit: its next poll is rejected.
        this.#polls.delete(key);
      }
    }
    this.#calls.run();
    if (!this.#moved) return;
    this.#moved = false;
    const { engine } = this.#context.host;
    const method = EngineMethod.ENGINE_METHOD_SET_ROUTING;
    engine.request(0, method, this.routing(), this.#context.host.nowMs());
  }

  #read(): void {
    this.#kept.clear();
    for (const row of this.#context.store.deployments?.() ?? []) {
      try {
        this.#kept.set(row.name, decodeDeployment(row));
      } catch (cause) {
        const { message } = cause as Error;
        if (this.#unreadable.get(row.name) === message) continue;
        this.#unreadable.set(row.name, message);
        this.#context.report(
          new Error(`worker deployment "${row.name}" cannot be read: ${message}`, { cause }),
        );
      }
    }
    this.#stale = false;
  }

  #find(name: string): DeploymentState | undefined {
    const reason = this.#unreadable.get(name);
    if (reason === undefined) return this.#kept.get(name);
    throw failedPrecondition(
      `worker deployment "${name}" cannot be read: ${reason}; use another deployment name`,
    );
  }

  // -------------------------------------------------------------------------------------- changes

  #changed(state: DeploymentState): void {
    if (this.#isReadOnly) return;
    this.#writes.set(state.name, encodeDeployment(state));
    this.#moved = true;
  }

  #create(name: string): DeploymentState {
    this.#checkDeployments(name);
    const state = newDeployment(name, this.#context.host.nowMs());
    this.#kept.set(name, state);
    this.#changed(state);
    return state;
  }

  #remove({ name }: DeploymentState): void {
    this.#kept.delete(name);
    this.#writes.set(name, { name });
    this.#moved = true;
  }

  #removeVersion(state: DeploymentState, version: VersionState): void {
    const { name: deployment, versions } = state;
    const { buildId, queues } = version;
    versions.splice(versions.indexOf(version), 1);
    for (const queue of queues) this.#polls.delete(keyOf({ deployment, buildId, queue }));
    this.#changed(state);
  }

  #addVersion(
    state: DeploymentState,
    buildId: string,
    status: "created" | "inactive",
  ): VersionState {
    this.#makeRoom(state, true);
    const version = newVersion(buildId, this.#context.host.nowMs(), status);
    state.versions.push(version);
    this.#changed(state);
    return version;
  }

  #register({ deployment, buildId, queue }: PolledQueue): void {
    const state = this.#find(deployment) ?? this.#create(deployment);
    const version = findVersion(state, buildId) ?? this.#addVersion(state, buildId, "inactive");
    if (version.status === "created") version.status = "inactive";
    if (version.queues.some(([name, type]) => name === queue[0] && type === queue[1])) return;
    version.queues.push(queue);
    this.#changed(state);
  }

  // --------------------------------------------------------------------------------------- limits

  /** Rejects a poll whose version or queue exceeds a limit. */
  #checkRoom({ deployment, buildId }: PolledQueue): void {
    if (this.#stale) this.#read();
    const state = this.#find(deployment);
    if (state === undefined) return this.#checkDeployments(deployment);
    const version = findVersion(state, buildId);
    if (version === undefined) return this.#makeRoom(state, false);
    if (version.queues.length < MAX_QUEUES) return;
    throw tooMany(
      `cannot add task queue to version '${deployment}:${buildId}' since maximum number of task queues (${MAX_QUEUES}) have been registered in it`,
    );
  }

  #checkDeployments(name: string): void {
    if (this.#kept.size < MAX_DEPLOYMENTS) return;
    throw tooMany(
      `reached maximum deployments in namespace (${MAX_DEPLOYMENTS}): delete a deployment before adding '${name}'`,
    );
  }

  /** At the limit, the oldest version that nothing needs is removed. */
  #makeRoom(state: DeploymentState, removes: boolean): void {
    if (state.versions.length < MAX_VERSIONS) return;
    this.#refresh(state);
    const unused = state.versions.findIndex((version) =>
      (version.status === "inactive" || version.status === "drained") &&
      !this.#hasPollers(state, version)
    );
    if (unused < 0) {
      throw tooMany(
        `cannot add version, already at max versions ${MAX_VERSIONS}: delete a version of '${state.name}' that has no pollers`,
      );
    }
    if (removes) this.#removeVersion(state, state.versions[unused]!);
  }

  // ------------------------------------------------------------------------------------- versions

  /** A version has drained when no open workflow is pinned to it. */
  #refresh(state: DeploymentState): void {
    const nowMs = this.#context.host.nowMs();
    for (const version of state.versions) {
      if (version.status !== "draining" && version.status !== "drained") continue;
      const status = this.#isPinned(state, version) ? "draining" : "drained";
      version.drainageCheckedMs = nowMs;
      if (status === version.status) continue;
      version.status = status;
      version.drainageChangedMs = nowMs;
      this.#changed(state);
    }
  }

  #isPinned(state: DeploymentState, { buildId }: VersionState): boolean {
    const text = `${state.name}:${buildId}`.replace(/['\\]/g, "\\$&");
    const query = `TemporalWorkerDeploymentVersion = '${text}' AND ` +
      "TemporalWorkflowVersioningBehavior = 'Pinned' AND ExecutionStatus = 'Running'";
    return this.#context.store.count(parseQuery(query).where) > 0;
  }

  #hasPollers({ name: deployment }: DeploymentState, { buildId, queues }: VersionState): boolean {
    const since = this.#context.host.nowMs() - POLLER_MS;
    return queues.some((queue) =>
      (this.#polls.get(keyOf({ deployment, buildId, queue })) ?? -Infinity) >= since
    );
  }

  #stats(
    { name }: DeploymentState,
    { buildId }: VersionState,
    [queue]: VersionQueue,
  ): PriorityStats[] {
    // The name of the version's queue in the core (core-rs/src/engine/versioning.rs, `place`).
    const { engine } = this.#context.host;
    return readStats(engine.backlog(`${queue}\0${name}:${buildId}`, this.#context.host.nowMs()));
  }

  // ----------------------------------------------------------------------------------- the commit

  committed(): void {
    const respond = this.#calls.committed();
    this.#writes = new Map();
    respond();
  }

  /** The batch is lost. `all`: with the waiting calls. */
  lost(error: Error, all: boolean): void {
    if (this.#calls.haveRun || this.#writes.size > 0) {
      this.#stale = true;
      // Queues whose registration is lost register with the next poll.
      this.#polls.clear();
    }
    this.#writes = new Map();
    this.#calls.lost(error, all);
  }
}

function tooMany(message: string): ServiceError {
  return new ServiceError(Code.RESOURCE_EXHAUSTED, message, "WorkerDeploymentLimits");
}

/** Version and queue of a poll; undefined for other workers, for sticky queues and bad bytes. */
function readPoll(request: Uint8Array, type: TaskQueueType): PolledQueue | undefined {
  let queue = "", deployment = "", buildId = "", isNamed = false;
  try {
    for (const at = new Fields(request); at.next();) {
      if (at.tag === Poll.taskQueue) {
        const bytes = at.bytes();
        queue = readTextField(bytes, TaskQueue.name);
        if (intOf(bytes, TaskQueue.kind) === TaskQueueKind.STICKY) return undefined;
      } else if (at.tag === Poll.deploymentOptions) {
        const bytes = at.bytes();
        const mode = intOf(bytes, WorkerDeploymentOptions.workerVersioningMode);
        if (mode !== WorkerVersioningMode.VERSIONED) return undefined;
        deployment = readTextField(bytes, WorkerDeploymentOptions.deploymentName);
        buildId = readTextField(bytes, WorkerDeploymentOptions.buildId);
        isNamed = deployment !== "" && buildId !== "";
      }
    }
  } catch {
    return undefined;
  }
  return isNamed && queue !== "" ? { deployment, buildId, queue: [queue, type] } : undefined;
}
