// Methods of WorkflowService and OperatorService that only programs call. Their messages need the
// descriptors of the whole API, which are loaded with the first such call.
import { createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { FileRegistry } from "@bufbuild/protobuf";
import { SERVICE_NAME } from "../../api/raw_methods.ts";
import type { OPERATOR_METHODS, OTHER_METHODS } from "../../messages/generated/other_methods.ts";
import { gunzip } from "../../platform/gunzip.ts";
import { Code, type MethodName, type RawService, ServiceError } from "../../service/raw.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";

/** Methods of WorkflowService that this package does not call. */
export type OtherMethod = typeof OTHER_METHODS[number];
/** Methods of OperatorService. */
export type OperatorMethod = typeof OPERATOR_METHODS[number];

const OPERATOR = "temporal.api.operatorservice.v1.OperatorService";

let registry: Promise<FileRegistry> | undefined;

async function wholeApi(): Promise<FileRegistry> {
  const [{ WHOLE_API }, { FileDescriptorSetSchema }] = await Promise.all([
    import("../../messages/generated/whole_api.ts"),
    import("@bufbuild/protobuf/wkt"), // builds descriptors on import
  ]);
  const bytes = await gunzip(base64Decode(WHOLE_API) as Uint8Array<ArrayBuffer>);
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
}

/** Calls a method with a message in the official packages' form; returns one. */
async function called(
  service: string,
  name: string,
  request: PlainMessage,
  call: (bytes: Uint8Array, method: string) => Promise<Uint8Array>,
): Promise<PlainMessage> {
  const { method } = (await (registry ??= wholeApi())).getService(service)!;
  const { input, output, name: wireName } = method[name]!;
  return toPlain(
    output,
    fromBinary(output, await call(toBinary(input, fromPlain(input, request)), wireName)),
  );
}

/**
 * Calls a method of WorkflowService. Rejects with a ServiceError, and with a TypeError for a wrong
 * field type.
 */
export function callOther(
  raw: RawService,
  name: OtherMethod,
  request: PlainMessage,
): Promise<PlainMessage> {
  // Transports accept any method name: it becomes part of a path.
  return called(
    SERVICE_NAME,
    name,
    request,
    (bytes) => raw.call(name as unknown as MethodName, bytes),
  );
}

/** Same for a method of OperatorService. */
export function callOperator(
  raw: RawService,
  name: OperatorMethod,
  request: PlainMessage,
): Promise<PlainMessage> {
  return called(OPERATOR, name, request, async (bytes, method) => {
    if (raw.callOther !== undefined) return await raw.callOther(`/${OPERATOR}/${method}`, bytes);
    const message =
      `the embedded engine has no OperatorService (${method}); search attributes need no registration there`;
    throw new ServiceError(Code.UNIMPLEMENTED, message);
  });
}
