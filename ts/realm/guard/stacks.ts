// Error stacks in a realm: V8's format in every runtime, with only the frames of workflow code.
// Frames of this package differ between versions and between execution and replay. A stack without
// workflow frames stays complete: it is about an error in this package. Deno formats frames
// differently: "(file:///a.ts, <anonymous>:1:2)" for evaluated code, paths for files. Nothing here
// may use built-ins that a module can have replaced.
import { replaceText, splitLines } from "../../platform/kept_functions.ts";
import { isLoaded, loadedIn } from "../../executor/program/call_site.ts";

interface Frame {
  toString(): string;
  /** A path where Deno has a file URL. */
  getFileName(): string | null;
  getScriptNameOrSourceURL(): string | null;
}

/** Called before the guard, which removes the hook. */
export function installStacks(): void {
  if ((Error as { captureStackTrace?: unknown }).captureStackTrace === undefined) {
    return filterStackGetter();
  }
  const inDeno = "Deno" in globalThis;
  const holder = Error as unknown as {
    prepareStackTrace?: (error: Error, frames: readonly Frame[]) => string;
  };
  holder.prepareStackTrace = (error, frames) => {
    let last = frames.length - 1;
    while (last >= 0 && !isLoaded(frames[last]!.getScriptNameOrSourceURL())) last--;
    const end = last < 0 ? frames.length : last + 1;
    let text = heading(error);
    for (let i = 0; i < end; i++) {
      const frame = frames[i]!;
      const url = frame.getScriptNameOrSourceURL();
      // Built-in functions have no URL: `Array.map` between two frames of workflow code stays.
      if (last < 0 || !url || isLoaded(url)) {
        text += `\n    at ${inDeno ? describe(frame) : `${frame}`}`;
      }
    }
    return text;
  };
}

/** SpiderMonkey has no hook, but an accessor that all errors inherit. */
function filterStackGetter(): void {
  const { get, set } = Object.getOwnPropertyDescriptor(Error.prototype, "stack") ?? {};
  if (get === undefined || set === undefined) return;
  const { apply } = Reflect;
  const filtered = {
    get stack(): unknown {
      const stack: unknown = apply(get, this, []);
      if (typeof stack !== "string") return stack;
      const lines = splitLines(stack);
      let users = "";
      for (let i = 0; i < lines.length; i++) {
        if (loadedIn(lines[i]!)) users += `${users === "" ? "" : "\n"}${lines[i]}`;
      }
      return users === "" ? stack : users;
    },
  };
  const own = Object.getOwnPropertyDescriptor(filtered, "stack")!;
  Object.defineProperty(Error.prototype, "stack", { ...own, set, enumerable: false });
}

function describe(frame: Frame): string {
  const path = frame.getFileName();
  const url = frame.getScriptNameOrSourceURL();
  return path === null || url === null ? `${frame}` : replaceText(`${frame}`, path, url);
}

function heading(error: Error): string {
  try {
    return error.message === "" ? `${error.name}` : `${error.name}: ${error.message}`;
  } catch {
    return "Error";
  }
}
