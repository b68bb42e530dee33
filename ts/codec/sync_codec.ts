// Payload codecs inside a transaction. Reducers run in the transaction that commits their workflow
// task, which cannot wait, so arguments and results use the codec's synchronous functions
// (docs/dev/semantics/database.md#transact).
import type { DescMessage } from "@bufbuild/protobuf";
import {
  codecAnswerProblem,
  codecError,
  type CodecOptions,
  codecsOf,
  type PayloadCodec,
  PayloadCodecError,
} from "./codec.ts";
import type { Payload } from "../converter/payload.ts";
import { walkOf } from "./message_codec.ts";

type SyncCodec = PayloadCodec & Required<Pick<PayloadCodec, "encodeSync" | "decodeSync">>;

const isSync = (codec: PayloadCodec): codec is SyncCodec =>
  typeof codec.encodeSync === "function" && typeof codec.decodeSync === "function";

/** Applies codecs to whole messages, synchronously. */
export class SyncMessageCodec {
  readonly #codecs: readonly SyncCodec[];
  readonly #hidesText: boolean;

  private constructor(codecs: readonly SyncCodec[], hidesText: boolean) {
    this.#codecs = codecs;
    this.#hidesText = hidesText;
  }

  /**
   * Returns the codec of the options; undefined without one. Throws a TypeError for a codec without
   * synchronous functions.
   */
  static of(options: CodecOptions, user = "reducers"): SyncMessageCodec | undefined {
    const codecs = codecsOf(options);
    if (codecs.length === 0) return undefined;
    if (codecs.every(isSync)) {
      return new SyncMessageCodec(codecs, options.encodeCommonAttributes === true);
    }
    throw new TypeError(
      `${user} with a codec need its synchronous form, because the transaction that they run in waits for nothing: give the codec ` +
        "`encodeSync` and `decodeSync` next to `encode` and `decode`. Where it has to wait (keys or values elsewhere), use activities in " +
        `place of ${user}`,
    );
  }

  /**
   * Encodes the payloads of a message; with encodeCommonAttributes also the text of failures.
   * Throws a PayloadCodecError that names `what`.
   */
  encode(message: DescMessage, bytes: Uint8Array, what: string): Uint8Array {
    return this.#apply("encode", message, bytes, what);
  }

  /** Decodes the payloads of a message. Throws a PayloadCodecError that names `what`. */
  decode(message: DescMessage, bytes: Uint8Array, what: string): Uint8Array {
    return this.#apply("decode", message, bytes, what);
  }

  #apply(
    direction: "encode" | "decode",
    message: DescMessage,
    bytes: Uint8Array,
    what: string,
  ): Uint8Array {
    const encodes = direction === "encode";
    const walk = walkOf(message, bytes, direction, {
      failureText: !encodes ? "show" : this.#hidesText ? "hide" : "hideAgain",
    });
    if (walk.found.length === 0) return walk.finish();
    const order = encodes ? this.#codecs : [...this.#codecs].reverse();
    let payloads = walk.found.map(({ payload }) => payload);
    for (const codec of order) payloads = ask(codec, direction, payloads, what);
    walk.found.forEach((found, i) => (found.result = payloads[i]));
    return walk.finish();
  }
}

function ask(
  codec: SyncCodec,
  direction: "encode" | "decode",
  payloads: Payload[],
  field: string,
): Payload[] {
  let answer: Payload[];
  try {
    answer = direction === "encode"
      ? codec.encodeSync([...payloads])
      : codec.decodeSync([...payloads]);
  } catch (cause) {
    throw codecError(direction, field, cause);
  }
  const wrong = codecAnswerProblem(answer, payloads.length);
  if (wrong === undefined) return answer;
  // Nothing awaits this promise.
  Promise.resolve(answer).catch(() => {});
  throw new PayloadCodecError(direction, field, wrong, "");
}
