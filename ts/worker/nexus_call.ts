// What a worker asks of the services that answer Nexus operations, and what they say. The worker does the rest: polls, slots, deadlines,
// reports. Payloads and failures cross here as they are on the wire, encoded by the codec, because a failure that an older server takes is
// JSON inside of another message, where no codec finds its payloads.
import type { Logger } from "../base/logger.ts";
import type { CodecOptions } from "../codec/codec.ts";
import type { Payload, PayloadConverter } from "../converter/payload.ts";
import type { RawService } from "../service/raw.ts";
import type { Failure } from "../api/generated/temporal/api/failure/v1/message_pb.ts";

/** Why a handler is to stop. */
export type NexusStopReason = "TIMED_OUT" | "WORKER_SHUTDOWN";

/** A reference from one execution to another, as a URL. */
export interface NexusLink {
  /** Of what it leads to: `temporal:///namespaces/...`. */
  readonly url: string;
  /** What the URL is of, a name of a protobuf message: `temporal.api.common.v1.Link.WorkflowEvent`. */
  readonly type: string;
}

/** A request that starts an operation. */
export interface NexusStart {
  /** The same for all attempts of one operation. */
  readonly requestId: string;
  /** Where the end of an asynchronous operation is reported; "": nowhere. */
  readonly callbackUrl: string;
  /** Headers of that report. */
  readonly callbackHeaders: { readonly [name: string]: string };
  /** What the caller is. */
  readonly links: readonly NexusLink[];
  /** As it is on the wire. */
  readonly payload: Payload | undefined;
}

/** A request of a Nexus task. */
export interface NexusRequest {
  /** Name of the service. */
  readonly service: string;
  /** Name of its operation. */
  readonly operation: string;
  /** By which endpoint it came; "" where the server does not say. */
  readonly endpoint: string;
  /** Names are in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** After this the caller no longer waits for the answer. */
  readonly deadline: Date | undefined;
  /** Aborted with a NexusStopReason when the handler is to stop. */
  readonly signal: AbortSignal;
  /** What is asked for: to start the operation, to cancel one that was started, or something that this worker does not know. */
  readonly variant:
    | { readonly kind: "start"; readonly start: NexusStart }
    | { readonly kind: "cancel"; readonly token: string }
    | { readonly kind: "unknown" };
}

/** How a request ended. Payloads and failures are as they go on the wire. */
export type NexusOutcome =
  | { readonly kind: "sync"; readonly payload: Payload; readonly links: readonly NexusLink[] }
  | { readonly kind: "async"; readonly token: string; readonly links: readonly NexusLink[] }
  | { readonly kind: "cancelRequested" }
  /** The operation failed, or was cancelled: an application failure, or a cancelled one. */
  | { readonly kind: "operationFailed"; readonly failure: Failure }
  /** The request was not handled: a failure with the type of a handler's error. */
  | { readonly kind: "handlerFailed"; readonly failure: Failure };

/** The services of a worker. */
export interface NexusServices {
  /** Their names. */
  readonly names: readonly string[];
  /** Runs the handler that a request is for. What it throws ends the task as an internal error. */
  run(request: NexusRequest): Promise<NexusOutcome>;
}

/** What Nexus services are told of their worker. */
export interface NexusWorker extends CodecOptions {
  /** Its connection, for the client that handlers have. */
  readonly service: RawService;
  /** Its namespace. */
  readonly namespace: string;
  /** The queue whose Nexus tasks it takes. */
  readonly taskQueue: string;
  /** Who works. */
  readonly identity: string;
  /** Where its records go. */
  readonly logger: Logger;
  /** The converter that the worker was given. */
  readonly converter: PayloadConverter | undefined;
}

/** Makes a worker's Nexus services: `nexusServices([...])` of "temporalex/nexus" is one. Throws a TypeError for what is no service. */
export type NexusServicesOf = (worker: NexusWorker) => NexusServices;
