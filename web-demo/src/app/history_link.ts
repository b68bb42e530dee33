// A history in an address: its bytes, deflated and in base64url, behind "#zip=". Browsers send that part of an address to nobody.

/** More is no link any more: browsers take two million characters, and other programs far fewer. */
export const LONGEST_LINK = 1_000_000;
/** What most programs carry whole. */
export const SAFE_LINK = 8_000;
/** A history that a link unfolds to: a short text can unfold to any size. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The part of the address from "#" on. Rejects for a history that is too long for one. */
export async function linkOf(history: Uint8Array): Promise<string> {
  const packed = await through(history, new CompressionStream("deflate-raw"), Infinity);
  const link = `#zip=${base64url(packed)}`;
  if (link.length > LONGEST_LINK) {
    throw new Error(
      `a link of it would have ${
        link.length.toLocaleString("en-US")
      } characters, and browsers take no more than a million: save a file`,
    );
  }
  return link;
}

/** The history of a link's text, without "#zip=". Rejects with what is wrong with it. */
export async function historyOfLink(text: string): Promise<Uint8Array> {
  if (!/^[\w-]+$/.test(text)) throw new Error("it holds characters that no such link has; it was changed on its way");
  let packed: Uint8Array;
  try {
    packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  } catch {
    throw new Error(CUT);
  }
  try {
    return await through(packed, new DecompressionStream("deflate-raw"), MOST_BYTES);
  } catch (error) {
    throw error instanceof RangeError ? error : new Error(CUT);
  }
}

const CUT = "a part of it is missing: some programs cut long links";

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array> {
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      void reader.cancel();
      throw new RangeError(`it unfolds to more than ${most / 2 ** 20} MiB, and a history is not that long`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function base64url(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
