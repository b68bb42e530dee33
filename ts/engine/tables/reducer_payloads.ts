// Payloads of reducers: the arguments from the marker of `transact`, the result for the marker's
// event. With a codec both are encoded like the workers' payloads. All is synchronous, because it
// runs inside a transaction.
import { DEFAULT_PAYLOAD_LIMITS } from "../../service/limits.ts";
import { RecordMarkerCommandAttributesSchema } from "../../messages/generated/temporal/api/command/v1/message_pb.ts";
import { PayloadsSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { FailureSchema } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { PayloadCodecError } from "../../codec/codec.ts";
import { SyncMessageCodec } from "../../codec/sync_codec.ts";
import { encodeFailure } from "../../converter/failure_converter.ts";
import { ApplicationFailure } from "../../converter/failures.ts";
import {
  defaultPayloadConverter,
  fromPayloads,
  type PayloadConverter,
} from "../../converter/payload.ts";
import { messageOf } from "../../converter/thrown.ts";
import { Payload, Payloads } from "../../core/generated/boundary/temporal/api/common/v1/message.ts";
import { TransactMarker } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { EmbeddedEngineOptions } from "../options.ts";
import { ReducerError } from "./reducers.ts";

/**
 * A reducer fails its workflow task: its error has no awaiting code, or a payload cannot be decoded
 * or encoded.
 */
export class TaskFails extends Error {
  /** The encoded failure of the task. */
  readonly failure: Uint8Array;

  constructor(failure: Uint8Array) {
    super("a reducer fails the task");
    this.failure = failure;
  }
}

/** A reducer call, from the marker of `transact`. */
export interface AskedReducer {
  readonly name: string;
  /** Decodes the arguments. Throws errors of the converter. */
  args(): unknown[];
  /** Workflow code awaits the call. */
  readonly awaited: boolean;
  /** An error ends the run, even if the call is awaited. */
  readonly required: boolean;
}

const NO_BYTES = new Uint8Array(0);
/** Room for the key of the result among the marker's details. */
const RESULT_KEY_BYTES = 64;
const text = new TextDecoder();

export class ReducerPayloads {
  readonly #converter: PayloadConverter;
  readonly #codec: SyncMessageCodec | undefined;

  readonly #limitBytes: number;

  /** Throws a TypeError for an asynchronous codec. */
  constructor(
    options: Pick<
      EmbeddedEngineOptions,
      "converter" | "codec" | "encodeCommonAttributes" | "limits"
    >,
  ) {
    this.#limitBytes = options.limits?.payloadBytes ?? DEFAULT_PAYLOAD_LIMITS.errorBytes;
    this.#converter = options.converter ?? defaultPayloadConverter;
    this.#codec = SyncMessageCodec.of(options);
  }

  /** Reads a marker. Throws TaskFails if it cannot be decoded. */
  read(marker: Uint8Array): AskedReducer {
    const codec = this.#codec;
    const { details } = TransactMarker.decode(
      codec === undefined
        ? marker
        : coded(() =>
          codec.decode(RecordMarkerCommandAttributesSchema, marker, "what transact asks for")
        ),
    );
    try {
      return {
        name: String(value(details["reducer"])),
        args: () => fromPayloads(this.#converter, details["arguments"]?.payloads),
        awaited: value(details["awaited"]) === true,
        required: value(details["required"]) === true,
      };
    } catch {
      const missing = codec === undefined
        ? "the worker encodes its payloads, but the engine was opened without a codec: EmbeddedEngine.open({ reducers, codec })"
        : "the codecs of the worker and the engine do not match";
      throw new TaskFails(
        encodeFailure(new ReducerError(`the arguments of transact cannot be decoded: ${missing}`)),
      );
    }
  }

  /**
   * Throws an ApplicationFailure if the arguments of a call are too large for a marker. It names the
   * argument that takes most bytes.
   */
  checkArguments(name: string, marker: Uint8Array): void {
    if (marker.length <= this.#limitBytes) return;
    const encoded = TransactMarker.decode(marker).details["arguments"]?.payloads ?? [];
    const sizes = encoded.map((payload) => Payload.encode(payload).finish().length);
    const largest = Math.max(...sizes);
    throw new ApplicationFailure(
      `argument ${sizes.indexOf(largest) + 1} of reducer "${name}" has ${largest} bytes; ` +
        `the arguments of a call and its result together have at most ${this.#limitBytes} ` +
        "(limits.payloadBytes): keep the value in a table, or read it in the reducer",
      { type: "ReducerError" },
    );
  }

  /**
   * Encodes the result of a reducer as a payload. `marker`: of its call, which the result is added
   * to. Throws an ApplicationFailure if it cannot be encoded or is too large, and TaskFails if the
   * codec fails.
   */
  result(name: string, marker: Uint8Array, returned: unknown): Uint8Array {
    if (returned === undefined) return NO_BYTES;
    const payload = this.#resultPayload(returned);
    const free = Math.max(0, this.#limitBytes - marker.length - RESULT_KEY_BYTES);
    if (payload.length > free) {
      throw new ApplicationFailure(
        `the result of reducer "${name}" has ${payload.length} bytes, at most ${free}: ` +
          `${this.#limitBytes} (limits.payloadBytes) less its arguments; return a key and keep the value in a table`,
        { type: "ReducerError" },
      );
    }
    return payload;
  }

  #resultPayload(returned: unknown): Uint8Array {
    let payload: Payload;
    try {
      payload = Payload.fromPartial(this.#converter.toPayload(returned));
    } catch (e) {
      throw new ApplicationFailure(`the result of the reducer cannot be encoded: ${messageOf(e)}`, {
        type: "ReducerError",
        cause: e,
      });
    }
    const codec = this.#codec;
    if (codec === undefined) return Payload.encode(payload).finish();
    const set = Payloads.encode({ payloads: [payload] }).finish();
    const [encoded] =
      Payloads.decode(coded(() => codec.encode(PayloadsSchema, set, "what a reducer returned")))
        .payloads;
    return Payload.encode(encoded!).finish();
  }

  /** Encodes the error. Throws TaskFails if the codec fails. */
  failure(thrown: unknown): Uint8Array {
    const failure = encodeFailure(thrown, this.#converter);
    const codec = this.#codec;
    return codec === undefined
      ? failure
      : coded(() => codec.encode(FailureSchema, failure, "what a reducer threw"));
  }
}

/**
 * The failure of a codec is stored unencoded, so it includes no payload and no text of the codec.
 */
function coded(work: () => Uint8Array): Uint8Array {
  try {
    return work();
  } catch (e) {
    if (!(e instanceof PayloadCodecError)) throw e;
    const failure = new ApplicationFailure(e.summary, { type: e.name });
    failure.stack = "";
    throw new TaskFails(encodeFailure(failure));
  }
}

/** A value written by the core: JSON, whatever the converter. */
function value(payloads: Payloads | undefined): unknown {
  const [payload] = payloads?.payloads ?? [];
  return payload === undefined ? undefined : JSON.parse(text.decode(payload.data));
}
