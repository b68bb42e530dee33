// A run whose values a codec decodes: the decoded history takes the place of the encoded one, in this tab's memory alone.
import type { PayloadCodec } from "temporalex";
import { readHistoryFile } from "temporalex/debug";
import { decodeHistory } from "../../../ts/codec/message_codec.ts";
import { readRun } from "../app/run_model.ts";
import { makeRun, type OpenRun } from "../app/state.ts";
import { putCode } from "../realm/run_code.ts";
import { replaceRun } from "../served/grown.ts";
import { replaceServed } from "../served/open_served.ts";

const countOf = (encodings: ReadonlyMap<string, number>): number => [...encodings.values()].reduce((sum, n) => sum + n, 0);

/**
 * Decodes a run. Answers how many values were. Rejects where the codec fails, and where it leaves all as it was. Where it fails and
 * `finds` says so, what it fails at is looked for by asking it again.
 */
export async function decodeRun(run: OpenRun, codec: PayloadCodec, finds: () => boolean = () => false): Promise<number> {
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
    throw new Error(`nothing was decoded: ${left} values still have the encoding ${[...model.encodings.keys()].join(", ")}`);
  }
  const next: OpenRun = { ...makeRun(run.key, run.name, bytes, model), encoded: run.encoded ?? run.bytes };
  const code = run.code.peek();
  if (replaceServed(run, next)) next.code.value = code;
  else {
    replaceRun(run, next);
    if (code !== undefined) putCode(next, code);
  }
  return before - left;
}
