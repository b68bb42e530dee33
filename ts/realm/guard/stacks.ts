// Error stacks in a realm: V8's format in every runtime, with only the frames of workflow code.
// Frames of this package differ between versions and between execution and replay. A stack without
// workflow frames stays complete: it is about an error in this package. Deno formats frames
// differently: "(file:///a.ts, <anonymous>:1:2)" for evaluated code, paths for files.
import { isLoaded, loadedIn } from "../../executor/program/call_site.ts";

interface Frame {
  toString(): string;
  /** A path where Deno has a file URL. */
  getFileName(): string | null;
  getScriptNameOrSourceURL(): string | null;
}

/** Called before the guard, which removes the hook. */
export function installStacks(): void {
  if ((Error as { captureStackTrace?: unknown }).captureStackTrace === undefined) return filterStackGetter();
  const inDeno = "Deno" in globalThis;
  const holder = Error as unknown as { prepareStackTrace?: (error: Error, frames: readonly Frame[]) => string };
  holder.prepareStackTrace = (error, frames) => {
    const last = frames.findLastIndex((frame) => isLoaded(frame.getScriptNameOrSourceURL()));
    // Built-in functions have no URL: `Array.map` between two frames of workflow code stays.
    const users = frames.slice(0, last + 1).filter((frame) => {
      const url = frame.getScriptNameOrSourceURL();
      return !url || isLoaded(url);
    });
    const shown = last < 0 ? frames : users;
    return [heading(error), ...shown.map((frame) => `    at ${inDeno ? described(frame) : String(frame)}`)].join("\n");
  };
}

/** SpiderMonkey has no hook, but an accessor that all errors inherit. */
function filterStackGetter(): void {
  const { get, set } = Object.getOwnPropertyDescriptor(Error.prototype, "stack") ?? {};
  if (get === undefined || set === undefined) return;
  const filtered = {
    get stack(): unknown {
      const stack: unknown = Reflect.apply(get, this, []);
      if (typeof stack !== "string") return stack;
      const users = stack.split("\n").filter(loadedIn);
      return users.length > 0 ? users.join("\n") : stack;
    },
  };
  const own = Object.getOwnPropertyDescriptor(filtered, "stack")!;
  Object.defineProperty(Error.prototype, "stack", { ...own, set, enumerable: false });
}

function described(frame: Frame): string {
  const [path, url] = [frame.getFileName(), frame.getScriptNameOrSourceURL()];
  return path === null || url === null ? String(frame) : String(frame).replace(path, () => url);
}

function heading(error: Error): string {
  try {
    return error.message === "" ? `${error.name}` : `${error.name}: ${error.message}`;
  } catch {
    return "Error";
  }
}
