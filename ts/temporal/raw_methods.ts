// The methods of WorkflowService as methods of Empty to Empty: transports want a message type, and Empty keeps every field that it does not
// know, so requests and responses pass through as bytes.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { MethodName } from "../service/raw.ts";
import { WorkflowService } from "./generated/temporal/api/workflowservice/v1/service_pb.ts";
import { EmptySchema } from "./well_known.ts";

export type RawMethod = DescMethodUnary<typeof EmptySchema, typeof EmptySchema>;
const methods = new Map<MethodName, RawMethod>();

export const METHOD_NAMES = Object.keys(WorkflowService.method) as MethodName[];

export function rawMethod(name: MethodName): RawMethod {
  let method = methods.get(name);
  if (method === undefined) {
    const described = WorkflowService.method[name];
    method = Object.create(described, {
      input: { value: EmptySchema },
      output: { value: EmptySchema },
    }) as RawMethod;
    methods.set(name, method);
  }
  return method;
}
