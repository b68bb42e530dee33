// Payload codecs on the command line: a user module that exports one.
import { type CodecOptions, codecsOf, type PayloadCodec } from "../../codec/codec.ts";
import { UsageError } from "../frame/errors.ts";
import { importModule } from "../modules/user_modules.ts";

/**
 * Returns the exported codec; none without a module. Throws a UsageError for a module without a
 * codec.
 */
export async function importCodec(cwd: string, path: string | undefined): Promise<CodecOptions> {
  if (path === undefined) return {};
  const module = await importModule(cwd, path);
  const { default: main, dataConverter } = module;
  // The default export of a CommonJS module is its whole exports object.
  const alone =
    Array.isArray(main) || (typeof main === "object" && main !== null && "encode" in main)
      ? main
      : undefined;
  const codec =
    (module["codec"] ?? (dataConverter as { payloadCodecs?: unknown } | undefined)?.payloadCodecs ??
      alone) as
        | PayloadCodec
        | undefined;
  if (codec === undefined) {
    throw new UsageError(
      `${path} exports no codec: export it as \`codec\`, with encode and decode`,
    );
  }
  const options = { codec, encodeCommonAttributes: module["encodeCommonAttributes"] === true };
  try {
    codecsOf(options);
  } catch (e) {
    throw new UsageError(`${path}: ${(e as Error).message}`);
  }
  return options;
}
