// What a pasted codec may import: of Temporal's packages and ours what codecs use of them, and of Node what browsers have as well. All else has
// to be in its text.
import { payloadFromBytes, payloadToBytes } from "../../../../ts/codec/payload_bytes.ts";
import type { Payload } from "temporalex";

type Module = { readonly [name: string]: unknown };

const utf8 = new TextEncoder();
const text = new TextDecoder();

class ValueError extends Error {
  override name = "ValueError";
}
const encoding: Module = { encode: (value: string) => utf8.encode(value), decode: (bytes: Uint8Array) => text.decode(bytes) };
const PayloadMessage = {
  encode: (payload: Payload) => ({
    finish: () => payloadToBytes({ metadata: payload.metadata ?? {}, data: payload.data ?? new Uint8Array(0) }),
  }),
  decode: (bytes: Uint8Array) => payloadFromBytes(bytes),
  create: (payload: Payload) => payload,
};
const proto: Module = { temporal: { api: { common: { v1: { Payload: PayloadMessage } } } } };
const webcrypto: Module = {
  webcrypto: crypto,
  subtle: crypto.subtle,
  getRandomValues: crypto.getRandomValues.bind(crypto),
  randomUUID: () => crypto.randomUUID(),
};

const MODULES: { readonly [specifier: string]: Module } = {
  temporalex: { payloadFromBytes, payloadToBytes },
  "@temporalio/common": { METADATA_ENCODING_KEY: "encoding", ValueError, ...encoding },
  "@temporalio/common/lib/encoding": encoding,
  "@temporalio/proto": { ...proto, default: proto },
  crypto: { ...webcrypto, default: webcrypto },
  "node:crypto": { ...webcrypto, default: webcrypto },
};
const ADVICE: { readonly [specifier: string]: string } = {
  zlib: 'new Response(stream.pipeThrough(new DecompressionStream("gzip"))) does it in browsers',
  buffer: "Uint8Array, atob and TextDecoder do it in browsers",
};

/** The module, where it has these names. Throws an Error that says what is not there and what to do. */
export function importedModule(specifier: string, line: number, names: readonly string[]): Module {
  const found = Object.hasOwn(MODULES, specifier) ? MODULES[specifier]! : undefined;
  const bare = specifier.replace(/^node:/, "");
  if (found === undefined) {
    const advice = Object.hasOwn(ADVICE, bare)
      ? ADVICE[bare]!
      : "put what it needs into its text, as `npx esbuild codec.ts --bundle --format=esm` does";
    throw new Error(`line ${line}: there is no "${specifier}" here; ${advice}`);
  }
  const missing = names.find((name) => !Object.hasOwn(found, name));
  if (missing !== undefined) throw new Error(`line ${line}: "${specifier}" has no ${missing} here`);
  return found;
}
