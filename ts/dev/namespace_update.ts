// Reads an UpdateNamespaceRequest: what changes in a namespace's options, and what is rejected by
// name.
import { UpdateNamespaceRequestSchema } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { UpdateNamespaceRequest } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  ArchivalState,
  NamespaceState,
} from "../messages/generated/temporal/api/enums/v1/namespace_pb.ts";
import { decodeMessage, invalid } from "../engine/host_bytes.ts";
import { CLUSTER, type NamespaceOptions } from "../engine/server_description.ts";
import { NOT_STORED } from "./registration.ts";

/** Returns the function that applies the request to the options; it throws for invalid states. */
export function readUpdate(request: Uint8Array): (options: NamespaceOptions) => NamespaceOptions {
  const update = decodeMessage(UpdateNamespaceRequestSchema, request);
  const refused = refusalOf(update);
  if (refused !== undefined) {
    throw invalid(`namespace ${update.namespace} cannot be updated: ${refused}`);
  }
  const { updateInfo, config } = update;
  const ttl = config?.workflowExecutionRetentionTtl;
  const retentionMs = ttl && Math.round(Number(ttl.seconds) * 1000 + ttl.nanos / 1e6);
  if (retentionMs !== undefined && retentionMs <= 0) {
    throw invalid(`A valid retention period is not set on request: ${retentionMs} ms.`);
  }
  return (options) => {
    const deprecated = stateAfter(options, updateInfo?.state ?? NamespaceState.UNSPECIFIED);
    const { description = "", ownerEmail = "", data = {} } = updateInfo ?? {};
    return {
      ...options,
      ...(description !== "" && { description }),
      ...(ownerEmail !== "" && { ownerEmail }),
      data: merged(options.data ?? {}, data),
      ...(retentionMs !== undefined && { retentionMs }),
      deprecated,
    };
  };
}

/** Entries are added or replaced, never removed. A key may be `__proto__`. */
const merged = (...all: readonly { readonly [key: string]: string }[]) =>
  Object.fromEntries(all.flatMap((entries) => Object.entries(entries)));

/** Whether the namespace is deprecated afterwards: a deprecated one stays so. */
function stateAfter({ deprecated = false }: NamespaceOptions, state: NamespaceState): boolean {
  switch (state) {
    case NamespaceState.UNSPECIFIED:
      return deprecated;
    case NamespaceState.DEPRECATED:
      return true;
    case NamespaceState.DELETED:
      throw invalid(
        "Invalid namespace state update. Delete a namespace with DeleteNamespace (temporal operator namespace delete)",
      );
    default:
      if (deprecated) throw invalid("Invalid namespace state update. It stays deprecated");
      return false;
  }
}

/** The first requested feature that is not supported; undefined if all are. */
function refusalOf(update: UpdateNamespaceRequest): string | undefined {
  const { config, replicationConfig } = update;
  const clusters = replicationConfig?.clusters.map(({ clusterName }) => clusterName) ?? [];
  if (replicationConfig !== undefined && replicationConfig.activeClusterName !== "") {
    clusters.push(replicationConfig.activeClusterName);
  }
  if (clusters.some((name) => name !== CLUSTER)) return NOT_STORED.clusters;
  if (update.promoteNamespace) return NOT_STORED.global;
  if (
    config?.historyArchivalState === ArchivalState.ENABLED || config?.historyArchivalUri
  ) return NOT_STORED.histories;
  if (
    config?.visibilityArchivalState === ArchivalState.ENABLED || config?.visibilityArchivalUri
  ) return NOT_STORED.visibility;
  if (update.deleteBadBinary !== "" || config?.badBinaries !== undefined) {
    return "bad binaries: reset the runs of a faulty program by its build id";
  }
  return Object.keys(config?.customSearchAttributeAliases ?? {}).length > 0
    ? "aliases of search attributes: register the attributes by their names"
    : undefined;
}
