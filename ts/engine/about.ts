// What the engine says about itself to those who take it for a Temporal cluster: version, namespaces, what can be searched by. Tools ask
// for these before they ask for anything else.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { IndexedValueType } from "../temporal/generated/temporal/api/enums/v1/common_pb.ts";
import { ArchivalState, NamespaceState } from "../temporal/generated/temporal/api/enums/v1/namespace_pb.ts";
import {
  DescribeNamespaceRequestSchema,
  DescribeNamespaceResponseSchema,
  GetClusterInfoResponseSchema,
  GetSearchAttributesResponseSchema,
  GetSystemInfoResponseSchema,
  ListNamespacesResponseSchema,
} from "../temporal/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { MethodName } from "../service/raw.ts";
import { decode, encode } from "./host_bytes.ts";

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

/** A namespace as DescribeNamespace and ListNamespaces show it. Nothing that is not offered is named a capability: SDKs go by them. */
export function describedNamespace(name: string): MessageInitShape<typeof DescribeNamespaceResponseSchema> {
  return {
    namespaceInfo: {
      name,
      id: name,
      state: NamespaceState.REGISTERED,
      description: "embedded engine",
      capabilities: { syncUpdate: true, asyncUpdate: true, workerPollCompleteOnShutdown: true },
    },
    // Some tools take it for granted that these are there. Closed runs are kept until somebody purges them; a retention of 0 says so.
    config: {
      workflowExecutionRetentionTtl: { seconds: 0n, nanos: 0 },
      historyArchivalState: ArchivalState.DISABLED,
      visibilityArchivalState: ArchivalState.DISABLED,
    },
    replicationConfig: { activeClusterName: CLUSTER, clusters: [{ clusterName: CLUSTER }] },
  };
}

export function aboutMethods(
  { namespace, version, store, ours }: { namespace: string; version: string; store: string; ours(name: string): void },
) {
  return {
    getSystemInfo: () =>
      encode(GetSystemInfoResponseSchema, {
        serverVersion: version,
        capabilities: {
          signalAndQueryHeader: true,
          internalErrorDifferentiation: true,
          activityFailureIncludeHeartbeat: true,
          encodedFailureAttributes: true,
          upsertMemo: true,
          sdkMetadata: true,
          countGroupByExecutionStatus: true,
        },
      }),
    getClusterInfo: () =>
      encode(GetClusterInfoResponseSchema, {
        supportedClients: Object.fromEntries(CLIENTS.map((name) => [name, name === "temporal-ui" ? "<3.0.0" : "<2.0.0"])),
        serverVersion: version,
        clusterId: CLUSTER,
        clusterName: CLUSTER,
        historyShardCount: 1,
        persistenceStore: store,
        visibilityStore: store,
      }),
    getSearchAttributes: () => encode(GetSearchAttributesResponseSchema, { keys: { ...SEARCHABLE } }),
    listNamespaces: () => encode(ListNamespacesResponseSchema, { namespaces: [describedNamespace(namespace)] }),
    describeNamespace(bytes: Uint8Array) {
      const request = decode(DescribeNamespaceRequestSchema, bytes);
      ours(request.namespace === "" ? request.id : request.namespace);
      return encode(DescribeNamespaceResponseSchema, describedNamespace(namespace));
    },
  } satisfies { [name in MethodName]?: (request: Uint8Array) => Uint8Array };
}
