// Refusals between the two forms in which clients know them: the product's ServiceError, and an error as grpc-js makes it.
import { Code, ServiceError as RawServiceError } from "../../service/raw.ts";
import { type GrpcServiceError, isGrpcServiceError } from "./errors.ts";

const NAMES = new Map<number, string>(Object.entries(Code).map(([name, code]) => [code, name]));

/** Metadata as grpc-js shows it. */
export class GrpcMetadata {
  readonly #values: { readonly [name: string]: string };

  constructor(values: { readonly [name: string]: string } = {}) {
    this.#values = values;
  }
  /** The values of a name. */
  get(name: string): string[] {
    const value = this.#values[name];
    return value === undefined ? [] : [value];
  }
  /** The first value of each name. */
  getMap(): { [name: string]: string } {
    return { ...this.#values };
  }
}

/** The refusal as grpc-js has it. */
export function grpcError(error: RawServiceError): GrpcServiceError {
  // It came from a connection of another kind, and goes back as it came.
  if (isGrpcServiceError(error.cause)) return error.cause;
  const { code, message: details, metadata } = error;
  const made = new Error(`${code} ${NAMES.get(code) ?? "UNKNOWN"}: ${details}`);
  return Object.assign(made, { code, details, metadata: new GrpcMetadata(metadata) });
}

/** What a connection of another kind refused, as the product has it. */
export function rawError(error: unknown): unknown {
  if (!isGrpcServiceError(error)) return error;
  return new RawServiceError(error.code as Code, error.details, "", {}, { cause: error });
}

/** The refusal in what was thrown: itself, or what it was made from. */
export function refusalIn(thrown: unknown): RawServiceError | undefined {
  for (let part = thrown, depth = 0; part instanceof Error && depth < 10; part = part.cause, depth++) {
    if (part instanceof RawServiceError) return part;
  }
  return undefined;
}
