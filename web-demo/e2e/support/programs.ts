// Programs of the tests, and folders with them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type App, sample } from "./story.ts";

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");

/**
 * A history of a workflow that is unknown to the page, and its code: the counter with another name.
 */
export function ownProgram(): { readonly history: string; readonly code: string } {
  const code = read("examples/counter/workflow.ts").replaceAll("Counter", "Tally").replaceAll(
    "counter",
    "tally",
  );
  return { history: sample("counter").replaceAll('"Counter"', '"Tally"'), code };
}

/**
 * Opens a folder with these files in the folder dialog (scripts cannot drop folders). Returns a
 * function that deletes the folder.
 */
export async function openFolder(
  app: App,
  files: { readonly [path: string]: string },
): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "story-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await app.page.locator("input[webkitdirectory]").setInputFiles(folder);
  await app.page.getByText("This code has not run yet").waitFor();
  return () => rmSync(folder, { recursive: true });
}

/** Opens the view of the code, and runs it. */
export async function permit(app: App): Promise<void> {
  await app.page.getByRole("button", { name: "Show what will run" }).click();
  await app.page.getByRole("button", { name: "Run code" }).click();
}
