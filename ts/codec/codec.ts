// Payload codecs: bytes to bytes, between the converter and the service. They encrypt, compress, or put large values elsewhere. A codec is
// asynchronous and may do I/O, so it runs on the host's side and never inside a workflow realm.
import type { Payload } from "../converter/payload.ts";
import { isA, messageOf, nameOf } from "../converter/thrown.ts";

/**
 * Changes payloads on their way to the service and back. Temporal's interface: a codec written for its SDKs works here, and the other way.
 *
 * Rules that every codec must keep: one payload out for each that came in, in the same order; `decode(encode(p))` is `p`; and `decode`
 * answers a payload that it did not encode (another or no `encoding` in its metadata) as it is, because histories have such ones: those
 * from the time before the codec was there.
 */
export interface PayloadCodec {
  /** On the way to the service. A rejection fails what is being sent, with a {@link PayloadCodecError}. */
  encode(payloads: Payload[]): Promise<Payload[]>;
  /** On the way back. */
  decode(payloads: Payload[]): Promise<Payload[]>;
  /**
   * As `encode`, without waiting: for what reducers of `transact` return and throw, because the transaction that they run in waits for
   * nothing. Needed with reducers, and used nowhere else.
   */
  encodeSync?(payloads: Payload[]): Payload[];
  /** As `decode`, without waiting: for the arguments of reducers. */
  decodeSync?(payloads: Payload[]): Payload[];
}

/** How a client, a worker or an application encodes; all that work on the same workflows need the same. */
export interface CodecOptions {
  /** Codecs of all payloads. Several are applied in their order, and taken back in reverse. Default: none, and bytes pass unread. */
  codec?: PayloadCodec | readonly PayloadCodec[] | undefined;
  /**
   * Puts messages and stack traces of failures into a payload, so that the codec encodes them too; in the log they are left out, and
   * listeners of the worker's `events` get them. Decoding needs no option. Default: false, and both are readable in histories and logs.
   */
  encodeCommonAttributes?: boolean | undefined;
}

/** A codec threw, did not answer, or answered something else than one payload for each. `cause` has what it threw. */
export class PayloadCodecError extends Error {
  override name = "PayloadCodecError";
  /** Which way it failed. */
  readonly direction: "encode" | "decode";
  /** The field at fault, e.g. "ScheduleActivityTaskCommandAttributes.input"; of several payloads the first one's. */
  readonly field: string;
  /** The message without the codec's own words, which may quote what it was given. */
  readonly summary: string;

  constructor(direction: "encode" | "decode", field: string, problem: string, details: string, options?: ErrorOptions) {
    const summary = `the payload codec could not ${direction} ${field}: ${problem}`;
    super(details === "" ? summary : `${summary}: ${details}`, options);
    this.direction = direction;
    this.field = field;
    this.summary = summary;
  }
}

/** The codecs of the options, in order. Throws a TypeError for what is none. */
export function codecsOf({ codec, encodeCommonAttributes }: CodecOptions): readonly PayloadCodec[] {
  const codecs = codec === undefined ? [] : Array.isArray(codec) ? codec as readonly PayloadCodec[] : [codec as PayloadCodec];
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

/** A codec that hangs is given up after this: a task or call that waited for it for ever would keep its slot. */
export const CODEC_TIMEOUT_MS = 60_000;
/** Payloads that one call of a codec gets at most, so that a long history does not ask for ten thousand blobs at once. */
export const CODEC_BATCH = 128;

/** Payloads with the field that each stands in. */
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
    for (const codec of order) payloads = await ask(codec, direction, payloads, batch[0]!.field, timeoutMs);
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
    const tooLong = () => reject(new PayloadCodecError(direction, field, `it has not answered within ${timeoutMs} ms`, ""));
    timer = setTimeout(tooLong, timeoutMs);
  });
  let answer: Payload[];
  try {
    // A copy: what the codec does to the list it was given is its own business.
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

/** What a codec threw, with the field at fault. */
export function codecError(direction: "encode" | "decode", field: string, cause: unknown): PayloadCodecError {
  if (cause instanceof PayloadCodecError) return cause;
  const name = isA(cause, Error) ? nameOf(cause) : typeof cause;
  return new PayloadCodecError(direction, field, name, messageOf(cause), { cause });
}

/** What is wrong with a codec's answer. */
export function codecAnswerProblem(answer: unknown, count: number): string | undefined {
  if (!Array.isArray(answer)) return `it answered no list of payloads, but ${answer === null ? "null" : `a ${typeof answer}`}`;
  if (answer.length !== count) return `it was given ${count} payloads and answered ${answer.length}`;
  for (const payload of answer as Partial<Payload>[]) {
    if (!(payload?.data instanceof Uint8Array)) return "it answered a payload whose data is no Uint8Array";
    const { metadata } = payload;
    if (typeof metadata !== "object" || metadata === null) return "it answered a payload without metadata";
    for (const key of Object.keys(metadata)) {
      if (!(metadata[key] instanceof Uint8Array)) return "it answered a payload with metadata that is no Uint8Array";
    }
  }
  return undefined;
}
