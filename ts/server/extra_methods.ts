// Methods of other services beside WorkflowService (health checks, Temporal's OperatorService), served as bytes. TypeScript has no generated
// messages for them: their few fields are read and written by hand where they are answered.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMethodServerStreaming } from "@bufbuild/protobuf";
import type { ConnectError, ConnectRouter } from "@connectrpc/connect";
import { emptyMethod, type RawMethod } from "../api/raw_methods.ts";
import { EmptySchema } from "../api/well_known.ts";

/** One method: its service's full name, its own name, and what answers it. */
export interface ExtraMethod {
  /** "grpc.health.v1.Health" */
  readonly service: string;
  /** As the service's definition spells it: "Check". */
  readonly method: string;
  /** Answers a call; rejects with a ServiceError. The signal is aborted when the caller is gone. */
  readonly unary?: (request: Uint8Array, signal: AbortSignal) => Uint8Array | Promise<Uint8Array>;
  /** Answers a call with one message after the other, until the caller is gone. */
  readonly stream?: (request: Uint8Array, signal: AbortSignal) => AsyncIterable<Uint8Array>;
}

export function extraRoutes(
  router: ConnectRouter,
  methods: readonly ExtraMethod[],
  toConnectError: (error: unknown) => ConnectError,
): void {
  for (const each of methods) {
    const { unary, stream } = each;
    if (unary !== undefined) {
      router.rpc(
        emptyMethod(each.service, each.method, "unary") as RawMethod,
        async (request, context) => {
          try {
            return fromBinary(EmptySchema, await unary(toBinary(EmptySchema, request), context.signal));
          } catch (error) {
            throw toConnectError(error);
          }
        },
      );
    }
    if (stream !== undefined) {
      const method = emptyMethod(each.service, each.method, "server_streaming") as DescMethodServerStreaming<
        typeof EmptySchema,
        typeof EmptySchema
      >;
      router.rpc(method, async function* (request, context) {
        try {
          for await (const message of stream(toBinary(EmptySchema, request), context.signal)) {
            yield fromBinary(EmptySchema, message);
          }
        } catch (error) {
          throw toConnectError(error);
        }
      });
    }
  }
}
