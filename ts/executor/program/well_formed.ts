// Rejects commands with texts that UTF-8 cannot encode. The writer checks each text while it
// encodes, and the field is searched only after that.
import {
  findLoneSurrogate,
  hasLoneSurrogate,
  loneSurrogateMessage,
} from "../../converter/well_formed.ts";

class LoneSurrogateError extends TypeError {
  override name = "TypeError";
}

/** Throws a TypeError if `text` contains a lone surrogate. */
export function requireWellFormed(text: string): void {
  if (hasLoneSurrogate(text)) {
    throw new LoneSurrogateError(loneSurrogateMessage({ field: "", text }));
  }
}

/** Throws a TypeError that names the field of `message` whose text has a lone surrogate. */
export function rejectLoneSurrogates(message: unknown): void {
  const found = findLoneSurrogate(message);
  if (found !== undefined) throw new LoneSurrogateError(loneSurrogateMessage(found));
}

/** Adds the field of `message` to an error of requireWellFormed. Returns other errors unchanged. */
export function namingField(error: unknown, message: unknown): unknown {
  if (!(error instanceof LoneSurrogateError)) return error;
  const found = findLoneSurrogate(message);
  return found === undefined ? error : new LoneSurrogateError(loneSurrogateMessage(found));
}
