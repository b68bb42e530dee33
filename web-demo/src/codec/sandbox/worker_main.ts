// The worker in which a pasted codec runs, inside the sandboxed frame of an opaque origin: no network, no storage, no way to the page. Its text
// is parsed here, too, so that no text can hold up the page.
import { takeSubtle } from "./subtle_here.ts";
import type { Payload, PayloadCodec } from "temporalex";
import { importedModule } from "./known_modules.ts";
import { functionBody } from "./module_text.ts";
import type { FromCodec, ToCodec } from "./protocol.ts";

type Evaluated = (get: typeof importedModule, exports: { [name: string]: unknown }) => Promise<void>;

let codecs: readonly PayloadCodec[] = [];

const tell = (message: FromCodec): void => postMessage(message);

addEventListener("message", ({ data }: MessageEvent<ToCodec | { readonly core: ArrayBuffer }>) => {
  // The frame's own first message is not for codecs.
  if (!("t" in data) || takeSubtle(data)) return;
  if (data.t === "load") void load(data.text);
  else void decode(data.id, data.payloads);
});

async function load(text: string): Promise<void> {
  try {
    const body = functionBody(text);
    const exports: { [name: string]: unknown } = {};
    const evaluated = (0, eval)(`(async ($import, $exports) => {"use strict";${body}\n})\n//# sourceURL=codec.ts`) as Evaluated;
    await evaluated(importedModule, exports);
    codecs = codecsOf(exports);
    tell({ t: "loaded" });
  } catch (error) {
    tell({ t: "refused", message: named(error) });
  }
}

/** The default export, or the one that is named `codec`: a codec, several of them, or a class of one. */
function codecsOf(exports: { readonly [name: string]: unknown }): readonly PayloadCodec[] {
  const given = exports["default"] ?? exports["codec"] ?? Object.values(exports).find(isCodec);
  const all = (Array.isArray(given) ? given : [given]).map((one: unknown) =>
    typeof one === "function" && isCodec(one.prototype) ? new (one as new () => PayloadCodec)() : one
  );
  if (given === undefined || all.length === 0) {
    throw new Error("the module exports no codec; `export default { encode, decode }`, or name it `codec`");
  }
  for (const one of all) {
    if (!isCodec(one)) throw new Error("what the module exports has no function `decode`: a codec has `encode` and `decode`");
  }
  return all as PayloadCodec[];
}

const isCodec = (value: unknown): value is PayloadCodec =>
  typeof value === "object" && value !== null && typeof (value as Partial<PayloadCodec>).decode === "function";

async function decode(id: number, given: readonly Payload[]): Promise<void> {
  try {
    let payloads: Payload[] = [...given];
    for (const codec of codecs.toReversed()) {
      const count = payloads.length;
      const decoded: unknown = await codec.decode(payloads);
      if (!Array.isArray(decoded)) throw new TypeError(`it returned a value of type ${typeof decoded}, not a list of payloads`);
      if (decoded.length !== count) throw new TypeError(`it was given ${count} payloads and returned ${decoded.length}`);
      payloads = decoded.map(plainPayload);
    }
    tell({ t: "decoded", id, payloads });
  } catch (error) {
    tell({ t: "failed", id, message: named(error) });
  }
}

/** In arrays of its own: codecs may answer messages of a protobuf library, or views of larger buffers. */
function plainPayload(payload: Partial<Payload> | null | undefined): Payload {
  const metadata: { [key: string]: Uint8Array } = {};
  for (const [key, value] of Object.entries(payload?.metadata ?? {})) metadata[key] = bytesOf(value, `metadata ${key}`);
  return { metadata, data: bytesOf(payload?.data ?? new Uint8Array(0), "data") };
}

function bytesOf(value: unknown, what: string): Uint8Array {
  if (!ArrayBuffer.isView(value)) throw new TypeError(`it returned a payload whose ${what} is not a Uint8Array`);
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
}

/** "OperationError: ..."; for names of Node what to do. */
function named(error: unknown): string {
  const { name, message } =
    (typeof error === "object" && error !== null ? error : { name: "thrown", message: String(error) }) as Error;
  const text = message === "" ? `${name}` : `${name}: ${message}`;
  const advice = /\b(Buffer|process|require) is not defined/.test(text)
    ? "; that is Node's, and a codec runs in a browser here"
    : "";
  return `${text.slice(0, 500)}${advice}`;
}
