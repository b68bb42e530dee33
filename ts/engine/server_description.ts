// What the engine says about itself to those who take it for a Temporal cluster: version, namespaces, what can be searched by. Tools ask
// for these before they ask for anything else.
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { IndexedValueType } from "../api/generated/temporal/api/enums/v1/common_pb.ts";
import { ArchivalState, NamespaceState } from "../api/generated/temporal/api/enums/v1/namespace_pb.ts";
import {
  GetClusterInfoResponseSchema,
  GetSearchAttributesResponseSchema,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { MethodName } from "../service/raw.ts";
import { encode, textField } from "./host_bytes.ts";

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

/** Capabilities of GetSystemInfoResponse by field number. Nothing that is not offered is named: SDKs go by them. */
const SYSTEM_CAPABILITIES = {
  signalAndQueryHeader: 1,
  internalErrorDifferentiation: 2,
  activityFailureIncludeHeartbeat: 3,
  encodedFailureAttributes: 5,
  upsertMemo: 7,
  sdkMetadata: 9,
  countGroupByExecutionStatus: 10,
};
/** The same of a namespace. */
const NAMESPACE_CAPABILITIES = { syncUpdate: 2, asyncUpdate: 3, workerPollCompleteOnShutdown: 8 };

// These two are written by hand: every SDK asks for them first of all, and the descriptors of Temporal's API take longer to build than
// everything else of the start. Tests hold the bytes against the generated messages.

const capabilities = (writer: BinaryWriter, field: number, all: { readonly [name: string]: number }) => {
  writer.tag(field, WireType.LengthDelimited).fork();
  for (const number of Object.values(all)) writer.tag(number, WireType.Varint).bool(true);
  return writer.join();
};

function systemInfo(version: string): Uint8Array {
  return capabilities(new BinaryWriter().tag(1, WireType.LengthDelimited).string(version), 2, SYSTEM_CAPABILITIES).finish();
}

/** What a namespace was registered with. */
export interface NamespaceOptions {
  readonly description?: string;
  readonly ownerEmail?: string;
  readonly data?: { readonly [key: string]: string };
  /** Closed runs are removed so long after they closed, in milliseconds; 0 or absent: they are kept until somebody purges them. */
  readonly retentionMs?: number;
}

/**
 * A namespace as DescribeNamespace and ListNamespaces show it (a DescribeNamespaceResponse). Some tools take it for granted that config
 * and replication are there. A retention of 0 says that closed runs are kept.
 */
export function describedNamespace(name: string, options: NamespaceOptions = {}): Uint8Array {
  const writer = new BinaryWriter();
  const message = (field: number) => writer.tag(field, WireType.LengthDelimited).fork();
  const text = (field: number, value: string) => writer.tag(field, WireType.LengthDelimited).string(value);
  message(1);
  text(1, name);
  writer.tag(2, WireType.Varint).int32(NamespaceState.REGISTERED);
  text(3, options.description ?? "embedded engine");
  if (options.ownerEmail !== undefined) text(4, options.ownerEmail);
  for (const [key, value] of Object.entries(options.data ?? {})) {
    message(5);
    text(1, key);
    text(2, value).join();
  }
  text(6, name);
  capabilities(writer, 7, NAMESPACE_CAPABILITIES);
  writer.join();
  message(2);
  message(1);
  const { retentionMs = 0 } = options;
  if (retentionMs > 0) {
    writer.tag(1, WireType.Varint).int64(Math.floor(retentionMs / 1000));
    writer.tag(2, WireType.Varint).int32((retentionMs % 1000) * 1e6);
  }
  writer.join();
  writer.tag(3, WireType.Varint).int32(ArchivalState.DISABLED).tag(5, WireType.Varint).int32(ArchivalState.DISABLED).join();
  message(3);
  text(1, CLUSTER);
  message(2);
  text(1, CLUSTER).join().join();
  return writer.finish();
}

/** ListNamespacesResponse. */
export function listedNamespaces(namespaces: Iterable<readonly [name: string, options: NamespaceOptions]>): Uint8Array {
  const writer = new BinaryWriter();
  for (const [name, options] of namespaces) writer.tag(1, WireType.LengthDelimited).bytes(describedNamespace(name, options));
  return writer.finish();
}

export function descriptionMethods(
  { namespace, version, store, ours }: { namespace: string; version: string; store: string; ours(name: string): void },
) {
  return {
    getSystemInfo: () => systemInfo(version),
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
    listNamespaces: () => listedNamespaces([[namespace, {}]]),
    describeNamespace(bytes: Uint8Array) {
      // By name, or by id, which is the same here.
      ours(textField(bytes, 1) || textField(bytes, 2));
      return describedNamespace(namespace);
    },
  } satisfies { [name in MethodName]?: (request: Uint8Array) => Uint8Array };
}
