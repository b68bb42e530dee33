// Loads the modules of a data converter by path on the host, for clients, whose constructors are
// synchronous, and for workers, which load them in the realm as well.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { fileUrl } from "../../platform/source_files.ts";
import { errorCode, isRecord } from "../common/text.ts";
import {
  type DataConverter,
  defaultFailureConverter,
  type LoadedDataConverter,
} from "../common/data_converter.ts";
import { ValueError } from "../common/errors.ts";
import { defaultPayloadConverter } from "../common/payload_converters.ts";

type Kind = "payloadConverter" | "failureConverter";
type Exports = { readonly [kind in Kind]?: unknown };

const METHODS = {
  payloadConverter: ["toPayload", "fromPayload"],
  failureConverter: ["errorToFailure", "failureToError"],
} as const;

/** Throws a TypeError for an unsupported option. */
function refuse({ externalStorage, payloadCodecs }: DataConverter | LoadedDataConverter): void {
  if (externalStorage !== undefined) {
    throw new TypeError(
      'the option "externalStorage" of a data converter is not supported here; ' +
        "put large values elsewhere in a payload codec (payloadCodecs)",
    );
  }
  // A codec may choose its key by the context; without one, the official SDK could not decode its
  // payloads.
  const asking = (payloadCodecs ?? []).findIndex(({ encode, decode }) =>
    encode?.length > 1 || decode?.length > 1
  );
  if (asking < 0) return;
  throw new TypeError(
    `payloadCodecs[${asking}] of a data converter takes a serialization context as its second parameter, which is not supported here; ` +
      "encode(payloads) and decode(payloads) must work without it",
  );
}

/** Returns the converter that a module exports. Throws a ValueError. */
function readConverterExport(exports: unknown, path: string, kind: Kind): never {
  // The default export of an imported CommonJS module is its whole exports object.
  const of = (from: unknown) =>
    isRecord(from) || typeof from === "function" ? (from as Exports)[kind] : undefined;
  const found = of(exports) ?? of((exports as { default?: unknown } | null)?.default);
  if (found === undefined) {
    throw new ValueError(`Module ${path} does not have a \`${kind}\` named export`);
  }
  const methods: readonly string[] = METHODS[kind];
  if (isRecord(found) && methods.every((method) => typeof found[method] === "function")) {
    return found as never;
  }
  throw new ValueError(
    `${kind} export at ${path} must be an object with ${methods.join(" and ")} methods`,
  );
}

/** Returns the error for a module that did not load: a ValueError if the file is missing. */
function notLoaded(error: unknown, path: string, kind: Kind): unknown {
  if (error instanceof SyntaxError && /\.[cm]?tsx?$/.test(path)) {
    const how = "name what it is compiled to, or run the program under tsx or ts-node";
    return new ValueError(
      `${kind}Path names TypeScript, which cannot be loaded here: ${how}: '${path}' (${error.message})`,
      error,
    );
  }
  const code = errorCode(error);
  if (code !== "MODULE_NOT_FOUND" && code !== "ERR_MODULE_NOT_FOUND") return error;
  return new ValueError(`Could not find a file at the specified ${kind}Path: '${path}'.`, error);
}

/**
 * Jest's `require`, set by jest.cjs: it has the program's transformers and the classes of its
 * tests.
 */
const JEST = Symbol.for("temporalex.jest-require");

function required(path: string): unknown {
  const url = fileUrl(path);
  const jest = (globalThis as unknown as { [JEST]?: (path: string) => unknown })[JEST];
  if (jest !== undefined) {
    try {
      return jest(fileURLToPath(url));
    } catch (error) {
      if (errorCode(error) !== "ERR_REQUIRE_ESM") throw error;
    }
  }
  return createRequire(url)(fileURLToPath(url));
}

/**
 * Tries `require` first, like the official SDK, for hooks of ts-node and tsx; then imports. In Deno
 * only import supports TypeScript.
 */
async function imported(path: string): Promise<unknown> {
  if (!("Deno" in globalThis)) {
    try {
      return required(path);
    } catch (error) {
      const code = errorCode(error);
      const isModule = code === "ERR_REQUIRE_ESM" || code === "ERR_REQUIRE_ASYNC_MODULE" ||
        code === "ERR_UNKNOWN_FILE_EXTENSION";
      if (!isModule && !(error instanceof SyntaxError)) throw error;
    }
  }
  return await import(fileUrl(path));
}

function loaded(
  given: DataConverter,
  exports: { readonly [kind in Kind]?: unknown },
): LoadedDataConverter {
  const { payloadConverterPath, failureConverterPath, payloadCodecs } = given;
  return {
    payloadConverter: payloadConverterPath
      ? readConverterExport(exports.payloadConverter, payloadConverterPath, "payloadConverter")
      : defaultPayloadConverter,
    failureConverter: failureConverterPath
      ? readConverterExport(exports.failureConverter, failureConverterPath, "failureConverter")
      : defaultFailureConverter,
    payloadCodecs: payloadCodecs ?? [],
  };
}

const selectPaths = ({ payloadConverterPath, failureConverterPath }: DataConverter) =>
  ([["payloadConverter", payloadConverterPath], [
    "failureConverter",
    failureConverterPath,
  ]] as const)
    .filter((entry): entry is readonly [Kind, string] => Boolean(entry[1]));

/**
 * Loads a data converter synchronously. Throws a ValueError that names an invalid path, and a
 * TypeError for an unsupported option.
 */
export function loadDataConverter(
  given: DataConverter | LoadedDataConverter = {},
): LoadedDataConverter {
  refuse(given);
  if ("payloadConverter" in given) return given;
  const exports: { [kind in Kind]?: unknown } = {};
  for (const [kind, path] of selectPaths(given as DataConverter)) {
    try {
      exports[kind] = required(path);
    } catch (error) {
      throw notLoaded(error, path, kind);
    }
  }
  return loaded(given as DataConverter, exports);
}

/** Same for modules that need import: those with a top-level await, and TypeScript in Deno. */
export async function importDataConverter(given: DataConverter = {}): Promise<LoadedDataConverter> {
  refuse(given);
  const exports: { [kind in Kind]?: unknown } = {};
  for (const [kind, path] of selectPaths(given)) {
    exports[kind] = await imported(path).catch((error) => {
      throw notLoaded(error, path, kind);
    });
  }
  return loaded(given, exports);
}
