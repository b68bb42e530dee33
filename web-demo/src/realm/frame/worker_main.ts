// The worker in which dropped code runs: a realm behind the determinism guard, as one script without imports. The core comes as bytes with
// the first message, because compiled modules cannot be posted into an opaque origin; it is compiled while the page still reads the code.
import { serveRealm } from "../../../../ts/realm/serve.ts";

const scope = globalThis as unknown as {
  addEventListener(type: string, listener: (event: MessageEvent) => void): void;
  removeEventListener(type: string, listener: (event: MessageEvent) => void): void;
};
let given: (core: Promise<WebAssembly.Module>) => void;
const core = new Promise<WebAssembly.Module>((resolve) => given = resolve);

function first(event: MessageEvent): void {
  scope.removeEventListener("message", first);
  event.stopImmediatePropagation();
  given(WebAssembly.compile((event.data as { readonly core: ArrayBuffer }).core));
}

scope.addEventListener("message", first);
serveRealm(undefined, { core });
