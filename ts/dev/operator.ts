// What there is of Temporal's OperatorService and of WorkflowService's methods about namespaces: what can be searched by, and namespaces
// that are added while the server runs. Few fields, so they are read and written by hand.
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { SEARCHABLE } from "../engine/server_description.ts";
import { invalid } from "../engine/host_bytes.ts";
import { readRegistration, type RegisterNamespace } from "./registration.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";

const SYSTEM_ATTRIBUTES = 2;

function listSearchAttributes(): Uint8Array {
  const writer = new BinaryWriter();
  for (const [name, type] of Object.entries(SEARCHABLE)) {
    writer.tag(SYSTEM_ATTRIBUTES, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(name).tag(2, WireType.Varint).int32(type).join();
  }
  return writer.finish();
}

export function operatorMethods(register: RegisterNamespace): readonly ExtraMethod[] {
  return [
    {
      service: "temporal.api.operatorservice.v1.OperatorService",
      method: "ListSearchAttributes",
      unary: listSearchAttributes,
    },
    {
      service: "temporal.api.workflowservice.v1.WorkflowService",
      method: "RegisterNamespace",
      unary: async (request) => {
        const { name, options, refused } = readRegistration(request);
        if (refused !== undefined) throw invalid(`namespace ${name} cannot be registered: ${refused}`);
        await register(name, options);
        return new Uint8Array(0);
      },
    },
  ];
}
