// Converts errors of the service between the native ServiceError and the form of grpc-js.
import { Code, ServiceError as RawServiceError } from "../../service/raw.ts";
import { type GrpcServiceError, isGrpcServiceError } from "./errors.ts";

const NAMES = new Map<number, string>(Object.entries(Code).map(([name, code]) => [code, name]));

/** Metadata in the form of grpc-js. */
export class GrpcMetadata {
  readonly #values: { readonly [name: string]: string };

  constructor(values: { readonly [name: string]: string } = {}) {
    this.#values = values;
  }
  /** Returns the values of a name. */
  get(name: string): string[] {
    const value = this.#values[name];
    return value === undefined ? [] : [value];
  }
  /** Returns the first value of each name. */
  getMap(): { [name: string]: string } {
    return { ...this.#values };
  }
}

/** Returns the error in the form of grpc-js. */
export function grpcError(error: RawServiceError): GrpcServiceError {
  // An error of a connection of another class is returned unchanged.
  if (isGrpcServiceError(error.cause)) return error.cause;
  const { code, message: details, metadata } = error;
  const made = new Error(`${code} ${NAMES.get(code) ?? "UNKNOWN"}: ${details}`);
  return Object.assign(made, { code, details, metadata: new GrpcMetadata(metadata) });
}

/** Converts an error of a connection of another class to a native one. */
export function rawError(error: unknown): unknown {
  if (!isGrpcServiceError(error)) return error;
  return new RawServiceError(error.code as Code, error.details, "", {}, { cause: error });
}

/** Returns the service error of a thrown error: itself, or its cause. */
export function refusalIn(thrown: unknown): RawServiceError | undefined {
  for (
    let part = thrown, depth = 0;
    part instanceof Error && depth < 10;
    part = part.cause, depth++
  ) {
    if (part instanceof RawServiceError) return part;
  }
  return undefined;
}
