// Finds the payload at which a codec fails: decodes event by event until the codec fails again,
// then payload by payload.
import type { Payload, PayloadCodec } from "temporalex";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { decodeHistory } from "../../../ts/codec/message_codec.ts";
import { findCodecEncoding } from "../../../ts/debug/run/encodings.ts";
import type { RunModel } from "../store/run_model.ts";

/** Time limit of the search. */
const LOOK_MS = 5000;

/**
 * Returns for example "event 7 (ActivityTaskScheduled), input, encoded value 2 of 3"; undefined if
 * no payload fails again.
 */
export async function failedAt(
  history: Uint8Array,
  codec: PayloadCodec,
  { lines }: RunModel,
): Promise<string | undefined> {
  const began = performance.now();
  for (const event of fromBinary(HistorySchema, history).events) {
    if (performance.now() - began > LOOK_MS) return undefined;
    const found = await failsIn(
      toBinary(HistorySchema, create(HistorySchema, { events: [event] })),
      codec,
    );
    if (found === undefined) continue;
    const id = Number(event.eventId);
    return `event ${id} (${lines[id - 1]?.type ?? "unknown"})${found}`;
  }
  return undefined;
}

async function failsIn(history: Uint8Array, codec: PayloadCodec): Promise<string | undefined> {
  let nth = "";
  const watching: PayloadCodec = {
    encode: (payloads) => codec.encode(payloads),
    async decode(payloads) {
      const encoded = payloads.filter((payload) => findCodecEncoding(payload) !== undefined);
      const results: Payload[] = [];
      for (const payload of payloads) {
        const [one] = await codec.decode([payload]).catch((error) => {
          if (encoded.length > 1) {
            nth = `, encoded value ${encoded.indexOf(payload) + 1} of ${encoded.length}`;
          }
          throw error;
        });
        results.push(one!);
      }
      return results;
    },
  };
  try {
    await decodeHistory(history, watching);
    return undefined;
  } catch (error) {
    const field = /\.(\w+)$/.exec((error as { readonly field?: string }).field ?? "")?.[1];
    return `${field === undefined ? "" : `, ${field}`}${nth}`;
  }
}
