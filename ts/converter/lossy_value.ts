// Values that JSON would silently lose, and the one case in which that is correct: replay.
import { brand } from "./brand.ts";

/** A value that cannot be encoded, or a payload that cannot be decoded. */
export class PayloadConverterError extends Error {
  override name = "PayloadConverterError";
}

/**
 * A value that JSON loses or changes: a function, a class instance, a promise. Client calls and
 * activities throw it to the caller; in workflow code it fails the workflow task, whatever that
 * code catches.
 */
export class LossyValueError extends PayloadConverterError {
  override name = "LossyValueError";
  /** Path within the encoded value: ".items[3].price"; "" for the whole. */
  readonly path: string;
  /** What the value is and what to do: "a Promise; await it first". */
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(`value${path} is ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}
brand("LossyValueError", LossyValueError);

/**
 * Runs `encode`; adds the index of the value to an error. Keeps the same error object, which a run
 * may have recorded.
 */
export function namingArgument<T>(index: number, encode: () => T): T {
  try {
    return encode();
  } catch (error) {
    if (error instanceof LossyValueError) {
      error.message = `args[${index}]${error.path} is ${error.problem}`;
    } else if (error instanceof PayloadConverterError) {
      error.message = `args[${index}]: ${error.message}`;
    }
    throw error;
  }
}

/** Runs `encode`; adds `what` to the message of an error about a value. */
export function namingWhat<T>(what: string, encode: () => T): T {
  try {
    return encode();
  } catch (error) {
    if (error instanceof LossyValueError || error instanceof PayloadConverterError) {
      error.message = `${what} cannot be encoded: ${error.message}`;
    }
    throw error;
  }
}

// Under Symbol.for, like the executor's slot: a user's converter may use another copy of this
// package.
const key = Symbol.for("temporalex.encoding.1");
const holder = globalThis as unknown as { [key]?: { replaying: boolean } };
const encoding = holder[key] ??= { replaying: false };

/** Returns whether a run is encoding what its history already contains. */
export function isEncodingReplay(): boolean {
  return encoding.replaying;
}

/**
 * Runs `encode` for a run that replays: lossy values are encoded as JSON instead of rejected. The
 * history was written before values were rejected, or with another converter. Nothing reads the
 * result, and an error would make the code diverge.
 */
export function encodingReplay<T>(replaying: boolean, encode: () => T): T {
  const before = encoding.replaying;
  encoding.replaying = replaying;
  try {
    return encode();
  } finally {
    encoding.replaying = before;
  }
}
