// The list of the namespaces that were registered or changed while `temporalex dev` ran, with their
// options: a JSON file next to the stores. Their runs are in the stores.
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { Buffer } from "node:buffer";
import { dirname } from "node:path";
import process from "node:process";
import { checkNamespace } from "../../../dev/namespaces.ts";
import type { NexusEndpoint } from "../../../dev/nexus/endpoints.ts";
import type { NamespaceRegistry } from "../../../dev/server.ts";
import type { NamespaceOptions } from "../../../engine/server_description.ts";
import { Code, ServiceError } from "../../../service/raw.ts";
import { CommandError } from "../../frame/errors.ts";

/** Endings of the files of a store. */
const STORE_FILES = ["", "-wal", "-shm", "-journal", "-owner", "-fence"];

/** `path`: the list. `storeOf`: the store of a namespace. */
export function namespaceFileAt(
  path: string,
  storeOf: (namespace: string) => string,
): NamespaceRegistry {
  return {
    load: () => readList(path).namespaces,
    loadEndpoints: () => readList(path).endpoints,
    save(registered, endpoints) {
      try {
        replaceFile(path, textOf(registered, endpoints));
      } catch (error) {
        throw new ServiceError(
          Code.INTERNAL,
          `${path}, the list of namespaces, cannot be written: ${(error as Error).message}`,
        );
      }
    },
    discard(namespace) {
      const store = storeOf(namespace);
      try {
        for (const end of STORE_FILES) rmSync(`${store}${end}`, { force: true });
      } catch (error) {
        return Promise.reject(
          new ServiceError(
            Code.INTERNAL,
            `${store}, the store of namespace ${namespace}, cannot be removed: ${
              (error as Error).message
            }`,
          ),
        );
      }
      return Promise.resolve();
    },
  };
}

const textOf = (
  registered: ReadonlyMap<string, NamespaceOptions>,
  endpoints: readonly NexusEndpoint[],
) =>
  `${
    JSON.stringify(
      {
        namespaces: [...registered].map(([name, options]) => ({ name, ...options })),
        ...(endpoints.length > 0 && {
          nexusEndpoints: endpoints.map(({ description, ...rest }) => ({
            ...rest,
            ...(description.length > 0 &&
              { description: Buffer.from(description).toString("base64") }),
          })),
        }),
      },
      null,
      2,
    )
  }\n`;

/** Writes a file that has either its old or its new text, whenever the machine stops. */
function replaceFile(path: string, text: string): void {
  const fresh = `${path}.new`;
  const file = openSync(fresh, "w", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
  // The new name is durable once its folder is. Windows cannot open one.
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

interface List {
  readonly namespaces: ReadonlyMap<string, NamespaceOptions>;
  readonly endpoints: readonly NexusEndpoint[];
}

/** Throws a CommandError with the path and the reason for a file that is not such a list. */
function readList(path: string): List {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") {
      return { namespaces: new Map(), endpoints: [] };
    }
    throw new CommandError(
      `${path}, the list of namespaces, cannot be read: ${(error as Error).message}`,
    );
  }
  try {
    const { namespaces, nexusEndpoints = [] } = JSON.parse(text) as {
      namespaces?: unknown;
      nexusEndpoints?: unknown;
    };
    if (!Array.isArray(namespaces)) throw new TypeError('"namespaces" must be a list');
    if (!Array.isArray(nexusEndpoints)) throw new TypeError('"nexusEndpoints" must be a list');
    return {
      namespaces: new Map(namespaces.map(readNamespace)),
      endpoints: nexusEndpoints.map(readEndpoint),
    };
  } catch (error) {
    throw new CommandError(
      `${path} is not a list of namespaces: ${
        (error as Error).message
      }. Repair it, or remove it and name the namespaces with --namespace; their stores stay`,
    );
  }
}

function readEndpoint(entry: unknown, index: number): NexusEndpoint {
  const { id, name, version, namespace, taskQueue, description = "", createdMs, modifiedMs } =
    (entry ?? {}) as Record<string, unknown>;
  const needs = (field: string, type: string, holds: boolean) => {
    if (!holds) throw new TypeError(`nexusEndpoints[${index}].${field} must be a ${type}`);
  };
  for (const [field, value] of Object.entries({ id, name, namespace, taskQueue, description })) {
    needs(field, "string", typeof value === "string");
  }
  for (
    const [field, value] of Object.entries({ version, createdMs, modifiedMs: modifiedMs ?? 0 })
  ) {
    needs(field, "number", typeof value === "number");
  }
  return {
    id: id as string,
    name: name as string,
    version: version as number,
    namespace: namespace as string,
    taskQueue: taskQueue as string,
    description: new Uint8Array(Buffer.from(description as string, "base64")),
    createdMs: createdMs as number,
    ...(modifiedMs !== undefined && { modifiedMs: modifiedMs as number }),
  };
}

function readNamespace(entry: unknown, index: number): [name: string, options: NamespaceOptions] {
  const { name, description, ownerEmail, data = {}, retentionMs, deprecated } =
    (entry ?? {}) as Record<string, unknown>;
  const where = `namespaces[${index}]`;
  const needs = (field: string, type: string, value: unknown) => {
    if (value !== undefined && typeof value !== type) {
      throw new TypeError(`${where}.${field} must be a ${type}`);
    }
  };
  if (typeof name !== "string") throw new TypeError(`${where}.name must be a string`);
  checkNamespace(name);
  needs("description", "string", description);
  needs("ownerEmail", "string", ownerEmail);
  needs("retentionMs", "number", retentionMs);
  needs("deprecated", "boolean", deprecated);
  const isMap = typeof data === "object" && data !== null && !Array.isArray(data) &&
    Object.values(data).every((value) => typeof value === "string");
  if (!isMap) throw new TypeError(`${where}.data must be an object whose values are strings`);
  return [name, {
    data: data as { [key: string]: string },
    ...(description !== undefined && { description: description as string }),
    ...(ownerEmail !== undefined && { ownerEmail: ownerEmail as string }),
    ...(retentionMs !== undefined && { retentionMs: retentionMs as number }),
    ...(deprecated !== undefined && { deprecated: deprecated as boolean }),
  }];
}
