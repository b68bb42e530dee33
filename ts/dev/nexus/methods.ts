// The methods of OperatorService for Nexus endpoints.
import {
  CreateNexusEndpointRequest,
  DeleteNexusEndpointRequest,
  Endpoint,
  EndpointSpec as Spec,
  EndpointTarget,
  EndpointTarget_External as ExternalTarget,
  EndpointTarget_Worker as WorkerTarget,
  GetNexusEndpointRequest,
  ListNexusEndpointsRequest as ListRequest,
  ListNexusEndpointsResponse as Listed,
  NexusEndpointResponse,
  Timestamp,
  UpdateNexusEndpointRequest,
} from "../../messages/generated/fields.ts";
import { Fields, Message } from "../../messages/wire.ts";
import { invalid, textField } from "../../engine/host_bytes.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import type { ExtraMethod } from "../../server/extra_methods.ts";
import {
  checkEndpoint,
  type EndpointSpec,
  type NexusEndpoint,
  type NexusEndpoints,
  notFound,
} from "./endpoints.ts";

const PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `isNamespace`: whether the server has a namespace. */
export function nexusEndpointMethods(
  service: string,
  endpoints: NexusEndpoints,
  isNamespace: (name: string) => boolean,
): readonly ExtraMethod[] {
  const checked = (request: Uint8Array, tag: number) => readSpec(request, tag, isNamespace);
  const method = (name: string, unary: (request: Uint8Array) => Uint8Array): ExtraMethod => ({
    service,
    method: name,
    unary,
  });
  return [
    method(
      "CreateNexusEndpoint",
      (request) => response(endpoints.create(checked(request, CreateNexusEndpointRequest.spec))),
    ),
    method("UpdateNexusEndpoint", (request) => {
      const spec = checked(request, UpdateNexusEndpointRequest.spec);
      const id = textField(request, UpdateNexusEndpointRequest.id);
      return response(
        endpoints.update(id, numberField(request, UpdateNexusEndpointRequest.version), spec),
      );
    }),
    method("GetNexusEndpoint", (request) => {
      const id = textField(request, GetNexusEndpointRequest.id);
      const issues = idIssues(id);
      if (issues.length > 0) throw invalid(issues.join(", "));
      const endpoint = endpoints.byId(id);
      if (endpoint === undefined) throw notFound(`could not find Nexus endpoint with ID: ${id}`);
      return response(endpoint);
    }),
    method("DeleteNexusEndpoint", (request) => {
      const id = textField(request, DeleteNexusEndpointRequest.id);
      const issues = idIssues(id);
      if (numberField(request, DeleteNexusEndpointRequest.version) <= 0) {
        issues.push("endpoint version is non-positive");
      }
      if (issues.length > 0) throw invalid(issues.join(", "));
      endpoints.delete(id);
      return new Uint8Array(0);
    }),
    method("ListNexusEndpoints", (request) => list(request, endpoints)),
  ];
}

/** Pages are in the order of ids, and a token is the last id of its page. */
function list(request: Uint8Array, endpoints: NexusEndpoints): Uint8Array {
  const name = textField(request, ListRequest.name);
  const page = new Message();
  const add = (endpoint: NexusEndpoint) =>
    page.message(Listed.endpoints, (message) => writeEndpoint(message, endpoint));
  if (name !== "") {
    const endpoint = endpoints.byName(name);
    if (endpoint !== undefined) add(endpoint);
    return page.finish();
  }
  const size = numberField(request, ListRequest.pageSize) || PAGE_SIZE;
  if (size < 0) throw invalid("page_size is negative");
  if (size > MAX_PAGE_SIZE) throw invalid(`page_size exceeds limit of ${MAX_PAGE_SIZE}`);
  const token = textField(request, ListRequest.nextPageToken);
  if (token !== "" && endpoints.byId(token) === undefined) {
    throw new ServiceError(
      Code.FAILED_PRECONDITION,
      "could not find endpoint indicated by nexus list endpoints next page token",
      "FailedPrecondition",
    );
  }
  const rest = endpoints.list().sort((a, b) => a.id < b.id ? -1 : 1).filter(({ id }) => id > token);
  const wanted = rest.slice(0, size);
  if (rest.length > size) {
    page.bytes(Listed.nextPageToken, new TextEncoder().encode(wanted.at(-1)!.id));
  }
  wanted.forEach(add);
  return page.finish();
}

function readSpec(
  request: Uint8Array,
  specTag: number,
  isNamespace: (name: string) => boolean,
): EndpointSpec {
  let spec = { name: "", description: new Uint8Array(0), namespace: "", taskQueue: "" };
  let externalUrl: string | undefined;
  let hasTarget = false;
  try {
    for (const at = new Fields(request); at.next();) {
      if (at.tag !== specTag) continue;
      for (const field = at.inner(); field.next();) {
        if (field.tag === Spec.name) spec = { ...spec, name: field.text() };
        else if (field.tag === Spec.description) {
          spec = { ...spec, description: field.bytes().slice() };
        } else if (field.tag === Spec.target) {
          for (const target = field.inner(); target.next();) {
            hasTarget = true;
            if (target.tag === EndpointTarget.external) {
              externalUrl = textField(target.bytes(), ExternalTarget.url);
            } else if (target.tag === EndpointTarget.worker) {
              const worker = target.bytes();
              spec = {
                ...spec,
                namespace: textField(worker, WorkerTarget.namespace),
                taskQueue: textField(worker, WorkerTarget.taskQueue),
              };
            }
          }
        }
      }
    }
  } catch (error) {
    throw invalid(`invalid request: ${(error as Error).message}`);
  }
  if (hasTarget && externalUrl === undefined && spec.namespace && !isNamespace(spec.namespace)) {
    throw new ServiceError(
      Code.FAILED_PRECONDITION,
      `could not verify namespace referenced by target exists: Namespace ${spec.namespace} is not found.`,
      "FailedPrecondition",
    );
  }
  checkEndpoint(spec, externalUrl, hasTarget);
  return spec;
}

function idIssues(id: string): string[] {
  if (id === "") return ["endpoint ID not set"];
  return UUID.test(id) ? [] : [`malformed endpoint ID: ${JSON.stringify(id)} is not a UUID`];
}

function numberField(request: Uint8Array, tag: number): number {
  let value = 0;
  try {
    for (const at = new Fields(request); at.next();) if (at.tag === tag) value = at.int();
  } catch (error) {
    throw invalid(`invalid request: ${(error as Error).message}`);
  }
  return value;
}

const response = (endpoint: NexusEndpoint): Uint8Array =>
  new Message()
    .message(NexusEndpointResponse.endpoint, (message) => writeEndpoint(message, endpoint))
    .finish();

function writeEndpoint(message: Message, endpoint: NexusEndpoint): void {
  const { id, version, name, description, namespace, taskQueue, createdMs, modifiedMs } = endpoint;
  const time = (tag: number, ms: number) =>
    message.message(tag, (at) =>
      at.int(Timestamp.seconds, Math.floor(ms / 1000))
        .int(Timestamp.nanos, Math.round(ms % 1000) * 1_000_000));
  message.int(Endpoint.version, version).text(Endpoint.id, id)
    .message(Endpoint.spec, (spec) => {
      spec.text(Spec.name, name);
      if (description.length > 0) spec.bytes(Spec.description, description);
      spec.message(
        Spec.target,
        (target) =>
          target.message(
            EndpointTarget.worker,
            (worker) =>
              worker.text(WorkerTarget.namespace, namespace)
                .text(WorkerTarget.taskQueue, taskQueue),
          ),
      );
    });
  time(Endpoint.createdTime, createdMs);
  if (modifiedMs !== undefined) time(Endpoint.lastModifiedTime, modifiedMs);
}
