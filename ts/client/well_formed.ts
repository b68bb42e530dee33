// Rejects requests whose ids or names UTF-8 cannot encode: lists would show ids that were never
// used.
import { findLoneSurrogate, loneSurrogateMessage } from "../converter/well_formed.ts";
import { Code, ServiceError } from "../service/raw.ts";

/** Descriptive texts, in which a replaced character does no harm. Failures are encoded before. */
const FREE_TEXTS: ReadonlySet<string> = new Set([
  "reason",
  "message",
  "identity",
  "failure",
  "lastFailure",
  "notes",
]);

/**
 * Throws a ServiceError (INVALID_ARGUMENT) that names the request field whose text has a lone
 * surrogate.
 */
export function refuseLoneSurrogates(request: unknown): void {
  const found = findLoneSurrogate(request, FREE_TEXTS);
  if (found !== undefined) {
    throw new ServiceError(Code.INVALID_ARGUMENT, loneSurrogateMessage(found));
  }
}
