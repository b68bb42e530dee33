// Deno writes frames of evaluated code in a form of its own ("(file:///a.ts, <anonymous>:1:2)"). In a realm stacks have the engine's form
// everywhere, so that the user's line reads the same in every runtime.

interface Frame {
  toString(): string;
}

/** Before the guard, which closes the hook. */
export function plainStacks(): void {
  if (!("Deno" in globalThis)) return;
  const holder = Error as unknown as { prepareStackTrace?: (error: Error, frames: readonly Frame[]) => string };
  holder.prepareStackTrace = (error, frames) => [heading(error), ...frames.map((frame) => `    at ${frame}`)].join("\n");
}

function heading(error: Error): string {
  try {
    return error.message === "" ? `${error.name}` : `${error.name}: ${error.message}`;
  } catch {
    return "Error";
  }
}
