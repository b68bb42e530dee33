// Throw-away projects whose programs know of `@temporalio/*` alone.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";

const root = process.cwd();

/**
 * A folder with these files, in which "temporalex" is this checkout; it is removed after the test.
 */
export function projectWith(t: TestContext, files: { readonly [name: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-packages-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/temporalex"), "dir");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Runs a program there to its end. */
export function runIn(
  folder: string,
  program: string,
  args: readonly string[],
  env: { readonly [name: string]: string } = {},
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const {
    NODE_OPTIONS: _options,
    NODE_TEST_CONTEXT: _context,
    FORCE_COLOR: _color,
    ...inherited
  } = process.env;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: 120_000,
    env: { ...inherited, NO_COLOR: "1", ...env },
  });
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}
