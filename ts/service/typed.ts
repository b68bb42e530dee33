// A RawService with messages instead of bytes, shaped like a Connect client of WorkflowService.
import {
  create,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { WorkflowService } from "../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import type { CallOptions, MethodName, RawService } from "./raw.ts";

type Methods = typeof WorkflowService.method;

/** Every method of WorkflowService (those that this package uses) as a typed call. */
export type TypedService = {
  [M in MethodName]: (
    request: MessageInitShape<Methods[M]["input"]>,
    options?: CallOptions,
  ) => Promise<MessageShape<Methods[M]["output"]>>;
};

/** Returns a service with messages. Methods and descriptors are created on first use. */
export function typedService(raw: RawService): TypedService {
  const made = new Map<string, unknown>();
  return new Proxy({} as TypedService, {
    get(_, name) {
      if (typeof name !== "string") return undefined;
      if (!made.has(name)) made.set(name, methodOf(raw, name));
      return made.get(name);
    },
  });
}

function methodOf(raw: RawService, name: string): unknown {
  const methods: { readonly [name: string]: Methods[MethodName] } = WorkflowService.method;
  const method = methods[name];
  if (method === undefined) return undefined;
  return async (request: never, options?: CallOptions) => {
    const message = create(method.input as never, request);
    return fromBinary(
      method.output,
      await raw.call(name as MethodName, toBinary(method.input as never, message), options),
    );
  };
}
