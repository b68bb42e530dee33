// Functions of the application that clients call by name, also from other processes and tabs. Each
// call is a transaction (transactions.ts): its rows and messages are committed before the response.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { PayloadCodecError } from "../codec/codec.ts";
import { SyncMessageCodec } from "../codec/sync_codec.ts";
import { toFailure } from "../converter/failure_converter.ts";
import { ApplicationFailure } from "../converter/failures.ts";
import {
  defaultPayloadConverter,
  fromPayloads,
  type PayloadConverter,
  toPayloads,
} from "../converter/payload.ts";
import { messageOf } from "../converter/thrown.ts";
import { QueryResultType } from "../messages/generated/temporal/api/enums/v1/query_pb.ts";
import { WorkflowQueryResultSchema } from "../messages/generated/temporal/api/query/v1/message_pb.ts";
import { QueryWorkflowRequestSchema } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { FUNCTION_PATH } from "../service/functions.ts";
import { DEFAULT_PAYLOAD_LIMITS } from "../service/limits.ts";
import { Code, type RawService, ServiceError } from "../service/raw.ts";
import type { EmbeddedEngineOptions } from "./options.ts";
import { limited } from "./limited.ts";
import { callCanceled, tooLate } from "./refusals.ts";
import { reducersOf, unfinishedOf } from "./tables/reducers.ts";
import { TransactionError } from "./transaction_messages.ts";
import type { TransactionDatabase } from "./transactions.ts";

/** Functions by name: an object, or a module (`import * as functions from "./functions.ts"`). */
export type FunctionTable = { readonly [name: string]: unknown };

type Transact = (work: (database: TransactionDatabase) => Uint8Array) => Promise<Uint8Array>;

/** `callOther` of an engine. */
export type CallOther = Required<Pick<RawService, "callOther">>["callOther"];

/** A function has thrown; its transaction is rolled back, and the caller gets the failure. */
class FunctionThrew extends Error {
  readonly response: Uint8Array;

  constructor(response: Uint8Array) {
    super("a function threw an error");
    this.response = response;
  }
}

/**
 * Returns `callOther` of an engine, which runs functions. Throws a TypeError for an asynchronous
 * codec.
 */
export function functionsOf(
  options: EmbeddedEngineOptions,
  namespace: string,
  transact: Transact,
): CallOther {
  const functions = new AppFunctions(options);
  return async (path, request, limits = {}) => {
    if (path !== FUNCTION_PATH) {
      throw new ServiceError(Code.UNIMPLEMENTED, `the embedded engine has no method ${path}`);
    }
    if (limits.signal?.aborted) throw callCanceled();
    let isOver = false;
    // What has failed for the caller does not begin to run later.
    const unlessOver: Transact = (work) =>
      transact((database) => {
        if (isOver) throw callCanceled();
        return work(database);
      });
    const late = () => tooLate("the transaction was not committed in time", undefined);
    try {
      return await limited(functions.run(namespace, request, unlessOver), limits, late);
    } finally {
      isOver = true;
    }
  };
}

/** Throws a TypeError for functions with an asynchronous codec. */
export function checkFunctions(options: FunctionOptions): void {
  new AppFunctions(options);
}

type FunctionOptions = Pick<
  EmbeddedEngineOptions,
  "functions" | "converter" | "codec" | "encodeCommonAttributes" | "limits"
>;

/** The functions of an engine. */
class AppFunctions {
  readonly #functions: ReturnType<typeof reducersOf>;
  readonly #converter: PayloadConverter;
  readonly #codec: SyncMessageCodec | undefined;
  readonly #limitBytes: number;

  constructor(options: FunctionOptions) {
    const { functions, converter = defaultPayloadConverter, limits } = options;
    this.#functions = reducersOf(functions ?? {});
    this.#converter = converter;
    this.#codec = functions === undefined ? undefined : SyncMessageCodec.of(options, "functions");
    this.#limitBytes = limits?.payloadBytes ?? DEFAULT_PAYLOAD_LIMITS.errorBytes;
  }

  /**
   * Runs one call and resolves with the response after the commit. Rejects with a ServiceError for
   * an unknown name or namespace, arguments that do not decode, and if the commit fails.
   */
  async run(namespace: string, request: Uint8Array, transact: Transact): Promise<Uint8Array> {
    const { name, args } = this.#read(namespace, request);
    const called = this.#functions.get(name);
    if (called === undefined) throw this.#unknown(name);
    try {
      return await transact((database) => this.#returned(name, () => called(database, ...args)));
    } catch (error) {
      if (error instanceof FunctionThrew) return error.response;
      if (error instanceof TransactionError) throw refused(name, error);
      throw withoutPayloads(error);
    }
  }

  #read(namespace: string, request: Uint8Array): { name: string; args: unknown[] } {
    const { namespace: wanted, query } = fromBinary(
      QueryWorkflowRequestSchema,
      this.#decoded(request),
    );
    if (wanted !== namespace) {
      throw new ServiceError(
        Code.NOT_FOUND,
        `Namespace ${wanted} is not found.`,
        "NamespaceNotFound",
      );
    }
    const name = query?.queryType ?? "";
    try {
      return { name, args: fromPayloads(this.#converter, query?.queryArgs?.payloads) };
    } catch (error) {
      throw new ServiceError(
        Code.INVALID_ARGUMENT,
        `the arguments of function "${name}" cannot be decoded: ${messageOf(error)}; ` +
          "the client and the engine need the same converter and codec",
      );
    }
  }

  #decoded(request: Uint8Array): Uint8Array {
    try {
      const what = "the arguments of a function";
      return this.#codec?.decode(QueryWorkflowRequestSchema, request, what) ?? request;
    } catch (error) {
      throw withoutPayloads(error);
    }
  }

  /** Encodes inside the transaction: a value that cannot be encoded rolls it back. */
  #returned(name: string, call: () => unknown): Uint8Array {
    let value: unknown;
    try {
      value = call();
    } catch (error) {
      throw new FunctionThrew(this.#failed(error));
    }
    // `transact` rejects promises and generators.
    if (unfinishedOf(value) !== undefined) return value as Uint8Array;
    try {
      const payloads = value === undefined ? [] : toPayloads(this.#converter, [value]);
      const bytes = payloads.reduce((sum, { data }) => sum + data.length, 0);
      if (bytes > this.#limitBytes) {
        throw new RangeError(
          `it has ${bytes} bytes, at most ${this.#limitBytes} (limits.payloadBytes)`,
        );
      }
      return this.#encoded({
        resultType: QueryResultType.ANSWERED,
        ...(value !== undefined && { answer: { payloads } }),
      });
    } catch (error) {
      const failure = new ApplicationFailure(
        `the result of function "${name}" cannot be returned: ${messageOf(error)}`,
        { type: "FunctionError", nonRetryable: true },
      );
      throw new FunctionThrew(this.#failed(failure));
    }
  }

  #failed(error: unknown): Uint8Array {
    return this.#encoded({
      resultType: QueryResultType.FAILED,
      failure: toFailure(error, this.#converter),
    });
  }

  #encoded(result: Parameters<typeof create<typeof WorkflowQueryResultSchema>>[1]): Uint8Array {
    const bytes = toBinary(
      WorkflowQueryResultSchema,
      create(WorkflowQueryResultSchema, result),
    );
    return this.#codec?.encode(WorkflowQueryResultSchema, bytes, "what a function returned") ??
      bytes;
  }

  #unknown(name: string): ServiceError {
    const names = [...this.#functions.keys()].map((each) => `"${each}"`).join(", ");
    const known = names === ""
      ? "the engine was opened without functions: open({ path, functions })"
      : `known functions: ${names}`;
    return new ServiceError(
      Code.NOT_FOUND,
      `unknown function "${name}"; ${known}`,
      "UnknownFunction",
    );
  }
}

function refused(name: string, error: TransactionError): ServiceError {
  return new ServiceError(
    Code.FAILED_PRECONDITION,
    `function "${name}" was rolled back: ${error.message}`,
    error.name,
    {},
    { cause: error },
  );
}

/** The failure of a codec, without text of the codec: the caller may be another process. */
function withoutPayloads(error: unknown): unknown {
  return error instanceof PayloadCodecError
    ? new ServiceError(Code.INTERNAL, error.summary)
    : error;
}
