// Converts a Nexus request for handlers and interceptors of the official packages.
import { CancelledFailure } from "../common/mod.ts";
import { handlerError } from "../nexus/errors.ts";
import type { Link, OperationContext, StartOperationContext } from "../nexus/types.ts";
import type { NexusLink, NexusRequest, NexusStart } from "../../worker/nexus/nexus_call.ts";

/** Headers with case-insensitive names. */
function copyHeaders(given: { readonly [name: string]: string }): Record<string, string> {
  const lower = (key: string | symbol): string => {
    if (typeof key !== "string") throw new TypeError("header keys must be strings");
    return key.toLowerCase();
  };
  return new Proxy({ ...given } as Record<string, string>, {
    get: (headers, key) => headers[lower(key)],
    set(headers, key, value) {
      if (typeof value !== "string") throw new TypeError("header values must be strings");
      headers[lower(key)] = value;
      return true;
    },
  });
}

/** Returns a signal that is aborted with a CancelledFailure. */
function officialSignal(signal: AbortSignal): AbortSignal {
  const abort = new AbortController();
  const stop = () => abort.abort(new CancelledFailure(String(signal.reason)));
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return abort.signal;
}

/**
 * Returns the context of a request. Throws a HandlerError for a request that is neither a start nor
 * a cancellation.
 */
export function operationContext(
  { service, operation, headers, deadline, signal, variant }: NexusRequest,
): OperationContext {
  if (variant.kind === "unknown") {
    throw handlerError("NOT_IMPLEMENTED", "Request method not implemented");
  }
  const common = {
    abortSignal: officialSignal(signal),
    headers: copyHeaders(headers),
    service,
    operation,
  };
  return { ...common, ...(deadline !== undefined && { requestDeadline: deadline }) };
}

function toLink({ url, type }: NexusLink): Link {
  if (url === "") throw handlerError("BAD_REQUEST", "empty link URL");
  if (type === "") throw handlerError("BAD_REQUEST", "empty link type");
  return { url: new URL(url), type };
}

/** Returns the context of a request that starts an operation. */
export function startContext(context: OperationContext, start: NexusStart): StartOperationContext {
  const { requestId, links, callbackUrl, callbackHeaders } = start;
  return {
    ...context,
    requestId,
    inboundLinks: links.map(toLink),
    callbackUrl,
    callbackHeaders: { ...callbackHeaders },
    outboundLinks: [],
  };
}

/** Converts outgoing links. */
export function outgoing(links: readonly Link[]): NexusLink[] {
  return links.map(({ url, type }) => ({ url: url.toString(), type }));
}
