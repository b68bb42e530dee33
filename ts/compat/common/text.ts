// Helpers of `@temporalio/common/lib` for programs and libraries.

/** Returns the UTF-8 bytes of a text. */
export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Decodes UTF-8 bytes. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Returns whether a value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Returns whether a value is an error of any realm. */
export function isError(error: unknown): error is Error {
  return isRecord(error) && typeof error["name"] === "string" &&
    typeof error["message"] === "string" &&
    (error["stack"] === undefined || error["stack"] === null || typeof error["stack"] === "string");
}

/** Returns whether an error is that of an AbortSignal. */
export function isAbortError(error: unknown): error is Error & { name: "AbortError" } {
  return isError(error) && error.name === "AbortError";
}

/** Returns the message of an error, or a thrown string. */
export function errorMessage(error: unknown): string | undefined {
  if (isError(error)) return error.message;
  return typeof error === "string" ? error : undefined;
}

/** Returns the `code` of an error if it is a string. */
export function errorCode(error: unknown): string | undefined {
  return isRecord(error) && typeof error["code"] === "string" ? error["code"] : undefined;
}

/** Returns whether the object has the property. */
export function hasOwnProperty<X extends Record<string, unknown>, Y extends PropertyKey>(
  record: X,
  prop: Y,
): record is X & Record<Y, unknown> {
  return prop in record;
}

/** Returns whether the object has all properties. */
export function hasOwnProperties<X extends Record<string, unknown>, Y extends PropertyKey>(
  record: X,
  props: Y[],
): record is X & Record<Y, unknown> {
  return props.every((prop) => prop in record);
}

/** Only checks types. */
export function checkExtends<_Orig, _Copy extends _Orig>(): void {}

/** Throws: unreachable according to the compiler. */
export function assertNever(message: string, value: never): never {
  throw new TypeError(`${message}: ${value}`);
}

/** Returns the object without undefined and null properties. */
// deno-lint-ignore no-explicit-any
export function filterNullAndUndefined<T extends Record<string, any>>(object: T): T {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && value !== null),
  ) as T;
}
