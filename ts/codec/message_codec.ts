// Applies payload codecs to all payloads in a message of the service.
import type { DescMessage } from "@bufbuild/protobuf";
import { HistorySchema } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  applyCodecs,
  CODEC_TIMEOUT_MS,
  type CodecOptions,
  codecsOf,
  type PayloadCodec,
  PayloadCodecError,
} from "./codec.ts";
import type { Payload } from "../converter/payload.ts";
import { planOf } from "./payload_plan.ts";
import { type Found, Walk } from "./payload_walk.ts";

/**
 * Set on a codec whose decoded failures keep their text in the payload, for failure converters that
 * read it there.
 */
export const KEEPS_FAILURE_TEXT: unique symbol = Symbol.for("temporalex.codec.keepsFailureText");

/** Maximum concurrent calls when payloads are decoded one by one. */
const EACH_AT_ONCE = 16;

export interface DecodeOptions {
  /**
   * Leaves payloads that do not decode as they are, for lists in which one must not hide the rest.
   * With "notGiven", only payloads of a history that a run never receives.
   */
  lenient?: boolean | "notGiven";
  /** Leaves payloads of a history that a run never receives as they are. */
  givenOnly?: boolean;
  /** Timeout of each call of a codec, in milliseconds. */
  timeoutMs?: number;
}

export interface EncodeOptions {
  /** Called with each set of payloads after encoding, e.g. to reject those that are too large. */
  check?: (field: string, payloads: Payload[]) => void;
  timeoutMs?: number;
}

export class MessageCodec {
  readonly #codecs: readonly PayloadCodec[];
  /** True if messages and stack traces of failures are encoded too. */
  readonly hidesText: boolean;
  readonly #keepsText: boolean;

  private constructor(codecs: readonly PayloadCodec[], hidesText: boolean, keepsText: boolean) {
    this.#codecs = codecs;
    this.hidesText = hidesText;
    this.#keepsText = keepsText;
  }

  /**
   * Returns the codec of the options; undefined without one. Throws a TypeError for an invalid
   * codec.
   */
  static of(options: CodecOptions): MessageCodec | undefined {
    const codecs = codecsOf(options);
    if (codecs.length === 0) return undefined;
    const keepsText = codecs.some((codec) =>
      (codec as { [KEEPS_FAILURE_TEXT]?: true })[KEEPS_FAILURE_TEXT] === true
    );
    return new MessageCodec(codecs, options.encodeCommonAttributes === true, keepsText);
  }

  /**
   * Encodes the payloads of a message. Rejects with a PayloadCodecError, or with what `check`
   * throws.
   */
  async encode(
    message: DescMessage,
    bytes: Uint8Array,
    options: EncodeOptions = {},
  ): Promise<Uint8Array> {
    const walk = walkOf(message, bytes, "encode", {
      failureText: this.hidesText ? "hide" : "hideAgain",
    });
    if (walk.found.length === 0) return walk.finish();
    const results = await applyCodecs(
      this.#codecs,
      "encode",
      walk.found,
      options.timeoutMs ?? CODEC_TIMEOUT_MS,
    );
    walk.found.forEach((found, i) => (found.result = results[i]));
    const { check } = options;
    if (check !== undefined) {
      for (const [field, payloads] of sets(walk.found)) check(field, payloads);
    }
    return walk.finish();
  }

  /**
   * Decodes the payloads of a message and restores messages and stack traces of failures. Rejects
   * with a PayloadCodecError.
   */
  async decode(
    message: DescMessage,
    bytes: Uint8Array,
    options: DecodeOptions = {},
  ): Promise<Uint8Array> {
    const { lenient = false, givenOnly } = options;
    const walk = walkOf(message, bytes, "decode", {
      failureText: this.#keepsText ? "keep" : "show",
      givenOnly,
    });
    if (walk.found.length === 0) return walk.finish();
    const timeoutMs = options.timeoutMs ?? CODEC_TIMEOUT_MS;
    let results: (Payload | undefined)[];
    try {
      results = await applyCodecs(this.#codecs, "decode", walk.found, timeoutMs);
    } catch (error) {
      if (lenient === false || (lenient === "notGiven" && walk.found.every(({ given }) => given))) {
        throw error;
      }
      results = await this.#decodeEach(walk.found, lenient, timeoutMs);
    }
    walk.found.forEach((found, i) => (found.result = results[i]));
    return walk.finish();
  }

  /**
   * Decodes payloads one by one, for a set that does not decode together. Payloads that must decode
   * come first, so that an unavailable codec is not called for each payload of a long history.
   * Rejects with the first error of a payload that must decode.
   */
  async #decodeEach(
    found: readonly Found[],
    lenient: true | "notGiven",
    timeoutMs: number,
  ): Promise<(Payload | undefined)[]> {
    const results: (Payload | undefined)[] = found.map(() => undefined);
    const needed = (i: number) => lenient === "notGiven" && found[i]!.given;
    const left = found.map((_, i) => i).sort((a, b) => Number(needed(b)) - Number(needed(a)));
    const work = async () => {
      for (let i = left.shift(); i !== undefined; i = left.shift()) {
        try {
          [results[i]] = await applyCodecs(this.#codecs, "decode", [found[i]!], timeoutMs);
        } catch (error) {
          if (!needed(i)) continue;
          left.length = 0;
          throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: EACH_AT_ONCE }, work));
    return results;
  }

  /**
   * Decodes temporal.api.history.v1.History for workflow code, and every other payload that
   * decodes.
   */
  decodeHistory(history: Uint8Array): Promise<Uint8Array> {
    return this.decode(HistorySchema, history, { lenient: "notGiven" });
  }
}

/**
 * Decodes an exported history (bytes of temporal.api.history.v1.History) for replay. Without a
 * codec, returns it unchanged. Payloads that a replay does not need (those that the run itself
 * sent) stay encoded if they do not decode. Rejects with a PayloadCodecError.
 */
export async function decodeHistory(
  history: Uint8Array,
  codec: CodecOptions["codec"],
): Promise<Uint8Array> {
  const decoder = MessageCodec.of({ codec });
  return decoder === undefined ? history : await decoder.decodeHistory(history);
}

/** Returns the payloads of a message. Throws a PayloadCodecError for invalid bytes. */
export function walkOf(
  message: DescMessage,
  bytes: Uint8Array,
  direction: "encode" | "decode",
  options: ConstructorParameters<typeof Walk>[2],
) {
  try {
    return new Walk(planOf(message), bytes, options);
  } catch (cause) {
    const { name, message: details } = cause as Error;
    throw new PayloadCodecError(
      direction,
      message.name,
      `its bytes cannot be read (${name})`,
      details,
      { cause },
    );
  }
}

/** Groups payloads into sets, with the field of each. */
function sets(found: readonly Found[]): Iterable<readonly [string, Payload[]]> {
  const groups = new Map<object, [string, Payload[]]>();
  for (const { group, field, result } of found) {
    const set = groups.get(group);
    if (set === undefined) groups.set(group, [field, [result!]]);
    else set[1].push(result!);
  }
  return groups.values();
}
