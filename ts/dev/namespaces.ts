// Several namespaces in one process: one engine with its own store for each, and one RawService
// that dispatches by the namespace in the request. Namespaces can be added, changed and deleted
// while the server runs; the host keeps the list of them.
import { DescribeNamespaceRequest } from "../messages/generated/fields.ts";
import { namespaceField } from "../api/request_namespace.ts";
import {
  describedNamespace,
  listedNamespaces,
  type NamespaceOptions,
} from "../engine/server_description.ts";
import type { EmbeddedEngine } from "../engine/embedded_engine.ts";
import { ENGINE_METHODS } from "../engine/methods.ts";
import { invalid, textField } from "../engine/host_bytes.ts";
import type { NexusHost } from "../engine/nexus_calls.ts";
import { callFromOutside } from "../engine/outside_calls.ts";
import { readUpdate } from "./namespace_update.ts";
import { type NexusEndpoint, NexusEndpoints } from "./nexus/endpoints.ts";
import { NexusRouter } from "./nexus/router.ts";
import { NexusTaskMatcher } from "./nexus/tasks.ts";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";

/** Stricter than Temporal's rule for names, because the name is used as a file name. */
const NAME = /^[A-Za-z0-9][\w.-]{0,98}$/;

/** Throws a TypeError with the reason for an invalid namespace name. */
export function checkNamespace(name: string): void {
  if (NAME.test(name)) return;
  throw new TypeError(
    `invalid namespace "${name}": letters, digits, "_", "-" and ".", at most 99, with a letter or digit at the beginning`,
  );
}

/** Methods that the engine's host implements, for requests that must name their namespace. */
const HOST_METHODS: ReadonlySet<MethodName> = new Set<MethodName>([
  "listWorkflowExecutions",
  "listOpenWorkflowExecutions",
  "listClosedWorkflowExecutions",
  "scanWorkflowExecutions",
  "countWorkflowExecutions",
  "describeTaskQueue",
  "updateTaskQueueConfig",
  "describeNamespace",
  "updateNamespace",
  "executeMultiOperation",
  "getWorkflowExecutionHistoryReverse",
  "deleteWorkflowExecution",
  "pollNexusTaskQueue",
  "startBatchOperation",
  "stopBatchOperation",
  "describeBatchOperation",
  "listBatchOperations",
  "startActivityExecution",
  "describeActivityExecution",
  "pollActivityExecution",
  "listActivityExecutions",
  "countActivityExecutions",
  "requestCancelActivityExecution",
  "terminateActivityExecution",
  "deleteActivityExecution",
  "pauseActivityExecution",
  "unpauseActivityExecution",
  "resetActivityExecution",
  "updateActivityExecutionOptions",
  "deleteWorkerDeployment",
  "deleteWorkerDeploymentVersion",
  "describeWorkerDeployment",
  "describeWorkerDeploymentVersion",
  "listWorkerDeployments",
  "setWorkerDeploymentCurrentVersion",
  "setWorkerDeploymentManager",
  "setWorkerDeploymentRampingVersion",
  "updateWorkerDeploymentVersionMetadata",
]);

/**
 * A task token names the run, so these requests need no namespace. A method that is not implemented
 * is rejected as such.
 */
function needsNamespace(method: MethodName): boolean {
  const hasTaskToken = /^(respond|record)/.test(method) && !method.endsWith("ById");
  return !hasTaskToken && (HOST_METHODS.has(method) || ENGINE_METHODS[method] !== undefined);
}

const ABOUT_NAMESPACES: ReadonlySet<MethodName> = new Set<MethodName>([
  "describeNamespace",
  "updateNamespace",
]);

/** Starts that a deprecated namespace rejects. */
const STARTS: ReadonlySet<MethodName> = new Set<MethodName>([
  "startWorkflowExecution",
  "signalWithStartWorkflowExecution",
  "startActivityExecution",
]);

interface Space {
  readonly engine: EmbeddedEngine;
  readonly options: NamespaceOptions;
  /** Whether a call registered or changed it: then the host keeps its options. */
  readonly registered: boolean;
  /** Stops the removal of closed runs. */
  readonly stop: () => void;
}

/** A namespace of the start. */
export interface InitialNamespace {
  readonly name: string;
  readonly options: NamespaceOptions;
  /** Whether the host kept its options. */
  readonly registered?: boolean;
}

/** What namespaces need from their host. */
export interface NamespacesHost {
  /** Opens the engine of a namespace, with the host of its Nexus calls. */
  open(name: string, nexus: NexusHost): Promise<EmbeddedEngine>;
  /**
   * Removes runs of an engine after they have been closed for `retentionMs`. The returned function
   * stops it.
   */
  keepFor(retentionMs: number, engine: EmbeddedEngine): () => void;
  /** Closes an engine that `open` returned. Default: `engine.close()`. */
  close?(name: string, engine: EmbeddedEngine): Promise<void>;
  /**
   * Keeps the registered and changed namespaces and the Nexus endpoints, before the call that
   * changed them returns.
   */
  save?(
    registered: ReadonlyMap<string, NamespaceOptions>,
    endpoints: readonly NexusEndpoint[],
  ): void;
  /** Removes the store of a deleted namespace, after its engine was closed. */
  discard?(name: string): Promise<void>;
}

export class Namespaces implements RawService {
  readonly #spaces = new Map<string, Space>();
  readonly #first: string;
  readonly #host: NamespacesHost;
  /** Namespaces that are being opened or deleted: their names are in use. */
  readonly #busy = new Map<string, Promise<void>>();
  readonly #nexusTasks = new NexusTaskMatcher();
  readonly #nexus: NexusRouter;
  readonly endpoints: NexusEndpoints;
  #closed = false;

  /** Opens all namespaces or rejects. The first is the default for requests without a namespace. */
  static async open(
    initial: readonly InitialNamespace[],
    host: NamespacesHost,
    endpoints: readonly NexusEndpoint[] = [],
  ): Promise<Namespaces> {
    const namespaces = new Namespaces(initial[0]!.name, host, endpoints);
    try {
      for (const { name, options, registered = false } of initial) {
        checkNamespace(name);
        await namespaces.#alone(name, () => namespaces.#add(name, options, registered));
      }
      namespaces.#nexus.begin();
      return namespaces;
    } catch (error) {
      await namespaces.close();
      throw error;
    }
  }

  private constructor(
    first: string,
    host: NamespacesHost,
    endpoints: readonly NexusEndpoint[],
  ) {
    this.#first = first;
    this.#host = host;
    this.endpoints = new NexusEndpoints(endpoints, () => {
      this.#save();
      for (const engine of this.engines) engine.nexusEndpointsChanged();
    });
    this.#nexus = new NexusRouter(
      this.endpoints,
      this.#nexusTasks,
      (name) => this.engineOf(name),
    );
  }

  get names(): string[] {
    return [...this.#spaces.keys()];
  }

  get engines(): EmbeddedEngine[] {
    return [...this.#spaces.values()].map(({ engine }) => engine);
  }

  /** Returns the engine of a namespace; undefined for an unknown name. */
  engineOf(name: string): EmbeddedEngine | undefined {
    return this.#spaces.get(name)?.engine;
  }

  /**
   * Returns the engine of a namespace, of the first one without a name. Throws NOT_FOUND for an
   * unknown name.
   */
  requiredEngine(name: string): EmbeddedEngine {
    const engine = this.engineOf(name === "" ? this.#first : name);
    if (engine === undefined) throw this.#unknown(name);
    return engine;
  }

  /** Adds a namespace. Rejects with ALREADY_EXISTS, also while another call adds or deletes it. */
  async register(name: string, options: NamespaceOptions): Promise<void> {
    try {
      checkNamespace(name);
    } catch (error) {
      throw invalid((error as Error).message);
    }
    await this.#alone(name, async () => {
      await this.#add(name, options, true);
      try {
        this.#save();
      } catch (error) {
        await this.#remove(name);
        throw error;
      }
    });
  }

  /** Replaces the options of a namespace by those that `change` makes of them. */
  update(name: string, change: (options: NamespaceOptions) => NamespaceOptions): NamespaceOptions {
    const space = this.#spaceOf(name);
    const options = change(space.options);
    const isKept = options.retentionMs === space.options.retentionMs;
    this.#spaces.set(name, { ...space, options, registered: true });
    try {
      this.#save();
    } catch (error) {
      this.#spaces.set(name, space);
      throw error;
    }
    if (!isKept) {
      space.stop();
      const stop = this.#keep(options, space.engine);
      this.#spaces.set(name, { ...space, options, registered: true, stop });
    }
    return options;
  }

  /** Removes a namespace and its store. Callers that wait for it are rejected. */
  async delete(name: string): Promise<void> {
    const { options, registered } = this.#spaceOf(name);
    if (name === this.#first) {
      throw new ServiceError(
        Code.FAILED_PRECONDITION,
        `namespace ${name} cannot be deleted: it is the one of requests without a namespace. Stop the server and remove its store`,
      );
    }
    const target = this.endpoints.list().find((endpoint) => endpoint.namespace === name);
    if (target !== undefined) {
      throw new ServiceError(
        Code.FAILED_PRECONDITION,
        `cannot delete a namespace that is a target of a Nexus endpoint ${target.name}; delete or change the endpoint first`,
      );
    }
    await this.#alone(name, async () => {
      await this.#remove(name);
      try {
        await this.#host.discard?.(name);
      } catch (error) {
        // It would come back with its runs at the next start, so it is still here.
        await this.#add(name, options, registered);
        throw error;
      }
      this.#save();
    });
  }

  /** Runs one addition or deletion of a namespace at a time. */
  async #alone(name: string, work: () => Promise<void>): Promise<void> {
    if (this.#busy.has(name)) throw exists(name);
    const working = work();
    this.#busy.set(name, working);
    try {
      await working;
    } finally {
      this.#busy.delete(name);
    }
  }

  async #add(name: string, options: NamespaceOptions, registered: boolean): Promise<void> {
    if (this.#spaces.has(name)) throw exists(name);
    const engine = await this.#host.open(name, this.#nexus);
    if (this.#closed) {
      await this.#close(name, engine);
      throw new ServiceError(
        Code.UNAVAILABLE,
        `the server was closed while namespace ${name} was added`,
      );
    }
    this.#spaces.set(name, { engine, options, registered, stop: this.#keep(options, engine) });
  }

  /** Closes the engine of a namespace that no call reaches any more. */
  async #remove(name: string): Promise<void> {
    const { engine, stop } = this.#spaceOf(name);
    this.#spaces.delete(name);
    stop();
    await this.#close(name, engine);
  }

  #close(name: string, engine: EmbeddedEngine): Promise<void> {
    return this.#host.close?.(name, engine) ?? engine.close();
  }

  #keep({ retentionMs = 0 }: NamespaceOptions, engine: EmbeddedEngine): () => void {
    return retentionMs > 0 ? this.#host.keepFor(retentionMs, engine) : () => {};
  }

  #save(): void {
    const registered = [...this.#spaces].filter(([, space]) => space.registered);
    this.#host.save?.(
      new Map(registered.map(([name, { options }]) => [name, options])),
      this.endpoints.list(),
    );
  }

  /** Throws NOT_FOUND for an unknown namespace. */
  #spaceOf(name: string): Space {
    const space = this.#spaces.get(name);
    if (space === undefined) throw this.#unknown(name);
    return space;
  }

  call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    if (method === "listNamespaces") {
      return Promise.resolve(
        listedNamespaces([...this.#spaces].map(([name, { options }]) => [name, options] as const)),
      );
    }
    let name = this.#first;
    try {
      const field = namespaceField(method);
      const named = field === 0 ? "" : textField(request, field) ||
        (method === "describeNamespace" ? textField(request, DescribeNamespaceRequest.id) : "");
      if (named !== "") name = named;
      else if (needsNamespace(method)) {
        throw invalid(
          ABOUT_NAMESPACES.has(method) ? "Namespace not set on request." : "Namespace is empty.",
        );
      }
    } catch (error) {
      return Promise.reject(error);
    }
    const space = this.#spaces.get(name);
    if (space === undefined) return Promise.reject(this.#unknown(name));
    if (method === "describeNamespace") {
      return Promise.resolve(describedNamespace(name, space.options));
    }
    if (method === "updateNamespace") return this.#updated(name, request);
    if (space.options.deprecated === true && STARTS.has(method)) {
      return Promise.reject(
        new ServiceError(
          Code.FAILED_PRECONDITION,
          `Namespace has invalid state: Deprecated. Must be Registered. Namespace ${name} takes no new workflows; its runs continue`,
          "NamespaceInvalidState",
          { namespace: name },
        ),
      );
    }
    if (method === "shutdownWorker") this.#nexusTasks.shutDown(request);
    const ofNexus = this.#nexusCall(name, method, request, options);
    if (ofNexus !== undefined) return ofNexus;
    return callFromOutside(space.engine, method, request, options);
  }

  /** Calls a method of Nexus workers; undefined for another method. */
  #nexusCall(
    name: string,
    method: MethodName,
    request: Uint8Array,
    options: CallOptions | undefined,
  ): Promise<Uint8Array> | undefined {
    const tasks = this.#nexusTasks;
    // Asynchronous, so that errors reject.
    const called = async (work: () => Uint8Array | Promise<Uint8Array>) => await work();
    switch (method) {
      case "pollNexusTaskQueue":
        return called(() => tasks.poll(name, request, options));
      case "respondNexusTaskCompleted":
        return called(() => tasks.completed(request));
      case "respondNexusTaskFailed":
        return called(() => tasks.failed(request));
      default:
        return undefined;
    }
  }

  // Asynchronous, so that errors reject.
  async #updated(name: string, request: Uint8Array): Promise<Uint8Array> {
    return describedNamespace(name, this.update(name, readUpdate(request)));
  }

  #unknown(name: string): ServiceError {
    const message = `Namespace ${name} is not found. temporalex dev serves: ${
      this.names.join(", ")
    }; start it with --namespace ${name} to add it`;
    return new ServiceError(Code.NOT_FOUND, message, "NamespaceNotFound", { namespace: name });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#nexusTasks.close();
    await Promise.allSettled(this.#busy.values());
    for (const [name, { engine, stop }] of this.#spaces) {
      stop();
      await this.#close(name, engine);
    }
  }
}

const exists = (name: string) =>
  new ServiceError(
    Code.ALREADY_EXISTS,
    `Namespace ${name} already exists.`,
    "NamespaceAlreadyExists",
    { namespace: name },
  );
