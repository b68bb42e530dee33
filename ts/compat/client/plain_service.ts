// Converts a connection's service between methods with messages of the official packages
// (`workflowService`) and native bytes. Clients accept any connection that has the former.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { WorkflowService as Service } from "../../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { METHOD_NAMES } from "../../api/raw_methods.ts";
import {
  type CallOptions,
  type MethodName,
  type RawService,
  ServiceError,
} from "../../service/raw.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";
import { OPERATOR_METHODS, OTHER_METHODS } from "../../messages/generated/other_methods.ts";
import { grpcError, rawError } from "./grpc_errors.ts";
import { callOperator, callOther, type OperatorMethod, type OtherMethod } from "./whole_service.ts";

/** Methods of Temporal's WorkflowService, in camel case. */
export type WorkflowService = {
  readonly [method in MethodName | OtherMethod]: (request: PlainMessage) => Promise<PlainMessage>;
};

/** Methods of Temporal's OperatorService, in camel case. */
export type OperatorService = {
  readonly [method in OperatorMethod]: (request: PlainMessage) => Promise<PlainMessage>;
};

type PlainMethod = (request: PlainMessage) => Promise<PlainMessage>;

/** Returns a service of these methods. Unknown names throw an error. */
function makePlainService<S>(title: string, methods: { readonly [name: string]: PlainMethod }): S {
  const service: { [name: string]: PlainMethod } = {};
  for (const [name, call] of Object.entries(methods)) {
    service[name] = async (request) => {
      try {
        return await call(request ?? {});
      } catch (error) {
        throw error instanceof ServiceError ? grpcError(error) : error;
      }
    };
  }
  return new Proxy(service, {
    get(methods, name) {
      const method = Reflect.get(methods, name) as unknown;
      // Promises check for `then`, and printers for symbols.
      if (
        method !== undefined || typeof name !== "string" || name === "then" || name === "toJSON"
      ) return method;
      return () =>
        Promise.reject(
          new TypeError(`${title}.${name} is not a method of the API that this version knows`),
        );
    },
  }) as unknown as S;
}

/** Returns the methods of a service of bytes. */
export function plainService(raw: RawService): WorkflowService {
  const methods: { [name: string]: PlainMethod } = {};
  for (const name of METHOD_NAMES) {
    methods[name] = async (request) => {
      const { input, output } = Service.method[name];
      return toPlain(
        output,
        fromBinary(
          output,
          await raw.call(name, toBinary(input, fromPlain(input, request) as never)),
        ),
      );
    };
  }
  for (const name of OTHER_METHODS) methods[name] = (request) => callOther(raw, name, request);
  return makePlainService("workflowService", methods);
}

/** Returns the methods of the same server's OperatorService. */
export function operatorService(raw: RawService): OperatorService {
  const methods = OPERATOR_METHODS.map((
    name,
  ): [string, PlainMethod] => [name, (request) => callOperator(raw, name, request)]);
  return makePlainService("operatorService", Object.fromEntries(methods));
}

/** Returns a service of bytes over the methods of a connection of another class. */
export function rawOver(connection: { readonly workflowService: WorkflowService }): RawService {
  return {
    losesCancelledPolls: true,
    async call(method: MethodName, request: Uint8Array, { signal }: CallOptions = {}) {
      signal?.throwIfAborted();
      const { input, output } = Service.method[method];
      try {
        const answer = await connection.workflowService[method](
          toPlain(input as never, fromBinary(input, request) as never),
        );
        // Supports mocked connections: most calls ignore their response.
        return toBinary(output, fromPlain(output, answer ?? {}) as never);
      } catch (error) {
        throw rawError(error);
      }
    },
  };
}
