// Modules that a pasted codec can import: the parts of Temporal's packages and of temporalex that
// codecs use, and Node's Web Crypto. Everything else must be bundled into the text.
import { payloadFromBytes, payloadToBytes } from "../../../../ts/codec/payload_bytes.ts";
import type { Payload } from "temporalex";

type Module = { readonly [name: string]: unknown };

const utf8 = new TextEncoder();
const text = new TextDecoder();

class ValueError extends Error {
  override name = "ValueError";
}
const encoding: Module = {
  encode: (value: string) => utf8.encode(value),
  decode: (bytes: Uint8Array) => text.decode(bytes),
};
const PayloadMessage = {
  encode: (payload: Payload) => ({
    finish: () =>
      payloadToBytes({ metadata: payload.metadata ?? {}, data: payload.data ?? new Uint8Array(0) }),
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
  zlib: 'in a browser use new Response(stream.pipeThrough(new DecompressionStream("gzip")))',
  buffer: "in a browser use Uint8Array, atob and TextDecoder",
};

/**
 * Returns a module. Throws an Error if the module or one of `names` does not exist; `line` is that
 * of the import.
 */
export function importedModule(specifier: string, line: number, names: readonly string[]): Module {
  const found = Object.hasOwn(MODULES, specifier) ? MODULES[specifier]! : undefined;
  const bare = specifier.replace(/^node:/, "");
  if (found === undefined) {
    const advice = Object.hasOwn(ADVICE, bare)
      ? ADVICE[bare]!
      : "bundle the codec into one file, for example with `npx esbuild codec.ts --bundle --format=esm`";
    throw new Error(`line ${line}: cannot import "${specifier}"; ${advice}`);
  }
  const missing = names.find((name) => !Object.hasOwn(found, name));
  if (missing !== undefined) {
    throw new Error(`line ${line}: "${specifier}" does not provide ${missing} here`);
  }
  return found;
}
