// Runs suites as on a machine that has Node, npm and git alone: in a fresh clone of the last
// commit, with a PATH of those and of core utilities. A browser, Rust, Go or Temporal of this
// machine is not found there.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { root, run, which } from "./steps.mjs";

/**
 * Suites whose tools differ on such a machine. Not `web-demo`: its stories read histories next to
 * the checkout, which a clone does not have.
 */
export const BARE_SUITES = ["chromium", "cross-engine", "package", "browser"];

const PROGRAMS = [
  ...[
    "node",
    "npm",
    "npx",
    "git",
    "sh",
    "bash",
    "[",
    "basename",
    "cat",
    "chmod",
    "cp",
    "cut",
    "date",
    "dirname",
    "echo",
    "env",
  ],
  ...[
    "expr",
    "false",
    "head",
    "id",
    "ln",
    "ls",
    "mkdir",
    "mktemp",
    "mv",
    "nproc",
    "pwd",
    "readlink",
    "realpath",
    "rm",
    "rmdir",
  ],
  ...["sleep", "sort", "stat", "tail", "tee", "test", "touch", "tr", "true", "uname", "uniq", "wc"],
];

export class BareCheckout {
  #work;
  #made;

  /** Makes the clone once. Rejects with the reason if that fails. */
  async #make() {
    const work = this.#work = mkdtempSync(join(tmpdir(), "temporalex-bare-"));
    const checkout = join(work, "checkout");
    // The owner of a checkout in a container may be another user.
    const { status, output } = await run("git", [
      "-c",
      "safe.directory=*",
      "clone",
      "--quiet",
      root,
      checkout,
    ]);
    if (status !== 0) throw new Error(`git clone failed: ${output.trim()}`);
    const bin = join(work, "bin");
    mkdirSync(bin);
    for (const name of PROGRAMS) {
      const path = name === "node" ? process.execPath : which(name);
      if (path !== undefined) symlinkSync(path, join(bin, name));
    }
    const env = {
      PATH: bin,
      // Playwright's own browsers, which may be in the home folder.
      PLAYWRIGHT_BROWSERS_PATH: join(work, "no-browsers"),
      ...{
        CHROMIUM_PATH: undefined,
        FIREFOX_PATH: undefined,
        TEMPORAL_CLI: undefined,
        CI_BEGAN: undefined,
      },
    };
    // Suites may run there at the same time; the packages are installed before.
    const installed = await run(process.execPath, ["tools/test.mjs", "--list"], {
      cwd: checkout,
      env,
    });
    if (installed.status !== 0) {
      throw new Error(`the clone cannot be prepared: ${installed.output.trim()}`);
    }
    return { checkout, env };
  }

  /** Runs one suite there. Its result has the shape of those of suites.mjs. */
  async suite(name, runInTime) {
    this.#made ??= this.#make();
    try {
      const { checkout, env } = await this.#made;
      const { output } = await runInTime(process.execPath, ["tools/test.mjs", name, "--json"], {
        cwd: checkout,
        env,
      });
      const line = output.split("\n").find((text) => text.startsWith('{"suites":'));
      if (line === undefined) throw new Error(output);
      const rows = JSON.parse(line).suites;
      const { suite: _, ...result } = rows.find(({ suite }) => suite === name);
      const broken = rows.find(({ suite, failed }) => suite !== name && failed > 0);
      return broken === undefined
        ? result
        : { ...result, failed: result.failed + broken.failed, output: broken.output };
    } catch (error) {
      return { passed: 0, failed: 1, skipped: 0, output: error.message };
    }
  }

  remove() {
    if (this.#work !== undefined) rmSync(this.#work, { recursive: true, force: true });
  }
}
