// The engine's half of the core that comes with the package; inline.ts says how.
import { inlineHalf } from "./inline.ts";
import { defaultCore } from "./source.ts";

/** Answers `of`, and has the inline half taken where `useCore` gives none. Call it as pure: unused results may be dropped. */
export function inlineEngine<T>(of: T): T {
  defaultCore("engine", () => inlineHalf("engine", () => import("./generated/engine_wasm.ts")));
  return of;
}
