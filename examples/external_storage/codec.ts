// A payload codec that keeps large values elsewhere: above a limit the payload goes to a store of
// blobs, and a reference of a hundred bytes takes its place in the history. Blobs are named by
// their SHA-256, so the same value is stored once, storing it again (a retry, a replayed task)
// changes nothing, and a blob that was damaged is noticed.
import { type Payload, type PayloadCodec, payloadFromBytes, payloadToBytes } from "temporalex";

/** Where blobs are: a folder (folder.ts), S3, a database. */
export interface BlobStore {
  /**
   * Stores the bytes under the name. The same name always has the same bytes. Resolves when they
   * are there for good.
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** The bytes; undefined for a name that is not there. */
  get(name: string): Promise<Uint8Array | undefined>;
}

const utf8 = new TextEncoder();
const text = new TextDecoder();

async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function externalStorage(store: BlobStore, { aboveBytes = 64 * 1024 } = {}): PayloadCodec {
  async function put(payload: Payload): Promise<Payload> {
    if (payload.data.length <= aboveBytes) return payload;
    const bytes = payloadToBytes(payload); // with its metadata, which says how to read the data
    const name = await sha256(bytes);
    await store.put(name, bytes);
    return { metadata: { encoding: utf8.encode("text/blob-reference") }, data: utf8.encode(name) };
  }

  async function get(payload: Payload): Promise<Payload> {
    const { encoding } = payload.metadata;
    if (encoding === undefined || text.decode(encoding) !== "text/blob-reference") return payload;
    const name = text.decode(payload.data);
    const bytes = await store.get(name);
    if (bytes === undefined) {
      throw new Error(`blob ${name} is not in the store; was it purged while a history needs it?`);
    }
    if (await sha256(bytes) !== name) throw new Error(`blob ${name} is damaged`);
    return payloadFromBytes(bytes);
  }

  return {
    encode: (payloads) => Promise.all(payloads.map(put)),
    decode: (payloads) => Promise.all(payloads.map(get)),
  };
}
