// The engine's half of the core in the package; see inline.ts.
import { inlineHalf } from "./inline.ts";
import { defaultCore } from "./source.ts";

/** Returns `of`, and registers the inline half as the default. Mark the call as pure. */
export function inlineEngine<T>(of: T): T {
  defaultCore("engine", () => inlineHalf("engine", () => import("./generated/engine_wasm.ts")));
  return of;
}
