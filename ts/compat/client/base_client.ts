// Common part of the clients of `@temporalio/client`: connection, namespace, data converter, and
// native client.
import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FailureSchema } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { consoleLogger, processIdentity } from "../../platform/host.ts";
import { KEEPS_FAILURE_TEXT, MessageCodec } from "../../codec/message_codec.ts";
import type { PayloadCodec as ProductCodec } from "../../codec/codec.ts";
import { withCodec } from "../../codec/coded_service.ts";
import { Calls } from "../../client/calls.ts";
import type { OperationContext } from "../../client/interceptors.ts";
import { DEFAULT_PAYLOAD_LIMITS } from "../../service/limits.ts";
import { DEFAULT_RETRY } from "../../service/retry.ts";
import {
  type DataConverter,
  encodesErrorText,
  type LoadedDataConverter,
} from "../common/data_converter.ts";
import { fromPayloadWithTypeInfo } from "../common/payloads.ts";
import { type Payload, productConverter } from "../common/payload_converters.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";
import type { SerializationContext, TypeInfo } from "../common/type_info.ts";
import type { Headers } from "../common/interceptors.ts";
import { CALL_CONTEXTS, type CallContexts, type Metadata } from "./call_context.ts";
import {
  type AnyConnection,
  Connection,
  type ConnectionLike,
  getRawService,
  RETRIES,
  toConnection,
} from "./connection.ts";
import { loadDataConverter } from "./load_data_converter.ts";
import { receivedPayloads } from "./received_payloads.ts";

/** Options of clients. */
export interface BaseClientOptions {
  /** Converters of values and failures, and codecs. */
  dataConverter?: DataConverter;
  /** Identity in histories. Default: process id and host. */
  identity?: string;
  /** Connection to the server. Default: localhost:7233. */
  connection?: AnyConnection;
  /** Default: "default". */
  namespace?: string;
}

/** Options with their defaults. */
export type WithDefaults<Options extends BaseClientOptions> =
  & Required<Omit<Options, "connection">>
  & Pick<Options, "connection">;
/** Options with their defaults and the loaded data converter. */
export type LoadedWithDefaults<Options extends BaseClientOptions> = WithDefaults<Options> & {
  loadedDataConverter: LoadedDataConverter;
};

/** Longer than any call: the official client has no default deadline. */
const NO_DEADLINE_MS = 99_999_999;

/** Base class of clients. */
export class BaseClient {
  /** Connection to the server. */
  readonly connection: ConnectionLike;
  readonly options: LoadedWithDefaults<BaseClientOptions>;
  readonly #base: Omit<OperationContext, "converter">;

  constructor(options: BaseClientOptions = {}) {
    const loaded = loadDataConverter(options.dataConverter);
    this.connection = options.connection === undefined
      ? Connection.lazy()
      : toConnection(options.connection);
    this.options = {
      identity: processIdentity(),
      namespace: "default",
      dataConverter: {},
      ...Object.fromEntries(
        Object.entries(options).filter(([, value]) => value !== undefined && value !== null),
      ),
      loadedDataConverter: loaded,
    };
    const logger = consoleLogger();
    const codec = MessageCodec.of({
      codec: loaded.payloadCodecs.map(productCodec),
      encodeCommonAttributes: encodesErrorText(loaded),
    });
    const raw = getRawService(this.connection);
    this.#base = {
      calls: new Calls(
        codec === undefined
          ? raw
          : withCodec(raw, codec, { limits: DEFAULT_PAYLOAD_LIMITS, logger }),
        this.connection[RETRIES] === true
          ? { ...DEFAULT_RETRY, maximumAttempts: 1 }
          : DEFAULT_RETRY,
      ),
      namespace: this.options.namespace,
      identity: this.options.identity,
      codec,
      // The service rejects large payloads, as with the official client.
      limits: undefined,
      logger,
      defaultTaskQueue: undefined,
      defaultTimeout: NO_DEADLINE_MS,
      interceptors: [],
    };
  }

  /** The data converter. */
  protected get dataConverter(): LoadedDataConverter {
    return this.options.loadedDataConverter;
  }

  /**
   * Returns a message with payloads decoded by the codecs; those that do not decode stay encoded.
   *
   * @internal
   */
  async decoded<D extends DescMessage>(desc: D, stored: PlainMessage): Promise<PlainMessage> {
    const { codec } = this.#base;
    if (codec === undefined) return stored;
    const bytes = await codec.decode(desc, toBinary(desc, fromPlain(desc, stored)), {
      lenient: true,
    });
    return toPlain(desc, fromBinary(desc, bytes));
  }

  /**
   * Returns the context of a native operation with a serialization context, a result type, and
   * headers.
   *
   * @internal
   */
  operationContext(
    serialization?: SerializationContext,
    { outputType, headers = {}, otherHeaders = {} }: {
      outputType?: TypeInfo | undefined;
      headers?: Headers;
      otherHeaders?: Headers;
    } = {},
  ): OperationContext {
    const { payloadConverter, failureConverter } = this.dataConverter;
    const converter = productConverter(payloadConverter, serialization);
    const full = (named: Headers) =>
      Object.fromEntries(
        Object.entries(named).map(([name, { metadata, data }]) => [name, {
          metadata: metadata ?? {},
          data: data ?? new Uint8Array(0),
        }]),
      );
    return {
      ...this.#base,
      converter: outputType === undefined ? converter : {
        toPayload: converter.toPayload,
        fromPayload: (payload) =>
          fromPayloadWithTypeInfo(payloadConverter, payload as Payload, serialization, outputType),
      },
      failures: {
        toError: (failure) =>
          failureConverter.failureToError(
            toPlain(FailureSchema, failure),
            payloadConverter,
            serialization,
          ),
        toFailure: (thrown) =>
          fromPlain(
            FailureSchema,
            failureConverter.errorToFailure(thrown, payloadConverter, serialization),
          ),
      },
      interceptors: [{
        any({ input }, next) {
          if ("headers" in input) Object.assign(input.headers, full(headers));
          if ("updateHeaders" in input) Object.assign(input.updateHeaders, full(otherHeaders));
          return next();
        },
      }],
    };
  }

  /**
   * Returns the deadline and the abort signal of the current call context of the connection.
   *
   * @internal
   */
  callSettings(): ReturnType<CallContexts["settings"]> {
    return this.connection[CALL_CONTEXTS]?.settings() ?? {};
  }

  /** Sets the deadline of calls in `fn`: milliseconds since the Unix epoch, or a Date. */
  async withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R> {
    return await this.connection.withDeadline(deadline, fn);
  }
  /** Cancels calls in `fn` with the signal. */
  async withAbortSignal<R>(abortSignal: AbortSignal, fn: () => Promise<R>): Promise<R> {
    return await this.connection.withAbortSignal(abortSignal, fn);
  }
  /** Adds metadata to calls in `fn`. */
  async withMetadata<R>(metadata: Metadata, fn: () => Promise<R>): Promise<R> {
    return await this.connection.withMetadata(metadata, fn);
  }
}

/** Adapts a codec of the program: adds missing data to payloads, which the native codec expects. */
function productCodec(codec: LoadedDataConverter["payloadCodecs"][number]): ProductCodec {
  const full = (payloads: Payload[]) =>
    payloads.map(({ metadata, data }) => ({
      metadata: metadata ?? {},
      data: data ?? new Uint8Array(0),
    }));
  return {
    ...{ [KEEPS_FAILURE_TEXT]: true },
    encode: async (payloads) => full(await codec.encode(payloads)),
    decode: async (payloads) => full(await codec.decode(receivedPayloads(payloads))),
  };
}
