// Header fields of HTTP/2 for a gRPC client (HPACK, RFC 7541). Requests repeat their fields, so
// these are added to the dynamic table once and then referenced; the block of a repeated call is
// cached. Responses use no dynamic table, because SETTINGS allow none, so blocks are independent
// and cached as well.
import { unhuffman } from "./huffman.ts";

/** Names are lower case. The first of duplicate fields counts. */
export type Fields = { readonly [name: string]: string | undefined };
/**
 * In sending order: names that begin with ":" come first. Values marked `once` are not added to the
 * table.
 */
export type FieldList = readonly (readonly [name: string, value: string, once?: boolean])[];

const STATIC: FieldList = [
  ...[[":authority", ""], [":method", "GET"], [":method", "POST"], [":path", "/"], [
    ":path",
    "/index.html",
  ]] as const,
  ...[[":scheme", "http"], [":scheme", "https"]] as const,
  ...["200", "204", "206", "304", "400", "404", "500"].map((status) =>
    [":status", status] as const
  ),
  ...[["accept-charset", ""], ["accept-encoding", "gzip, deflate"]] as const,
  ...[
    ...[
      "accept-language",
      "accept-ranges",
      "accept",
      "access-control-allow-origin",
      "age",
      "allow",
      "authorization",
    ],
    ...[
      "cache-control",
      "content-disposition",
      "content-encoding",
      "content-language",
      "content-length",
      "content-location",
    ],
    ...[
      "content-range",
      "content-type",
      "cookie",
      "date",
      "etag",
      "expect",
      "expires",
      "from",
      "host",
      "if-match",
    ],
    ...[
      "if-modified-since",
      "if-none-match",
      "if-range",
      "if-unmodified-since",
      "last-modified",
      "link",
      "location",
    ],
    ...[
      "max-forwards",
      "proxy-authenticate",
      "proxy-authorization",
      "range",
      "referer",
      "refresh",
      "retry-after",
      "server",
    ],
    ...[
      "set-cookie",
      "strict-transport-security",
      "transfer-encoding",
      "user-agent",
      "vary",
      "via",
      "www-authenticate",
    ],
  ].map((name) => [name, ""] as const),
];

const STATIC_PAIRS = new Map<string, number>();
const STATIC_NAMES = new Map<string, number>();
STATIC.forEach(([name, value], i) => {
  STATIC_PAIRS.set(`${name}\n${value}`, i + 1);
  if (!STATIC_NAMES.has(name)) STATIC_NAMES.set(name, i + 1);
});

/** An invalid block of header fields: the connection is unusable. */
export class HpackError extends Error {
  override name = "HpackError";
}

/** Overhead of an entry in bytes. */
const ENTRY_BYTES = 32;
/** Initial table size of both sides; this encoder never uses more. */
const TABLE_BYTES = 4096;
/** Maximum number of cached blocks. */
const KEPT = 256;

function keep<T>(kept: Map<string, T>, key: string, value: T): void {
  if (kept.size >= KEPT) kept.clear();
  kept.set(key, value);
}

/** Writes a prefix bit pattern and an integer (RFC 7541, 5.1). */
function putInteger(out: number[], pattern: number, bits: number, value: number): void {
  const most = (1 << bits) - 1;
  if (value < most) return void out.push(pattern | value);
  out.push(pattern | most);
  for (value -= most; value >= 128; value >>>= 7) out.push(value & 127 | 128);
  out.push(value);
}

function putText(out: number[], text: string): void {
  putInteger(out, 0, 7, text.length);
  for (let i = 0; i < text.length; i++) out.push(text.charCodeAt(i));
}

/**
 * Writes the blocks of one connection. Nothing is evicted: fields that do not fit in the table are
 * sent as literals.
 */
export class HeaderEncoder {
  #limit = TABLE_BYTES;
  #used = 0;
  /** Entries by name and value, and by name alone: the number of earlier entries. */
  #entries = new Map<string, number>();
  #names = new Map<string, number>();
  #count = 0;
  /** Table sizes to announce at the beginning of the next block. */
  #resize: number[] = [];
  /** Cached blocks, valid until the table gets another entry. */
  #ready = new Map<string, Uint8Array>();

  /** Sets the table size that the peer allows. */
  allow(bytes: number): void {
    const limit = Math.min(bytes, TABLE_BYTES);
    if (limit === this.#limit) return;
    // Both sides clear the table.
    this.#resize = [0, limit];
    this.#limit = limit;
    this.#used = this.#count = 0;
    this.#entries.clear();
    this.#names.clear();
    this.#ready.clear();
  }

  /**
   * Returns the block for `key`, which identifies these fields on this connection; `fields` is
   * called if it is not cached.
   */
  block(key: string, fields: () => FieldList): Uint8Array {
    return this.#ready.get(key) ?? this.#encode(key, fields());
  }

  #encode(key: string, fields: FieldList): Uint8Array {
    const out: number[] = [];
    for (const size of this.#resize) putInteger(out, 0x20, 5, size);
    const count = this.#count;
    const repeatable = this.#resize.length === 0;
    this.#resize = [];
    for (const [name, value, once] of fields) this.#put(out, name, value, once === true);
    const block = Uint8Array.from(out);
    // Indexes count from the newest entry.
    if (this.#count !== count) this.#ready.clear();
    else if (repeatable) keep(this.#ready, key, block);
    return block;
  }

  #put(out: number[], name: string, value: string, once: boolean): void {
    const pair = `${name}\n${value}`;
    const fixed = STATIC_PAIRS.get(pair);
    if (fixed !== undefined) return putInteger(out, 0x80, 7, fixed);
    const entry = this.#entries.get(pair);
    if (entry !== undefined) return putInteger(out, 0x80, 7, STATIC.length + this.#count - entry);
    const named = this.#names.get(name);
    const index = STATIC_NAMES.get(name) ??
      (named === undefined ? 0 : STATIC.length + this.#count - named);
    const bytes = ENTRY_BYTES + name.length + value.length;
    const kept = !once && this.#used + bytes <= this.#limit;
    if (kept) putInteger(out, 0x40, 6, index);
    else putInteger(out, 0, 4, index);
    if (index === 0) putText(out, name);
    putText(out, value);
    if (!kept) return;
    this.#used += bytes;
    this.#entries.set(pair, this.#count);
    this.#names.set(name, this.#count++);
  }
}

/** Decodes bytes as characters, in parts: a spread has at most some ten thousand arguments. */
const latin1 = (bytes: Uint8Array, from: number, to: number) =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");

/** Maximum size of a cached block. */
const KEPT_BYTES = 128;

/** Reads the blocks of a connection whose SETTINGS allow no dynamic table. */
export class HeaderDecoder {
  readonly #known = new Map<string, Fields>();

  /** Throws an HpackError. */
  read(block: Uint8Array): Fields {
    if (block.length > KEPT_BYTES) return decode(block);
    const key = latin1(block, 0, block.length);
    let fields = this.#known.get(key);
    if (fields === undefined) {
      fields = decode(block);
      keep(this.#known, key, fields);
    }
    return fields;
  }
}

function decode(block: Uint8Array): Fields {
  const fields: { [name: string]: string } = Object.create(null);
  let at = 0;
  const integer = (bits: number): number => {
    const most = (1 << bits) - 1;
    let value = block[at++]! & most;
    if (value < most) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = block[at++];
      if (byte === undefined) throw new HpackError("a header block ends inside an integer");
      value += (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new HpackError("a header block has an integer that is too large");
  };
  const text = (): string => {
    const coded = (block[at] ?? 0) >= 128;
    const length = at < block.length ? integer(7) : Infinity;
    if (length > block.length - at) throw new HpackError("a header block ends inside a string");
    const from = at;
    at += length;
    const found = coded ? unhuffman(block, from, at) : latin1(block, from, at);
    if (found === undefined) throw new HpackError("a header block has an invalid Huffman string");
    return found;
  };
  const entry = (index: number) => {
    const found = STATIC[index - 1];
    if (found === undefined) {
      throw new HpackError(`a header block has index ${index} outside of the dynamic table`);
    }
    return found;
  };
  const put = (name: string, value: string) => {
    if (!(name in fields)) fields[name] = value;
  };
  while (at < block.length) {
    const byte = block[at]!;
    if (byte >= 0x80) {
      const [name, value] = entry(integer(7));
      put(name, value);
    } else if ((byte & 0xe0) === 0x20) {
      if (integer(5) !== 0) {
        throw new HpackError("a header block sets a dynamic table size above the limit");
      }
    } else {
      // With, without or never indexing: the same without a table.
      const index = integer(byte >= 0x40 ? 6 : 4);
      const name = index === 0 ? text() : entry(index)[0];
      put(name, text());
    }
  }
  return fields;
}
