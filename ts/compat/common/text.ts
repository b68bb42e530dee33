// Small helpers of `@temporalio/common/lib` that programs and libraries import.

/** The bytes of a text. */
export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The text of bytes. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** An object? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** An error, of any realm. */
export function isError(error: unknown): error is Error {
  return isRecord(error) && typeof error["name"] === "string" && typeof error["message"] === "string" &&
    (error["stack"] === undefined || error["stack"] === null || typeof error["stack"] === "string");
}

/** An error by which an AbortSignal ends something. */
export function isAbortError(error: unknown): error is Error & { name: "AbortError" } {
  return isError(error) && error.name === "AbortError";
}

/** The message of an error, or what was thrown where that is text. */
export function errorMessage(error: unknown): string | undefined {
  if (isError(error)) return error.message;
  return typeof error === "string" ? error : undefined;
}

/** The `code` of an error, where that is text. */
export function errorCode(error: unknown): string | undefined {
  return isRecord(error) && typeof error["code"] === "string" ? error["code"] : undefined;
}

/** Has the object that property? */
export function hasOwnProperty<X extends Record<string, unknown>, Y extends PropertyKey>(
  record: X,
  prop: Y,
): record is X & Record<Y, unknown> {
  return prop in record;
}

/** Has the object all these properties? */
export function hasOwnProperties<X extends Record<string, unknown>, Y extends PropertyKey>(
  record: X,
  props: Y[],
): record is X & Record<Y, unknown> {
  return props.every((prop) => prop in record);
}

/** For the compiler alone. */
export function checkExtends<_Orig, _Copy extends _Orig>(): void {}

/** Throws: the compiler says that it is never reached. */
export function assertNever(message: string, value: never): never {
  throw new TypeError(`${message}: ${value}`);
}

/** The object without properties that are undefined or null. */
// deno-lint-ignore no-explicit-any
export function filterNullAndUndefined<T extends Record<string, any>>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== null)) as T;
}
