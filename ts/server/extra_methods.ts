// Methods of services other than WorkflowService (health checks, Temporal's OperatorService),
// served as bytes. TypeScript has no generated messages for them, so their handlers encode the few
// fields by hand.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMethodServerStreaming } from "@bufbuild/protobuf";
import type { ConnectError, ConnectRouter } from "@connectrpc/connect";
import { emptyMethod, type RawMethod } from "../api/raw_methods.ts";
import { EmptySchema } from "../messages/well_known.ts";

/** A method: full name of its service, its name, and its handler. */
export interface ExtraMethod {
  /** "grpc.health.v1.Health" */
  readonly service: string;
  /** As the service's definition spells it: "Check". */
  readonly method: string;
  /**
   * Handles a call. Rejects with a ServiceError. The signal is aborted when the caller disconnects.
   */
  readonly unary?: (request: Uint8Array, signal: AbortSignal) => Uint8Array | Promise<Uint8Array>;
  /** Handles a call with a stream of messages, until the caller disconnects. */
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
            return fromBinary(
              EmptySchema,
              await unary(toBinary(EmptySchema, request), context.signal),
            );
          } catch (error) {
            throw toConnectError(error);
          }
        },
      );
    }
    if (stream !== undefined) {
      const method = emptyMethod(
        each.service,
        each.method,
        "server_streaming",
      ) as DescMethodServerStreaming<
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
