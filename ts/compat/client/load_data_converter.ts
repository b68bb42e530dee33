// The modules of a data converter, which options name by path: clients, whose constructors cannot wait, and workers load them here for the
// host's side; workers load them once more in the realm, for workflow code.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { fileUrl } from "../../platform/source_files.ts";
import { errorCode, isRecord } from "../common/text.ts";
import { type DataConverter, defaultFailureConverter, type LoadedDataConverter } from "../common/data_converter.ts";
import { ValueError } from "../common/errors.ts";
import { defaultPayloadConverter } from "../common/payload_converters.ts";

type Kind = "payloadConverter" | "failureConverter";
type Exports = { readonly [kind in Kind]?: unknown };

const METHODS = {
  payloadConverter: ["toPayload", "fromPayload"],
  failureConverter: ["errorToFailure", "failureToError"],
} as const;

/** Throws a TypeError for an option that cannot be honoured. */
function refuse({ externalStorage, payloadCodecs }: DataConverter | LoadedDataConverter): void {
  if (externalStorage !== undefined) {
    throw new TypeError(
      'the option "externalStorage" of a data converter is not supported here; ' +
        "put large values elsewhere in a payload codec (payloadCodecs)",
    );
  }
  // One that asks for a context may choose its key by it: without, it would write what it cannot read in the official SDK.
  const asking = (payloadCodecs ?? []).findIndex(({ encode, decode }) => encode?.length > 1 || decode?.length > 1);
  if (asking < 0) return;
  throw new TypeError(
    `payloadCodecs[${asking}] of a data converter takes a serialization context as its second parameter, which is not supported here; ` +
      "have encode(payloads) and decode(payloads) do without",
  );
}

/** The export of a module that is the converter. Throws a ValueError. */
function converterOf(exports: unknown, path: string, kind: Kind): never {
  // Of a CommonJS module that was imported, what it exports is the default export.
  const of = (from: unknown) => isRecord(from) || typeof from === "function" ? (from as Exports)[kind] : undefined;
  const found = of(exports) ?? of((exports as { default?: unknown } | null)?.default);
  if (found === undefined) throw new ValueError(`Module ${path} does not have a \`${kind}\` named export`);
  const methods: readonly string[] = METHODS[kind];
  if (isRecord(found) && methods.every((method) => typeof found[method] === "function")) return found as never;
  throw new ValueError(`${kind} export at ${path} must be an object with ${methods.join(" and ")} methods`);
}

/** What a module could not be loaded for: a ValueError where there is none at the path. */
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

/** Jest's `require`, which knows the program's transformers, and gives the classes that its tests have: jest.cjs puts it there. */
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
 * `require` is tried first, as the official SDK does: it knows the hooks of ts-node and tsx. What cannot be required is imported; Deno's
 * import alone knows TypeScript.
 */
async function imported(path: string): Promise<unknown> {
  if (!("Deno" in globalThis)) {
    try {
      return required(path);
    } catch (error) {
      const code = errorCode(error);
      const isModule = code === "ERR_REQUIRE_ESM" || code === "ERR_REQUIRE_ASYNC_MODULE" || code === "ERR_UNKNOWN_FILE_EXTENSION";
      if (!isModule && !(error instanceof SyntaxError)) throw error;
    }
  }
  return await import(fileUrl(path));
}

function loaded(given: DataConverter, exports: { readonly [kind in Kind]?: unknown }): LoadedDataConverter {
  const { payloadConverterPath, failureConverterPath, payloadCodecs } = given;
  return {
    payloadConverter: payloadConverterPath
      ? converterOf(exports.payloadConverter, payloadConverterPath, "payloadConverter")
      : defaultPayloadConverter,
    failureConverter: failureConverterPath
      ? converterOf(exports.failureConverter, failureConverterPath, "failureConverter")
      : defaultFailureConverter,
    payloadCodecs: payloadCodecs ?? [],
  };
}

const pathsOf = ({ payloadConverterPath, failureConverterPath }: DataConverter) =>
  ([["payloadConverter", payloadConverterPath], ["failureConverter", failureConverterPath]] as const)
    .filter((entry): entry is readonly [Kind, string] => Boolean(entry[1]));

/** A data converter with its modules loaded, at once. Throws a ValueError that names the path at fault, a TypeError for an option. */
export function loadDataConverter(given: DataConverter | LoadedDataConverter = {}): LoadedDataConverter {
  refuse(given);
  if ("payloadConverter" in given) return given;
  const exports: { [kind in Kind]?: unknown } = {};
  for (const [kind, path] of pathsOf(given as DataConverter)) {
    try {
      exports[kind] = required(path);
    } catch (error) {
      throw notLoaded(error, path, kind);
    }
  }
  return loaded(given as DataConverter, exports);
}

/** The same for modules that can only be imported: those with an await at their top level, and TypeScript in Deno. */
export async function importDataConverter(given: DataConverter = {}): Promise<LoadedDataConverter> {
  refuse(given);
  const exports: { [kind in Kind]?: unknown } = {};
  for (const [kind, path] of pathsOf(given)) {
    exports[kind] = await imported(path).catch((error) => {
      throw notLoaded(error, path, kind);
    });
  }
  return loaded(given, exports);
}
