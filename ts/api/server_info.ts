// What a server says of itself (GetSystemInfoResponse), read by hand: it is the first answer of every connection, and the descriptors of
// Temporal's API take longer to build (some 13 ms) than all the rest of a connection. A worker builds them while its realm's thread starts.
// A test holds the table against the generated message.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { GetSystemInfoResponse_Capabilities } from "./generated/temporal/api/workflowservice/v1/request_response_pb.ts";

/** What a server can do, as it says itself (GetSystemInfo). A server that is older than a capability does not name it: false. */
export type ServerCapabilities = { readonly [Name in Exclude<keyof GetSystemInfoResponse_Capabilities, `$${string}`>]: boolean };

/** What a server says of itself. */
export interface ServerInfo {
  /** The server's version, such as "1.29.1"; "" for one that does not tell. */
  readonly version: string;
  /** What it can do. */
  readonly capabilities: Partial<ServerCapabilities>;
}

/** Capabilities by field number, from 1; every one is a bool. */
const CAPABILITIES: readonly (keyof ServerCapabilities)[] = [
  "signalAndQueryHeader",
  "internalErrorDifferentiation",
  "activityFailureIncludeHeartbeat",
  "supportsSchedules",
  "encodedFailureAttributes",
  "buildIdBasedVersioning",
  "upsertMemo",
  "eagerWorkflowStart",
  "sdkMetadata",
  "countGroupByExecutionStatus",
  "nexus",
  "serverScaledDeployments",
  "serverScaledProviderCloudRun",
];

/** Reads a GetSystemInfoResponse. Throws for bytes that are none. */
export function readServerInfo(response: Uint8Array): ServerInfo {
  let version = "";
  let capabilities: Partial<ServerCapabilities> = {};
  const reader = new BinaryReader(response);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1 && type === WireType.LengthDelimited) version = reader.string();
    else if (field === 2 && type === WireType.LengthDelimited) capabilities = readCapabilities(reader.bytes(), capabilities);
    else reader.skip(type, field);
  }
  return { version, capabilities };
}

/** `before` is what an earlier part of the same message said: protobuf merges them. */
function readCapabilities(bytes: Uint8Array, before: Partial<ServerCapabilities>): ServerCapabilities {
  const read: { [name: string]: boolean } = {};
  for (const name of CAPABILITIES) read[name] = before[name] ?? false;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const name = CAPABILITIES[field - 1];
    if (name !== undefined && type === WireType.Varint) read[name] = reader.bool();
    else reader.skip(type, field);
  }
  return read as ServerCapabilities;
}

/** A DescribeNamespaceRequest. */
export function namespaceRequest(namespace: string): Uint8Array<ArrayBuffer> {
  return new BinaryWriter().tag(1, WireType.LengthDelimited).string(namespace).finish();
}

/** What a worker goes by of a DescribeNamespaceResponse. */
export interface NamespaceOffer {
  /** The server ends a worker's polls when it is told that the worker stops. */
  readonly endsPolls: boolean;
  /** The largest payload that it takes, in bytes; 0 where it does not tell. */
  readonly largestPayload: number;
}

/** Reads a DescribeNamespaceResponse. Throws for bytes that are none. */
export function readNamespaceOffer(response: Uint8Array): NamespaceOffer {
  let endsPolls = false;
  let largestPayload = 0;
  // namespace_info; in it capabilities (worker_poll_complete_on_shutdown) and limits (blob_size_limit_error).
  eachField(response, (reader, field, type) => {
    if (field !== 1 || type !== WireType.LengthDelimited) return false;
    eachField(reader.bytes(), (reader, field, type) => {
      if (type !== WireType.LengthDelimited || (field !== 7 && field !== 8)) return false;
      eachField(reader.bytes(), (reader, inner, type) => {
        if (type !== WireType.Varint) return false;
        if (field === 7 && inner === 8) endsPolls = reader.bool();
        else if (field === 8 && inner === 1) largestPayload = Number(reader.int64());
        else return false;
        return true;
      });
      return true;
    });
    return true;
  });
  return { endsPolls, largestPayload };
}

/** Walks over a message; `take` answers whether it has read the field. */
function eachField(bytes: Uint8Array, take: (reader: BinaryReader, field: number, type: WireType) => boolean): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (!take(reader, field, type)) reader.skip(type, field);
  }
}
