// Reads GetSystemInfoResponse without descriptors: it is the first response of every connection,
// and the descriptors take longer to build (about 13 ms) than the rest. A worker builds them while
// its realm's thread starts. A test compares the table with the generated message.
import {
  DescribeNamespaceRequest,
  DescribeNamespaceResponse,
  GetSystemInfoResponse,
  GetSystemInfoResponse_Capabilities as Capability,
  NamespaceInfo,
  NamespaceInfo_Capabilities as NamespaceCapability,
  NamespaceInfo_Limits as NamespaceLimit,
} from "../messages/generated/fields.ts";
import { Fields, Message } from "../messages/wire.ts";
import type { GetSystemInfoResponse_Capabilities } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

/** Capabilities of a server (GetSystemInfo). An older server omits unknown ones: false. */
export type ServerCapabilities = {
  readonly [Name in Exclude<keyof GetSystemInfoResponse_Capabilities, `$${string}`>]: boolean;
};

/** Description of a server. */
export interface ServerInfo {
  /** Version such as "1.29.1"; "" if the server omits it. */
  readonly version: string;
  readonly capabilities: Partial<ServerCapabilities>;
}

const CAPABILITIES = Object.entries(Capability) as [keyof ServerCapabilities, number][];

/** Reads a GetSystemInfoResponse. Throws for bytes that do not decode. */
export function readServerInfo(response: Uint8Array): ServerInfo {
  let version = "";
  let capabilities: Partial<ServerCapabilities> = {};
  for (const at = new Fields(response); at.next();) {
    if (at.tag === GetSystemInfoResponse.serverVersion) version = at.text();
    else if (at.tag === GetSystemInfoResponse.capabilities) {
      capabilities = readCapabilities(at.inner(), capabilities);
    }
  }
  return { version, capabilities };
}

/** `before`: an earlier part of the same message; protobuf merges them. */
function readCapabilities(at: Fields, before: Partial<ServerCapabilities>): ServerCapabilities {
  const read: { [name: string]: boolean } = {};
  for (const [name] of CAPABILITIES) read[name] = before[name] ?? false;
  while (at.next()) {
    for (const [name, tag] of CAPABILITIES) if (tag === at.tag) read[name] = at.bool();
  }
  return read as ServerCapabilities;
}

/** Encodes a DescribeNamespaceRequest. */
export function namespaceRequest(namespace: string): Uint8Array<ArrayBuffer> {
  return new Message().text(DescribeNamespaceRequest.namespace, namespace).finish();
}

/** The part of a DescribeNamespaceResponse that workers use. */
export interface NamespaceOffer {
  /** The server ends a worker's polls when it is notified of the shutdown. */
  readonly endsPolls: boolean;
  /** The largest payload in bytes; 0 if unknown. */
  readonly largestPayload: number;
}

/** Reads a DescribeNamespaceResponse. Throws for bytes that do not decode. */
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
