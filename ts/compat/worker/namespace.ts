// A worker of a namespace that is not there would poll for ever: the official one asks when it is made.
import { Code, type RawService, ServiceError } from "../../service/raw.ts";
import { namespaceRequest } from "../../api/server_info.ts";
import { TransportError } from "./errors.ts";

/** Rejects with a TransportError when the server does not show the namespace. */
export async function describeNamespace(service: RawService, namespace: string): Promise<void> {
  try {
    await service.call("describeNamespace", namespaceRequest(namespace));
  } catch (cause) {
    // A server that does not tell may serve it all the same.
    if (cause instanceof ServiceError && [Code.UNIMPLEMENTED, Code.PERMISSION_DENIED].includes(cause.code as never)) return;
    const message = `Namespace ${namespace} was not found or otherwise could not be described: ${(cause as Error).message}`;
    throw Object.assign(new TransportError(message), { cause });
  }
}
