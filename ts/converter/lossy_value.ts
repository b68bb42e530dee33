// A value that JSON would lose without a word, and the one place where losing it is right: a run that replays.
import { brand } from "./brand.ts";

/** A value that no encoding takes, or a payload that none of them reads. */
export class PayloadConverterError extends Error {
  override name = "PayloadConverterError";
}

/**
 * A value of which JSON would keep nothing, or something else: a function, a class instance, a promise. In a client call and in an activity
 * it is thrown to the caller; in workflow code it fails the workflow task, whatever that code catches.
 */
export class LossyValueError extends PayloadConverterError {
  override name = "LossyValueError";
  /** Where the value stands in what was to be encoded: ".items[3].price"; "" for the whole. */
  readonly path: string;
  /** What it is and what to do: "a Promise; await it first". */
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(`value${path} is ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}
brand("LossyValueError", LossyValueError);

/** Runs `encode`; an error about one value of a list says which one. It stays the same error: a run may have taken note of it. */
export function namingArgument<T>(index: number, encode: () => T): T {
  try {
    return encode();
  } catch (error) {
    if (error instanceof LossyValueError) error.message = `args[${index}]${error.path} is ${error.problem}`;
    else if (error instanceof PayloadConverterError) error.message = `args[${index}]: ${error.message}`;
    throw error;
  }
}

/** Runs `encode`; an error about a value says what was to be encoded. */
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

// Under Symbol.for, as the executor's slot: a converter of the user's own may stand on another copy of this package.
const key = Symbol.for("temporalex.encoding.1");
const holder = globalThis as unknown as { [key]?: { replaying: boolean } };
const encoding = holder[key] ??= { replaying: false };

/** Is a run encoding again what its history holds already? */
export function isEncodingReplay(): boolean {
  return encoding.replaying;
}

/**
 * Runs `encode` for a run that replays: what would be refused is encoded as JSON has it. The history was written before values were refused
 * (or with a converter that does not refuse), nothing reads what is encoded here, and an error would lead the code another way than it went.
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
