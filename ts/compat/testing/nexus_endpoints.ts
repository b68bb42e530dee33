// Nexus endpoints of a server: two methods of OperatorService.
import type { Connection } from "../client/connection.ts";

/** A Nexus endpoint of a server. */
export interface NexusEndpointIdentifier {
  id: string;
  /** Version of the endpoint, a Long. */
  version: unknown;
  /** The server's message. */
  raw: unknown;
}

/** Creates an endpoint for a task queue. Rejects with the error of the call. */
export async function createNexusEndpoint(
  connection: Connection,
  { name, namespace, taskQueue }: {
    readonly name: string;
    readonly namespace: string;
    readonly taskQueue: string;
  },
): Promise<NexusEndpointIdentifier> {
  const spec = { name, target: { worker: { namespace, taskQueue } } };
  const { endpoint } = await connection.operatorService.createNexusEndpoint({ spec }) as {
    endpoint?: { id: string; version: unknown };
  };
  if (!endpoint) throw new TypeError("Unexpected response from createNexusEndpoint");
  return { id: endpoint.id, version: endpoint.version, raw: endpoint };
}

/** Deletes an endpoint that has this version. Rejects with the error of the call. */
export async function deleteNexusEndpoint(
  connection: Connection,
  { id, version }: Pick<NexusEndpointIdentifier, "id" | "version">,
): Promise<void> {
  await connection.operatorService.deleteNexusEndpoint({ id, version });
}
