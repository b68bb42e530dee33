// What a caller of the gateway may do: which namespaces it may name, and whether it may change anything. Namespaces stand in requests under
// different field numbers, and inside of what requests carry (operations of executeMultiOperation, commands that start children in another
// namespace); where is found by reflection over the descriptors, so methods and fields that are generated later are covered. Requests
// are only looked at, and pass on as they came.
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type CallOptions, Code, type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { MapEntry } from "../api/generated/fields.ts";
import { Fields } from "../api/wire.ts";
import { WorkflowService } from "../api/generated/temporal/api/workflowservice/v1/service_pb.ts";

export interface Permissions {
  /** Only methods that change nothing. Default: false. */
  readOnly?: boolean;
  /** The namespaces that requests may name. Default: all. */
  namespaces?: readonly string[];
}

/** Reads that are not called so. */
const READS: ReadonlySet<string> = new Set<MethodName>(["queryWorkflow", "pollWorkflowExecutionUpdate"]);
/** Requests without a namespace that tell nothing of any: what the server is and can do. */
const WITHOUT: ReadonlySet<string> = new Set<MethodName>(["getSystemInfo", "getClusterInfo"]);
/** Fields that name a namespace in another way than by its name: "message.field". */
const IDS: ReadonlySet<string> = new Set(["DescribeNamespaceRequest.id"]);
/** Messages that tell of a namespace and reach into none: refusing what a failure says would keep a workflow from failing. */
const TELLS: ReadonlySet<string> = new Set(["temporal.api.failure.v1.Failure", "temporal.api.common.v1.Link"]);

/** True for a method that changes nothing on the server. A poll for tasks takes tasks, so it is none. */
export function isReadOnlyMethod(method: MethodName): boolean {
  return READS.has(method) || /^(?:get|list|describe|count)[A-Z]/.test(method);
}

/** `service`, with calls outside of the fence refused with PERMISSION_DENIED before they reach it. */
export function withPermissions(service: RawService, { readOnly = false, namespaces }: Permissions): RawService {
  if (!readOnly && namespaces === undefined) return service;
  const allowed = namespaces === undefined ? undefined : new Set(namespaces);
  return {
    ...(service.losesCancelledPolls !== undefined && { losesCancelledPolls: service.losesCancelledPolls }),
    ...(service.checksPayloads !== undefined && { checksPayloads: service.checksPayloads }),
    async call(method: MethodName, request: Uint8Array, options?: CallOptions) {
      const why = (readOnly && !isReadOnlyMethod(method) ? `${method} is a write, and this gateway is read-only` : undefined) ??
        (allowed === undefined ? undefined : whyOutside(method, request, allowed));
      if (why !== undefined) throw new ServiceError(Code.PERMISSION_DENIED, why, "PermissionDenied", { reason: why });
      return service.call(method, request, options);
    },
  };
}

function whyOutside(method: MethodName, request: Uint8Array, allowed: ReadonlySet<string>): string | undefined {
  const input: DescMessage = WorkflowService.method[method].input;
  const plan = namespaceFieldsOf(input);
  const only = `this gateway serves only ${[...allowed].map((name) => `"${name}"`).join(", ")}`;
  if (plan.name === undefined) {
    return WITHOUT.has(method) ? undefined : `${method} is not limited to one namespace, and ${only}`;
  }
  const found: string[] = [];
  let own: string | undefined;
  try {
    own = read(new Fields(request), plan, found);
  } catch {
    throw new ServiceError(Code.INVALID_ARGUMENT, `the request of ${method} is not a valid message`);
  }
  // Without it a server may take the namespace from a task's token.
  if (own === undefined || own === "") return `${method} has no namespace, and ${only}`;
  const outside = found.find((name) => !allowed.has(name));
  return outside === undefined ? undefined : `${method} uses the namespace ${JSON.stringify(outside.slice(0, 100))}, and ${only}`;
}

interface NamespaceFields {
  /** Number of the message's own field `namespace`. */
  readonly name: number | undefined;
  /** Fields that name a namespace. */
  readonly texts: ReadonlySet<number>;
  /** Fields with messages in which one can be named. */
  readonly inner: ReadonlyMap<number, NamespaceFields>;
}

const plans = new Map<string, NamespaceFields>();

/** The plan of a message type; the same object for the same type. */
function namespaceFieldsOf(desc: DescMessage): NamespaceFields {
  const known = plans.get(desc.typeName);
  if (known !== undefined) return known;
  const inner = new Map<number, NamespaceFields>();
  const plan: NamespaceFields = {
    name: desc.fields.find((field) => field.name === "namespace" && isText(field))?.number,
    texts: new Set(desc.fields.filter(names).map((field) => field.number)),
    inner,
  };
  // Before its fields: messages contain themselves.
  plans.set(desc.typeName, plan);
  for (const field of desc.fields) {
    if (field.message === undefined || !reaches(field.message)) continue;
    const value = namespaceFieldsOf(field.message);
    // An entry of a map is a message, too.
    inner.set(
      field.number,
      field.fieldKind === "map" ? { name: undefined, texts: new Set(), inner: new Map([[MapEntry.value >>> 3, value]]) } : value,
    );
  }
  return plan;
}

/** Can a namespace be named in a message of this type, or in what it contains? */
function reaches(from: DescMessage): boolean {
  const seen = new Set([from.typeName]);
  const open = [from];
  for (const desc of open) {
    if (TELLS.has(desc.typeName)) continue;
    if (desc.fields.some(names)) return true;
    for (const { message } of desc.fields) {
      if (message === undefined || seen.has(message.typeName)) continue;
      seen.add(message.typeName);
      open.push(message);
    }
  }
  return false;
}

const names = (field: DescField): boolean =>
  isText(field) && (/(?:^|_)namespace$/.test(field.name) || IDS.has(`${field.parent.name}.${field.name}`));

const isText = (field: DescField): boolean =>
  (field.fieldKind === "scalar" || (field.fieldKind === "list" && field.listKind === "scalar")) &&
  field.scalar === ScalarType.STRING;

/** Collects what is named; answers the message's own namespace. The last one counts, as for every reader of protobuf; all are collected. */
function read(at: Fields, plan: NamespaceFields, found: string[]): string | undefined {
  let own: string | undefined;
  while (at.next()) {
    if (!at.hasLength) continue;
    if (plan.texts.has(at.number)) {
      const name = at.text();
      if (name !== "") found.push(name);
      if (at.number === plan.name) own = name;
    } else {
      const inner = plan.inner.get(at.number);
      if (inner !== undefined) read(at.inner(), inner, found);
    }
  }
  return own;
}
