// A program's data converter: how values become payloads, errors failures, and what is done to the bytes.
import { DefaultFailureConverter, type FailureConverter } from "./default_failure_converter.ts";
import type { ExternalStorage } from "./external_storage.ts";
import { defaultPayloadConverter, type Payload, type PayloadConverter } from "./payload_converters.ts";
import type { SerializationContext } from "./type_info.ts";

/** Encrypts or compresses payloads. Runs outside of workflow code. */
export interface PayloadCodec {
  /** What is sent for payloads. */
  encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]>;
  /** What was given to `encode`. */
  decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]>;
}

/** A data converter as clients and workers are given it. */
export interface DataConverter {
  /** Path of a module that exports `payloadConverter`. */
  payloadConverterPath?: string;
  /** Path of a module that exports `failureConverter`. */
  failureConverterPath?: string;
  /** Codecs; the last one is the first to decode. */
  payloadCodecs?: PayloadCodec[];
  /** Where large payloads are kept. */
  externalStorage?: ExternalStorage;
}

/** A data converter whose modules are loaded. */
export interface LoadedDataConverter {
  /** Values to payloads and back. */
  payloadConverter: PayloadConverter;
  /** Errors to failures and back. */
  failureConverter: FailureConverter;
  /** Codecs; the last one is the first to decode. */
  payloadCodecs: PayloadCodec[];
  /** Where large payloads are kept. */
  externalStorage?: ExternalStorage;
}

/** What is used where a program names no failure converter. */
export const defaultFailureConverter: FailureConverter = new DefaultFailureConverter();
/** What is used where a program names no data converter. */
export const defaultDataConverter: LoadedDataConverter = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: defaultFailureConverter,
  payloadCodecs: [],
};

/**
 * Returns whether the text of errors is encoded: the failure converter has `encodeCommonAttributes`, and codecs encode what it puts into
 * payloads. Then no log may have that text.
 */
export function encodesErrorText({ failureConverter, payloadCodecs }: LoadedDataConverter): boolean {
  const { options } = failureConverter as { readonly options?: { readonly encodeCommonAttributes?: unknown } };
  return payloadCodecs.length > 0 && options?.encodeCommonAttributes === true;
}
