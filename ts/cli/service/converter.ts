// A payload converter on the command line, for values that this process converts: a user module
// that exports one.
import { productConverter } from "../../compat/common/payload_converters.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { UsageError } from "../frame/errors.ts";
import { importModule } from "../modules/user_modules.ts";

/**
 * Returns the converter, native or of `@temporalio/common`. Throws a UsageError for a module
 * without one.
 */
export async function importConverter(cwd: string, path: string): Promise<PayloadConverter> {
  const module = await importModule(cwd, path);
  const found = (module["payloadConverter"] ?? module["default"]) as PayloadConverter | undefined;
  if (typeof found?.toPayload !== "function" || typeof found.fromPayload !== "function") {
    throw new UsageError(
      `${path} exports no payload converter: export it as \`payloadConverter\`, with toPayload and fromPayload`,
    );
  }
  return productConverter(found as never);
}
