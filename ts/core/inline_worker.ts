// The worker's half of the core in the package; see inline.ts.
import { inlineHalf } from "./inline.ts";
import { defaultCore } from "./source.ts";

/** Returns `of`, and registers the inline half as the default. Mark the call as pure. */
export function inlineWorker<T>(of: T): T {
  defaultCore("worker", () => inlineHalf("worker", () => import("./generated/worker_wasm.ts")));
  return of;
}
