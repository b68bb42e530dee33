// The register of Nexus endpoints: names for a namespace and task queue of this server.
import { Code, ServiceError } from "../../service/raw.ts";
import { invalid } from "../../engine/host_bytes.ts";

/** What an operator sets. */
export interface EndpointSpec {
  readonly name: string;
  /** encoded temporal Payload; empty: none */
  readonly description: Uint8Array;
  readonly namespace: string;
  readonly taskQueue: string;
}

export interface NexusEndpoint extends EndpointSpec {
  readonly id: string;
  /** Incremented by each update. */
  readonly version: number;
  readonly createdMs: number;
  /** Undefined: never updated. */
  readonly modifiedMs?: number;
}

export class NexusEndpoints {
  readonly #byId = new Map<string, NexusEndpoint>();
  readonly #changed: () => void;

  /** `changed` keeps the list; if it throws, the change is undone. */
  constructor(initial: readonly NexusEndpoint[], changed: () => void) {
    for (const endpoint of initial) this.#byId.set(endpoint.id, endpoint);
    this.#changed = changed;
  }

  /** In the order of their creation. */
  list(): NexusEndpoint[] {
    return [...this.#byId.values()];
  }

  byId(id: string): NexusEndpoint | undefined {
    return this.#byId.get(id);
  }

  byName(name: string): NexusEndpoint | undefined {
    return this.list().find((endpoint) => endpoint.name === name);
  }

  /** Throws ALREADY_EXISTS for a name that is in use. */
  create(spec: EndpointSpec): NexusEndpoint {
    if (this.byName(spec.name) !== undefined) {
      throw new ServiceError(
        Code.ALREADY_EXISTS,
        `error creating Nexus endpoint. Endpoint with name ${spec.name} already registered`,
        "AlreadyExists",
      );
    }
    const endpoint = { ...spec, id: crypto.randomUUID(), version: 1, createdMs: Date.now() };
    this.#replace(endpoint.id, endpoint);
    return endpoint;
  }

  /** Throws NOT_FOUND for an unknown id, FAILED_PRECONDITION for another version. */
  update(id: string, version: number, spec: EndpointSpec): NexusEndpoint {
    const known = this.#byId.get(id);
    if (known === undefined) {
      throw notFound(`error updating Nexus endpoint. endpoint ID ${id} not found`);
    }
    if (known.version !== version) {
      throw new ServiceError(
        Code.FAILED_PRECONDITION,
        `nexus endpoint version mismatch. received: ${version} expected ${known.version}`,
        "FailedPrecondition",
      );
    }
    const other = this.byName(spec.name);
    if (other !== undefined && other.id !== id) {
      throw new ServiceError(
        Code.ALREADY_EXISTS,
        `error updating Nexus endpoint. Endpoint with name ${spec.name} already registered`,
        "AlreadyExists",
      );
    }
    const endpoint = { ...known, ...spec, version: version + 1, modifiedMs: Date.now() };
    this.#replace(id, endpoint);
    return endpoint;
  }

  /** Throws NOT_FOUND for an unknown id. */
  delete(id: string): void {
    if (!this.#byId.has(id)) throw notFound(`error deleting nexus endpoint with ID: ${id}`);
    this.#replace(id, undefined);
  }

  #replace(id: string, endpoint: NexusEndpoint | undefined): void {
    const before = [...this.#byId];
    if (endpoint === undefined) this.#byId.delete(id);
    else this.#byId.set(id, endpoint);
    try {
      this.#changed();
    } catch (error) {
      this.#byId.clear();
      for (const [key, value] of before) this.#byId.set(key, value);
      throw error;
    }
  }
}

export const notFound = (message: string) => new ServiceError(Code.NOT_FOUND, message, "NotFound");

const PATTERN = "^[a-zA-Z][a-zA-Z0-9\\-]*[a-zA-Z0-9]$";
const NAME = new RegExp(PATTERN);
const NAME_BYTES = 200;
const DESCRIPTION_BYTES = 20_000;

/** Throws INVALID_ARGUMENT with all that is wrong, in the words of a server. */
export function checkEndpoint(
  { name, description, namespace, taskQueue }: EndpointSpec,
  externalUrl: string | undefined,
  hasTarget: boolean,
): void {
  const issues: string[] = [];
  if (name === "") issues.push("endpoint name not set");
  else {
    if (name.length > NAME_BYTES) {
      issues.push(`endpoint name exceeds length limit of ${NAME_BYTES}`);
    }
    if (!NAME.test(name)) {
      issues.push(`endpoint name must match the regex: ${JSON.stringify(PATTERN)}`);
    }
  }
  if (!hasTarget) issues.push("empty target variant");
  else if (externalUrl !== undefined) {
    issues.push(
      `target URL ${
        JSON.stringify(externalUrl)
      }: temporalex dev calls only workers of its namespaces; set a target namespace and a target task queue, or use a Temporal cluster`,
    );
  } else {
    if (namespace === "") issues.push("target namespace not set");
    if (taskQueue === "") issues.push('invalid target task queue: "taskQueue is not set"');
  }
  if (description.length > DESCRIPTION_BYTES) {
    issues.push(`description size exceeds limit of ${DESCRIPTION_BYTES}`);
  }
  if (issues.length > 0) throw invalid(issues.join(", "));
}
