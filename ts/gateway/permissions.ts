// Permissions of the gateway's callers: allowed namespaces, and read-only access. Namespaces are in
// different fields of requests, also nested (operations of executeMultiOperation, commands for
// children). Reflection over descriptors finds them, so later generated methods and fields are
// covered. Requests are passed on unchanged.
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
import { MapEntry } from "../messages/generated/fields.ts";
import { Fields } from "../messages/wire.ts";
import { WorkflowService } from "../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";

export interface Permissions {
  /** Allow only methods that change nothing. Default: false. */
  readOnly?: boolean;
  /** Namespaces that requests may name. Default: all. */
  namespaces?: readonly string[];
}

/** Reading methods without a reading prefix in their names. */
const READS: ReadonlySet<string> = new Set<MethodName>([
  "queryWorkflow",
  "pollWorkflowExecutionUpdate",
  "pollActivityExecution",
]);
/** Requests without a namespace that return server information only. */
const WITHOUT: ReadonlySet<string> = new Set<MethodName>(["getSystemInfo", "getClusterInfo"]);
/** Fields that identify a namespace other than by name: "message.field". */
const IDS: ReadonlySet<string> = new Set(["DescribeNamespaceRequest.id"]);
/**
 * Messages that mention namespaces without accessing them: a rejected failure could never fail its
 * workflow.
 */
const MENTION_ONLY: ReadonlySet<string> = new Set([
  "temporal.api.failure.v1.Failure",
  "temporal.api.common.v1.Link",
]);

/**
 * Returns whether a method changes nothing on the server. Polls for tasks do, because they take
 * tasks.
 */
export function isReadOnlyMethod(method: MethodName): boolean {
  return READS.has(method) || /^(?:get|list|describe|count|scan)[A-Z]/.test(method);
}

/** Returns `service` with forbidden calls rejected as PERMISSION_DENIED. */
export function withPermissions(
  service: RawService,
  { readOnly = false, namespaces }: Permissions,
): RawService {
  if (!readOnly && namespaces === undefined) return service;
  const allowed = namespaces === undefined ? undefined : new Set(namespaces);
  return {
    ...(service.losesCancelledPolls !== undefined &&
      { losesCancelledPolls: service.losesCancelledPolls }),
    ...(service.checksPayloads !== undefined && { checksPayloads: service.checksPayloads }),
    async call(method: MethodName, request: Uint8Array, options?: CallOptions) {
      const why =
        (readOnly && !isReadOnlyMethod(method)
          ? `${method} is a write, and this gateway is read-only`
          : undefined) ??
          (allowed === undefined ? undefined : whyOutside(method, request, allowed));
      if (why !== undefined) {
        throw new ServiceError(Code.PERMISSION_DENIED, why, "PermissionDenied", { reason: why });
      }
      return service.call(method, request, options);
    },
  };
}

function whyOutside(
  method: MethodName,
  request: Uint8Array,
  allowed: ReadonlySet<string>,
): string | undefined {
  const input: DescMessage = WorkflowService.method[method].input;
  const plan = namespaceFieldsOf(input);
  const only = `this gateway serves only ${[...allowed].map((name) => `"${name}"`).join(", ")}`;
  if (plan.name === undefined) {
    return WITHOUT.has(method)
      ? undefined
      : `${method} is not limited to one namespace, and ${only}`;
  }
  const found: string[] = [];
  let own: string | undefined;
  try {
    own = read(new Fields(request), plan, found);
  } catch {
    throw new ServiceError(
      Code.INVALID_ARGUMENT,
      `the request of ${method} is not a valid message`,
    );
  }
  // A server may take a missing namespace from a task's token.
  if (own === undefined || own === "") return `${method} has no namespace, and ${only}`;
  const outside = found.find((name) => !allowed.has(name));
  return outside === undefined
    ? undefined
    : `${method} uses the namespace ${JSON.stringify(outside.slice(0, 100))}, and ${only}`;
}

interface NamespaceFields {
  /** Number of the message's own field `namespace`. */
  readonly name: number | undefined;
  readonly texts: ReadonlySet<number>;
  /** Fields with messages that can name a namespace. */
  readonly inner: ReadonlyMap<number, NamespaceFields>;
}

const plans = new Map<string, NamespaceFields>();

/** Returns the plan of a message type; the same object for the same type. */
function namespaceFieldsOf(desc: DescMessage): NamespaceFields {
  const known = plans.get(desc.typeName);
  if (known !== undefined) return known;
  const inner = new Map<number, NamespaceFields>();
  const plan: NamespaceFields = {
    name: desc.fields.find((field) => field.name === "namespace" && isText(field))?.number,
    texts: new Set(desc.fields.filter(names).map((field) => field.number)),
    inner,
  };
  // Before its fields: messages can contain themselves.
  plans.set(desc.typeName, plan);
  for (const field of desc.fields) {
    if (field.message === undefined || !reaches(field.message)) continue;
    const value = namespaceFieldsOf(field.message);
    // An entry of a map is a message as well.
    inner.set(
      field.number,
      field.fieldKind === "map"
        ? { name: undefined, texts: new Set(), inner: new Map([[MapEntry.value >>> 3, value]]) }
        : value,
    );
  }
  return plan;
}

/** Returns whether a message of this type can name a namespace, at any depth. */
function reaches(from: DescMessage): boolean {
  const seen = new Set([from.typeName]);
  const open = [from];
  for (const desc of open) {
    if (MENTION_ONLY.has(desc.typeName)) continue;
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
  isText(field) &&
  (/(?:^|_)namespace$/.test(field.name) || IDS.has(`${field.parent.name}.${field.name}`));

const isText = (field: DescField): boolean =>
  (field.fieldKind === "scalar" || (field.fieldKind === "list" && field.listKind === "scalar")) &&
  field.scalar === ScalarType.STRING;

/**
 * Collects all named namespaces. Returns the message's own one: the last one, as in every protobuf
 * reader.
 */
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
