// The engine's description of itself for clients of a Temporal cluster: version, namespaces,
// searchable attributes. Tools call these methods before all others.
import {
  ClusterReplicationConfig,
  DescribeNamespaceRequest,
  DescribeNamespaceResponse as Described,
  Duration,
  GetSystemInfoResponse,
  GetSystemInfoResponse_Capabilities as System,
  ListNamespacesResponse,
  MapEntry,
  NamespaceConfig,
  NamespaceInfo,
  NamespaceInfo_Capabilities as OfNamespace,
  NamespaceReplicationConfig,
} from "../messages/generated/fields.ts";
import { Message } from "../messages/wire.ts";
import { IndexedValueType } from "../messages/generated/temporal/api/enums/v1/common_pb.ts";
import {
  ArchivalState,
  NamespaceState,
} from "../messages/generated/temporal/api/enums/v1/namespace_pb.ts";
import {
  GetClusterInfoResponseSchema,
  GetSearchAttributesResponseSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { MethodName } from "../service/raw.ts";
import { encodeMessage, textField } from "./host_bytes.ts";

/** Names of Temporal's clients, as its servers list them. */
const CLIENTS = [
  "temporal-cli",
  "temporal-go",
  "temporal-java",
  "temporal-php",
  "temporal-typescript",
  "temporal-ui",
];

/** Attributes that visibility queries support (visibility/condition.ts). */
export const SEARCHABLE: { readonly [name: string]: IndexedValueType } = {
  WorkflowId: IndexedValueType.KEYWORD,
  RunId: IndexedValueType.KEYWORD,
  WorkflowType: IndexedValueType.KEYWORD,
  TaskQueue: IndexedValueType.KEYWORD,
  ExecutionStatus: IndexedValueType.KEYWORD,
  StartTime: IndexedValueType.DATETIME,
  CloseTime: IndexedValueType.DATETIME,
  ExecutionTime: IndexedValueType.DATETIME,
  ExecutionDuration: IndexedValueType.INT,
  HistoryLength: IndexedValueType.INT,
  HistorySizeBytes: IndexedValueType.INT,
  StateTransitionCount: IndexedValueType.INT,
  ParentWorkflowId: IndexedValueType.KEYWORD,
  RootWorkflowId: IndexedValueType.KEYWORD,
};

/** Name of the only cluster. */
export const CLUSTER = "temporalex";

/** Fields of GetSystemInfoResponse. SDKs rely on them, so only supported features are listed. */
const SYSTEM_CAPABILITIES = [
  System.signalAndQueryHeader,
  System.internalErrorDifferentiation,
  System.activityFailureIncludeHeartbeat,
  System.encodedFailureAttributes,
  System.supportsSchedules,
  System.upsertMemo,
  System.eagerWorkflowStart,
  System.sdkMetadata,
  System.countGroupByExecutionStatus,
];
/** The same for a namespace. */
const NAMESPACE_CAPABILITIES = [
  OfNamespace.syncUpdate,
  OfNamespace.asyncUpdate,
  OfNamespace.workerPollCompleteOnShutdown,
  OfNamespace.standaloneActivities,
  OfNamespace.workerHeartbeats,
];

// Both are written without descriptors: every SDK calls them first, and the descriptors of
// Temporal's API take longer to build than the rest of the start. Tests compare them with generated
// messages.

const capabilities = (of: Message, field: number, all: readonly number[]) =>
  of.message(field, (message) => all.forEach((capability) => message.bool(capability, true)));

function systemInfo(version: string, nexus: boolean): Uint8Array {
  const info = new Message().text(GetSystemInfoResponse.serverVersion, version);
  return capabilities(info, GetSystemInfoResponse.capabilities, [
    ...SYSTEM_CAPABILITIES,
    ...nexus ? [System.nexus] : [],
  ]).finish();
}

/** Options with which a namespace was registered. */
export interface NamespaceOptions {
  readonly description?: string;
  readonly ownerEmail?: string;
  readonly data?: { readonly [key: string]: string };
  /** Time that closed runs are kept, in ms; 0 or absent: until they are purged. */
  readonly retentionMs?: number;
  /** Whether clients can no longer start workflows in it; its runs continue. */
  readonly deprecated?: boolean;
}

/**
 * Returns a namespace as an encoded DescribeNamespaceResponse, or UpdateNamespaceResponse: both have
 * the same fields. Some tools require config and replication. A retention of 0 means that closed
 * runs are kept.
 */
export function describedNamespace(name: string, options: NamespaceOptions = {}): Uint8Array {
  const described = new Message();
  described.message(Described.namespaceInfo, (info) => {
    info.text(NamespaceInfo.name, name).int(
      NamespaceInfo.state,
      options.deprecated === true ? NamespaceState.DEPRECATED : NamespaceState.REGISTERED,
    );
    info.text(NamespaceInfo.description, options.description ?? "embedded engine");
    if (options.ownerEmail !== undefined) info.text(NamespaceInfo.ownerEmail, options.ownerEmail);
    for (const [key, value] of Object.entries(options.data ?? {})) {
      info.message(
        NamespaceInfo.data,
        (entry) => entry.text(MapEntry.key, key).text(MapEntry.value, value),
      );
    }
    capabilities(
      info.text(NamespaceInfo.id, name),
      NamespaceInfo.capabilities,
      NAMESPACE_CAPABILITIES,
    );
  });
  const { retentionMs = 0 } = options;
  described.message(Described.config, (config) => {
    config.message(NamespaceConfig.workflowExecutionRetentionTtl, (retention) => {
      if (retentionMs <= 0) return;
      retention.int(Duration.seconds, Math.floor(retentionMs / 1000)).int(
        Duration.nanos,
        (retentionMs % 1000) * 1e6,
      );
    });
    config.int(NamespaceConfig.historyArchivalState, ArchivalState.DISABLED);
    config.int(NamespaceConfig.visibilityArchivalState, ArchivalState.DISABLED);
  });
  described.message(
    Described.replicationConfig,
    (config) =>
      config.text(NamespaceReplicationConfig.activeClusterName, CLUSTER)
        .message(
          NamespaceReplicationConfig.clusters,
          (cluster) => cluster.text(ClusterReplicationConfig.clusterName, CLUSTER),
        ),
  );
  return described.finish();
}

/** Returns an encoded ListNamespacesResponse. */
export function listedNamespaces(
  namespaces: Iterable<readonly [name: string, options: NamespaceOptions]>,
): Uint8Array {
  const listed = new Message();
  for (const [name, options] of namespaces) {
    listed.bytes(ListNamespacesResponse.namespaces, describedNamespace(name, options));
  }
  return listed.finish();
}

export function descriptionMethods(
  { namespace, version, store, nexus, attributeTypes, ours }: {
    namespace: string;
    version: string;
    store: string;
    /** Whether workflows can call Nexus operations. */
    nexus: boolean;
    /** Registered search attributes, with numbers of IndexedValueType. */
    attributeTypes(): { readonly [name: string]: number } | undefined;
    ours(name: string): void;
  },
) {
  return {
    getSystemInfo: () => systemInfo(version, nexus),
    getClusterInfo: () =>
      encodeMessage(GetClusterInfoResponseSchema, {
        supportedClients: Object.fromEntries(
          CLIENTS.map((name) => [name, name === "temporal-ui" ? "<3.0.0" : "<2.0.0"]),
        ),
        serverVersion: version,
        clusterId: CLUSTER,
        clusterName: CLUSTER,
        historyShardCount: 1,
        persistenceStore: store,
        visibilityStore: store,
      }),
    getSearchAttributes: () =>
      encodeMessage(GetSearchAttributesResponseSchema, {
        keys: { ...SEARCHABLE, ...attributeTypes() as typeof SEARCHABLE | undefined },
      }),
    listNamespaces: () => listedNamespaces([[namespace, {}]]),
    describeNamespace(bytes: Uint8Array) {
      // By name or by id, which are equal here.
      ours(
        textField(bytes, DescribeNamespaceRequest.namespace) ||
          textField(bytes, DescribeNamespaceRequest.id),
      );
      return describedNamespace(namespace);
    },
  } satisfies { [name in MethodName]?: (request: Uint8Array) => Uint8Array };
}
