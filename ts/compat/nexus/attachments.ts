// Attaches a Nexus request to the calls of its handler, and results of these calls to the request.
import type { Attached } from "../client/internal_options.ts";
import type { PlainMessage } from "../common/plain_proto.ts";
import { log } from "./context.ts";
import { fromNexusLink, toNexusLink } from "./links.ts";
import type { StartOperationContext } from "./types.ts";

/** Returns the links of the request. Links of other kinds are left out. */
export function requestLinks({ inboundLinks }: StartOperationContext): PlainMessage[] {
  const links: PlainMessage[] = [];
  for (const link of inboundLinks ?? []) {
    try {
      links.push(fromNexusLink(link));
    } catch (error) {
      log.warn("failed to convert Nexus link to Workflow event link", { error });
    }
  }
  return links;
}

/** Adds the link of a call's response to the operation. */
export function takeResponseLink(
  { outboundLinks }: StartOperationContext,
  { responseLink }: Attached,
): void {
  if (responseLink === undefined || responseLink === null) return;
  try {
    outboundLinks.push(toNexusLink(responseLink));
  } catch (error) {
    log.warn("failed to convert temporal link to Nexus link", { error });
  }
}

/**
 * Returns request id, links and completion callback, for a new run and for an existing one. The
 * callback includes the token, because it may arrive before the handler's response.
 */
export function backing(ctx: StartOperationContext, token: string): Attached {
  const links = requestLinks(ctx);
  const { requestId, callbackUrl, callbackHeaders } = ctx;
  if (!callbackUrl) return { requestId, links };
  const header = { ...callbackHeaders, "nexus-operation-token": token };
  // Older servers read links from the callback; newer ones deduplicate them.
  return {
    requestId,
    links,
    completionCallbacks: [{ nexus: { url: callbackUrl, header }, links }],
  };
}

/** What is attached to an existing run. */
export const ON_CONFLICT = {
  attachLinks: true,
  attachCompletionCallbacks: true,
  attachRequestId: true,
} as const;
