// A program's data converter: converters of values and failures, and codecs.
import { DefaultFailureConverter, type FailureConverter } from "./default_failure_converter.ts";
import type { ExternalStorage } from "./external_storage.ts";
import {
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
} from "./payload_converters.ts";
import type { SerializationContext } from "./type_info.ts";

/** Encrypts or compresses payloads, outside of workflow code. */
export interface PayloadCodec {
  /** Encodes payloads. */
  encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]>;
  /** Decodes results of `encode`. */
  decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]>;
}

/** Data converter option of clients and workers. */
export interface DataConverter {
  /** Path of a module that exports `payloadConverter`. */
  payloadConverterPath?: string;
  /** Path of a module that exports `failureConverter`. */
  failureConverterPath?: string;
  /** Codecs; applied in order, and in reverse order to decode. */
  payloadCodecs?: PayloadCodec[];
  /** Storage of large payloads. */
  externalStorage?: ExternalStorage;
}

/** A data converter with loaded modules. */
export interface LoadedDataConverter {
  /** Converts values. */
  payloadConverter: PayloadConverter;
  /** Converts errors. */
  failureConverter: FailureConverter;
  /** Codecs; applied in order, and in reverse order to decode. */
  payloadCodecs: PayloadCodec[];
  /** Storage of large payloads. */
  externalStorage?: ExternalStorage;
}

/** Default failure converter. */
export const defaultFailureConverter: FailureConverter = new DefaultFailureConverter();
/** Default data converter. */
export const defaultDataConverter: LoadedDataConverter = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: defaultFailureConverter,
  payloadCodecs: [],
};

/**
 * Returns whether the text of errors is encoded: the failure converter has
 * `encodeCommonAttributes`, and there are codecs. Logs must then omit that text.
 */
export function encodesErrorText(
  { failureConverter, payloadCodecs }: LoadedDataConverter,
): boolean {
  const { options } = failureConverter as {
    readonly options?: { readonly encodeCommonAttributes?: unknown };
  };
  return payloadCodecs.length > 0 && options?.encodeCommonAttributes === true;
}
