// Payload codecs on the command line: a module of the user's that exports one.
import { type CodecOptions, codecsOf, type PayloadCodec } from "../../codec/codec.ts";
import { UsageError } from "../frame/errors.ts";
import { importModule } from "../modules/user_modules.ts";

/** What the module exports; no codec without a module. Throws a UsageError for a module that exports none. */
export async function importCodec(cwd: string, path: string | undefined): Promise<CodecOptions> {
  if (path === undefined) return {};
  const module = await importModule(cwd, path);
  const { default: main, dataConverter } = module;
  // The default of CommonJS is all that it exports.
  const alone = Array.isArray(main) || (typeof main === "object" && main !== null && "encode" in main) ? main : undefined;
  const codec = (module["codec"] ?? (dataConverter as { payloadCodecs?: unknown } | undefined)?.payloadCodecs ?? alone) as
    | PayloadCodec
    | undefined;
  if (codec === undefined) throw new UsageError(`${path} exports no codec: export it as \`codec\`, with encode and decode`);
  const options = { codec, encodeCommonAttributes: module["encodeCommonAttributes"] === true };
  try {
    codecsOf(options);
  } catch (e) {
    throw new UsageError(`${path}: ${(e as Error).message}`);
  }
  return options;
}
