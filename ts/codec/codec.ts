// Payload codecs: bytes to bytes, between converter and service. They encrypt, compress, or store
// large values elsewhere. Codecs are asynchronous and may do I/O, so they run on the host, never in
// a realm.
import type { Payload } from "../converter/payload.ts";
import { isA, messageOf, nameOf } from "../converter/thrown.ts";

/**
 * Transforms payloads on their way to the service and back. Same interface as in Temporal's SDKs,
 * so codecs work in both.
 *
 * Rules for every codec: return one payload for each input, in the same order; `decode(encode(p))`
 * is `p`; and `decode` returns payloads that it did not encode unchanged (another or no `encoding`
 * in the metadata), because histories from before the codec contain them.
 */
export interface PayloadCodec {
  /**
   * Transforms payloads for the service. A rejection fails the request with a {@link
   * PayloadCodecError}.
   */
  encode(payloads: Payload[]): Promise<Payload[]>;
  /** Transforms payloads from the service. */
  decode(payloads: Payload[]): Promise<Payload[]>;
  /**
   * Synchronous `encode`, for what reducers of `transact` return and throw: their transaction
   * cannot wait. Only needed with reducers.
   */
  encodeSync?(payloads: Payload[]): Payload[];
  /** Synchronous `decode`, for the arguments of reducers. */
  decodeSync?(payloads: Payload[]): Payload[];
}

/**
 * Codec settings of a client, worker or application. All that use the same workflows need the same
 * settings.
 */
export interface CodecOptions {
  /**
   * Codecs for all payloads. Several are applied in order and undone in reverse. Default: no codec.
   */
  codec?: PayloadCodec | readonly PayloadCodec[] | undefined;
  /**
   * Moves messages and stack traces of failures into a payload, so that the codec encodes them.
   * Logs then omit them; listeners of the worker's `events` receive them. Decoding needs no option.
   * Default: false, so both are readable in histories and logs.
   */
  encodeCommonAttributes?: boolean | undefined;
}

/**
 * A codec threw, timed out, or did not return one payload for each input. `cause` is what it threw.
 */
export class PayloadCodecError extends Error {
  override name = "PayloadCodecError";
  /** Direction of the failed call. */
  readonly direction: "encode" | "decode";
  /**
   * The failed field, e.g. "ScheduleActivityTaskCommandAttributes.input"; the first one of several.
   */
  readonly field: string;
  /** The message without the codec's own text, which may quote its input. */
  readonly summary: string;

  constructor(
    direction: "encode" | "decode",
    field: string,
    problem: string,
    details: string,
    options?: ErrorOptions,
  ) {
    const summary = `the payload codec could not ${direction} ${field}: ${problem}`;
    super(details === "" ? summary : `${summary}: ${details}`, options);
    this.direction = direction;
    this.field = field;
    this.summary = summary;
  }
}

/** Returns the codecs of the options, in order. Throws a TypeError for an invalid codec. */
export function codecsOf({ codec, encodeCommonAttributes }: CodecOptions): readonly PayloadCodec[] {
  const codecs = codec === undefined
    ? []
    : Array.isArray(codec)
    ? codec as readonly PayloadCodec[]
    : [codec as PayloadCodec];
  for (const one of codecs) {
    if (typeof one?.encode !== "function" || typeof one.decode !== "function") {
      throw new TypeError("a payload codec is an object with the functions `encode` and `decode`");
    }
  }
  if (encodeCommonAttributes && codecs.length === 0) {
    throw new TypeError(
      "encodeCommonAttributes needs a codec: without one, messages and stack traces would only move to another field",
    );
  }
  return codecs;
}

/**
 * Timeout of a call of a codec, in milliseconds: a codec that hangs would occupy a slot forever.
 */
export const CODEC_TIMEOUT_MS = 60_000;
/**
 * Maximum payloads in one call of a codec, so that a long history does not request 10,000 blobs at
 * once.
 */
export const CODEC_BATCH = 128;

/** Payloads, each with the name of its field. */
export interface CodecInput {
  readonly payload: Payload;
  readonly field: string;
}

/** Runs all payloads through all codecs. Rejects with a PayloadCodecError. */
export async function applyCodecs(
  codecs: readonly PayloadCodec[],
  direction: "encode" | "decode",
  inputs: readonly CodecInput[],
  timeoutMs = CODEC_TIMEOUT_MS,
): Promise<Payload[]> {
  const order = direction === "encode" ? codecs : [...codecs].reverse();
  const outputs: Payload[] = [];
  for (let from = 0; from < inputs.length; from += CODEC_BATCH) {
    const batch = inputs.slice(from, from + CODEC_BATCH);
    let payloads = batch.map(({ payload }) => payload);
    for (const codec of order) {
      payloads = await ask(codec, direction, payloads, batch[0]!.field, timeoutMs);
    }
    outputs.push(...payloads);
  }
  return outputs;
}

async function ask(
  codec: PayloadCodec,
  direction: "encode" | "decode",
  payloads: Payload[],
  field: string,
  timeoutMs: number,
): Promise<Payload[]> {
  const count = payloads.length;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const tooLong = () =>
      reject(
        new PayloadCodecError(direction, field, `it did not return within ${timeoutMs} ms`, ""),
      );
    timer = setTimeout(tooLong, timeoutMs);
  });
  let answer: Payload[];
  try {
    // A copy: a codec may change the list it receives.
    answer = await Promise.race([codec[direction]([...payloads]), late]);
  } catch (cause) {
    throw codecError(direction, field, cause);
  } finally {
    clearTimeout(timer);
  }
  const wrong = codecAnswerProblem(answer, count);
  if (wrong !== undefined) throw new PayloadCodecError(direction, field, wrong, "");
  return answer;
}

/** Wraps what a codec threw, with the name of the field. */
export function codecError(
  direction: "encode" | "decode",
  field: string,
  cause: unknown,
): PayloadCodecError {
  if (cause instanceof PayloadCodecError) return cause;
  const name = isA(cause, Error) ? nameOf(cause) : typeof cause;
  return new PayloadCodecError(direction, field, name, messageOf(cause), { cause });
}

/** Describes what is wrong with a codec's result; undefined for a valid one. */
export function codecAnswerProblem(answer: unknown, count: number): string | undefined {
  if (!Array.isArray(answer)) {
    return `it returned ${
      answer === null ? "null" : `a value of type ${typeof answer}`
    }, not a list of payloads`;
  }
  if (answer.length !== count) {
    return `it was given ${count} payloads and returned ${answer.length}`;
  }
  for (const payload of answer as Partial<Payload>[]) {
    if (!(payload?.data instanceof Uint8Array)) {
      return "it returned a payload whose data is not a Uint8Array";
    }
    const { metadata } = payload;
    if (typeof metadata !== "object" || metadata === null) {
      return "it returned a payload without metadata";
    }
    for (const key of Object.keys(metadata)) {
      if (!(metadata[key] instanceof Uint8Array)) {
        return "it returned a payload with metadata that is not a Uint8Array";
      }
    }
  }
  return undefined;
}
