// A `temporalex debug` command in this process, over the smallest possible page.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debug } from "../../../../ts/cli/commands/debug/command.ts";
import type { DebugCall } from "../../../../ts/cli/commands/debug/options.ts";
import { debugCommand } from "../../../../ts/cli/commands/debug/run.ts";
import { dispatch } from "../../../../ts/cli/frame/dispatch.ts";
import { Interrupted } from "../../../../ts/cli/frame/errors.ts";
import type { main } from "../../../../ts/cli/main.ts";
import type { PageFiles } from "../../../../ts/cli/page/page_files.ts";
import { run } from "./run.ts";

/** The smallest possible page: these tests do not need the built one. */
export const PAGE: PageFiles = new Map(
  Object.entries({
    "index.html":
      '<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src \'none\'"><p>here</p>',
    "sandbox.html": "<p>frame</p>",
    "assets/a.js": "1;",
  }).map((
    [path, text],
  ) => [path, {
    type: path.endsWith(".js") ? "text/javascript" : "text/html",
    read: () => new TextEncoder().encode(text),
  }]),
);

export async function inFolder(body: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "temporalex-debug-"));
  try {
    await body(cwd);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

export async function poll<T>(what: string, look: () => T | undefined): Promise<T> {
  for (const until = performance.now() + 60_000; performance.now() < until;) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${what}: not within a minute`);
}

/** The command in this process, over a page of the test's; `stop` is Ctrl-C. */
export function start(args: readonly string[], cwd: string, page?: PageFiles) {
  const ctrlC = new AbortController();
  let out = "";
  const program: typeof main = (words, io) =>
    dispatch(
      {
        debug: {
          ...debug,
          run: (call) =>
            debugCommand(call as DebugCall, page === undefined ? undefined : () => page),
        },
      },
      words,
      io,
    );
  const ended = run(["debug", ...args], {
    cwd,
    interrupt: ctrlC.signal,
    out: (text) => void (out += text),
  }, program);
  // deno-lint-ignore no-explicit-any
  const lines = (): any[] => out.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  return { ended, lines, text: () => out, stop: () => ctrlC.abort(new Interrupted()) };
}
