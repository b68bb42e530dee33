// The worker that runs a pasted codec, in a sandboxed frame with an opaque origin: no network,
// storage or access to the page. The text is parsed here as well, so that no input can block the
// page.
import { takeSubtle } from "./subtle_here.ts";
import type { Payload, PayloadCodec } from "temporalex";
import { importedModule } from "./known_modules.ts";
import { functionBody } from "./module_text.ts";
import type { FromCodec, ToCodec } from "./protocol.ts";

type Evaluated = (
  get: typeof importedModule,
  exports: { [name: string]: unknown },
) => Promise<void>;

let codecs: readonly PayloadCodec[] = [];

const tell = (message: FromCodec): void => postMessage(message);

addEventListener("message", ({ data }: MessageEvent<ToCodec | { readonly core: ArrayBuffer }>) => {
  // The first message of the frame has no `t`; it is for workflow code.
  if (!("t" in data) || takeSubtle(data)) return;
  if (data.t === "load") void load(data.text);
  else void decode(data.id, data.payloads);
});

async function load(text: string): Promise<void> {
  try {
    const body = functionBody(text);
    const exports: { [name: string]: unknown } = {};
    const evaluated = (0, eval)(
      `(async ($import, $exports) => {"use strict";${body}\n})\n//# sourceURL=codec.ts`,
    ) as Evaluated;
    await evaluated(importedModule, exports);
    codecs = codecsOf(exports);
    tell({ t: "loaded" });
  } catch (error) {
    tell({ t: "refused", message: named(error) });
  }
}

/**
 * The codecs of the default export, of `codec` or of the first export that is a codec; a class is
 * instantiated.
 */
function codecsOf(exports: { readonly [name: string]: unknown }): readonly PayloadCodec[] {
  const given = exports["default"] ?? exports["codec"] ?? Object.values(exports).find(isCodec);
  const all = (Array.isArray(given) ? given : [given]).map((one: unknown) =>
    typeof one === "function" && isCodec(one.prototype)
      ? new (one as new () => PayloadCodec)()
      : one
  );
  if (given === undefined || all.length === 0) {
    throw new Error(
      "the module does not export a codec; use `export default { encode, decode }`, or export it as `codec`",
    );
  }
  for (const one of all) {
    if (!isCodec(one)) {
      throw new Error(
        "the exported codec has no function `decode`; a codec has `encode` and `decode`",
      );
    }
  }
  return all as PayloadCodec[];
}

const isCodec = (value: unknown): value is PayloadCodec =>
  typeof value === "object" && value !== null &&
  typeof (value as Partial<PayloadCodec>).decode === "function";

async function decode(id: number, given: readonly Payload[]): Promise<void> {
  try {
    let payloads: Payload[] = [...given];
    for (const codec of codecs.toReversed()) {
      const count = payloads.length;
      const decoded: unknown = await codec.decode(payloads);
      if (!Array.isArray(decoded)) {
        throw new TypeError(`decode must return an array of payloads, not ${typeof decoded}`);
      }
      if (decoded.length !== count) {
        throw new TypeError(`decode returned ${decoded.length} payloads, expected ${count}`);
      }
      payloads = decoded.map(plainPayload);
    }
    tell({ t: "decoded", id, payloads });
  } catch (error) {
    tell({ t: "failed", id, message: named(error) });
  }
}

/**
 * Copies the bytes: codecs can return messages of a protobuf library, or views of larger buffers.
 */
function plainPayload(payload: Partial<Payload> | null | undefined): Payload {
  const metadata: { [key: string]: Uint8Array } = {};
  for (const [key, value] of Object.entries(payload?.metadata ?? {})) {
    metadata[key] = bytesOf(value, `metadata ${key}`);
  }
  return { metadata, data: bytesOf(payload?.data ?? new Uint8Array(0), "data") };
}

function bytesOf(value: unknown, what: string): Uint8Array {
  if (!ArrayBuffer.isView(value)) {
    throw new TypeError(`decode returned a payload whose ${what} is not a Uint8Array`);
  }
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
}

/** For example "OperationError: ..."; with advice if a global of Node is missing. */
function named(error: unknown): string {
  const { name, message } =
    (typeof error === "object" && error !== null
      ? error
      : { name: "thrown", message: String(error) }) as Error;
  const text = message === "" ? `${name}` : `${name}: ${message}`;
  const advice = /\b(Buffer|process|require) is not defined/.test(text)
    ? "; the codec runs in a browser here, without Node's globals"
    : "";
  return `${text.slice(0, 500)}${advice}`;
}
