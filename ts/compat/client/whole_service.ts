// Methods of WorkflowService that this package itself does not call: programs may. Their messages are known from the whole API's descriptors,
// which are loaded with the first such call.
import { createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { DescService, FileRegistry } from "@bufbuild/protobuf";
import { SERVICE_NAME } from "../../api/raw_methods.ts";
import type { OTHER_METHODS } from "../../api/generated/other_methods.ts";
import type { MethodName, RawService } from "../../service/raw.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";

/** The methods that this package itself does not call. */
export type OtherMethod = typeof OTHER_METHODS[number];

let service: Promise<DescService> | undefined;

async function wholeService(): Promise<DescService> {
  const [{ WHOLE_API }, { FileDescriptorSetSchema }] = await Promise.all([
    import("../../api/generated/whole_api.ts"),
    import("@bufbuild/protobuf/wkt"), // builds its own descriptors when it is imported
  ]);
  const registry: FileRegistry = createFileRegistry(fromBinary(FileDescriptorSetSchema, base64Decode(WHOLE_API)));
  return registry.getService(SERVICE_NAME)!;
}

/** Calls it: a message of the official packages' form, and one back. Rejects with a ServiceError, and a TypeError for a field's type. */
export async function callOther(raw: RawService, name: OtherMethod, request: PlainMessage): Promise<PlainMessage> {
  const { method } = await (service ??= wholeService());
  const { input, output } = method[name]!;
  // Transports take any method's name: they write it into a path.
  const answer = await raw.call(name as unknown as MethodName, toBinary(input, fromPlain(input, request)));
  return toPlain(output, fromBinary(output, answer));
}
