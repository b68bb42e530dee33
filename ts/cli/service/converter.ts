// A payload converter on the command line, where values are converted in this process too: a module of the user's that exports one.
import { productConverter } from "../../compat/common/payload_converters.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { UsageError } from "../frame/errors.ts";
import { importModule } from "../modules/user_modules.ts";

/** The converter, native or of `@temporalio/common`. Throws a UsageError for a module that exports none. */
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
