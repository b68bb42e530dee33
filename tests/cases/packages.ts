// npm packages in workflow code, for both kinds of programs: their shapes, what of Node they may
// name and not call, what they find of time and chance while they are loaded, and the same from a
// bundle.
import { bundleWorkflows } from "../../ts/realm/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, type RealmHarness } from "./realm_host.ts";
import {
  failureOf,
  IMPORTS,
  resultOf,
  type Sources,
  withProgram,
} from "./temporal_program_support.ts";

const from = (specifier: string) => `from "${specifier}"`;

const PACKAGES: Sources = {
  "/node_modules/common/package.json": '{ "name": "common", "version": "1.0.0" }',
  "/node_modules/common/index.js":
    "const inner = require('./inner');\nmodule.exports = (text) => inner.mark + text;\nmodule.exports.half = (n) => n / 2;",
  "/node_modules/common/inner.js": "exports.mark = require('./mark.json').mark;",
  "/node_modules/common/mark.json": '{ "mark": ">" }',
  "/node_modules/modern/package.json":
    '{ "name": "modern", "type": "module", "exports": { ".": { "node": "./node.js", "workflow": "./main.js" }, "./part/*": { "require": "./x.cjs", "import": "./parts/*.js" } }, "imports": { "#inner": "./inner.js" } }',
  "/node_modules/modern/main.js": `export { inner } ${from("#inner")}; export { one } ${
    from("modern/part/one")
  }; export default class Modern {}`,
  "/node_modules/modern/node.js": "export const inner = 'of Node';",
  "/node_modules/modern/inner.js":
    "export let inner = 'inner'; export const rename = (name) => { inner = name; };",
  "/node_modules/modern/parts/one.js": "export const one = 1;",
  "/node_modules/older/package.json":
    '{ "name": "older", "main": "lib/node.js", "browser": { "./lib/node.js": "./lib/browser.js", "zlib": false } }',
  "/node_modules/older/lib/node.js": "module.exports = 'of Node'",
  "/node_modules/older/lib/browser.js": "require('zlib'); module.exports = 'of browsers'",
  "/node_modules/needy/package.json": '{ "name": "needy", "type": "module" }',
  "/node_modules/needy/index.js": `import { readFileSync } ${from("node:fs")};
import * as path ${from("node:path")};
import crypto ${from("crypto")};
import { types } ${from("node:util")};

class Stream extends crypto.Hash {}
export const looked = [typeof readFileSync, typeof path.join, typeof crypto.createHash, typeof Stream].join();
export function reads() {
  return readFileSync("/etc/passwd");
}
export const hashes = () => crypto.createHash("sha1");
export const asks = () => types.isDate(1);
`,
  "/node_modules/tries/package.json": '{ "name": "tries" }',
  "/node_modules/tries/index.js": `let how = "Node's";
try { require("crypto"); } catch (e) { how = e.code; }
exports.how = how;`,
  "/node_modules/looks/package.json": '{ "name": "looks", "type": "module" }',
  "/node_modules/looks/index.js": `export let wasm = "there";
try { new WebAssembly.Module(new Uint8Array(8)); } catch (e) { wasm = "gone without"; }
export const wrapper = () => "called";
wrapper.bind = (text) => "bound " + text;
wrapper.call = wrapper.apply = wrapper.bind;
export function evals() { try { const F = Function; new F(""); return "allowed"; } catch { return "not allowed"; } }
export function asks() { try { return new WebAssembly.Module(new Uint8Array(8)); } catch { return "hidden"; } }`,
  "/node_modules/compiled/package.json": '{ "name": "compiled" }',
  "/node_modules/compiled/index.js":
    "Object.defineProperty(exports, '__esModule', { value: true });\nexports.default = (text) => text + '!';\nexports.named = 'named';",
  "/node_modules/early/package.json": '{ "name": "early" }',
  "/node_modules/early/index.js":
    "const at = Date.now();\nconst numbers = [Math.random(), Math.random()];\nexports.early = () => ({ at, numbers });\nexports.now = () => Date.now();",
};
const USES = `import mark, { half } ${from("common")};
import Modern, { inner, one } ${from("modern")};
import older ${from("older")};
import { how } ${from("tries")};
import { looked, reads, hashes, asks } ${from("needy")};
import { early, now } ${from("early")};
import { asks as asksAgain, evals, wasm, wrapper } ${from("looks")};
const shapes = () => [mark("x"), half(3), typeof Modern, inner, one, older, how, looked, wrapper.bind("x"), wrapper.call("y"), wasm, evals()];
`;
const OFFICIAL: Sources = {
  "/app/main.ts": `${IMPORTS}${USES}
export async function all() { await wf.sleep(1); return shapes(); }
export async function file() { reads(); }
export async function hash() { hashes(); }
export async function ask() { asks(); }
export async function loaded() { return early(); }
export async function hides() { return asksAgain(); }
export async function clock() { return now(); }`,
  ...PACKAGES,
};
const NATIVE: Sources = {
  "/app/main.ts": `${API}${USES}
export const all = workflow("all", async () => { await sleep(1); return shapes(); });
export const file = workflow("file", async () => { reads(); });
export const hash = workflow("hash", async () => { hashes(); });
export const ask = workflow("ask", async () => { asks(); });
export const loaded = workflow("loaded", async () => early());
export const hides = workflow("hides", async () => asksAgain());
export const clock = workflow("clock", async () => now());`,
  ...PACKAGES,
};
const SHAPES = [
  ">x",
  1.5,
  "function",
  "inner",
  1,
  "of browsers",
  "MODULE_NOT_FOUND",
  "function,function,function,function",
  "bound x",
  "bound y",
  "gone without",
  "not allowed",
];

async function behaves(h: RealmHarness): Promise<void> {
  deepEqual(await resultOf(h, "all"), SHAPES);
  match(
    await failureOf(h, "file"),
    /node:fs\.readFileSync\(\) is not available in workflow code: .*\(called by .*needy\/index\.js:9:/,
  );
  match(
    await failureOf(h, "hash"),
    /node:crypto\.createHash\(\) is not available .*needy\/index\.js:11:/,
  );
  match(await failureOf(h, "hides"), /new WebAssembly\.Module\(\) is not available/);
  match(
    await failureOf(h, "ask"),
    /node:util\.types\.isDate\(\) is not available .*needy\/index\.js:12:/,
  );
}

/** What a realm's runs find of the time and the numbers that a package took while it was loaded. */
const loaded = (sources: Sources) =>
  withProgram(
    sources,
    async (h) =>
      [await resultOf(h, "loaded"), await resultOf(h, "loaded")] as {
        at: number;
        numbers: number[];
      }[],
  );

const bundled = async (sources: Sources): Promise<Sources> => {
  const { code } = await bundleWorkflows({ workflows: "/app/main.ts", sources });
  return { "/deployed.js": code };
};

export const cases: readonly Case[] = [
  {
    name:
      "packages: shapes, and modules of Node that are named and not called, in programs of @temporalio/workflow",
    run: () => withProgram(OFFICIAL, behaves),
  },
  {
    name:
      "packages: shapes, and modules of Node that are named and not called, in native workflows",
    run: () => withProgram(NATIVE, behaves),
  },
  {
    name: "packages: a bundle of both kinds behaves as the sources do",
    run: async () => {
      await withProgram(await bundled(OFFICIAL), behaves);
      await withProgram(await bundled(NATIVE), behaves);
    },
  },
  {
    name:
      "packages: the default of compiled CommonJS is what bundlers make of it, and in ES modules and native workflows what Node does",
    run: async () => {
      const uses =
        `import compiled, { named } ${from("compiled")};\nimport * as all ${from("compiled")};\n` +
        `const found = () => [typeof compiled, typeof (compiled as any).default, typeof all.default, named];`;
      const temporal =
        `${IMPORTS}${uses}\nexport async function w() { await wf.sleep(1); return found(); }`;
      const native = `${API}${uses}\nexport const w = workflow("w", async () => found());`;
      const bundlers = ["function", "undefined", "function", "named"],
        node = ["object", "function", "object", "named"];
      const esm = { "/app/package.json": '{ "type": "module" }' };
      for (
        const [sources, expected] of [
          [{ "/app/main.ts": temporal, ...PACKAGES }, bundlers],
          [{ "/app/main.ts": temporal, ...PACKAGES, ...esm }, node],
          [{ "/app/main.ts": native, ...PACKAGES }, node],
        ] as const
      ) {
        for (const program of [sources, await bundled(sources)]) {
          await withProgram(program, async (h) => deepEqual(await resultOf(h, "w"), expected));
        }
      }
    },
  },
  {
    name:
      "packages: time and randomness during loading of native workflows' packages are the same in every realm",
    run: async () => {
      const [one, two] = [await loaded(NATIVE), await loaded({ ...NATIVE })];
      deepEqual(one, two);
      deepEqual(one[0], one[1]);
      equal(one[0]!.at, Date.UTC(2026, 0, 1));
      const numbers = one[0]!.numbers;
      equal(numbers[0] !== numbers[1] && numbers.every((n) => n >= 0 && n < 1), true);
      await withProgram(
        NATIVE,
        async (h) => equal(await resultOf(h, "clock") !== Date.UTC(2026, 0, 1), true),
      );
    },
  },
];
