// Ids and names that UTF-8 cannot encode: a lone surrogate would become U+FFFD, so that two ids
// could become one, and lists would show ids that were never used.
import { Code, ServiceError } from "../service/raw.ts";

/** Descriptive texts, in which a replaced character does no harm. Failures are encoded before. */
const FREE_TEXTS: ReadonlySet<string> = new Set(["reason", "message", "identity", "failure", "lastFailure", "notes"]);
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Throws a ServiceError (INVALID_ARGUMENT) that names the request field whose text has a lone surrogate. */
export function refuseLoneSurrogates(value: unknown, path = ""): void {
  if (typeof value === "string") {
    if (LONE_SURROGATE.test(value)) throw refused(path, value);
    return;
  }
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
  for (const [name, part] of Object.entries(value)) {
    if (FREE_TEXTS.has(name)) continue;
    if (LONE_SURROGATE.test(name)) throw refused(path, name);
    refuseLoneSurrogates(part, Array.isArray(value) ? path : path === "" ? name : `${path}.${name}`);
  }
}

const refused = (path: string, text: string): ServiceError =>
  new ServiceError(
    Code.INVALID_ARGUMENT,
    `${path} ${JSON.stringify(text)} contains a lone surrogate, which is not valid Unicode: choose another text`,
  );
