// Projects with exported tests, and what runs them: which tests passed and which failed, by name.
// Of a checkout with `dist` alone.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TestRunner } from "../../../../ts/debug/mod.ts";

const ROOT = process.cwd();
const VITEST = join(ROOT, ".build/vitest/node_modules/vitest");
const DENO = join(ROOT, "node_modules/.bin/deno");

/** Makes a folder a project that uses the package: `temporalex` is this checkout. */
export function project(folder: string): void {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  const packageJson = { type: "module", private: true, dependencies: { temporalex: "0.1.0" } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(packageJson));
  writeFileSync(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
  symlinkSync(ROOT, join(folder, "node_modules/temporalex"), "junction");
  if (existsSync(VITEST)) symlinkSync(VITEST, join(folder, "node_modules/vitest"), "junction");
}

/** What installs a runner that is not there; undefined: it is. */
export function missing(runner: TestRunner): string | undefined {
  if (runner === "vitest" && !existsSync(VITEST)) {
    return "npm install --prefix .build/vitest vitest@4.1.12";
  }
  return runner === "deno" && !existsSync(DENO) ? "npm ci" : undefined;
}

/** Node itself, in a test that Deno runs, too. */
const NODE = "Deno" in globalThis ? "node" : process.execPath;
const COMMANDS: {
  readonly [runner in TestRunner]: (
    files: readonly string[],
  ) => readonly [string, readonly string[]];
} = {
  node: (files) => [NODE, ["--test", "--test-reporter=junit", ...files]],
  vitest: (files) => [NODE, [join(VITEST, "vitest.mjs"), "run", "--reporter=junit", ...files]],
  deno: (files) => [DENO, ["test", "-A", "--no-check", "--reporter=junit", ...files]],
};

/** Runs the tests in these files: for each test's name "" where it passed, else what it said. */
export async function runTests(
  runner: TestRunner,
  folder: string,
  files: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const [command, args] = COMMANDS[runner](files);
  // Within a test of Node's the runner would report to that one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const options = {
    cwd: resolve(folder),
    env: { ...env, NO_COLOR: "1", CI: "true" },
    maxBuffer: 1 << 26,
  };
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((done) =>
    void execFile(command, [...args], options, (_, stdout, stderr) => done({ stdout, stderr }))
  );
  const results = new Map<string, string>();
  for (
    const [, attributes, self, body = ""] of stdout.matchAll(
      /<testcase ([^>]*?)(?:(\/)>|>([\s\S]*?)<\/testcase>)/g,
    )
  ) {
    const name = /\bname="([^"]*)"/.exec(attributes!)?.[1] ?? "";
    results.set(name, self === "/" || !/<(?:failure|error)/.test(body) ? "" : unescaped(body));
  }
  if (results.size === 0) throw new Error(`${runner} ran no test:\n${stdout}\n${stderr}`);
  return results;
}

const NAMED: { readonly [name: string]: string } = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
};
const unescaped = (text: string): string =>
  text.replace(
    /&(?:#(\d+)|(\w+));/g,
    (all, code?: string, name = "") =>
      code === undefined ? NAMED[name] ?? all : String.fromCharCode(Number(code)),
  );
