// The interface between a worker and its Nexus services. The worker handles polls, slots, deadlines
// and reports. Payloads and failures are in encoded form, because older servers take a failure as
// JSON in another message, where a codec would not find its payloads.
import type { Logger } from "../../base/logger.ts";
import type { CodecOptions } from "../../codec/codec.ts";
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import type { RawService } from "../../service/raw.ts";
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";

/** Why a handler is canceled. */
export type NexusStopReason = "TIMED_OUT" | "WORKER_SHUTDOWN";

/** A reference from one execution to another, as a URL. */
export interface NexusLink {
  /** For example `temporal:///namespaces/...`. */
  readonly url: string;
  /** Name of the protobuf message: `temporal.api.common.v1.Link.WorkflowEvent`. */
  readonly type: string;
}

/** A request that starts an operation. */
export interface NexusStart {
  /** The same for all attempts of one operation. */
  readonly requestId: string;
  /** Where the end of an asynchronous operation is reported; "" if it is not reported. */
  readonly callbackUrl: string;
  readonly callbackHeaders: { readonly [name: string]: string };
  /** The caller's links. */
  readonly links: readonly NexusLink[];
  /** The encoded input. */
  readonly payload: Payload | undefined;
}

/** A request of a Nexus task. */
export interface NexusRequest {
  readonly service: string;
  readonly operation: string;
  /** The endpoint of the request; "" if the server omits it. */
  readonly endpoint: string;
  /** Names are in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** The caller waits until this time; undefined: no limit. */
  readonly deadline: Date | undefined;
  /** Aborted with a NexusStopReason to cancel the handler. */
  readonly signal: AbortSignal;
  /** The request: start an operation, cancel a started one, or unknown to this worker. */
  readonly variant:
    | { readonly kind: "start"; readonly start: NexusStart }
    | { readonly kind: "cancel"; readonly token: string }
    | { readonly kind: "unknown" };
}

/** The result of a request. Payloads and failures are encoded. */
export type NexusOutcome =
  | { readonly kind: "sync"; readonly payload: Payload; readonly links: readonly NexusLink[] }
  | { readonly kind: "async"; readonly token: string; readonly links: readonly NexusLink[] }
  | { readonly kind: "cancelRequested" }
  /** The operation failed or was canceled: an application failure, or a canceled one. */
  | { readonly kind: "operationFailed"; readonly failure: Failure }
  /** The request was not handled: a failure with the type of a handler error. */
  | { readonly kind: "handlerFailed"; readonly failure: Failure };

/** The Nexus services of a worker. */
export interface NexusServices {
  readonly names: readonly string[];
  /** Runs the handler of a request. An error ends the task as an internal error. */
  run(request: NexusRequest): Promise<NexusOutcome>;
}

/** The worker's settings for its Nexus services. */
export interface NexusWorker extends CodecOptions {
  /** The connection for the handlers' client. */
  readonly service: RawService;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly identity: string;
  readonly logger: Logger;
  /** Payload converter of the worker's options. */
  readonly converter: PayloadConverter | undefined;
}

/**
 * Creates a worker's Nexus services, for example `nexusServices([...])` of "temporalex/nexus".
 * Throws a TypeError for an invalid service.
 */
export type NexusServicesOf = (worker: NexusWorker) => NexusServices;
