// The data converter of a worker: modules named by path are loaded here for activities, and once more in the realm for workflow code.
import {
  type DataConverter,
  defaultFailureConverter,
  defaultPayloadConverter,
  type FailureConverter,
  type LoadedDataConverter,
  type PayloadConverter,
  ValueError,
} from "../common/mod.ts";
import { moduleAt } from "./host.ts";
import { refuseOption } from "./runtime_options.ts";

async function converterAt<T>(path: string, name: string, methods: readonly (keyof T & string)[]): Promise<T> {
  let exports: { readonly [name: string]: unknown };
  try {
    exports = await moduleAt(path);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "MODULE_NOT_FOUND" && code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new ValueError(`Could not find a file at the specified ${name}Path: '${path}'.`, error);
  }
  // Of a CommonJS module that was imported, what it exports is the default export.
  const found = exports[name] ?? (exports["default"] as typeof exports | undefined)?.[name];
  if (found === undefined) throw new ValueError(`Module ${path} does not have a \`${name}\` named export`);
  if (methods.every((method) => typeof (found as T | null)?.[method] === "function")) return found as T;
  throw new ValueError(`${name} export at ${path} must be an object with ${methods.join(" and ")} methods`);
}

/** Loads the converters that are named by path. Rejects with a ValueError that names the path. */
export async function loadDataConverter(converter: DataConverter = {}): Promise<LoadedDataConverter> {
  const { payloadConverterPath, failureConverterPath, payloadCodecs, externalStorage } = converter;
  if (externalStorage !== undefined) {
    refuseOption("dataConverter.externalStorage", "put large values elsewhere in a payload codec (dataConverter.payloadCodecs)");
  }
  return {
    payloadConverter: payloadConverterPath === undefined
      ? defaultPayloadConverter
      : await converterAt<PayloadConverter>(payloadConverterPath, "payloadConverter", ["toPayload", "fromPayload"]),
    failureConverter: failureConverterPath === undefined
      ? defaultFailureConverter
      : await converterAt<FailureConverter>(failureConverterPath, "failureConverter", ["errorToFailure", "failureToError"]),
    payloadCodecs: payloadCodecs ?? [],
  };
}
