// A RawService with messages instead of bytes: the shape is that of a Connect client of WorkflowService.
import { create, fromBinary, type MessageInitShape, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { WorkflowService } from "../temporal/generated/temporal/api/workflowservice/v1/service_pb.ts";
import type { CallOptions, MethodName, RawService } from "./raw.ts";

type Methods = typeof WorkflowService.method;

/** Every method of WorkflowService (those that this package uses) as a typed call. */
export type TypedService = {
  [M in MethodName]: (
    request: MessageInitShape<Methods[M]["input"]>,
    options?: CallOptions,
  ) => Promise<MessageShape<Methods[M]["output"]>>;
};

export function typedService(raw: RawService): TypedService {
  const service: { [name: string]: unknown } = {};
  for (const name of Object.keys(WorkflowService.method) as MethodName[]) {
    const method = WorkflowService.method[name];
    service[name] = async (request: never, options?: CallOptions) => {
      const message = create(method.input as never, request);
      return fromBinary(method.output, await raw.call(name, toBinary(method.input as never, message), options));
    };
  }
  return service as TypedService;
}
