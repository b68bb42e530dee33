// JSON under a custom encoding, which the default converter does not read.
import type { Payload, PayloadConverter } from "../../../../ts/converter/mod.ts";

const encoding = new TextEncoder().encode("json/marked");

export const markedConverter: PayloadConverter = {
  toPayload: (value) => ({
    metadata: { encoding },
    data: new TextEncoder().encode(`marked ${JSON.stringify(value)}`),
  }),
  fromPayload(payload: Payload) {
    const text = new TextDecoder().decode(payload.data);
    if (!text.startsWith("marked ")) throw new Error(`not marked: ${text}`);
    return JSON.parse(text.slice(7));
  },
};
