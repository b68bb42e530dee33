// The runtimes of the cross-engine comparison, each with tests/system/cross/lab.ts in it: Node and
// Deno as child processes, Chromium and Firefox as pages. `call(name, args)` asks the lab.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { withinTime } from "./browser_watch.mjs";
import { launchChromium } from "./chromium.mjs";
import { launchFirefox } from "./firefox.mjs";
import { serveFolder } from "./serve.mjs";
import { bin, root } from "./steps.mjs";

const CALL_MS = 300_000;
const CLOSE_MS = 60_000;

/** Options of the command line; an unknown one ends the program with a word about it. */
export function options(known) {
  try {
    return parseArgs(known);
  } catch (e) {
    console.error(`${e.message.split("\n")[0]}; --help lists the options`);
    process.exit(2);
  }
}

/** Starts the available ones of `names`; returns { runtimes, absent }, `absent` with reasons. */
export async function startRuntimes(names) {
  const starts = {
    node: () => child("node", process.execPath, ["dist/tests/system/cross/host.js"]),
    deno: () => {
      const deno = bin("deno");
      return deno === undefined
        ? { reason: "the npm package deno is not installed" }
        : child("deno", deno, ["run", "-A", "--no-check", "-q", "tests/system/cross/host.ts"]);
    },
    chromium: () => page("chromium", launchChromium),
    firefox: () => page("firefox", launchFirefox),
  };
  const unknown = names.filter((name) => starts[name] === undefined);
  if (unknown.length > 0) {
    console.error(
      `no runtime named ${unknown.join(", ")}; there are: ${Object.keys(starts).join(", ")}`,
    );
    process.exit(2);
  }
  const runtimes = [];
  const absent = [];
  for (const name of names) {
    const runtime = await starts[name]();
    if (runtime.reason === undefined) runtimes.push(runtime);
    else absent.push(`${name}: ${runtime.reason}`);
  }
  return { runtimes, absent };
}

async function child(name, command, argv) {
  const host = spawn(command, argv, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = [];
  let ended;
  const fail = (reason) => {
    ended = new Error(`${name} ${reason}`);
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  host.on("error", (e) => fail(`cannot be started: ${e.message}`));
  host.on("exit", (code, signal) => fail(`ended (${signal ?? code})`));
  createInterface({ input: host.stdout }).on("line", (line) => {
    const { ok, error } = JSON.parse(line);
    const { resolve, reject } = waiting.shift();
    if (error === undefined) resolve(ok);
    else reject(new Error(`${name}: ${error}`));
  });
  return {
    name,
    call: (call, args) =>
      withinTime(
        CALL_MS,
        `${name}: ${call}`,
        new Promise((resolve, reject) => {
          if (ended !== undefined) return reject(ended);
          waiting.push({ resolve, reject });
          host.stdin.write(`${JSON.stringify({ call, args })}\n`);
        }),
      ),
    close: () =>
      new Promise((resolve) => {
        if (host.exitCode !== null || host.signalCode !== null) return resolve(undefined);
        // It ends with its input. (npm's deno is a script that starts the real one, which would
        // outlive a kill.)
        const timer = setTimeout(() => host.kill("SIGKILL"), 10_000);
        host.once("exit", () => {
          clearTimeout(timer);
          host.stdout.destroy();
          resolve(undefined);
        });
        host.stdin.end();
      }),
  };
}

let bundle;

/** Bundles the lab once for all browsers. */
async function bundled() {
  const dir = mkdtempSync(join(tmpdir(), "cross-"));
  const { build } = await import("esbuild");
  await build({
    entryPoints: {
      page: join(root, "tests/system/cross/page.ts"),
      realm: join(root, "ts/realm/browser_entry.ts"),
    },
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    outdir: dir,
    absWorkingDir: root,
    nodePaths: [join(root, "node_modules")],
    alias: { "temporalex/workflow": join(root, "ts/workflow/mod.ts") },
    logLevel: "error",
  });
  const sources = {};
  const paths = [
    "tests/cases/random_interpreter.ts",
    "tests/system/interop/flows/workflows.ts",
    "tests/system/interop/flows/families.ts",
    ...readdirSync(join(root, "examples")).map((name) => `examples/${name}/workflow.ts`),
  ];
  for (const path of paths) {
    try {
      sources[path] = readFileSync(join(root, path), "utf8");
    } catch {
      // a folder of examples without workflows
    }
  }
  const { url, close } = await serveFolder(dir);
  const end = () => {
    close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { url, sources, end };
}

async function page(name, launch) {
  if (bin("esbuild") === undefined) return { reason: "esbuild is not installed" };
  let lose;
  const lost = new Promise((_, reject) => (lose = reject));
  // Calls race with it. Between two calls it waits for the next one.
  lost.catch(() => {});
  const launched = await launch({ onLost: lose });
  if (launched.browser === undefined) return { reason: launched.reason };
  const { browser } = launched;
  const inPage = (call, result) =>
    withinTime(CALL_MS, `${name}: ${call}`, Promise.race([result, lost]));
  bundle ??= { users: 0, made: bundled() };
  bundle.users++;
  const { url, sources, end } = await bundle.made;
  const open = async () => {
    const page = await browser.newPage();
    await page.goto(url);
    await page.evaluate(async ([u, s]) => {
      globalThis.__sources = s;
      globalThis.__realmEntry = `${u}realm.js`;
      await import(`${u}page.js`);
    }, [url, sources]);
    return page;
  };
  const page = await inPage("loading the page", open());
  return {
    name: `${name} ${browser.version()}`,
    call: (call, args) =>
      inPage(call, page.evaluate((request) => globalThis.__answer(request), { call, args })),
    close: async () => {
      await withinTime(CLOSE_MS, `${name}: closing the browser`, browser.close()).catch((error) =>
        console.log(error.message)
      );
      if (--bundle.users === 0) end();
    },
  };
}
