// Decodes the values of a run. The decoded history replaces the encoded one, in the memory of this
// tab only.
import type { PayloadCodec } from "temporalex";
import { readHistoryFile } from "temporalex/debug";
import { decodeHistory } from "../../../ts/codec/message_codec.ts";
import { readRun } from "../store/run_model.ts";
import { makeRun, type OpenRun } from "../store/state.ts";
import { putCode } from "../realm/run_code.ts";
import { replaceRun } from "../served/grown.ts";
import { replaceServed } from "../served/open_served.ts";

const countOf = (encodings: ReadonlyMap<string, number>): number =>
  [...encodings.values()].reduce((sum, n) => sum + n, 0);

/**
 * Decodes a run. Resolves with the number of decoded values. Rejects if the codec fails or decodes
 * no value. If `finds` returns true after a failure, the codec is called again to find the value at
 * which it fails.
 */
export async function decodeRun(
  run: OpenRun,
  codec: PayloadCodec,
  finds: () => boolean = () => false,
): Promise<number> {
  const before = countOf(run.model.encodings);
  const { bytes: encoded } = await readHistoryFile(run.bytes);
  const bytes = await decodeHistory(encoded, codec).catch(async (error: Error) => {
    if (!finds()) throw error;
    const { failedAt } = await import("./failed_at.ts");
    const place = await failedAt(encoded, codec, run.model);
    const said = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(place === undefined ? said : `${place}: ${said}`);
  });
  const model = await readRun(bytes);
  const left = countOf(model.encodings);
  if (left >= before) {
    throw new Error(
      `no value was decoded; ${left} values still have the encoding ${
        [...model.encodings.keys()].join(", ")
      }`,
    );
  }
  const next: OpenRun = {
    ...makeRun(run.key, run.name, bytes, model),
    encoded: run.encoded ?? run.bytes,
  };
  const code = run.code.peek();
  if (replaceServed(run, next)) next.code.value = code;
  else {
    replaceRun(run, next);
    if (code !== undefined) putCode(next, code);
  }
  return before - left;
}
