// The worker in which dropped code runs: a realm behind the determinism guard, as one script
// without imports. The first message has the bytes of the core, because compiled modules cannot be
// posted to an opaque origin. They are compiled while the page still reads the code.
import { serveRealm } from "../../../../ts/realm/serve.ts";
import { rehearseInFrame } from "./rehearse.ts";

const scope = globalThis as unknown as {
  addEventListener(type: string, listener: (event: MessageEvent) => void): void;
  removeEventListener(type: string, listener: (event: MessageEvent) => void): void;
};
interface First {
  readonly core: ArrayBuffer;
  /** Whether it is a spare worker for code that is being edited. */
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
serveRealm(undefined, {
  core,
  rehearse: async (...args) => isSpare ? await rehearseInFrame(...args) : undefined,
});
