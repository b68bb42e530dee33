// Randomness in a realm (Math.random and crypto) comes from the run's seeded generator in the core.
// The same seed gives the same numbers in every runtime and on replay.
import { defineMethod, type Globals, override } from "./patch.ts";
import type { GuardContext } from "./violations.ts";
import { uuidOf } from "../../platform/uuid.ts";

const MAX_BYTES = 65536;
const INTEGER_ARRAYS = /^(?:(?:Ui|I)nt(?:8|16|32)|Uint8Clamped|Big(?:Ui|I)nt64)Array$/;

export function guardRandom(globals: Globals, context: GuardContext): void {
  const realRandom = globals.Math.random;
  defineMethod(
    globals.Math,
    "random",
    () => context.inSideEffect ? realRandom() : context.random("Math.random()"),
  );
  const real = globals["crypto"] as Crypto | undefined;
  const bytes = (api: string, length: number, shown?: (bytes: Uint8Array) => string): Uint8Array =>
    context.inSideEffect && real !== undefined
      ? real.getRandomValues(new Uint8Array(length))
      : context.randomBytes(api, length, shown);
  const crypto = {
    getRandomValues<T extends ArrayBufferView>(array: T): T {
      const kind = (array as { [Symbol.toStringTag]?: string } | undefined)?.[Symbol.toStringTag] ??
        "";
      if (!INTEGER_ARRAYS.test(kind)) {
        throw new DOMException(
          "crypto.getRandomValues takes an integer typed array",
          "TypeMismatchError",
        );
      }
      const { buffer, byteOffset, byteLength } = array;
      if (byteLength > MAX_BYTES) {
        throw new DOMException(
          `crypto.getRandomValues() returns at most ${MAX_BYTES} bytes per call, not ${byteLength}`,
          "QuotaExceededError",
        );
      }
      new Uint8Array(buffer, byteOffset, byteLength).set(
        bytes("crypto.getRandomValues()", byteLength),
      );
      return array;
    },
    randomUUID(): string {
      return uuidOf(bytes("crypto.randomUUID()", 16, uuidOf));
    },
    get subtle(): never {
      return context.refuse(
        "crypto.subtle",
        "its results arrive at unpredictable times; hash, sign and encrypt in an activity",
      );
    },
  };
  override(globals, "crypto", Object.freeze(crypto));
}
