// What a request gives to the calls that its handler makes for it, and what these calls give back to it.
import type { Attached } from "../client/internal_options.ts";
import type { PlainMessage } from "../common/plain_proto.ts";
import { log } from "./context.ts";
import { fromNexusLink, toNexusLink } from "./links.ts";
import type { StartOperationContext } from "./types.ts";

/** The links of the request. One that is not Temporal's is not one for Temporal's calls. */
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

/** What a call led to is what the operation led to. */
export function takeResponseLink({ outboundLinks }: StartOperationContext, { responseLink }: Attached): void {
  if (responseLink === undefined || responseLink === null) return;
  try {
    outboundLinks.push(toNexusLink(responseLink));
  } catch (error) {
    log.warn("failed to convert temporal link to Nexus link", { error });
  }
}

/**
 * The request, its links, and whom to call at the end: on what begins with the call, and on what was there already. The callback has the
 * token, too, for it may arrive before the answer of the handler.
 */
export function backing(ctx: StartOperationContext, token: string): Attached {
  const links = requestLinks(ctx);
  const { requestId, callbackUrl, callbackHeaders } = ctx;
  if (!callbackUrl) return { requestId, links };
  const header = { ...callbackHeaders, "nexus-operation-token": token };
  // Older servers take links from the callback; newer ones have each once.
  return { requestId, links, completionCallbacks: [{ nexus: { url: callbackUrl, header }, links }] };
}

/** What is to be attached to a run that is there already. */
export const ON_CONFLICT = { attachLinks: true, attachCompletionCallbacks: true, attachRequestId: true } as const;
