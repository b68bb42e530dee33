// The worker in which dropped code runs: a realm behind the determinism guard, as one script without imports. The core comes as bytes with
// the first message, because compiled modules cannot be posted into an opaque origin; it is compiled while the page still reads the code.
import { serveRealm } from "../../../../ts/realm/serve.ts";
import { rehearseInFrame } from "./rehearse.ts";

const scope = globalThis as unknown as {
  addEventListener(type: string, listener: (event: MessageEvent) => void): void;
  removeEventListener(type: string, listener: (event: MessageEvent) => void): void;
};
interface First {
  readonly core: ArrayBuffer;
  /** It is a spare one, of code that is being edited: the next text comes in a while. */
  readonly isSpare: boolean;
}
let given: (core: Promise<WebAssembly.Module>) => void;
let isSpare = false;
const core = new Promise<WebAssembly.Module>((resolve) => given = resolve);

function first(event: MessageEvent): void {
  scope.removeEventListener("message", first);
  event.stopImmediatePropagation();
  const message = event.data as First;
  isSpare = message.isSpare;
  given(WebAssembly.compile(message.core));
}

scope.addEventListener("message", first);
serveRealm(undefined, { core, rehearse: async (...args) => isSpare ? await rehearseInFrame(...args) : undefined });
