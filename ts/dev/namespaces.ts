// Several namespaces in one process: an engine with a store of its own for each, behind one RawService that goes by the namespace which a
// request names. Nothing is shared between them but the process.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { describedNamespace } from "../engine/about.ts";
import type { EmbeddedEngine } from "../engine/host.ts";
import { encode, invalid } from "../engine/host_bytes.ts";
import {
  DescribeTaskQueueResponseSchema,
  ListNamespacesResponseSchema,
} from "../temporal/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { WorkflowService } from "../temporal/generated/temporal/api/workflowservice/v1/service_pb.ts";
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

/** The number of the field `namespace` of each method's request; undefined where it has none. */
const fieldNumbers = new Map<MethodName, number | undefined>();

function namespaceField(method: MethodName): number | undefined {
  if (!fieldNumbers.has(method)) {
    fieldNumbers.set(method, WorkflowService.method[method].input.fields.find(({ name }) => name === "namespace")?.number);
  }
  return fieldNumbers.get(method);
}

/** A text field at the top of a message, as protobuf reads it: the last one counts. "" where it is absent or the bytes do not decode. */
function textField(bytes: Uint8Array, number: number): string {
  let text = "";
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === number && wireType === WireType.LengthDelimited) text = reader.string();
      else reader.skip(wireType, field);
    }
  } catch {
    // The engine says what is wrong with the request.
  }
  return text;
}

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
    if (method === "listNamespaces") {
      return Promise.resolve(encode(ListNamespacesResponseSchema, { namespaces: this.names.map(describedNamespace) }));
    }
    const field = namespaceField(method);
    const id = method === "describeNamespace" ? textField(request, 2) : "";
    const name = (field === undefined ? "" : textField(request, field)) || id || this.#first;
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
