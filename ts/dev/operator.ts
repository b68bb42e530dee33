// The supported methods of Temporal's OperatorService, and the namespace methods of
// WorkflowService: search attributes, and namespaces that are added, changed or deleted while the
// server runs.
import {
  AddSearchAttributesRequest,
  DeleteNamespaceRequest,
  DeprecateNamespaceRequest,
  ListSearchAttributesRequest,
  ListSearchAttributesResponse as Listed,
  ListSearchAttributesResponse_SystemAttributesEntry as Entry,
  RemoveSearchAttributesRequest,
} from "../messages/generated/fields.ts";
import { Fields, Message } from "../messages/wire.ts";
import type { EmbeddedEngine } from "../engine/embedded_engine.ts";
import { SEARCHABLE } from "../engine/server_description.ts";
import { invalid, textField } from "../engine/host_bytes.ts";
import type { Namespaces } from "./namespaces.ts";
import { nexusEndpointMethods } from "./nexus/methods.ts";
import { readRegistration } from "./registration.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";

const OPERATOR = "temporal.api.operatorservice.v1.OperatorService";
const WORKFLOW = "temporal.api.workflowservice.v1.WorkflowService";

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

/** A field that names the namespace. */
function namespaceIn(request: Uint8Array, ...fields: readonly number[]): string {
  const name = fields.map((field) => textField(request, field)).find((text) => text !== "");
  if (name === undefined) throw invalid("Namespace not set on request.");
  return name;
}

export function operatorMethods(namespaces: Namespaces): readonly ExtraMethod[] {
  const engineOf = (name: string) => namespaces.requiredEngine(name);
  const nothing = new Uint8Array(0);
  return [
    ...nexusEndpointMethods(
      OPERATOR,
      namespaces.endpoints,
      (name) => namespaces.engineOf(name) !== undefined,
    ),
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
        return nothing;
      },
    },
    {
      service: OPERATOR,
      method: "RemoveSearchAttributes",
      unary: (request) => {
        engineOf(textField(request, RemoveSearchAttributesRequest.namespace))
          .removeSearchAttributes(removedNames(request));
        return nothing;
      },
    },
    {
      service: OPERATOR,
      method: "DeleteNamespace",
      unary: async (request) => {
        // The id of a namespace is its name.
        await namespaces.delete(
          namespaceIn(
            request,
            DeleteNamespaceRequest.namespace,
            DeleteNamespaceRequest.namespaceId,
          ),
        );
        // A Temporal server returns the name under which it removes the data later. Here the data is
        // gone already, so the name is empty.
        return nothing;
      },
    },
    {
      service: WORKFLOW,
      method: "RegisterNamespace",
      unary: async (request) => {
        const { name, options, refused } = readRegistration(request);
        if (refused !== undefined) {
          throw invalid(`namespace ${name} cannot be registered: ${refused}`);
        }
        await namespaces.register(name, options);
        return nothing;
      },
    },
    {
      service: WORKFLOW,
      method: "DeprecateNamespace",
      unary: (request) => {
        namespaces.update(
          namespaceIn(request, DeprecateNamespaceRequest.namespace),
          (options) => ({ ...options, deprecated: true }),
        );
        return nothing;
      },
    },
  ];
}
