// What the throw-away projects have in common: the installed tarball, programs, bundles, pages.
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { extname, join, relative } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { launchChromium } from "../../../tools/lib/chromium.mjs";
import { bytesOf } from "../../../tools/lib/halves.mjs";
import { checkMessages } from "./type_messages.mjs";

export const MB = 1_000_000;
export const BLOCK = 4096;
export const CART = { counts: [1, 2], result: "ada pays for tea and milk" };

/**
 * A part of the text of a half of the core, as it is in the package, that the other one does not
 * have.
 */
export function textOf({ root }, half) {
  const [own, other] = [half, half === "worker" ? "engine" : "worker"].map((
    name,
  ) => gzipSync(bytesOf(root, name), { level: 9 }).toString("base64"));
  let at = 100_000;
  while (other.includes(own.slice(at, at + 60))) at += 1000;
  return own.slice(at, at + 60);
}
export const walk = (dir) =>
  readdirSync(dir, { withFileTypes: true }).flatMap((
    e,
  ) => (e.isDirectory() ? walk(join(dir, e.name)) : [join(dir, e.name)]));
export const lastJson = (output) => {
  const line = output.trim().split("\n").findLast((l) => l.startsWith("{"));
  assert.ok(line !== undefined, output);
  return JSON.parse(line);
};

/**
 * The project: the sources, and the tarball installed from a lock without optional packages. Made
 * once for all tests.
 */
export function project({ shared, work, made, root, run, npm }) {
  const make = async () => {
    const dir = join(work, "project");
    cpSync(join(root, "tests/system/package/projects"), dir, { recursive: true });
    cpSync(made.tarball, join(dir, "temporalex.tgz"));
    const packed = await run(npm, ["pack", "--pack-destination", dir], {
      cwd: join(dir, "a-package"),
    });
    assert.equal(packed.status, 0, packed.output);
    const dependencies = {
      "temporalex": "file:./temporalex.tgz",
      "a-package": "file:./a-package-1.0.0.tgz",
    };
    writeFileSync(
      join(dir, "package.json"),
      JSON.stringify({
        name: "project",
        private: true,
        type: "module",
        dependencies,
      }),
    );
    writeFileSync(
      join(dir, ".npmrc"),
      "fund=false\naudit=false\nprefer-offline=true\n",
    );
    const lock = await run(npm, ["install", "--package-lock-only"], {
      cwd: dir,
    });
    assert.equal(lock.status, 0, lock.output);
    const installed = await run(npm, ["ci", "--omit=optional"], { cwd: dir });
    assert.equal(installed.status, 0, installed.output);
    return dir;
  };
  if (!shared.has("project")) shared.set("project", make());
  return shared.get("project");
}

/** Runs a program in the project; what it printed last as JSON. */
export async function program(context, cmd, args, options = {}) {
  const dir = await project(context);
  for (const file of readdirSync(join(dir, "app"))) {
    if (/\.sqlite/.test(file)) {
      rmSync(join(dir, "app", file), { force: true });
    }
  }
  const { status, output } = await context.run(cmd, args, {
    cwd: join(dir, "app"),
    timeoutMs: 240_000,
    ...options,
  });
  assert.equal(status, 0, output);
  return lastJson(output);
}

/** Bundles with esbuild inside of the project. */
export async function bundle(context, options) {
  const dir = await project(context);
  const { build } = await import("esbuild");
  return await build({
    absWorkingDir: dir,
    bundle: true,
    format: "esm",
    target: "es2022",
    logLevel: "silent",
    ...options,
  });
}

/** The Vite project's production build, made once. */
export function viteBuild(context) {
  const make = async () => {
    const vite = await import("vite").catch(() => undefined);
    if (vite === undefined) return { skip: "vite is not installed" };
    const dir = await project(context);
    const outDir = join(dir, "out-vite");
    const logs = [];
    const customLogger = {
      ...vite.createLogger("silent"),
      warn: (m) => logs.push(m),
      warnOnce: (m) => logs.push(m),
    };
    const input = [join(dir, "vite/index.html"), join(dir, "vite/tab.html")];
    await vite.build({
      root: join(dir, "vite"),
      configFile: false,
      base: "./",
      customLogger,
      worker: { format: "es" },
      build: {
        outDir,
        emptyOutDir: true,
        target: "es2022",
        chunkSizeWarningLimit: 1000,
        rolldownOptions: { input },
      },
    });
    // (How long plugins took says something about the machine only.)
    assert.deepEqual(
      logs.filter((line) => !line.includes("PLUGIN_TIMINGS")),
      [],
    );
    const files = walk(outDir).map((f) => relative(outDir, f));
    for (const f of files) {
      context.say(
        `${f.replace(/^assets\//, "")} ${Math.round(statSync(join(outDir, f)).size / 1000)} kB`,
      );
    }
    return { outDir, files };
  };
  if (!context.shared.has("vite")) context.shared.set("vite", make());
  return context.shared.get("vite");
}

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};
const POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; base-uri 'none'";

/**
 * Serves a folder on a loopback port under a strict policy, opens a page of it, and returns the
 * result of `visited`.
 */
export async function pageTitle(folder, start = "") {
  const server = createServer((req, res) => {
    const path = new URL(req.url, "http://localhost").pathname;
    const file = join(folder, path === "/" ? "index.html" : path);
    if (relative(folder, file).startsWith("..") || !existsSync(file)) {
      return res.writeHead(404).end();
    }
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    res.writeHead(200, {
      "content-type": type,
      "content-security-policy": POLICY,
    }).end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await visited(`http://127.0.0.1:${server.address().port}/${start}`);
  } finally {
    server.close();
  }
}

/**
 * Opens a page in Chromium; its title once it no longer says "running", and what the page
 * complained of.
 */
export async function visited(url) {
  const { browser, reason } = await launchChromium();
  if (browser === undefined) return { skip: `no browser: ${reason}` };
  try {
    const page = await browser.newPage();
    const problems = [];
    page.on("pageerror", (e) => problems.push(e.message));
    page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
    await page.goto(url);
    await page.waitForFunction(() => document.title !== "running", undefined, {
      timeout: 120_000,
    })
      .catch((e) => assert.fail(`${e.message}\n${problems.join("\n")}`));
    return { title: await page.title(), problems };
  } finally {
    await browser.close();
  }
}

export const HTML =
  '<!doctype html><meta charset="utf-8"><title>running</title><script type="module" src="./page.js"></script>';

/**
 * tsc over the README's example, its misuses and every subpath, with the declarations themselves
 * checked.
 */
export async function compiles(context, tsc, settings) {
  const dir = await project(context);
  const types = join(dir, "types");
  const readme = readFileSync(join(context.made.folder, "README.md"), "utf8");
  const example = [
    ...readme.matchAll(/```ts\n\/\/ ([a-z]+\.ts)\n([\s\S]*?)```/g),
  ];
  assert.deepEqual(example.map(([, name]) => name), [
    "activities.ts",
    "trial.ts",
    "workflows.ts",
    "main.ts",
    "cluster.ts",
  ]);
  for (const [, name, text] of example) writeFileSync(join(types, name), text);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: "es2022",
    noEmit: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
    types: [],
    ...settings,
  };
  const config = join(types, "tsconfig.json");
  writeFileSync(config, JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const { status, output } = await context.run(tsc, ["-p", config], {
    cwd: types,
  });
  assert.equal(status, 0, output);
  await checkMessages(context, tsc, types, compilerOptions);
}

const DOM = ["es2023", "dom"];
export const RESOLUTIONS = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext", lib: DOM },
  bundler: { module: "esnext", moduleResolution: "bundler", lib: DOM },
};

/** Node of another major version, from npm; where it cannot be had, why not. */
export async function otherNode({ root, run, npm, shared }, version) {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return { skip: "the packages of other Nodes are for Linux on x64" };
  }
  const dir = join(root, "tests/system/package/nodes");
  const install = async () => {
    if (existsSync(join(dir, "node_modules/.package-lock.json"))) {
      return undefined;
    }
    const { status, output } = await run(npm, [
      "ci",
      "--no-fund",
      "--no-audit",
      "--prefer-offline",
    ], { cwd: dir });
    return status === 0
      ? undefined
      : `npm ci failed in tests/system/package/nodes: ${output.trim().split("\n").at(-1)}`;
  };
  if (!shared.has("nodes")) shared.set("nodes", install());
  const skip = await shared.get("nodes");
  return skip === undefined
    ? { node: join(dir, `node_modules/node${version}/bin/node`) }
    : { skip };
}
