// Throw-away projects: the tarball as users install it, used from every runtime and tool in which
// it has to work.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { bin } from "../../../tools/lib/steps.mjs";
import {
  BLOCK,
  bundle,
  CART,
  compiles,
  HTML,
  MB,
  otherNode,
  pageTitle,
  program,
  project,
  RESOLUTIONS,
  textOf,
  visited,
  viteBuild,
  walk,
} from "./project_steps.mjs";

/** The line of the one history that was replayed; the line after it sums up. */
const verdictOf = (output) =>
  JSON.parse(
    output.split("\n").find((line) => line.startsWith('{"file":')) ?? "null",
  );

export const projects = [
  {
    name: "a production install has no native addon and is small",
    async test(context) {
      const dir = await project(context);
      // (A link takes no block.)
      const files = walk(join(dir, "node_modules")).filter((file) =>
        !lstatSync(file).isSymbolicLink()
      );
      assert.deepEqual(files.filter((f) => f.endsWith(".node")), []);
      const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
      const packages = readdirSync(join(dir, "node_modules")).filter((n) => !n.startsWith("."));
      // As a disk counts: in blocks.
      const disk = files.reduce(
        (sum, file) => sum + Math.ceil(statSync(file).size / BLOCK) * BLOCK,
        0,
      );
      const sizes = `${(bytes / MB).toFixed(1)} MB, ${(disk / MB).toFixed(2)} MB in blocks`;
      context.say(
        `node_modules: ${sizes}, in ${files.length} files (${packages.join(", ")})`,
      );
      // Schedules, resets and the whole API of @temporalio/proto took 0.6 MB; Nexus, standalone
      // activities and the client of activities 0.7 MB; worker deployments 0.2 MB.
      assert.ok(disk <= 22.7 * MB, sizes);
      // The bytes of the core as text, the compiler of types, and the parsers of code and of TOML,
      // are there once.
      for (
        const text of [
          textOf(context, "worker"),
          textOf(context, "engine"),
          "Expected either /> or > at the end of the tag.",
          "Octal literal in template string",
          "invalid escape: only line-ending whitespace may be escaped",
        ]
      ) {
        const holders = files.filter((f) =>
          f.endsWith(".js") && readFileSync(f, "utf8").includes(text)
        );
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
    name:
      "temporalex debug serves the page that is in the package, with the core and SQLite that are installed",
    async test(context) {
      const dir = await project(context);
      const history = join(context.root, "web-demo/samples/counter.json");
      const args = [
        join(dir, "node_modules/.bin/temporalex"),
        "debug",
        history,
        "--no-open",
        "--json",
        "--port",
        "0",
      ];
      const child = spawn(process.execPath, args, {
        cwd: dir,
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        let out = "";
        for await (const text of child.stdout.setEncoding("utf8")) {
          if (/\n/.test(out += text)) break;
        }
        const { url } = JSON.parse(out.split("\n")[0]);
        const read = async (path) => await (await fetch(new URL(path, url))).text();
        const page = await read("");
        // The core is not in the archive: it is the file that the package has anyway. Some script
        // of the page names it.
        const scripts = [/src="\.\/assets\/([^"]+\.js)"/.exec(page)[1]];
        let module;
        for (let i = 0; i < scripts.length && module === undefined; i++) {
          const text = await read(`assets/${scripts[i]}`);
          module = /\bworker-[\w-]+\.wasm/.exec(text)?.[0];
          scripts.push(
            ...new Set(
              text.match(/\b[\w-]+-[\w-]{8}\.js\b/g)?.filter((name) => !scripts.includes(name)),
            ),
          );
        }
        const core = await fetch(new URL(`assets/${module}`, url));
        assert.deepEqual(
          new Uint8Array(await core.arrayBuffer()).subarray(0, 4),
          Uint8Array.of(0, 0x61, 0x73, 0x6d),
        );
      } finally {
        child.kill("SIGKILL");
      }
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
      // The guard distinguishes the package's own frames from others.
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
    name:
      "the command line, by npx: replays what Node has run; a change of the workflow is named with its line",
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
      // A query runs in a separate process, which starts from a file of the package.
      const store = readdirSync(app).find((name) => name.endsWith(".sqlite"));
      const asked = [
        "--no-install",
        "temporalex",
        "sql",
        "SELECT count(*) > 0 AS some FROM workflow",
        "--json",
        "--store",
        store,
      ];
      const found = await context.run("npx", asked, { cwd: app });
      assert.equal(found.status, 0, found.output);
      assert.match(found.output, /"some":\s*1/);
      const same = await replay("./workflows.ts");
      assert.equal(same.status, 0, same.output);
      assert.equal(verdictOf(same.output).verdict, "ok", same.output);
      const text = readFileSync(join(app, "workflows.ts"), "utf8");
      writeFileSync(
        join(app, "changed.ts"),
        text.replace("await sleep(20);", "await shop.fibonacci(1);"),
      );
      const other = await replay("./changed.ts");
      assert.equal(other.status, 1, other.output);
      const { verdict, error } = verdictOf(other.output);
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
      assert.match(refusal, /is bundled.*`entry`.*serveRealm/);
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
    name:
      "Vite: a production build, the core's files from its own origin, a bundled realm entry, strict policy",
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
      // No file of the package is an asset that cannot run.
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
      const code = readFileSync(join(outDir, page), "utf8");
      for (const half of ["worker", "engine"]) {
        assert.ok(
          !code.includes(textOf(context, half)),
          `the page of slim contains ${half}.wasm as text`,
        );
      }
    },
  },
  ...["", "#own"].map((hash) => ({
    name: `Vite: a tab with a durable store, over a reload, ${
      hash === "" ? "engine worker of the package" : "engine worker of the project"
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
    name:
      `TypeScript 7, ${name} resolution: the README's example compiles, its misuses do not, and it says why`,
    test: (context) => compiles(context, bin("tsc"), settings),
  })),
  ...Object.entries(RESOLUTIONS).map(([name, settings]) => ({
    name:
      `TypeScript 5.9, ${name} resolution: the README's example compiles, its misuses do not, and it says why`,
    async test(context) {
      if (context.noJudges !== undefined) return { skip: context.noJudges };
      await compiles(
        context,
        join(context.root, "tests/system/package/node_modules/typescript/bin/tsc"),
        settings,
      );
    },
  })),
  ...["browser", "node"].map((platform) => ({
    name:
      `esbuild, ${platform}: a cluster's worker has nothing of the engine, an engine nothing of the worker`,
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
        "page with slim (the core's files apart)":
          'export { open, useCore } from "temporalex/slim";',
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
        // (esbuild also writes files for imports in dropped code; they are never loaded.)
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
        const texts = ["worker", "engine"].map((half) => textOf(context, half));
        const hasCore = now.concat(later).some((file) =>
          texts.some((text) => file.text.includes(text))
        );
        assert.equal(
          hasCore,
          name.endsWith("with the core inside"),
          `${name}: the core as text`,
        );
      }
    },
  },
];
