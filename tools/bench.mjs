#!/usr/bin/env node
// `npm run bench -- NAME [options]`: builds dist/ and runs a bench of bench/. `replay` runs in
// Node, Deno and Chromium over the same histories, each runtime that is absent is named. What the
// bench printed goes to standard output as one JSON text.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { buildDist } from "./build_dist.mjs";
import { launchChromium } from "./lib/chromium.mjs";
import { serveFolder } from "./lib/serve.mjs";
import { bin, root } from "./lib/steps.mjs";

const HELP =
  `usage: npm run bench -- replay [--runtimes=node,deno,chromium] [options of bench/replay.ts]
       npm run bench -- engine [options of bench/engine.ts]
       npm run bench -- store  [options of bench/store.ts]
       npm run bench -- lists  [options of bench/lists.ts]: lists and counts over 110,000 runs, and the writes that fill them
       npm run bench -- size   [--runtimes=node,deno,chromium] [options of bench/size.ts]
       npm run bench -- entity [options of bench/entity.ts]: messages per second, rest and memory of one entity
       npm run bench -- debug  opening, steps and jumps of debug sessions
       npm run bench -- gate   [options of bench/gate.ts]: temporalex replay and the official replayer over many histories
       npm run bench -- dev     temporalex dev and Temporal's dev server: start, memory
       npm run bench -- transact [options of bench/transact.ts]: a reducer in the transaction of a task, compared with no reducer and with an activity
       npm run bench -- transactions [options of bench/transactions.ts]: application transactions, reducers, plain SQLite
       npm run bench -- shown [options of bench/shown.ts]: the cost of the columns phase and state of the SQL views
       npm run bench -- state_table [options of bench/state_table.ts]: timed steps as rows with a poller, and as workflows
       npm run bench -- transport [options of bench/transport.ts]: a gRPC call's cost, compared with Connect and grpc-js
       npm run bench -- cluster [options of bench/cluster.ts]: our worker and Temporal's own against a Temporal dev server

With --help after its name, a bench prints its options.`;

const [name, ...args] = process.argv.slice(2);
if (
  ![
    "replay",
    "engine",
    "entity",
    "store",
    "lists",
    "size",
    "debug",
    "dev",
    "cluster",
    "transport",
    "gate",
    "transact",
    "transactions",
    "shown",
    "state_table",
  ].includes(
    name,
  )
) {
  (name === "--help" ? console.log : console.error)(HELP);
  process.exit(name === "--help" ? 0 : 2);
}
buildDist();

/** Runs a program with its errors shown; returns its output. */
function output(command, argv) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, argv, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk) => (text += chunk));
    child.on("error", reject);
    child.on(
      "close",
      (
        status,
      ) => (status === 0
        ? resolve(text)
        : reject(new Error(`${command} ${argv.join(" ")} ended with ${status}`))),
    );
  });
}

const value = (option, otherwise) =>
  args.find((a) => a.startsWith(`--${option}=`))?.slice(option.length + 3) ?? otherwise;

/** Serves the bundles and histories of a folder to a page and lets it measure. */
async function inChromium(dir, histories) {
  const launched = await launchChromium();
  if (!launched.browser) return { runtime: "chromium", skipped: launched.reason };
  const { build } = await import("esbuild");
  await build({
    entryPoints: {
      page: join(root, "bench/lib/page.ts"),
      realm: join(root, "bench/lib/realm_entry.ts"),
    },
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    outdir: dir,
    absWorkingDir: root,
    alias: { "temporalex/workflow": join(root, "ts/workflow/mod.ts") },
    logLevel: "error",
  });
  const { url, close } = await serveFolder(dir);
  try {
    const page = await launched.browser.newPage();
    await page.goto(url);
    const ask = {
      histories: histories.map((history) => ({ name: history, url: `${url}${history}.bin` })),
      realmEntry: `${url}realm.js`,
      realms: value("realms", "inline,worker").split(","),
      repeats: Number(value("repeats", "5")),
    };
    const realms = await page.evaluate(
      async ([u, a]) => (await import(u), globalThis.benchReplay(a)),
      [`${url}page.js`, ask],
    );
    return {
      bench: "replay",
      runtime: `chromium ${launched.browser.version()}`,
      repeats: ask.repeats,
      realms,
    };
  } finally {
    await launched.browser.close();
    close();
  }
}

async function replay() {
  const histories = value("histories", "sequential,at_once,signals,timers_updates").split(",");
  const runtimes = value("runtimes", "node,deno,chromium").split(",");
  const rest = args.filter((a) => !a.startsWith("--runtimes="));
  const dir = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    await output(process.execPath, ["dist/bench/replay.js", ...rest, `--save=${dir}`]);
    const measure = {
      node: async () =>
        JSON.parse(
          await output(process.execPath, ["dist/bench/replay.js", ...rest, `--from=${dir}`]),
        ),
      deno: async () => {
        const deno = bin("deno");
        if (deno === undefined) {
          return { runtime: "deno", skipped: "the npm package deno has no binary here" };
        }
        return JSON.parse(
          await output(deno, ["run", "-A", "bench/replay.ts", ...rest, `--from=${dir}`]),
        );
      },
      chromium: () => inChromium(dir, histories),
    };
    const results = [];
    for (const runtime of runtimes) {
      if (measure[runtime] === undefined) {
        throw new Error(
          `no runtime named ${runtime}; there are: ${Object.keys(measure).join(", ")}`,
        );
      }
      results.push(await measure[runtime]());
    }
    return results;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Start and memory in Node and Deno, from the package as it is published, and in pages. */
async function size() {
  const { pack } = await import("./pack.mjs");
  const { folder } = await pack({ out: join(root, ".build/bench-package"), tarball: false });
  const rest = [...args.filter((a) => !a.startsWith("--runtimes=")), `--package=${folder}`];
  const measure = {
    node: async () => JSON.parse(await output(process.execPath, ["dist/bench/size.js", ...rest])),
    deno: async () => {
      const deno = bin("deno");
      if (deno === undefined) {
        return { runtime: "deno", skipped: "the npm package deno has no binary here" };
      }
      return JSON.parse(await output(deno, ["run", "-A", "bench/size.ts", ...rest]));
    },
    chromium: startInChromium,
  };
  const results = [];
  for (const runtime of value("runtimes", "node,deno,chromium").split(",")) {
    if (measure[runtime] === undefined) throw new Error(`no runtime named ${runtime}`);
    results.push(await measure[runtime]());
  }
  return results;
}

/** Workers, and the replayer, are those of the package as it is published. */
async function published(bench) {
  const { pack } = await import("./pack.mjs");
  const { folder } = await pack({ out: join(root, ".build/bench-package"), tarball: false });
  return await output(process.execPath, [`dist/bench/${bench}.js`, `--package=${folder}`, ...args]);
}

async function startInChromium() {
  const launched = await launchChromium();
  if (!launched.browser) return { runtime: "chromium", skipped: launched.reason };
  const dir = mkdtempSync(join(tmpdir(), "bench-"));
  const rooms = Object.fromEntries(
    ["slim", "workflow", "realm"].map((
      room,
    ) => [`temporalex/${room}`, join(root, `ts/${room}/mod.ts`)]),
  );
  const { build } = await import("esbuild");
  await build({
    entryPoints: {
      page: join(root, "bench/lib/page_start.ts"),
      realm: join(root, "bench/lib/realm_entry.ts"),
    },
    ...{
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      outdir: dir,
      absWorkingDir: root,
    },
    ...{ alias: rooms, external: ["node:*"], logLevel: "error" },
  });
  for (const half of ["worker.wasm", "engine.wasm"]) {
    copyFileSync(join(root, "dist/ts/core", half), join(dir, half));
  }
  const { url, close } = await serveFolder(dir);
  try {
    const starts = [];
    for (let i = 0; i < Number(value("repeats", "5")); i++) {
      const context = await launched.browser.newContext();
      const page = await context.newPage();
      await page.goto(url);
      starts.push(
        await page.evaluate(async (u) => {
          const began = performance.now();
          await import(`${u}page.js`);
          const importMs = performance.now() - began;
          const core = { worker: `${u}worker.wasm`, engine: `${u}engine.wasm` };
          const rest = await globalThis.benchStart({ core, realmEntry: `${u}realm.js` });
          return { importMs, ...rest, totalMs: rest.totalMs + importMs };
        }, url),
      );
      await context.close();
    }
    const runs = Number(value("idle", "1000"));
    const page = await launched.browser.newPage();
    await page.goto(url);
    const cdp = await page.context().newCDPSession(page);
    await page.evaluate((u) => import(`${u}page.js`), url);
    const add = (n) =>
      page.evaluate((ask) => globalThis.benchIdle(ask), {
        core: { worker: `${url}worker.wasm` },
        runs: n,
      });
    const used = async () => {
      for (let i = 0; i < 3; i++) await cdp.send("HeapProfiler.collectGarbage");
      return (await cdp.send("Runtime.getHeapUsage")).usedSize;
    };
    const coreBefore = await add(200);
    const before = await used();
    const wasmBytes = Math.round((await add(runs) - coreBefore) / runs);
    const heapBytes = Math.round((await used() - before) / runs);
    const spread = (key) => {
      const sorted = starts.map((s) => s[key]).sort((a, b) => a - b);
      return {
        min: Math.round(sorted[0]),
        median: Math.round(sorted[sorted.length >> 1]),
        max: Math.round(sorted.at(-1)),
      };
    };
    return {
      ...{
        bench: "size",
        runtime: `chromium ${launched.browser.version()}`,
        repeats: starts.length,
      },
      importToFirstResult: {
        "page, memory": Object.fromEntries(Object.keys(starts[0]).map((key) => [key, spread(key)])),
      },
      idleWorkflow: { workflows: runs, heapBytes, wasmBytes },
    };
  } finally {
    await launched.browser.close();
    close();
    rmSync(dir, { recursive: true, force: true });
  }
}

if (name === "size" && !args.includes("--help")) {
  console.log(JSON.stringify(await size(), undefined, 1));
} else if (name === "replay" && !args.includes("--help")) {
  console.log(JSON.stringify(await replay(), undefined, 1));
} else if (["cluster", "gate"].includes(name) && !args.includes("--help")) {
  process.stdout.write(await published(name));
} else {process.stdout.write(
    await output(process.execPath, ["--expose-gc", `dist/bench/${name}.js`, ...args]),
  );}
