// Records the history of a program on an engine in memory.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// deno-lint-ignore no-explicit-any
type Loose = any;

/** A run that is being recorded. */
export interface Recording {
  /** Its handle, from the built package. */
  readonly handle: Loose;
  /** Resolves with its history as JSON when it contains the wanted text. */
  until(holds: (text: string) => boolean): Promise<string>;
}

/**
 * Starts the module's workflow, with its type and "-ada" as the id. Returns the result of `body`.
 */
export async function recorded(
  { source, activities, type, args }: {
    readonly source: string;
    readonly activities: { readonly [name: string]: (...args: never[]) => unknown };
    readonly type: string;
    readonly args: readonly unknown[];
  },
  body: (recording: Recording) => Promise<string>,
): Promise<string> {
  const dist = (path: string) =>
    pathToFileURL(fileURLToPath(new URL(`../../../dist/ts/${path}`, import.meta.url))).href;
  const { open }: Loose = await import(dist("mod.js"));
  const folder = mkdtempSync(join(tmpdir(), `${type}-`));
  let app: Loose;
  try {
    writeFileSync(join(folder, "workflows.ts"), source);
    app = await open({ workflows: pathToFileURL(join(folder, "workflows.ts")), activities });
    const handle = await app.client.start(type, { id: `${type}-ada`, args });
    const until = async (holds: (text: string) => boolean) => {
      for (;;) {
        const text: string = await handle.historyJson();
        if (holds(text)) return text;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    return await body({ handle, until });
  } finally {
    await app?.close();
    rmSync(folder, { recursive: true });
  }
}
