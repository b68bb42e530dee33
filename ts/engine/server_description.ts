// What the engine says about itself to those who take it for a Temporal cluster: version, namespaces, what can be searched by. Tools ask
// for these before they ask for anything else.
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
} from "../api/generated/fields.ts";
import { Message } from "../api/wire.ts";
import { IndexedValueType } from "../api/generated/temporal/api/enums/v1/common_pb.ts";
import { ArchivalState, NamespaceState } from "../api/generated/temporal/api/enums/v1/namespace_pb.ts";
import {
  GetClusterInfoResponseSchema,
  GetSearchAttributesResponseSchema,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { MethodName } from "../service/raw.ts";
import { encodeMessage, textField } from "./host_bytes.ts";

/** Programs of Temporal's that may call; the same that its servers name. */
const CLIENTS = ["temporal-cli", "temporal-go", "temporal-java", "temporal-php", "temporal-typescript", "temporal-ui"];

/** What visibility queries know (visibility/condition.ts). */
export const SEARCHABLE: { readonly [name: string]: IndexedValueType } = {
  WorkflowId: IndexedValueType.KEYWORD,
  RunId: IndexedValueType.KEYWORD,
  WorkflowType: IndexedValueType.KEYWORD,
  TaskQueue: IndexedValueType.KEYWORD,
  ExecutionStatus: IndexedValueType.KEYWORD,
  StartTime: IndexedValueType.DATETIME,
  CloseTime: IndexedValueType.DATETIME,
};

const CLUSTER = "temporalex";

/** Of GetSystemInfoResponse. Nothing that is not offered is named: SDKs go by them. */
const SYSTEM_CAPABILITIES = [
  System.signalAndQueryHeader,
  System.internalErrorDifferentiation,
  System.activityFailureIncludeHeartbeat,
  System.encodedFailureAttributes,
  System.upsertMemo,
  System.sdkMetadata,
  System.countGroupByExecutionStatus,
];
/** The same of a namespace. */
const NAMESPACE_CAPABILITIES = [OfNamespace.syncUpdate, OfNamespace.asyncUpdate, OfNamespace.workerPollCompleteOnShutdown];

// These two are written without descriptors: every SDK asks for them first of all, and the descriptors of Temporal's API take longer to
// build than everything else of the start. Tests hold the bytes against the generated messages.

const capabilities = (of: Message, field: number, all: readonly number[]) =>
  of.message(field, (message) => all.forEach((capability) => message.bool(capability, true)));

function systemInfo(version: string): Uint8Array {
  const info = new Message().text(GetSystemInfoResponse.serverVersion, version);
  return capabilities(info, GetSystemInfoResponse.capabilities, SYSTEM_CAPABILITIES).finish();
}

/** What a namespace was registered with. */
export interface NamespaceOptions {
  readonly description?: string;
  readonly ownerEmail?: string;
  readonly data?: { readonly [key: string]: string };
  /** Closed runs are removed so long after they closed, in milliseconds; 0 or absent: they are kept until they are purged. */
  readonly retentionMs?: number;
}

/**
 * A namespace as DescribeNamespace and ListNamespaces show it (a DescribeNamespaceResponse). Some tools take it for granted that config
 * and replication are there. A retention of 0 says that closed runs are kept.
 */
export function describedNamespace(name: string, options: NamespaceOptions = {}): Uint8Array {
  const described = new Message();
  described.message(Described.namespaceInfo, (info) => {
    info.text(NamespaceInfo.name, name).int(NamespaceInfo.state, NamespaceState.REGISTERED);
    info.text(NamespaceInfo.description, options.description ?? "embedded engine");
    if (options.ownerEmail !== undefined) info.text(NamespaceInfo.ownerEmail, options.ownerEmail);
    for (const [key, value] of Object.entries(options.data ?? {})) {
      info.message(NamespaceInfo.data, (entry) => entry.text(MapEntry.key, key).text(MapEntry.value, value));
    }
    capabilities(info.text(NamespaceInfo.id, name), NamespaceInfo.capabilities, NAMESPACE_CAPABILITIES);
  });
  const { retentionMs = 0 } = options;
  described.message(Described.config, (config) => {
    config.message(NamespaceConfig.workflowExecutionRetentionTtl, (retention) => {
      if (retentionMs <= 0) return;
      retention.int(Duration.seconds, Math.floor(retentionMs / 1000)).int(Duration.nanos, (retentionMs % 1000) * 1e6);
    });
    config.int(NamespaceConfig.historyArchivalState, ArchivalState.DISABLED);
    config.int(NamespaceConfig.visibilityArchivalState, ArchivalState.DISABLED);
  });
  described.message(Described.replicationConfig, (config) =>
    config.text(NamespaceReplicationConfig.activeClusterName, CLUSTER)
      .message(NamespaceReplicationConfig.clusters, (cluster) => cluster.text(ClusterReplicationConfig.clusterName, CLUSTER)));
  return described.finish();
}

/** ListNamespacesResponse. */
export function listedNamespaces(namespaces: Iterable<readonly [name: string, options: NamespaceOptions]>): Uint8Array {
  const listed = new Message();
  for (const [name, options] of namespaces) listed.bytes(ListNamespacesResponse.namespaces, describedNamespace(name, options));
  return listed.finish();
}

export function descriptionMethods(
  { namespace, version, store, ours }: { namespace: string; version: string; store: string; ours(name: string): void },
) {
  return {
    getSystemInfo: () => systemInfo(version),
    getClusterInfo: () =>
      encodeMessage(GetClusterInfoResponseSchema, {
        supportedClients: Object.fromEntries(CLIENTS.map((name) => [name, name === "temporal-ui" ? "<3.0.0" : "<2.0.0"])),
        serverVersion: version,
        clusterId: CLUSTER,
        clusterName: CLUSTER,
        historyShardCount: 1,
        persistenceStore: store,
        visibilityStore: store,
      }),
    getSearchAttributes: () => encodeMessage(GetSearchAttributesResponseSchema, { keys: { ...SEARCHABLE } }),
    listNamespaces: () => listedNamespaces([[namespace, {}]]),
    describeNamespace(bytes: Uint8Array) {
      // By name, or by id, which is the same here.
      ours(textField(bytes, DescribeNamespaceRequest.namespace) || textField(bytes, DescribeNamespaceRequest.id));
      return describedNamespace(namespace);
    },
  } satisfies { [name in MethodName]?: (request: Uint8Array) => Uint8Array };
}
