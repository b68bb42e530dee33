// Throw-away projects: the tarball as users install it, used from every runtime and tool in which it has to work.
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, relative } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { launchChromium } from "../../tools/lib/chromium.mjs";
import { bytesOf } from "../../tools/lib/halves.mjs";
import { bin } from "../../tools/lib/steps.mjs";
import { checkMessages } from "./type_messages.mjs";

const MB = 1_000_000;
const BLOCK = 4096;
const CART = { counts: [1, 2], result: "ada pays for tea and milk" };

/** A part of the text of a half of the core that the other one does not have. */
function textOf({ root }, half) {
  const [own, other] = [half, half === "worker" ? "engine" : "worker"].map((name) => bytesOf(root, name).toString("base64"));
  let at = 100_000;
  while (other.includes(own.slice(at, at + 60))) at += 1000;
  return own.slice(at, at + 60);
}
const walk = (dir) =>
  readdirSync(dir, { withFileTypes: true }).flatMap((
    e,
  ) => (e.isDirectory() ? walk(join(dir, e.name)) : [join(dir, e.name)]));
const lastJson = (output) => {
  const line = output.trim().split("\n").findLast((l) => l.startsWith("{"));
  assert.ok(line !== undefined, output);
  return JSON.parse(line);
};

/** The project: the sources, and the tarball installed from a lock without optional packages. Made once for all tests. */
function project({ shared, work, made, root, run, npm }) {
  const make = async () => {
    const dir = join(work, "project");
    cpSync(join(root, "tests/package/projects"), dir, { recursive: true });
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
async function program(context, cmd, args, options = {}) {
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
async function bundle(context, options) {
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
function viteBuild(context) {
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
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; base-uri 'none'";

/** Serves a folder on a loopback port under a strict policy, opens a page of it, and answers what `visited` does. */
async function pageTitle(folder, start = "") {
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

/** Opens a page in Chromium; its title once it no longer says "running", and what the page complained of. */
async function visited(url) {
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

const HTML = '<!doctype html><meta charset="utf-8"><title>running</title><script type="module" src="./page.js"></script>';

/** tsc over the README's example, its misuses and every subpath, with the declarations themselves checked. */
async function compiles(context, tsc, settings) {
  const dir = await project(context);
  const types = join(dir, "types");
  const readme = readFileSync(join(context.made.folder, "README.md"), "utf8");
  const example = [
    ...readme.matchAll(/```ts\n\/\/ ([a-z]+\.ts)\n([\s\S]*?)```/g),
  ];
  assert.deepEqual(example.map(([, name]) => name), [
    "activities.ts",
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
const RESOLUTIONS = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext", lib: DOM },
  bundler: { module: "esnext", moduleResolution: "bundler", lib: DOM },
};

/** Node of another major version, from npm; where it cannot be had, why not. */
async function otherNode({ root, run, npm, shared }, version) {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return { skip: "the packages of other Nodes are for Linux on x64" };
  }
  const dir = join(root, "tests/package/nodes");
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
    return status === 0 ? undefined : `npm ci failed in tests/package/nodes: ${output.trim().split("\n").at(-1)}`;
  };
  if (!shared.has("nodes")) shared.set("nodes", install());
  const skip = await shared.get("nodes");
  return skip === undefined ? { node: join(dir, `node_modules/node${version}/bin/node`) } : { skip };
}

export const projects = [
  {
    name: "a production install has no native addon and is small",
    async test(context) {
      const dir = await project(context);
      const files = walk(join(dir, "node_modules"));
      assert.deepEqual(files.filter((f) => f.endsWith(".node")), []);
      const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
      const packages = readdirSync(join(dir, "node_modules")).filter((n) => !n.startsWith("."));
      // As a disk counts: in blocks.
      const disk = files.reduce(
        (sum, file) => sum + Math.ceil(statSync(file).size / BLOCK) * BLOCK,
        0,
      );
      const sizes = `${(bytes / MB).toFixed(1)} MB, ${(disk / MB).toFixed(1)} MB in blocks`;
      context.say(
        `node_modules: ${sizes}, in ${files.length} files (${packages.join(", ")})`,
      );
      assert.ok(disk <= 20 * MB, sizes);
      // The bytes of the core as text, and the compiler of types, are there once.
      for (
        const text of [
          textOf(context, "worker"),
          textOf(context, "engine"),
          "Expected either /> or > at the end of the tag.",
        ]
      ) {
        const holders = files.filter((f) => f.endsWith(".js") && readFileSync(f, "utf8").includes(text));
        assert.equal(holders.length, 1, `${text}: ${holders.join(", ")}`);
      }
      const scripts = walk(join(dir, "node_modules")).filter((f) => f.endsWith("/package.json"))
        .filter((f) =>
          /"(?:pre|post)?install"\s*:/.test(
            readFileSync(f, "utf8").replace(/"dependencies"[\s\S]*/, ""),
          )
        );
      assert.deepEqual(scripts, []);
    },
  },
  {
    name: "Node, JavaScript: SQLite file, worker realm, TypeScript workflows, activity thread",
    async test(context) {
      const { cart, computed, packaged } = await program(
        context,
        process.execPath,
        ["main.mjs"],
      );
      assert.deepEqual(cart, { ...CART, status: "open", events: cart.events });
      assert.ok(cart.events > 15);
      assert.equal(computed, 6765);
      // The guard tells the package's own frames from those of others.
      assert.equal(packaged, "is done");
      context.say(JSON.stringify(cart));
    },
  },
  {
    name: "Node, CommonJS: require() of the package",
    async test(context) {
      if (!(process.features.require_module ?? false)) {
        return { skip: `Node ${process.version} does not require ES modules` };
      }
      assert.deepEqual({
        ...await program(context, process.execPath, ["main.cjs"]),
        events: 0,
      }, {
        ...CART,
        status: "open",
        events: 0,
      });
    },
  },
  ...[22, 24].map((version) => ({
    name: `Node ${version}: JavaScript, CommonJS, and TypeScript with types stripped by Node`,
    async test(context) {
      const { node, skip } = await otherNode(context, version);
      if (skip !== undefined) return { skip };
      const { cart, computed, packaged } = await program(context, node, [
        "main.mjs",
      ]);
      assert.deepEqual({ ...cart, events: 0 }, {
        ...CART,
        status: "open",
        events: 0,
      });
      assert.deepEqual([computed, packaged], [6765, "is done"]);
      assert.deepEqual({
        ...await program(context, node, ["main.cjs"]),
        events: 0,
      }, { ...CART, status: "open", events: 0 });
      assert.deepEqual(
        await program(context, node, ["--experimental-strip-types", "main.ts"]),
        { ...CART, status: "open" },
      );
    },
  })),
  {
    name: "Deno: from node_modules, read and write allowed, nothing else",
    async test(context) {
      const deno = bin("deno");
      if (deno === undefined) {
        return { skip: "the npm package deno has no binary here" };
      }
      const args = [
        "run",
        "--no-prompt",
        "--node-modules-dir=manual",
        "--allow-read",
        "--allow-write=.",
        "main.ts",
      ];
      assert.deepEqual(
        await program(context, deno, args, { env: { NO_COLOR: "1" } }),
        { ...CART, status: "open" },
      );
    },
  },
  {
    name: "the command line, by npx: replays what Node has run; a change of the workflow is named with its line",
    async test(context) {
      const dir = await project(context);
      const app = join(dir, "app");
      if (!existsSync(join(app, "history.json"))) {
        await program(context, process.execPath, ["main.mjs"]);
      }
      const replay = (module) =>
        context.run("npx", [
          "--no-install",
          "temporalex",
          "replay",
          "--workflows",
          module,
          "history.json",
        ], { cwd: app });
      const same = await replay("./workflows.ts");
      assert.equal(same.status, 0, same.output);
      assert.equal(lastJson(same.output).verdict, "ok", same.output);
      const text = readFileSync(join(app, "workflows.ts"), "utf8");
      writeFileSync(
        join(app, "changed.ts"),
        text.replace("await sleep(20);", "await shop.fibonacci(1);"),
      );
      const other = await replay("./changed.ts");
      assert.equal(other.status, 1, other.output);
      const { verdict, error } = lastJson(other.output);
      assert.equal(verdict, "nondeterminism");
      const line = text.slice(0, text.indexOf("await sleep(20);")).split("\n").length;
      assert.match(
        error.location,
        new RegExp(`changed\\.ts:${line}:`),
        other.output,
      );
    },
  },
  {
    name: "esbuild for Node: everything in a bundle, with a realm entry",
    async test(context) {
      const dir = await project(context);
      const outdir = join(dir, "out-node");
      await bundle(context, {
        entryPoints: { main: "bundle/node.ts", realm: "bundle/realm.ts" },
        platform: "node",
        outdir,
      });
      writeFileSync(join(outdir, "package.json"), '{"type":"module"}');
      const { refusal, ...result } = await program(context, process.execPath, [
        join(outdir, "main.js"),
      ]);
      assert.deepEqual(result, CART);
      assert.match(refusal, /part of a bundle.*`entry`.*serveRealm/);
    },
  },
  {
    name: "esbuild for browsers: a page with the core inside",
    async test(context) {
      const dir = await project(context);
      const outdir = join(dir, "out-page");
      await bundle(context, {
        entryPoints: { page: "bundle/page.ts", realm: "bundle/realm.ts" },
        platform: "browser",
        outdir,
      });
      writeFileSync(join(outdir, "index.html"), HTML);
      const { skip, title, problems } = await pageTitle(outdir);
      if (skip !== undefined) return { skip };
      assert.deepEqual(JSON.parse(title), CART, problems?.join("\n"));
      assert.deepEqual(problems.filter((p) => !/favicon|404/.test(p)), []);
    },
  },
  {
    name: "Vite: a production build, the core's files from its own origin, a bundled realm entry, strict policy",
    async test(context) {
      const built = await viteBuild(context);
      if (built.skip !== undefined) return built;
      const { outDir, files } = built;
      for (const half of [/\/worker-.*\.wasm$/, /\/engine-.*\.wasm$/]) {
        assert.equal(
          files.filter((f) => half.test(f)).length,
          1,
          files.join("\n"),
        );
      }
      // No file of the package is there as an asset that nobody can run.
      assert.deepEqual(
        files.filter((f) => /worker_entry|activity_thread/.test(f)),
        [],
      );
      const { skip, title, problems } = await pageTitle(outDir);
      if (skip !== undefined) return { skip };
      assert.deepEqual(
        JSON.parse(title),
        CART,
        `${title}\n${problems?.join("\n")}`,
      );
      const page = readFileSync(join(outDir, "index.html"), "utf8").match(
        /src="\.\/(.*?)"/,
      )[1];
      assert.doesNotMatch(
        readFileSync(join(outDir, page), "utf8"),
        /AGFzbQEAAAA/,
        "the page of slim contains the core as text",
      );
    },
  },
  ...["", "#own"].map((hash) => ({
    name: `Vite: a tab with a durable store, over a reload, ${
      hash === "" ? "engine worker of the package" : "engine worker of its own"
    }`,
    async test(context) {
      const built = await viteBuild(context);
      if (built.skip !== undefined) return built;
      const { skip, title, problems } = await pageTitle(
        built.outDir,
        `tab.html${hash}`,
      );
      if (skip !== undefined) return { skip };
      assert.deepEqual(
        JSON.parse(title.startsWith("{") ? title : "{}"),
        CART,
        `${title}\n${problems?.join("\n")}`,
      );
    },
  })),
  {
    name: "Vite: the development server",
    async test(context) {
      const vite = await import("vite").catch(() => undefined);
      if (vite === undefined) return { skip: "vite is not installed" };
      const server = await vite.createServer({
        root: join(await project(context), "vite"),
        configFile: false,
        logLevel: "silent",
        worker: { format: "es" },
        server: { host: "127.0.0.1", port: 0 },
      });
      try {
        await server.listen();
        for (const start of ["", "tab.html"]) {
          const { skip, title, problems } = await visited(
            `http://127.0.0.1:${server.httpServer.address().port}/${start}`,
          );
          if (skip !== undefined) return { skip };
          assert.deepEqual(
            JSON.parse(title.startsWith("{") ? title : "{}"),
            CART,
            `${start}: ${title}\n${problems.join("\n")}`,
          );
        }
      } finally {
        await server.close();
      }
    },
  },
  ...Object.entries(RESOLUTIONS).map(([name, settings]) => ({
    name: `TypeScript 7, ${name} resolution: the README's example compiles, its misuses do not, and it says why`,
    test: (context) => compiles(context, bin("tsc"), settings),
  })),
  ...Object.entries(RESOLUTIONS).map(([name, settings]) => ({
    name: `TypeScript 5.9, ${name} resolution: the README's example compiles, its misuses do not, and it says why`,
    async test(context) {
      if (context.noJudges !== undefined) return { skip: context.noJudges };
      await compiles(
        context,
        join(context.root, "tests/package/node_modules/typescript/bin/tsc"),
        settings,
      );
    },
  })),
  ...["browser", "node"].map((platform) => ({
    name: `esbuild, ${platform}: a cluster's worker has nothing of the engine, an engine nothing of the worker`,
    async test(context) {
      const dir = await project(context);
      for (
        const [contents, has, hasNot] of [
          [
            'export { Worker } from "temporalex/worker"; export { Connection } from "temporalex/temporal";',
            "worker",
            "engine",
          ],
          [
            'export { Worker } from "temporalex"; export { Connection } from "temporalex/temporal";',
            "worker",
            "engine",
          ],
          ['export { EmbeddedEngine } from "temporalex";', "engine", "worker"],
          ['export { open } from "temporalex/slim";', undefined, "worker"],
          ['export { open } from "temporalex/slim";', undefined, "engine"],
        ]
      ) {
        const { outputFiles } = await bundle(context, {
          stdin: { contents, resolveDir: dir },
          platform,
          external: ["node:*", "libsql", "node-sqlite3-wasm"],
          write: false,
        });
        assert.equal(outputFiles.length, 1);
        const [{ text }] = outputFiles;
        assert.ok(text.length > 100_000, contents);
        if (has !== undefined) {
          assert.ok(
            text.includes(textOf(context, has)),
            `${contents} has ${has}.wasm`,
          );
        }
        assert.ok(
          !text.includes(textOf(context, hasNot)),
          `${contents} has no ${hasNot}.wasm`,
        );
        context.say(`${contents} ${Math.round(text.length / 1000)} kB`);
      }
    },
  })),
  {
    name: "sizes of bundles",
    async test(context) {
      const sizes = {
        "client alone": 'export { Client } from "temporalex/client";',
        "workflow API alone": 'export * from "temporalex/workflow";',
        "realm entry": 'import { serveRealm } from "temporalex/realm"; serveRealm({});',
        "page with slim (the core's files apart)": 'export { open, useCore } from "temporalex/slim";',
        "page with the core inside": 'export { open } from "temporalex";',
      };
      for (const [name, contents] of Object.entries(sizes)) {
        const { outputFiles, metafile } = await bundle(context, {
          stdin: { contents, resolveDir: await project(context) },
          platform: "browser",
          minify: true,
          splitting: true,
          write: false,
          metafile: true,
          outdir: "out",
        });
        // What the entry needs at once, and what it loads when it is needed.
        const outputs = Object.entries(metafile.outputs);
        const first = new Set([
          outputs.find(([, o]) => o.entryPoint !== undefined && o.entryPoint.includes("stdin"))[0],
        ]);
        for (const output of first) {
          for (const i of metafile.outputs[output].imports) {
            if (i.kind === "import-statement" && !i.external) first.add(i.path);
          }
        }
        // (esbuild also writes files for imports in code that it has dropped; nobody loads them.)
        const reached = new Set(first);
        for (const output of reached) {
          for (const i of metafile.outputs[output].imports) {
            if (!i.external) reached.add(i.path);
          }
        }
        const gz = (list) =>
          list.reduce(
            (sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length,
            0,
          );
        const paths = outputs.map(([path]) => path);
        const now = outputFiles.filter((_, i) => first.has(paths[i]));
        const later = outputFiles.filter((_, i) => reached.has(paths[i]) && !first.has(paths[i]));
        context.say(
          `${name}: ${(gz(now) / 1000).toFixed(1)} kB min+gz${
            later.length > 0 ? `, and ${(gz(later) / 1000).toFixed(1)} kB when needed` : ""
          }`,
        );
        const hasCore = now.concat(later).some((file) => file.text.includes("AGFzbQEAAAA"));
        assert.equal(
          hasCore,
          name.endsWith("with the core inside"),
          `${name}: the core as text`,
        );
      }
    },
  },
];
