// The supported methods of Temporal's OperatorService, and the namespace methods of
// WorkflowService: search attributes, and namespaces that are added while the server runs.
import {
  ListSearchAttributesResponse,
  ListSearchAttributesResponse_SystemAttributesEntry as Entry,
} from "../messages/generated/fields.ts";
import { Message } from "../messages/wire.ts";
import { SEARCHABLE } from "../engine/server_description.ts";
import { invalid } from "../engine/host_bytes.ts";
import { readRegistration, type RegisterNamespace } from "./registration.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";

function listSearchAttributes(): Uint8Array {
  const response = new Message();
  for (const [name, type] of Object.entries(SEARCHABLE)) {
    response.message(
      ListSearchAttributesResponse.systemAttributes,
      (entry) => entry.text(Entry.key, name).int(Entry.value, type),
    );
  }
  return response.finish();
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
        if (refused !== undefined) {
          throw invalid(`namespace ${name} cannot be registered: ${refused}`);
        }
        await register(name, options);
        return new Uint8Array(0);
      },
    },
  ];
}
