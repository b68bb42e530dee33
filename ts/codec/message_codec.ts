// Payload codecs applied to whole messages of the service: every payload in them, wherever it stands.
import type { DescMessage } from "@bufbuild/protobuf";
import { HistorySchema } from "../api/generated/temporal/api/history/v1/message_pb.ts";
import { applyCodecs, CODEC_TIMEOUT_MS, type CodecOptions, codecsOf, type PayloadCodec, PayloadCodecError } from "./codec.ts";
import type { Payload } from "../converter/payload.ts";
import { planOf } from "./payload_plan.ts";
import { type Found, Walk } from "./payload_walk.ts";

/** On a codec: decoded failures keep their text in its payload, for failure converters that read it from there. */
export const KEEPS_FAILURE_TEXT: unique symbol = Symbol.for("temporalex.codec.keepsFailureText");

/** Payloads under way at once that a codec is asked for one by one. */
const EACH_AT_ONCE = 16;

export interface DecodeOptions {
  /**
   * A payload that does not decode stays as it is, for lists in which it must not hide the rest; with "notGiven" only one of a history that
   * no run is given.
   */
  lenient?: boolean | "notGiven";
  /** Payloads of a history that no run is given stay as they are. */
  givenOnly?: boolean;
  /** Time that each call of a codec is given. */
  timeoutMs?: number;
}

export interface EncodeOptions {
  /** Told of each set of payloads after encoding, e.g. to refuse those that are too large. */
  check?: (field: string, payloads: Payload[]) => void;
  timeoutMs?: number;
}

export class MessageCodec {
  readonly #codecs: readonly PayloadCodec[];
  /** Messages and stack traces of failures are encoded too. */
  readonly hidesText: boolean;
  readonly #keepsText: boolean;

  private constructor(codecs: readonly PayloadCodec[], hidesText: boolean, keepsText: boolean) {
    this.#codecs = codecs;
    this.hidesText = hidesText;
    this.#keepsText = keepsText;
  }

  /** Returns the codec of the options; undefined without one. Throws a TypeError for what is not a codec. */
  static of(options: CodecOptions): MessageCodec | undefined {
    const codecs = codecsOf(options);
    if (codecs.length === 0) return undefined;
    const keepsText = codecs.some((codec) => (codec as { [KEEPS_FAILURE_TEXT]?: true })[KEEPS_FAILURE_TEXT] === true);
    return new MessageCodec(codecs, options.encodeCommonAttributes === true, keepsText);
  }

  /** Encodes the payloads of a message. Rejects with a PayloadCodecError, or with what `check` throws. */
  async encode(message: DescMessage, bytes: Uint8Array, options: EncodeOptions = {}): Promise<Uint8Array> {
    const walk = walkOf(message, bytes, "encode", { failureText: this.hidesText ? "hide" : "hideAgain" });
    if (walk.found.length === 0) return walk.finish();
    const results = await applyCodecs(this.#codecs, "encode", walk.found, options.timeoutMs ?? CODEC_TIMEOUT_MS);
    walk.found.forEach((found, i) => (found.result = results[i]));
    const { check } = options;
    if (check !== undefined) { for (const [field, payloads] of sets(walk.found)) check(field, payloads); }
    return walk.finish();
  }

  /** Decodes the payloads of a message, and puts messages and stack traces of failures back. Rejects with a PayloadCodecError. */
  async decode(message: DescMessage, bytes: Uint8Array, options: DecodeOptions = {}): Promise<Uint8Array> {
    const { lenient = false, givenOnly } = options;
    const walk = walkOf(message, bytes, "decode", { failureText: this.#keepsText ? "keep" : "show", givenOnly });
    if (walk.found.length === 0) return walk.finish();
    const timeoutMs = options.timeoutMs ?? CODEC_TIMEOUT_MS;
    let results: (Payload | undefined)[];
    try {
      results = await applyCodecs(this.#codecs, "decode", walk.found, timeoutMs);
    } catch (error) {
      if (lenient === false || (lenient === "notGiven" && walk.found.every(({ given }) => given))) throw error;
      results = await this.#decodeEach(walk.found, lenient, timeoutMs);
    }
    walk.found.forEach((found, i) => (found.result = results[i]));
    return walk.finish();
  }

  /**
   * Of payloads that do not decode together, those that decode by themselves. A few at once, and what must decode goes first: a codec that is
   * away is not asked for each payload of a long history. Rejects with what the first that must decode failed with.
   */
  async #decodeEach(found: readonly Found[], lenient: true | "notGiven", timeoutMs: number): Promise<(Payload | undefined)[]> {
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

  /** Bytes of temporal.api.history.v1.History as workflow code is to see them, and everything else that decodes. */
  decodeHistory(history: Uint8Array): Promise<Uint8Array> {
    return this.decode(HistorySchema, history, { lenient: "notGiven" });
  }
}

/**
 * Decodes an exported history (bytes of temporal.api.history.v1.History), so that it can be replayed. Without a codec it is answered as
 * it is, and a payload that a replay does not need (what the run sent itself) stays as it is where it does not decode. Rejects with a
 * PayloadCodecError.
 */
export async function decodeHistory(history: Uint8Array, codec: CodecOptions["codec"]): Promise<Uint8Array> {
  const decoder = MessageCodec.of({ codec });
  return decoder === undefined ? history : await decoder.decodeHistory(history);
}

/** The payloads of a message. Throws a PayloadCodecError for bytes that are none. */
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
    throw new PayloadCodecError(direction, message.name, `its bytes cannot be read (${name})`, details, { cause });
  }
}

/** Payloads by their sets, with the field of each set. */
function sets(found: readonly Found[]): Iterable<readonly [string, Payload[]]> {
  const groups = new Map<object, [string, Payload[]]>();
  for (const { group, field, result } of found) {
    const set = groups.get(group);
    if (set === undefined) groups.set(group, [field, [result!]]);
    else set[1].push(result!);
  }
  return groups.values();
}
