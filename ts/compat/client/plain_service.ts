// The service of a connection in the two forms: methods that take and give messages of the official packages' form (`workflowService`), and
// the product's bytes. A client takes a connection of any kind that has the first one.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { WorkflowService as Service } from "../../api/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { METHOD_NAMES } from "../../api/raw_methods.ts";
import { type CallOptions, type MethodName, type RawService, ServiceError } from "../../service/raw.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";
import { OTHER_METHODS } from "../../api/generated/other_methods.ts";
import { grpcError, rawError } from "./grpc_errors.ts";
import { callOther, type OtherMethod } from "./whole_service.ts";

/** The methods of Temporal's WorkflowService, by their names in camel case. */
export type WorkflowService = {
  readonly [method in MethodName | OtherMethod]: (request: PlainMessage) => Promise<PlainMessage>;
};

/** The methods of a service of bytes. Names that the API of this version does not have throw an error that says so. */
export function plainService(raw: RawService): WorkflowService {
  const service: { [name: string]: (request: PlainMessage) => Promise<PlainMessage> } = {};
  const add = (name: string, call: (request: PlainMessage) => Promise<PlainMessage>) => {
    service[name] = async (request) => {
      try {
        return await call(request ?? {});
      } catch (error) {
        throw error instanceof ServiceError ? grpcError(error) : error;
      }
    };
  };
  for (const name of METHOD_NAMES) {
    add(name, async (request) => {
      const { input, output } = Service.method[name];
      return toPlain(output, fromBinary(output, await raw.call(name, toBinary(input, fromPlain(input, request) as never))));
    });
  }
  for (const name of OTHER_METHODS) add(name, (request) => callOther(raw, name, request));
  return new Proxy(service, {
    get(methods, name) {
      const method = Reflect.get(methods, name) as unknown;
      // A promise is asked for `then`, a printer for symbols.
      if (method !== undefined || typeof name !== "string" || name === "then" || name === "toJSON") return method;
      return () => Promise.reject(new TypeError(`workflowService.${name} is not a method of the API that this version knows`));
    },
  }) as unknown as WorkflowService;
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
        return toBinary(output, fromPlain(output, answer) as never);
      } catch (error) {
        throw rawError(error);
      }
    },
  };
}
