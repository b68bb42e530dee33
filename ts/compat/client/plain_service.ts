// The service of a connection in the two forms: methods that take and give messages of the official packages' form (`workflowService`), and
// the product's bytes. A client takes a connection of any kind that has the first one.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { WorkflowService as Service } from "../../api/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { METHOD_NAMES } from "../../api/raw_methods.ts";
import { type CallOptions, type MethodName, type RawService, ServiceError } from "../../service/raw.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";
import { OPERATOR_METHODS, OTHER_METHODS } from "../../api/generated/other_methods.ts";
import { grpcError, rawError } from "./grpc_errors.ts";
import { callOperator, callOther, type OperatorMethod, type OtherMethod } from "./whole_service.ts";

/** The methods of Temporal's WorkflowService, by their names in camel case. */
export type WorkflowService = {
  readonly [method in MethodName | OtherMethod]: (request: PlainMessage) => Promise<PlainMessage>;
};

/** The methods of Temporal's OperatorService, by their names in camel case. */
export type OperatorService = { readonly [method in OperatorMethod]: (request: PlainMessage) => Promise<PlainMessage> };

type PlainMethod = (request: PlainMessage) => Promise<PlainMessage>;

/** A service of these methods. Names that the API of this version does not have throw an error that says so. */
function serviceOf<S>(title: string, methods: { readonly [name: string]: PlainMethod }): S {
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
      // A promise is asked for `then`, a printer for symbols.
      if (method !== undefined || typeof name !== "string" || name === "then" || name === "toJSON") return method;
      return () => Promise.reject(new TypeError(`${title}.${name} is not a method of the API that this version knows`));
    },
  }) as unknown as S;
}

/** The methods of a service of bytes. */
export function plainService(raw: RawService): WorkflowService {
  const methods: { [name: string]: PlainMethod } = {};
  for (const name of METHOD_NAMES) {
    methods[name] = async (request) => {
      const { input, output } = Service.method[name];
      return toPlain(output, fromBinary(output, await raw.call(name, toBinary(input, fromPlain(input, request) as never))));
    };
  }
  for (const name of OTHER_METHODS) methods[name] = (request) => callOther(raw, name, request);
  return serviceOf("workflowService", methods);
}

/** The methods of the operator's service of the same server. */
export function operatorService(raw: RawService): OperatorService {
  const methods = OPERATOR_METHODS.map((name): [string, PlainMethod] => [name, (request) => callOperator(raw, name, request)]);
  return serviceOf("operatorService", Object.fromEntries(methods));
}

/** A service of bytes over the methods of a connection of another kind. */
export function rawOver(connection: { readonly workflowService: WorkflowService }): RawService {
  return {
    losesCancelledPolls: true,
    async call(method: MethodName, request: Uint8Array, { signal }: CallOptions = {}) {
      signal?.throwIfAborted();
      const { input, output } = Service.method[method];
      try {
        const answer = await connection.workflowService[method](toPlain(input as never, fromBinary(input, request) as never));
        // Of a mocked connection: most calls do not look at their response.
        return toBinary(output, fromPlain(output, answer ?? {}) as never);
      } catch (error) {
        throw rawError(error);
      }
    },
  };
}
