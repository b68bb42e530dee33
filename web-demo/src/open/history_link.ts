// A history in an address: its bytes, deflated and in base64url, after "#zip=", with the position in
// "&e=" and the code in "&code=". Browsers do not send the fragment of an address.
import type { CodeFile } from "../store/code_set.ts";

/** Characters. Browsers accept two million, other programs far fewer. */
export const LONGEST_LINK = 1_000_000;
/** Characters that most programs do not cut. */
export const SAFE_LINK = 8_000;
/** Limit for the unpacked history: a short text can unpack to any size. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Code in a link. */
export interface LinkedCode {
  readonly entry: string;
  readonly files: readonly CodeFile[];
}

/** The content of a link. */
export interface HistoryLink {
  readonly history: Uint8Array;
  /** The event to start at. */
  readonly at?: number | undefined;
  readonly code?: LinkedCode | undefined;
}

/** The fragment of an address, with "#". Rejects if the content is too long for a link. */
export async function packHistoryLink({ history, at, code }: HistoryLink): Promise<string> {
  const pack = async (bytes: Uint8Array) =>
    base64url(await through(bytes, new CompressionStream("deflate-raw"), Infinity));
  const { entry, files } = code ?? {};
  const text = code && await pack(new TextEncoder().encode(JSON.stringify({ entry, files })));
  const link = `#zip=${await pack(history)}${at === undefined ? "" : `&e=${at}`}${
    text === undefined ? "" : `&code=${text}`
  }`;
  if (link.length > LONGEST_LINK) {
    throw new Error(
      `the link would have ${link.length.toLocaleString("en-US")} characters; the limit is ${
        LONGEST_LINK.toLocaleString("en-US")
      }. Save a file instead`,
    );
  }
  return link;
}

/**
 * The content of a link; `text` is the part after "#zip=". Rejects if the text is damaged or the
 * content too long.
 */
export async function readHistoryLink(text: string): Promise<HistoryLink> {
  const [packed = "", ...rest] = text.split("&");
  const history = await unpack(packed);
  const [at, code] = ["e=", "code="].map((name) =>
    rest.find((part) => part.startsWith(name))?.slice(name.length)
  );
  return {
    history,
    ...(at !== undefined && /^[1-9]\d*$/.test(at) && { at: Number(at) }),
    ...(code !== undefined && { code: codeIn(new TextDecoder().decode(await unpack(code))) }),
  };
}

function codeIn(json: string): LinkedCode {
  const value = JSON.parse(json) as Partial<LinkedCode>;
  const isText = (text: unknown) => typeof text === "string";
  const isWhole = isText(value.entry) && Array.isArray(value.files) &&
    value.files.every((file) => isText(file?.path) && isText(file?.text));
  if (!isWhole) throw new Error("the code of the link is damaged");
  return value as LinkedCode;
}

async function unpack(text: string): Promise<Uint8Array> {
  if (!/^[\w-]+$/.test(text)) {
    throw new Error("the link contains invalid characters; it was changed in transit");
  }
  let packed: Uint8Array;
  try {
    packed = Uint8Array.from(
      atob(text.replaceAll("-", "+").replaceAll("_", "/")),
      (c) => c.charCodeAt(0),
    );
  } catch {
    throw new Error(CUT);
  }
  try {
    return await through(packed, new DecompressionStream("deflate-raw"), MOST_BYTES);
  } catch (error) {
    throw error instanceof RangeError ? error : new Error(CUT);
  }
}

const CUT = "the link is incomplete; some programs cut long links";

async function through(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
  most: number,
): Promise<Uint8Array> {
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(stream)
    .getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      void reader.cancel();
      throw new RangeError(
        `the unpacked history is larger than the limit of ${most / 2 ** 20} MiB`,
      );
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function base64url(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
