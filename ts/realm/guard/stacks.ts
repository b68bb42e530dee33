// Deno writes stack frames in a form of its own ("(file:///a.ts, <anonymous>:1:2)" for evaluated code, paths for files). In a realm stacks have the engine's form
// everywhere, so that the user's line reads the same in every runtime.

interface Frame {
  toString(): string;
  /** A path, where Deno has a file URL. */
  getFileName(): string | null;
  getScriptNameOrSourceURL(): string | null;
}

/** Before the guard, which closes the hook. */
export function plainStacks(): void {
  if (!("Deno" in globalThis)) return;
  const holder = Error as unknown as { prepareStackTrace?: (error: Error, frames: readonly Frame[]) => string };
  holder.prepareStackTrace = (error, frames) =>
    [heading(error), ...frames.map((frame) => `    at ${described(frame)}`)].join("\n");
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
