// Methods of WorkflowService and OperatorService that this package itself does not call: programs may. Their messages are known from the
// whole API's descriptors, which are loaded with the first such call.
import { createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { FileRegistry } from "@bufbuild/protobuf";
import { SERVICE_NAME } from "../../api/raw_methods.ts";
import type { OPERATOR_METHODS, OTHER_METHODS } from "../../api/generated/other_methods.ts";
import { gunzip } from "../../platform/gunzip.ts";
import { Code, type MethodName, type RawService, ServiceError } from "../../service/raw.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";

/** The methods of WorkflowService that this package itself does not call. */
export type OtherMethod = typeof OTHER_METHODS[number];
/** The methods of OperatorService. */
export type OperatorMethod = typeof OPERATOR_METHODS[number];

const OPERATOR = "temporal.api.operatorservice.v1.OperatorService";

let registry: Promise<FileRegistry> | undefined;

async function wholeApi(): Promise<FileRegistry> {
  const [{ WHOLE_API }, { FileDescriptorSetSchema }] = await Promise.all([
    import("../../api/generated/whole_api.ts"),
    import("@bufbuild/protobuf/wkt"), // builds its own descriptors when it is imported
  ]);
  const bytes = await gunzip(base64Decode(WHOLE_API) as Uint8Array<ArrayBuffer>);
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
}

/** A call of a method with a message of the official packages' form, and one back. */
async function called(
  service: string,
  name: string,
  request: PlainMessage,
  call: (bytes: Uint8Array, method: string) => Promise<Uint8Array>,
): Promise<PlainMessage> {
  const { method } = (await (registry ??= wholeApi())).getService(service)!;
  const { input, output, name: wireName } = method[name]!;
  return toPlain(output, fromBinary(output, await call(toBinary(input, fromPlain(input, request)), wireName)));
}

/** Calls a method of WorkflowService. Rejects with a ServiceError, and a TypeError for a field's type. */
export function callOther(raw: RawService, name: OtherMethod, request: PlainMessage): Promise<PlainMessage> {
  // Transports take any method's name: they write it into a path.
  return called(SERVICE_NAME, name, request, (bytes) => raw.call(name as unknown as MethodName, bytes));
}

/** Calls a method of OperatorService, likewise. */
export function callOperator(raw: RawService, name: OperatorMethod, request: PlainMessage): Promise<PlainMessage> {
  return called(OPERATOR, name, request, async (bytes, method) => {
    if (raw.callOther !== undefined) return await raw.callOther(`/${OPERATOR}/${method}`, bytes);
    const message = `the embedded engine has no OperatorService (${method}); search attributes need no registration there`;
    throw new ServiceError(Code.UNIMPLEMENTED, message);
  });
}
