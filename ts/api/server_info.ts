// What a server says of itself (GetSystemInfoResponse), read by hand: it is the first answer of every connection, and the descriptors of
// Temporal's API take longer to build (some 13 ms) than all the rest of a connection. A worker builds them while its realm's thread starts.
// A test holds the table against the generated message.
import {
  DescribeNamespaceRequest,
  DescribeNamespaceResponse,
  GetSystemInfoResponse,
  GetSystemInfoResponse_Capabilities as Capability,
  NamespaceInfo,
  NamespaceInfo_Capabilities as NamespaceCapability,
  NamespaceInfo_Limits as NamespaceLimit,
} from "./generated/fields.ts";
import { Fields, Message } from "./wire.ts";
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

const CAPABILITIES = Object.entries(Capability) as [keyof ServerCapabilities, number][];

/** Reads a GetSystemInfoResponse. Throws for bytes that are none. */
export function readServerInfo(response: Uint8Array): ServerInfo {
  let version = "";
  let capabilities: Partial<ServerCapabilities> = {};
  for (const at = new Fields(response); at.next();) {
    if (at.tag === GetSystemInfoResponse.serverVersion) version = at.text();
    else if (at.tag === GetSystemInfoResponse.capabilities) capabilities = readCapabilities(at.inner(), capabilities);
  }
  return { version, capabilities };
}

/** `before` is what an earlier part of the same message said: protobuf merges them. */
function readCapabilities(at: Fields, before: Partial<ServerCapabilities>): ServerCapabilities {
  const read: { [name: string]: boolean } = {};
  for (const [name] of CAPABILITIES) read[name] = before[name] ?? false;
  while (at.next()) for (const [name, tag] of CAPABILITIES) if (tag === at.tag) read[name] = at.bool();
  return read as ServerCapabilities;
}

/** A DescribeNamespaceRequest. */
export function namespaceRequest(namespace: string): Uint8Array<ArrayBuffer> {
  return new Message().text(DescribeNamespaceRequest.namespace, namespace).finish();
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
  for (const at = new Fields(response); at.next();) {
    if (at.tag !== DescribeNamespaceResponse.namespaceInfo) continue;
    for (const of = at.inner(); of.next();) {
      if (of.tag === NamespaceInfo.capabilities) {
        for (const can = of.inner(); can.next();) {
          if (can.tag === NamespaceCapability.workerPollCompleteOnShutdown) endsPolls = can.bool();
        }
      } else if (of.tag === NamespaceInfo.limits) {
        for (const limit = of.inner(); limit.next();) {
          if (limit.tag === NamespaceLimit.blobSizeLimitError) largestPayload = limit.int();
        }
      }
    }
  }
  return { endsPolls, largestPayload };
}
