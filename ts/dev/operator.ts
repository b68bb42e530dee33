// The supported methods of Temporal's OperatorService, and the namespace methods of
// WorkflowService: search attributes, and namespaces that are added while the server runs.
import {
  AddSearchAttributesRequest,
  ListSearchAttributesRequest,
  ListSearchAttributesResponse as Listed,
  ListSearchAttributesResponse_SystemAttributesEntry as Entry,
  RemoveSearchAttributesRequest,
} from "../messages/generated/fields.ts";
import { Fields, Message } from "../messages/wire.ts";
import type { EmbeddedEngine } from "../engine/embedded_engine.ts";
import { SEARCHABLE } from "../engine/server_description.ts";
import { invalid, textField } from "../engine/host_bytes.ts";
import { readRegistration, type RegisterNamespace } from "./registration.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";

const OPERATOR = "temporal.api.operatorservice.v1.OperatorService";

function listSearchAttributes(engine: EmbeddedEngine): Uint8Array {
  const response = new Message();
  const add = (field: number, types: { readonly [name: string]: number }) => {
    for (const [name, type] of Object.entries(types)) {
      response.message(field, (entry) => entry.text(Entry.key, name).int(Entry.value, type));
    }
  };
  add(Listed.customAttributes, engine.store.attributeTypes() ?? {});
  add(Listed.systemAttributes, SEARCHABLE);
  return response.finish();
}

/** Names and types of an AddSearchAttributesRequest. */
function addedTypes(request: Uint8Array): { readonly [name: string]: number } {
  const types: [string, number][] = [];
  for (const at = new Fields(request); at.next();) {
    if (at.tag !== AddSearchAttributesRequest.searchAttributes) continue;
    let [name, type] = ["", 0];
    for (const entry = at.inner(); entry.next();) {
      if (entry.tag === Entry.key) name = entry.text();
      else if (entry.tag === Entry.value) type = entry.int();
    }
    types.push([name, type]);
  }
  return Object.fromEntries(types);
}

function removedNames(request: Uint8Array): string[] {
  const names: string[] = [];
  for (const at = new Fields(request); at.next();) {
    if (at.tag === RemoveSearchAttributesRequest.searchAttributes) names.push(at.text());
  }
  return names;
}

/** Returns the engine of a namespace. Throws a ServiceError for an empty or unknown name. */
export type EngineOfNamespace = (name: string) => EmbeddedEngine;

export function operatorMethods(
  register: RegisterNamespace,
  engineOf: EngineOfNamespace,
): readonly ExtraMethod[] {
  return [
    {
      service: OPERATOR,
      method: "ListSearchAttributes",
      unary: (request) =>
        listSearchAttributes(engineOf(textField(request, ListSearchAttributesRequest.namespace))),
    },
    {
      service: OPERATOR,
      method: "AddSearchAttributes",
      unary: (request) => {
        engineOf(textField(request, AddSearchAttributesRequest.namespace))
          .registerAttributes(addedTypes(request));
        return new Uint8Array(0);
      },
    },
    {
      service: OPERATOR,
      method: "RemoveSearchAttributes",
      unary: (request) => {
        engineOf(textField(request, RemoveSearchAttributesRequest.namespace))
          .removeSearchAttributes(removedNames(request));
        return new Uint8Array(0);
      },
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
