// The loader on real files: packages as npm installs them, symbolic links, import maps, entries of
// one's own. Packages are those that this project depends on anyway.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import process from "node:process";
import { harness } from "./realm_support.ts";

let folder = "";
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "temporalex-loader-")));
  mkdirSync(join(folder, "node_modules"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Links a package of this project into the folder, as package managers do. */
function link(name: string): void {
  mkdirSync(join(folder, "node_modules", name, ".."), { recursive: true });
  symlinkSync(
    realpathSync(join(process.cwd(), "node_modules", name)),
    join(folder, "node_modules", name),
    "dir",
  );
}

async function result(workflows: string, args: unknown[] = []): Promise<unknown> {
  const h = await harness({ workflows });
  try {
    const run = h.start("W", { args });
    await run.task();
    if (run.server.closed === undefined) throw new Error(run.failure);
    return run.server.closed.result;
  } finally {
    await h.realm.dispose();
  }
}

test("npm packages run in a realm: ES modules, CommonJS, with dependencies", async () => {
  for (const name of ["acorn", "sucrase", "@bufbuild/protobuf", "fast-check"]) link(name);
  const path = write(
    "packages.ts",
    `import { workflow } from "temporalex/workflow";
import { parse, type Program } from "acorn";
import { transform } from "sucrase";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";

export const w = workflow("W", async (code: string) => {
  const program: Program = parse(code, { ecmaVersion: "latest" });
  const js = transform(code.replace("x", "x: number"), { transforms: ["typescript"] }).code;
  const bytes = new BinaryWriter().uint32(8).int32(300).finish();
  const sample = fc.sample(fc.integer({ min: 1, max: 6 }), { seed: 7, numRuns: 3 });
  return [program.body.length, js, [...bytes], sample.length, Date.now()];
});
`,
  );
  const [statements, js, bytes, samples, time] = await result(path, ["const x = 1;"]) as [
    number,
    string,
    number[],
    number,
    number,
  ];
  assert.deepEqual([statements, js, bytes, samples], [1, "const x = 1;", [8, 172, 2], 3]);
  assert.equal(time, Date.UTC(2026, 0, 1) + 1000);
});

test("a package that needs Node fails when it calls Node, with package and line", async () => {
  write(
    "node_modules/needs-node/package.json",
    '{ "name": "needs-node", "type": "module", "exports": "./dist/index.mjs" }',
  );
  write(
    "node_modules/needs-node/dist/index.mjs",
    '// a command line parser\nimport { parseArgs } from "node:util";\nexport { parseArgs };',
  );
  write(
    "lib/args.ts",
    'import "./other.ts";\nimport { parseArgs } from "needs-node"; export const args = parseArgs([], {});',
  );
  write("lib/other.ts", "export {};");
  const path = write("cli.ts", 'import "./lib/args.ts";');
  await assert.rejects(
    harness({ workflows: path }),
    /lib\/args\.ts:2:\d+: fails while it is loaded: .*node:util\.parseArgs\(\) is not available in workflow code: .* \(called by .*args\.ts:2:/,
  );
  write(
    "lib/args.ts",
    'import { parseArgs } from "needs-gone"; export const args = parseArgs([], {});',
  );
  write(
    "node_modules/needs-gone/package.json",
    '{ "name": "needs-gone", "type": "module", "exports": "./dist/index.mjs" }',
  );
  write("node_modules/needs-gone/dist/index.mjs", '\nexport { parseArgs } from "gone";');
  await assert.rejects(
    harness({ workflows: path }),
    /needs-gone\/dist\/index\.mjs:2: imports "gone", .*\(the package "needs-gone" is imported at .*lib\/args\.ts:1\)/,
  );
});

test("a symbolic link and its target are one module", async () => {
  write("real/shared.ts", "export const token = {};");
  symlinkSync(join(folder, "real"), join(folder, "linked"), "dir");
  const path = write(
    "links.ts",
    `import { workflow } from "temporalex/workflow";
import { token as a } from "./real/shared.ts"; import { token as b } from "./linked/shared.js";
export const w = workflow("W", async () => a === b);`,
  );
  assert.equal(await result(path), true);
});

test("paths relative to the working directory, file URLs, folders with spaces and signs", async () => {
  const path = write(
    "a folder/ünï#1?/w.ts",
    `import { workflow } from "temporalex/workflow"; export const w = workflow("W", async () => new Error("x").stack!.split("\\n")[1]);`,
  );
  assert.match(String(await result(path)), /a%20folder\/.*w\.ts:1:/);
  assert.match(String(await result(pathToFileURL(path).href)), /w\.ts:1:/);
});

// Import maps are Deno's; elsewhere there is nothing to test.
const inDeno = "Deno" in globalThis ? test : () => {};
inDeno("imports of deno.json", async () => {
  write(
    "deno.jsonc",
    `{ // a comment
    "imports": { "util": "./lib/util.ts", "lib/": "./lib/", "wf": "npm:temporalex@1/workflow", "far": "https://example.org/x.ts", }
  }`,
  );
  write("lib/util.ts", "export const util = 'util';");
  write("lib/more.ts", "export const more = 'more';");
  const path = write(
    "mapped.ts",
    `import { workflow } from "wf"; import { util } from "util"; import { more } from "lib/more.ts"; export const w = workflow("W", async () => util + more);`,
  );
  assert.equal(await result(path), "utilmore");
  await assert.rejects(
    harness({ workflows: write("far.ts", 'import "far";') }),
    /far\.ts:1: imports "https:\/\/example\.org\/x\.ts" from the network/,
  );
});

test("a custom entry serves its workflows behind the guard", async () => {
  const deno = "Deno" in globalThis;
  const own = (module: string) =>
    pathToFileURL(join(process.cwd(), deno ? "" : "dist", "ts", module, deno ? "mod.ts" : "mod.js"))
      .href;
  const workflows = (top: string) =>
    `import { workflow } from "${
      own("workflow")
    }";\n${top}\nexport const w = workflow("W", async () => { if (Math.random() < 0) return; return [typeof setTimeout, Date.now()] });\nexport const f = workflow("F", async () => fetch("http://localhost"));`;
  write("served.mjs", workflows(""));
  write("served_clock.mjs", workflows("export const at = Date.now();"));
  const entry = (name: string, text: string) =>
    pathToFileURL(write(name, `import { serveRealm } from "${own("realm")}";\n${text}`));
  for (
    const served of [
      entry("entry_lazy.mjs", `serveRealm(() => import("./served.mjs"));`),
      entry(
        "entry_eager.mjs",
        `import * as workflows from "./served.mjs";\nserveRealm(workflows);`,
      ),
    ]
  ) {
    const h = await harness({ entry: served });
    try {
      assert.deepEqual(
        [...h.realm.workflowTypes],
        ["W", "F"].sort((a, b) =>
          h.realm.workflowTypes.indexOf(a) - h.realm.workflowTypes.indexOf(b)
        ),
      );
      const run = h.start("W");
      await run.task();
      assert.deepEqual(
        run.server.closed?.result,
        ["function", Date.UTC(2026, 0, 1) + 1000],
        run.failure,
      );
      const fetching = h.start("F");
      await fetching.task();
      assert.match(fetching.failure, /fetch\(\) is not available in workflow code/);
    } finally {
      await h.realm.dispose();
    }
  }
  // Loaded by the function, modules are behind the guard from their first line.
  await assert.rejects(
    harness({ entry: entry("entry_clock.mjs", `serveRealm(() => import("./served_clock.mjs"));`) }),
    /DeterminismError: Date\.now\(\) .*while modules are loaded/,
  );
  await assert.rejects(
    harness({ entry: entry("entry_nothing.mjs", "serveRealm();") }),
    /the realm has no workflows/,
  );
});
