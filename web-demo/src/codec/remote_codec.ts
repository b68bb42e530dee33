// Temporal's protocol for codec servers: POST <endpoint>/decode with Payloads as JSON; the response
// has as many payloads.
import { findCodecEncoding } from "../../../ts/debug/run/encodings.ts";
import { decodeBase64 } from "../../../ts/history_files/payload_json.ts";
import type { Payload, PayloadCodec } from "temporalex";

export interface CodecResponse {
  readonly status: number;
  readonly text: string;
}

/** A codec that passes encoded payloads to `send`; other payloads are never sent. */
export function remoteCodec(send: (body: string) => Promise<CodecResponse>): PayloadCodec {
  return onlyEncoded(async (payloads) => {
    const { status, text } = await send(JSON.stringify({ payloads: payloads.map(toJson) }));
    if (status < 200 || status > 299) {
      throw new Error(`the endpoint responded ${status}${said(text)}`);
    }
    return payloadsOf(text);
  });
}

/** A codec that passes only encoded payloads to `decode`. */
export const onlyEncoded = (decode: (payloads: Payload[]) => Promise<Payload[]>): PayloadCodec => ({
  encode: () =>
    Promise.reject(
      new Error(
        "this page decodes payloads but does not encode them; encode them with the program's own codec",
      ),
    ),
  async decode(payloads) {
    const places = payloads.flatMap((payload, i) =>
      findCodecEncoding(payload) === undefined ? [] : [i]
    );
    if (places.length === 0) return payloads;
    const decoded = await decode(places.map((i) => payloads[i]!));
    if (decoded.length !== places.length) {
      throw new Error(`the codec returned ${decoded.length} payloads, expected ${places.length}`);
    }
    const all = [...payloads];
    places.forEach((place, i) => (all[place] = decoded[i]!));
    return all;
  },
});

const said = (text: string): string => text.trim() === "" ? "" : `: ${text.trim().slice(0, 300)}`;

function toJson({ metadata, data }: Payload): object {
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([key, value]) => [key, toBase64(value)]),
    ),
    data: toBase64(data),
  };
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  }
  return btoa(text);
}

/** Parses a response. Throws an Error that names the invalid field. */
function payloadsOf(text: string): Payload[] {
  let json: { readonly payloads?: unknown };
  try {
    json = JSON.parse(text) as { readonly payloads?: unknown };
  } catch {
    throw new Error(`the endpoint did not respond with JSON${said(text)}`);
  }
  if (!Array.isArray(json?.payloads)) {
    throw new Error(`the response of the endpoint has no "payloads"${said(text)}`);
  }
  return json.payloads.map(
    (
      payload: { readonly metadata?: { readonly [key: string]: unknown }; readonly data?: unknown },
      i,
    ) => {
      const bytes = (value: unknown, what: string): Uint8Array => {
        const read = value === undefined || value === null
          ? new Uint8Array(0)
          : typeof value === "string"
          ? decodeBase64(value)
          : undefined;
        if (read === undefined) {
          throw new Error(`payloads[${i}].${what} in the response of the endpoint is not base64`);
        }
        return read;
      };
      // A decoded value has at least its encoding in the metadata.
      if (payload?.metadata === undefined && payload?.data === undefined) {
        throw new Error(
          `payloads[${i}] in the response of the endpoint has neither metadata nor data`,
        );
      }
      const metadata = Object.entries(payload?.metadata ?? {}).map((
        [key, value],
      ) => [key, bytes(value, `metadata.${key}`)]);
      return {
        metadata: Object.fromEntries(metadata) as Payload["metadata"],
        data: bytes(payload?.data, "data"),
      };
    },
  );
}
