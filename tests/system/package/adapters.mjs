// Programs of the official SDK in a project with this package only: the adapters of
// docs/temporal-programs.md, from the tarball.
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { bin } from "../../../tools/lib/steps.mjs";
import { lastJson, otherNode, project } from "./project_steps.mjs";

const HOOKS = ["--import", "temporalex/compat/register"];
const SAYS = { same: true, bytes: 2, address: "host:1" };
const tool = ({ root }, name) => join(root, "tests/system/package/node_modules/.bin", name);

async function says(context, command, args, options = {}) {
  const cwd = join(await project(context), "temporal");
  const { status, output } = await context.run(command, args, {
    cwd,
    timeoutMs: 240_000,
    ...options,
  });
  assert.equal(status, 0, output);
  assert.deepEqual(lastJson(output), SAYS, output);
  return output;
}

/** app.js as tsc writes it, from types that tsconfig.json maps to this package's. */
function compiled(context) {
  const make = async () => {
    const cwd = join(await project(context), "temporal");
    const { status, output } = await context.run(tool(context, "tsc"), ["-p", "."], { cwd });
    assert.equal(status, 0, output);
  };
  if (!context.shared.has("compiled")) context.shared.set("compiled", make());
  return context.shared.get("compiled");
}

export const adapters = [
  {
    name: "adapters: CommonJS that tsc has compiled, with the hooks",
    async test(context) {
      await compiled(context);
      const output = await says(context, process.execPath, [...HOOKS, "lib/app.js"]);
      // No warning of Node about ES modules that are required.
      assert.equal(output.trim().split("\n").length, 1, output);
    },
  },
  ...[22, 24].map((version) => ({
    name: `adapters: Node ${version}: compiled, with tsx, with ts-node`,
    async test(context) {
      const { node, skip } = await otherNode(context, version);
      if (skip !== undefined) return { skip };
      await compiled(context);
      await says(context, node, [...HOOKS, "lib/app.js"]);
      await says(context, node, [tool(context, "tsx"), ...HOOKS, "app.ts"]);
      const project = { TS_NODE_PROJECT: "tsconfig.json" };
      await says(context, node, [tool(context, "ts-node"), "-T", "app.ts"], {
        env: { ...project, NODE_OPTIONS: "--require temporalex/compat/register" },
      });
    },
  })),
  {
    name: "adapters: tsx with the hooks",
    async test(context) {
      if (context.noJudges !== undefined) return { skip: context.noJudges };
      await says(context, tool(context, "tsx"), [...HOOKS, "app.ts"]);
    },
  },
  {
    name: "adapters: ts-node with the hooks",
    async test(context) {
      if (context.noJudges !== undefined) return { skip: context.noJudges };
      await says(context, tool(context, "ts-node"), ["-T", "app.ts"], {
        env: { NODE_OPTIONS: "--require temporalex/compat/register" },
      });
    },
  },
  {
    name: "adapters: Deno with the import map, types checked",
    async test(context) {
      const deno = bin("deno");
      if (deno === undefined) return { skip: "the npm package deno has no binary here" };
      const map = "--import-map=../node_modules/temporalex/import_map.json";
      await says(context, deno, [
        "run",
        "--check",
        "--no-prompt",
        "--allow-read",
        "--node-modules-dir=manual",
        map,
        "app.ts",
      ], {
        env: { NO_COLOR: "1" },
      });
    },
  },
  {
    name: "adapters: Deno with the hooks, CommonJS, of a package from a file",
    async test(context) {
      const deno = bin("deno");
      if (deno === undefined) return { skip: "the npm package deno has no binary here" };
      const args = [
        "run",
        "--no-prompt",
        "-A",
        "--node-modules-dir=manual",
        "--preload",
        "./register.cjs",
        "required.cjs",
      ];
      await says(context, deno, args, { env: { NO_COLOR: "1" } });
    },
  },
  {
    name: "adapters: tests under Jest",
    async test(context) {
      if (context.noJudges !== undefined) return { skip: context.noJudges };
      const cwd = join(await project(context), "temporal/jest");
      const { status, output } = await context.run(tool(context, "jest"), ["--ci"], {
        cwd,
        timeoutMs: 240_000,
      });
      assert.equal(status, 0, output);
      assert.match(output, /Tests: +7 passed, 7 total/);
    },
  },
];
