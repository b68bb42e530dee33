// Checks the namespace when a worker is created, like the official one: otherwise it would poll
// forever.
import { Code, type RawService, ServiceError } from "../../service/raw.ts";
import { namespaceRequest } from "../../api/server_info.ts";
import { TransportError } from "./errors.ts";

/** Rejects with a TransportError if the server does not find the namespace. */
export async function describeNamespace(service: RawService, namespace: string): Promise<void> {
  try {
    await service.call("describeNamespace", namespaceRequest(namespace));
  } catch (cause) {
    // A server without this call, or without permission for it, may still serve the namespace.
    if (
      cause instanceof ServiceError &&
      [Code.UNIMPLEMENTED, Code.PERMISSION_DENIED].includes(cause.code as never)
    ) return;
    const message = `Namespace ${namespace} was not found or otherwise could not be described: ${
      (cause as Error).message
    }`;
    throw Object.assign(new TransportError(message), { cause });
  }
}
