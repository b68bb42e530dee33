// The command line as a process in a folder of the test, and a tab at the address that it prints.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test as base } from "@playwright/test";
import { App, Watch } from "./story.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** `node dist/ts/cli/main.js`. */
const MAIN = here("../../../dist/ts/cli/main.js");

/** A line of output with `--json`. */
// deno-lint-ignore no-explicit-any
export type Line = { readonly event?: string; readonly [field: string]: any };

export class Running {
  readonly lines: Line[] = [];
  readonly child: ChildProcess;
  #err = "";
  #ended = false;
  #listeners: (() => void)[] = [];

  constructor(args: readonly string[], cwd: string, env: { readonly [name: string]: string }) {
    this.child = spawn(process.execPath, [MAIN, ...args], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    let rest = "";
    this.child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop()!;
      for (const part of parts) if (part.startsWith("{")) this.lines.push(JSON.parse(part));
      for (const listener of this.#listeners) listener();
    });
    this.child.stderr!.setEncoding("utf8").on("data", (text: string) => this.#err += text);
    this.child.on("close", () => {
      this.#ended = true;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Waits for the first matching line, among past and future lines. */
  line(is: (line: Line) => boolean): Promise<Line> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.lines.find(is);
        if (found === undefined && !this.#ended) return;
        this.#listeners = this.#listeners.filter((listener) => listener !== look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`the command has ended: ${this.#err}`));
      };
      this.#listeners.push(look);
      look();
    });
  }

  /** Sends Ctrl-C. Returns the exit code. */
  async end(signal: "SIGINT" | "SIGKILL" = "SIGINT"): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    this.child.kill(signal);
    return await new Promise((resolve) => this.child.on("close", resolve));
  }
}

export interface Place {
  readonly cwd: string;
  /** Writes a file in the folder. */
  write(path: string, text: string): void;
  start(args: readonly string[], env?: { readonly [name: string]: string }): Running;
}

interface Fixtures {
  readonly place: Place;
  /** Opens the address in the tab. The checks after each test then use its origin. */
  readonly visit: (url: string, hash?: string) => Promise<App>;
}

export const test = base.extend<Fixtures>({
  // Playwright reads the dependencies of a fixture from the parameter's pattern.
  place: async ({ browserName: _ }, use) => {
    if (!existsSync(MAIN)) throw new Error("dist is not built: node tools/build_dist.mjs");
    const cwd = mkdtempSync(join(tmpdir(), "temporalex-e2e-"));
    const all: Running[] = [];
    await use({
      cwd,
      write: (path, text) => writeFileSync(join(cwd, path), text),
      start: (args, env = {}) => {
        const running = new Running(args, cwd, env);
        all.push(running);
        return running;
      },
    });
    await Promise.all(all.map((running) => running.end("SIGKILL")));
    rmSync(cwd, { recursive: true, force: true });
  },
  visit: async ({ page, context }, use) => {
    const watches: Watch[] = [];
    await use(async (url, hash = "") => {
      const watch = new Watch(new URL(url).origin);
      watches.push(watch);
      await watch.follow(context);
      const app = new App(page, url, watch);
      await app.start(hash);
      return app;
    });
    for (const watch of watches) watch.clean();
  },
});
export { expect } from "@playwright/test";
