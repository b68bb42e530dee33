// The modules of a data converter: clients and workers load them on the host's side.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { errorCode, isRecord } from "../common/text.ts";
import { type DataConverter, defaultFailureConverter, type LoadedDataConverter } from "../common/data_converter.ts";
import { ValueError } from "../common/errors.ts";
import { defaultPayloadConverter } from "../common/payload_converters.ts";

function load<T>(path: string, name: "payloadConverter" | "failureConverter", methods: readonly string[]): T {
  let module: unknown;
  try {
    module = createRequire(import.meta.url)(path.startsWith("file:") ? fileURLToPath(path) : path);
  } catch (error) {
    if (errorCode(error) === "MODULE_NOT_FOUND") {
      throw new ValueError(`Could not find a file at the specified ${name}Path: '${path}'.`);
    }
    throw error;
  }
  if (!isRecord(module) || !(name in module)) throw new ValueError(`Module ${path} does not have a \`${name}\` named export`);
  const found = module[name];
  if (!isRecord(found) || methods.some((method) => typeof found[method] !== "function")) {
    throw new ValueError(`${name} export at ${path} must be an object with ${methods.join(" and ")} methods`);
  }
  return found as T;
}

/** A data converter with its modules loaded. Throws a ValueError that names the path at fault. */
export function loadDataConverter(given: DataConverter | LoadedDataConverter = {}): LoadedDataConverter {
  const { externalStorage } = given;
  if (externalStorage !== undefined) {
    throw new TypeError(
      'the option "externalStorage" of a data converter is not supported here yet; put large values elsewhere with a payload codec',
    );
  }
  if ("payloadConverter" in given) return given;
  const { payloadConverterPath, failureConverterPath, payloadCodecs = [] } = given as DataConverter;
  return {
    payloadConverter: payloadConverterPath
      ? load(payloadConverterPath, "payloadConverter", ["toPayload", "fromPayload"])
      : defaultPayloadConverter,
    failureConverter: failureConverterPath
      ? load(failureConverterPath, "failureConverter", ["errorToFailure", "failureToError"])
      : defaultFailureConverter,
    payloadCodecs,
  };
}
