// The converter as a run uses it for values that go into commands. A value that is refused fails the task, whatever the code catches: so no
// decision of the code can follow from the refusal, and a history never depends on it. A run that replays refuses nothing: its history may
// have been written by a version that lost such values without a word.
import { encodingReplay, LossyValueError } from "../../converter/lossy_value.ts";
import type { PayloadConverter } from "../../converter/payload.ts";

/** What of a run the converter needs. */
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
