// Converts and encodes values and failures of Nexus requests. Failures are encoded here, because
// older servers receive them as JSON inside another message.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { handlerError, isOperationError } from "../nexus/errors.ts";
import type { LoadedDataConverter } from "../common/mod.ts";
import { fromPayloadWithTypeInfo, toPayloadWithTypeInfo } from "../common/payloads.ts";
import { fromPlain } from "../common/plain_proto.ts";
import type { TypeInfo } from "../common/type_info.ts";
import { PayloadCodecError } from "../../codec/codec.ts";
import { loggable } from "../../codec/loggable.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import type { Payload } from "../../converter/payload.ts";
import { PayloadsSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { NexusOutcome } from "../../worker/nexus/nexus_call.ts";
import { asHandlerError, inputError, operationFailure } from "./nexus_errors.ts";

export class NexusValues {
  readonly #converter: LoadedDataConverter;
  readonly #codec: MessageCodec | undefined;

  constructor(converter: LoadedDataConverter, codec: MessageCodec | undefined) {
    this.#converter = converter;
    this.#codec = codec;
  }

  /** Returns an error for the log, without its text if that is encoded. */
  loggable(error: unknown): unknown {
    return loggable(error, this.#codec);
  }

  async #coded(direction: "encode" | "decode", payload: Payload): Promise<Payload> {
    if (this.#codec === undefined) return payload;
    const bytes = toBinary(PayloadsSchema, create(PayloadsSchema, { payloads: [payload] }));
    return fromBinary(PayloadsSchema, await this.#codec[direction](PayloadsSchema, bytes))
      .payloads[0]!;
  }

  /** Returns the input of an operation. Rejects with an error for the caller. */
  async input(payload: Payload | undefined, type: unknown): Promise<unknown> {
    if (payload === undefined) return undefined;
    let decoded: Payload;
    try {
      decoded = await this.#coded("decode", payload);
    } catch (error) {
      // The cause is what the program's codec threw.
      const thrown = error instanceof PayloadCodecError ? error.cause ?? error : error;
      const message = "Payload codec failed to decode Nexus operation input";
      throw inputError(thrown, () => handlerError("INTERNAL", message, { cause: thrown }));
    }
    try {
      return fromPayloadWithTypeInfo(
        this.#converter.payloadConverter,
        decoded,
        undefined,
        type as TypeInfo | undefined,
      );
    } catch (error) {
      const message = "Payload converter failed to decode Nexus operation input";
      throw inputError(error, () => handlerError("BAD_REQUEST", message, { cause: error }));
    }
  }

  /** Encodes the result of an operation. */
  async output(value: unknown, type: unknown): Promise<Payload> {
    const { payloadConverter } = this.#converter;
    const { metadata, data } = toPayloadWithTypeInfo(
      payloadConverter,
      value,
      undefined,
      type as TypeInfo | undefined,
    );
    return await this.#coded(
      "encode",
      { metadata: metadata ?? {}, data: data ?? new Uint8Array(0) } as Payload,
    );
  }

  async #failure(error: unknown): Promise<Failure> {
    const { failureConverter, payloadConverter } = this.#converter;
    const failure = fromPlain(
      FailureSchema,
      failureConverter.errorToFailure(error, payloadConverter),
    );
    if (this.#codec === undefined) return failure;
    return fromBinary(
      FailureSchema,
      await this.#codec.encode(FailureSchema, toBinary(FailureSchema, failure)),
    );
  }

  /** Returns the outcome of a failed start. */
  async failed(error: unknown): Promise<NexusOutcome> {
    if (!isOperationError(error)) return await this.unhandled(error);
    return { kind: "operationFailed", failure: await this.#failure(operationFailure(error)) };
  }

  /** Returns the outcome of a request that was not handled. */
  async unhandled(error: unknown): Promise<NexusOutcome> {
    return { kind: "handlerFailed", failure: await this.#failure(asHandlerError(error)) };
  }
}
