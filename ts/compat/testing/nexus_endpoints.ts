// Nexus endpoints of a server: two methods of its OperatorService.
import {
  CreateNexusEndpointRequest as Create,
  CreateNexusEndpointResponse as Created,
  DeleteNexusEndpointRequest as Delete,
  NexusEndpoint,
  NexusEndpointSpec as Spec,
  NexusEndpointTarget as Target,
  NexusEndpointTarget_Worker as WorkerTarget,
} from "../../api/generated/fields.ts";
import { bytesOf, intOf, Message, textOf } from "../../api/wire.ts";
import { type Connection, RAW_SERVICE } from "../client/connection.ts";
import { grpcError } from "../client/grpc_errors.ts";
import { Long } from "../common/long.ts";
import { ServiceError } from "../../service/raw.ts";

/** A Nexus endpoint of a server. */
export interface NexusEndpointIdentifier {
  /** Its id. */
  id: string;
  /** Its version, a Long. */
  version: unknown;
  /** The server's message. */
  raw: unknown;
}

async function call(connection: Connection, method: string, request: Uint8Array): Promise<Uint8Array> {
  try {
    return await connection[RAW_SERVICE].callOther!(`/temporal.api.operatorservice.v1.OperatorService/${method}`, request);
  } catch (error) {
    throw error instanceof ServiceError ? grpcError(error) : error;
  }
}

/** Makes an endpoint for the workers of a task queue. Rejects with the error of the call where the server refuses it. */
export async function createNexusEndpoint(
  connection: Connection,
  { name, namespace, taskQueue }: { readonly name: string; readonly namespace: string; readonly taskQueue: string },
): Promise<NexusEndpointIdentifier> {
  const request = new Message().message(Create.spec, (spec) => {
    spec.text(Spec.name, name).message(Spec.target, (target) => {
      target.message(
        Target.worker,
        (worker) => worker.text(WorkerTarget.namespace, namespace).text(WorkerTarget.taskQueue, taskQueue),
      );
    });
  });
  const endpoint = bytesOf(await call(connection, "CreateNexusEndpoint", request.finish()), Created.endpoint);
  if (endpoint === undefined) throw new TypeError("Unexpected response from createNexusEndpoint");
  const id = textOf(endpoint, NexusEndpoint.id);
  const version = Long.fromNumber(intOf(endpoint, NexusEndpoint.version));
  const spec = { name, target: { worker: { namespace, taskQueue } } };
  return { id, version, raw: { id, version, spec, urlPrefix: textOf(endpoint, NexusEndpoint.urlPrefix) } };
}

/** Removes an endpoint, where it still has this version. Rejects with the error of the call where the server refuses it. */
export async function deleteNexusEndpoint(
  connection: Connection,
  { id, version }: Pick<NexusEndpointIdentifier, "id" | "version">,
): Promise<void> {
  const request = new Message().text(Delete.id, id).int(Delete.version, Number(version));
  await call(connection, "DeleteNexusEndpoint", request.finish());
}
