// The converter of a run, for values of commands. A rejected value fails the task, even if the code
// catches the error, so that no decision and no history depends on it. On replay nothing is
// rejected: an older version may have recorded lossy values.
import { encodingReplay, LossyValueError } from "../../converter/lossy_value.ts";
import type { PayloadConverter } from "../../converter/payload.ts";

/** The part of a run that the converter needs. */
interface Encoding {
  readonly isReplaying: boolean;
  fail(error: Error): void;
}

export function runConverter(run: Encoding, converter: PayloadConverter): PayloadConverter {
  return {
    toPayload(value) {
      try {
        return encodingReplay(run.isReplaying, () => converter.toPayload(value));
      } catch (error) {
        if (error instanceof LossyValueError) run.fail(error);
        throw error;
      }
    },
    fromPayload: (payload) => converter.fromPayload(payload),
  };
}
