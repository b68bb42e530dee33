// A payload codec that encrypts every value with AES-GCM. Only WebCrypto is needed, so it runs in
// Node, Deno and browsers. The format is that of the encryption samples of Temporal's SDKs: they
// read what this writes, and the other way.
import { type Payload, type PayloadCodec, payloadFromBytes, payloadToBytes } from "temporalex";

/**
 * Keys by id. New values are encrypted with the current one; the others are there for what was
 * encrypted with them.
 */
export interface KeyRing {
  readonly current: string;
  readonly keys: { readonly [id: string]: CryptoKey };
}

const utf8 = new TextEncoder();
const text = new TextDecoder();
const ENCODING = utf8.encode("binary/encrypted");
const IV_BYTES = 12;

export function encryption({ current, keys }: KeyRing): PayloadCodec {
  const keyOf = (id: string): CryptoKey => {
    const key = keys[id];
    if (key === undefined) {
      throw new Error(`unknown key "${id}"; known keys: ${Object.keys(keys).join(", ")}`);
    }
    return key;
  };

  async function encrypt(payload: Payload): Promise<Payload> {
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES)); // a new one for each value: never reuse one with the same key
    const plain = new Uint8Array(payloadToBytes(payload)); // with its metadata, which says how to read the data
    const encrypted = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, keyOf(current), plain);
    const data = new Uint8Array(IV_BYTES + encrypted.byteLength);
    data.set(iv);
    data.set(new Uint8Array(encrypted), IV_BYTES);
    return { metadata: { encoding: ENCODING, "encryption-key-id": utf8.encode(current) }, data };
  }

  async function decrypt(payload: Payload): Promise<Payload> {
    const { encoding, "encryption-key-id": keyId } = payload.metadata;
    if (encoding === undefined || text.decode(encoding) !== "binary/encrypted") return payload; // from before there was a codec
    if (keyId === undefined) throw new Error("an encrypted payload does not name its key");
    const data = new Uint8Array(payload.data);
    const key = keyOf(text.decode(keyId));
    const plain = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv: data.subarray(0, IV_BYTES) },
      key,
      data.subarray(IV_BYTES),
    )
      .catch(() => {
        throw new Error(
          `a payload was not encrypted with key "${text.decode(keyId)}", or was changed`,
        );
      });
    return payloadFromBytes(new Uint8Array(plain));
  }

  return {
    encode: (payloads) => Promise.all(payloads.map(encrypt)),
    decode: (payloads) => Promise.all(payloads.map(decrypt)),
  };
}

/** A key from 32 bytes in base64, as a key service or an environment variable holds it. */
export function importKey(base64: string): Promise<CryptoKey> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  if (bytes.length !== 32) throw new Error(`a key has 32 bytes, not ${bytes.length}`);
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}
