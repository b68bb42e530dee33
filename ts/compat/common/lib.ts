// The deep imports of `@temporalio/common` that programs have: its time, encoding and type helpers beside all that the package exports.
export * from "./mod.ts";
export { msOptionalToNumber, msToNumber } from "./time.ts";

/** The bytes of a text. */
export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The text of bytes. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
