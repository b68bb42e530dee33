// Calls of an engine to the handlers of its Nexus operations and to the receivers of callbacks. The
// state machine requests them with a commit; the host of several engines makes them. A call that is
// lost with its process is made again, so handlers get it at least once.
import {
  EngineMethod,
  type NexusCall,
  NexusCallKind,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { EngineNexusEndpoint, EngineNexusEndpoints } from "../messages/generated/fields.ts";
import { Message } from "../messages/wire.ts";

export { type NexusCall, NexusCallKind };

/** An endpoint that workflows can call. */
export interface NexusEndpointName {
  readonly name: string;
  readonly id: string;
}

/** Makes the calls of engines. */
export interface NexusHost {
  endpoints(): readonly NexusEndpointName[];
  /** Resolves with an encoded NexusCallEnded. Rejects if the host was closed. */
  perform(namespace: string, call: NexusCall): Promise<Uint8Array>;
}

/** The calls of one engine. */
export class NexusCalls {
  readonly #host: NexusHost | undefined;
  readonly #namespace: string;
  readonly #enter: (method: EngineMethod, request: Uint8Array) => Promise<unknown>;

  /** Without a host, operations are rejected by the state machine. */
  constructor(
    host: NexusHost | undefined,
    namespace: string,
    enter: (method: EngineMethod, request: Uint8Array) => Promise<unknown>,
  ) {
    this.#host = host;
    this.#namespace = namespace;
    this.#enter = enter;
  }

  /** The encoded endpoints for the state machine; undefined without a host. */
  endpoints(): Uint8Array | undefined {
    if (this.#host === undefined) return undefined;
    const message = new Message();
    for (const { name, id } of this.#host.endpoints()) {
      message.message(
        EngineNexusEndpoints.endpoints,
        (each) => each.text(EngineNexusEndpoint.name, name).text(EngineNexusEndpoint.id, id),
      );
    }
    return message.finish();
  }

  /** Makes the calls of a committed batch. */
  committed(calls: readonly NexusCall[]): void {
    for (const call of calls) {
      this.#host?.perform(this.#namespace, call).then((ended) =>
        this.#enter(EngineMethod.ENGINE_METHOD_NEXUS_CALL_ENDED, ended)
      ).catch(() => {
        // The host or the engine was closed, or the commit failed: the run is loaded again later,
        // and its call is made again.
      });
    }
  }
}
