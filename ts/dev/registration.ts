// Reads a RegisterNamespaceRequest: fields that are stored, and fields that are rejected by name.
import { MapEntry, RegisterNamespaceRequest as Request } from "../messages/generated/fields.ts";
import { ArchivalState } from "../messages/generated/temporal/api/enums/v1/namespace_pb.ts";
import { Fields, timeMs } from "../messages/wire.ts";
import type { NamespaceOptions } from "../engine/server_description.ts";
import { invalid } from "../engine/host_bytes.ts";

export interface Registration {
  readonly name: string;
  readonly options: NamespaceOptions;
  /** The first requested feature that is not supported; undefined if all are. */
  readonly refused: string | undefined;
}

const ONE_STORE = "it is one process with one store";
/** Features of namespaces that are not supported, with the reason or what to do. */
export const NOT_STORED = {
  clusters: `clusters: ${ONE_STORE}`,
  activeCluster: `an active cluster: ${ONE_STORE}`,
  global: `a global namespace: ${ONE_STORE}`,
  histories: "archival of histories: export them with temporalex store export",
  visibility: "archival of visibility: export histories with temporalex store export",
};
const REFUSED: ReadonlyMap<number, string> = new Map([
  [Request.clusters, NOT_STORED.clusters],
  [Request.activeClusterName, NOT_STORED.activeCluster],
  [Request.isGlobalNamespace, NOT_STORED.global],
  [Request.historyArchivalState, NOT_STORED.histories],
  [Request.historyArchivalUri, NOT_STORED.histories],
  [Request.visibilityArchivalState, NOT_STORED.visibility],
  [Request.visibilityArchivalUri, NOT_STORED.visibility],
]);

/**
 * Throws an INVALID_ARGUMENT ServiceError for bytes that do not decode, and without a positive
 * retention.
 */
export function readRegistration(request: Uint8Array): Registration {
  let [name, description, ownerEmail] = ["", "", undefined as string | undefined];
  const data: { [key: string]: string } = Object.create(null);
  let retentionMs = 0;
  let refused: string | undefined;
  try {
    for (const at = new Fields(request); at.next();) {
      switch (at.tag) {
        case Request.namespace:
          name = at.text();
          break;
        case Request.description:
          description = at.text();
          break;
        case Request.ownerEmail:
          ownerEmail = at.text();
          break;
        case Request.workflowExecutionRetentionPeriod:
          retentionMs = Math.round(timeMs(at.bytes()));
          break;
        case Request.data:
          readEntry(at.inner(), data);
          break;
        default:
          if (REFUSED.has(at.tag) && asks(at)) refused ??= REFUSED.get(at.tag);
      }
    }
  } catch (error) {
    throw invalid(`invalid request: ${(error as Error).message}`);
  }
  if (retentionMs <= 0 && refused === undefined) {
    throw invalid(`A valid retention period is not set on request: ${retentionMs} ms.`);
  }
  const options: NamespaceOptions = {
    description,
    ...(ownerEmail !== undefined && { ownerEmail }),
    data,
    retentionMs,
  };
  return { name, options, refused };
}

/**
 * Whether the field requests its feature: a non-empty address, a flag that is set, an enabled
 * archival.
 */
function asks(at: Fields): boolean {
  if (at.hasLength) return at.bytes().length > 0;
  return at.tag === Request.isGlobalNamespace ? at.bool() : at.int() === ArchivalState.ENABLED;
}

function readEntry(at: Fields, entries: { [key: string]: string }): void {
  let key = "", value = "";
  while (at.next()) {
    if (at.tag === MapEntry.key) key = at.text();
    else if (at.tag === MapEntry.value) value = at.text();
  }
  entries[key] = value;
}
