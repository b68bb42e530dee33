// Several namespaces in one process: an engine with a store of its own for each, behind one RawService that goes by the namespace which a
// request names. Nothing is shared between them but the process.
import { listedNamespaces } from "../engine/about.ts";
import type { EmbeddedEngine } from "../engine/host.ts";
import { encode, invalid, textField } from "../engine/host_bytes.ts";
import { DescribeTaskQueueResponseSchema } from "../temporal/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { type CallOptions, Code, type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { Pollers } from "./pollers.ts";

/** Temporal's own rule for names is looser; this one also makes a file name. */
const NAME = /^[A-Za-z0-9][\w.-]{0,98}$/;

/** Throws a TypeError with the reason for a name that no namespace can have. */
export function checkNamespace(name: string): void {
  if (NAME.test(name)) return;
  throw new TypeError(
    `"${name}" is no name of a namespace: letters, digits, "_", "-" and ".", at most 99, with a letter or digit at the beginning`,
  );
}

interface Space {
  readonly engine: EmbeddedEngine;
  readonly pollers: Pollers;
}

/** Where the field `namespace` of a request is not the first; 0: it has none. A test holds this against the generated messages. */
const NAMESPACE_FIELD: { readonly [method in MethodName]?: number } = {
  respondWorkflowTaskCompleted: 9,
  respondWorkflowTaskFailed: 6,
  respondQueryTaskCompleted: 6,
  recordActivityTaskHeartbeat: 4,
  respondActivityTaskCompleted: 4,
  respondActivityTaskFailed: 4,
  respondActivityTaskCanceled: 4,
  getSystemInfo: 0,
  getClusterInfo: 0,
  getSearchAttributes: 0,
  listNamespaces: 0,
};

/** The number of the field `namespace` of a method's request; 0 where it has none. */
export const namespaceField = (method: MethodName): number => NAMESPACE_FIELD[method] ?? 1;

export class Namespaces implements RawService {
  readonly #spaces = new Map<string, Space>();
  readonly #first: string;
  readonly #open: (name: string) => Promise<EmbeddedEngine>;

  /** Opens all of them, or none. The first is meant where a request names no namespace. */
  static async open(names: readonly string[], open: (name: string) => Promise<EmbeddedEngine>): Promise<Namespaces> {
    const namespaces = new Namespaces(names[0]!, open);
    try {
      for (const name of names) await namespaces.register(name);
      return namespaces;
    } catch (error) {
      await namespaces.close();
      throw error;
    }
  }

  private constructor(first: string, open: (name: string) => Promise<EmbeddedEngine>) {
    this.#first = first;
    this.#open = open;
  }

  get names(): string[] {
    return [...this.#spaces.keys()];
  }

  get engines(): EmbeddedEngine[] {
    return [...this.#spaces.values()].map(({ engine }) => engine);
  }

  /** Adds a namespace; rejects with ALREADY_EXISTS. */
  async register(name: string): Promise<void> {
    try {
      checkNamespace(name);
    } catch (error) {
      throw invalid((error as Error).message);
    }
    if (this.#spaces.has(name)) {
      throw new ServiceError(Code.ALREADY_EXISTS, `Namespace ${name} already exists.`, "NamespaceAlreadyExists", {
        namespace: name,
      });
    }
    this.#spaces.set(name, { engine: await this.#open(name), pollers: new Pollers() });
  }

  call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    if (method === "listNamespaces") return Promise.resolve(listedNamespaces(this.names));
    let name = this.#first;
    try {
      const field = namespaceField(method);
      if (field !== 0) name = textField(request, field) || (method === "describeNamespace" ? textField(request, 2) : "") || name;
    } catch (error) {
      return Promise.reject(error);
    }
    const space = this.#spaces.get(name);
    if (space === undefined) return Promise.reject(this.#unknown(name));
    switch (method) {
      case "pollWorkflowTaskQueue":
      case "pollActivityTaskQueue":
        space.pollers.note(method, request);
        break;
      case "describeTaskQueue":
        return Promise.resolve().then(() =>
          encode(DescribeTaskQueueResponseSchema, space.pollers.describe(request, space.engine))
        );
      default:
    }
    return space.engine.call(method, request, options);
  }

  #unknown(name: string): ServiceError {
    const message = `Namespace ${name} is not found. temporalex dev serves: ${
      this.names.join(", ")
    }; start it with --namespace ${name} to add it`;
    return new ServiceError(Code.NOT_FOUND, message, "NamespaceNotFound", { namespace: name });
  }

  async close(): Promise<void> {
    for (const { engine } of this.#spaces.values()) await engine.close();
  }
}
