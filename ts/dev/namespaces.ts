// Several namespaces in one process: one engine with its own store for each, and one RawService
// that dispatches by the namespace in the request.
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
import { callFromOutside } from "../engine/outside_calls.ts";
import { NexusPolls } from "./nexus_polls.ts";
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
  "describeNamespace",
  "executeMultiOperation",
  "getWorkflowExecutionHistoryReverse",
  "deleteWorkflowExecution",
  "pollNexusTaskQueue",
  "startBatchOperation",
  "stopBatchOperation",
  "describeBatchOperation",
  "listBatchOperations",
]);

/**
 * A task token names the run, so these requests need no namespace. A method that is not implemented
 * is rejected as such.
 */
function needsNamespace(method: MethodName): boolean {
  const hasTaskToken = /^(respond|record)/.test(method) && !method.endsWith("ById");
  return !hasTaskToken && (HOST_METHODS.has(method) || ENGINE_METHODS[method] !== undefined);
}

interface Space {
  readonly engine: EmbeddedEngine;
  readonly options: NamespaceOptions;
  /** Stops the removal of closed runs. */
  readonly stop: () => void;
}

/** What namespaces need from their host. */
export interface NamespacesHost {
  /** Opens the engine of a namespace. */
  open(name: string): Promise<EmbeddedEngine>;
  /**
   * Removes runs of an engine after they have been closed for `retentionMs`. The returned function
   * stops it.
   */
  keepFor(retentionMs: number, engine: EmbeddedEngine): () => void;
}

export class Namespaces implements RawService {
  readonly #spaces = new Map<string, Space>();
  readonly #first: string;
  readonly #host: NamespacesHost;
  /** Namespaces whose engines are being opened: their names are already in use. */
  readonly #opening = new Map<string, Promise<void>>();
  readonly #nexusPolls = new NexusPolls();
  #closed = false;

  /** Opens all namespaces or rejects. The first is the default for requests without a namespace. */
  static async open(
    names: readonly string[],
    options: NamespaceOptions,
    host: NamespacesHost,
  ): Promise<Namespaces> {
    const namespaces = new Namespaces(names[0]!, host);
    try {
      for (const name of names) await namespaces.register(name, options);
      return namespaces;
    } catch (error) {
      await namespaces.close();
      throw error;
    }
  }

  private constructor(first: string, host: NamespacesHost) {
    this.#first = first;
    this.#host = host;
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

  /** Adds a namespace. Rejects with ALREADY_EXISTS, also while another call is adding it. */
  async register(name: string, options: NamespaceOptions): Promise<void> {
    try {
      checkNamespace(name);
    } catch (error) {
      throw invalid((error as Error).message);
    }
    if (this.#spaces.has(name) || this.#opening.has(name)) {
      throw new ServiceError(
        Code.ALREADY_EXISTS,
        `Namespace ${name} already exists.`,
        "NamespaceAlreadyExists",
        {
          namespace: name,
        },
      );
    }
    const opening = this.#add(name, options);
    this.#opening.set(name, opening);
    try {
      await opening;
    } finally {
      this.#opening.delete(name);
    }
  }

  async #add(name: string, options: NamespaceOptions): Promise<void> {
    const engine = await this.#host.open(name);
    if (this.#closed) {
      await engine.close();
      throw new ServiceError(
        Code.UNAVAILABLE,
        `the server was closed while namespace ${name} was added`,
      );
    }
    const { retentionMs = 0 } = options;
    const stop = retentionMs > 0 ? this.#host.keepFor(retentionMs, engine) : () => {};
    this.#spaces.set(name, { engine, options, stop });
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
          method === "describeNamespace" ? "Namespace not set on request." : "Namespace is empty.",
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
    if (method === "pollNexusTaskQueue") return this.#nexusPolls.poll(request, options);
    if (method === "shutdownWorker") this.#nexusPolls.shutDown(request);
    return callFromOutside(space.engine, method, request, options);
  }

  #unknown(name: string): ServiceError {
    const message = `Namespace ${name} is not found. temporalex dev serves: ${
      this.names.join(", ")
    }; start it with --namespace ${name} to add it`;
    return new ServiceError(Code.NOT_FOUND, message, "NamespaceNotFound", { namespace: name });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#nexusPolls.close();
    await Promise.allSettled(this.#opening.values());
    for (const { engine, stop } of this.#spaces.values()) {
      stop();
      await engine.close();
    }
  }
}
