// Packages: Node's resolution over node_modules, package.json exports and imports, conditions,
// CommonJS, and what stays shut.
import test from "node:test";
import assert from "node:assert/strict";
import { type Files, refusals, run, warnings } from "./loader_support.ts";

const pkg = (name: string, json: object, files: Files): Files =>
  Object.fromEntries([
    [`/node_modules/${name}/package.json`, JSON.stringify({ name, ...json })],
    ...Object.entries(files).map(([path, text]) => [`/node_modules/${name}/${path}`, text]),
  ]);
const value = (files: Files, source: string): unknown =>
  run({ ...files, "/app/src/main.ts": source }, ["/app/src/main.ts"])["value"];

test("exports: strings, conditions in their order, subpaths, patterns, closed paths", () => {
  const files = {
    ...pkg("p", {
      exports: {
        ".": {
          types: "./t.d.ts",
          node: "./node.js",
          browser: { require: "./r.cjs", default: "./b.js" },
          default: "./d.js",
        },
        "./sub": "./s.mjs",
        "./features/*": "./f/*.mjs",
        "./features/private/*": null,
        "./own": { "temporalex-workflow": "./own.mjs", default: "./d.js" },
        "./list": ["not-relative", "./s.mjs"],
      },
    }, {
      "node.js": "import 'fs'",
      "b.js": "export default 'browser'",
      "d.js": "export default 'default'",
      "s.mjs": "export default 'sub'",
      "f/x.mjs": "export default 'x'",
      "f/private/y.mjs": "",
      "own.mjs": "export default 'own'",
      "hidden.js": "",
    }),
  };
  assert.equal(value(files, 'export { default as value } from "p"'), "browser");
  assert.equal(value(files, 'export { default as value } from "p/sub"'), "sub");
  assert.equal(value(files, 'export { default as value } from "p/features/x"'), "x");
  assert.equal(value(files, 'export { default as value } from "p/own"'), "own");
  for (const closed of ["p/hidden.js", "p/features/private/y", "p/nothing"]) {
    assert.match(
      refusals({ ...files, "/app/main.ts": `import "${closed}"` })[0]!,
      /does not offer/,
    );
  }
});

test("`imports` of a package, its own name, scopes and the nearest node_modules are resolved", () => {
  const files: Files = {
    ...pkg("@scope/q", {
      type: "module",
      exports: { ".": "./index.js", "./x": "./x.js" },
      imports: { "#inner": "./inner.js", "#dep": "dep" },
    }, {
      "index.js":
        "export * from '#inner'; export { default as dep } from '#dep'; export { x } from '@scope/q/x';",
      "inner.js": "export const inner = 'inner';",
      "x.js": "export const x = 'x';",
    }),
    ...pkg("dep", { main: "lib/index" }, { "lib/index.js": "export default 'outer dep'" }),
    "/app/node_modules/dep/package.json": '{"main":"./m.mjs"}',
    "/app/node_modules/dep/m.mjs": "export default 'near dep'",
    "/app/package.json": '{"name":"app","imports":{"#lib/*":"./lib/*.ts"}}',
    "/app/lib/util.ts": "export const util = 'util';",
  };
  assert.deepEqual(
    value(
      files,
      'import * as q from "@scope/q"; import dep from "dep"; import { util } from "#lib/util"; export const value = [q.inner, q.dep, q.x, dep, util]',
    ),
    ["inner", "outer dep", "x", "near dep", "util"],
  );
  assert.match(refusals({ ...files, "/app/main.ts": 'import "#nope"' })[0]!, /does not define/);
});

test("CommonJS: module.exports, exports, requires, cycles and names", () => {
  const files = pkg("c", { main: "index.js" }, {
    "index.js":
      "var a = require('./a'); exports.a = a.name; exports.default = 'not the default'; exports.data = require('./data.json').n; exports.sub = require('./lib');",
    "a.js": "exports.name = 'a'; exports.back = require('./index').a; this.viaThis = 1;",
    "lib/index.cjs": "module.exports = function lib() { return typeof require + typeof module }",
    "data.json": '{"n": 7}',
    "bare.js": "module.exports = 42",
  });
  assert.deepEqual(
    value(
      files,
      'import c, { a, data } from "c"; import * as ns from "c"; export const value = [c.a, a, data, ns.a, c.default, c.sub()]',
    ),
    ["a", "a", 7, "a", "not the default", "functionobject"],
  );
  assert.equal(value(files, 'import n from "c/bare.js"; export const value = n'), 42);
  const named = pkg("r", {}, {
    "index.js": "exports.name = require.resolve('./host'); exports.type = typeof require.resolve;",
  });
  assert.deepEqual(
    value(named, 'import { name, type } from "r"; export const value = [name, type]'),
    ["./host", "function"],
  );
  assert.equal(
    value(files, 'export * from "c"; import { a } from "c"; export const value = a'),
    "a",
  );
  assert.match(
    refusals({ ...files, "/app/main.ts": '\nimport { nope } from "c"; nope();' })[0]!,
    /main\.ts:2 \[missing-export\] nope: .*CommonJS/,
  );
});

test("CommonJS may try to require a Node module; an unconditional require fails only at the first call", () => {
  const tries = pkg("t", {}, {
    "index.js":
      "try { require('crypto'); exports.has = true } catch (e) { exports.has = e.message }",
  });
  assert.match(
    String(value(tries, 'import { has } from "t"; export const value = has')),
    /t\/index\.js: imports "crypto", a module of Node/,
  );
  const looks = pkg("l", {}, {
    "index.js": "try { require('not-installed'); } catch (e) { exports.code = e.code }",
  });
  assert.equal(
    value(looks, 'import { code } from "l"; export const value = code'),
    "MODULE_NOT_FOUND",
  );
  const needs = pkg("n", {}, {
    "index.js": "var x = 1;\nvar fs = require('fs');\nexports.read = () => fs.readFileSync('x');",
  });
  assert.deepEqual(
    refusals({ ...needs, "/app/main.ts": 'import { read } from "n"; export { read };' }),
    [],
  );
  // A module of one's own has no such freedom.
  assert.match(
    refusals({ "/app/own.cjs": "\nrequire('fs');", "/app/main.ts": 'import "./own.cjs"' })[0]!,
    /\/app\/own\.cjs:2 \[evaluation\] .*imports "fs"/,
  );
  const dynamic = pkg("d", {}, { "index.js": "require('./' + 'x')" });
  assert.match(
    refusals({ ...dynamic, "/app/main.ts": 'import "d"' })[0]!,
    /only requires of a literal name/,
  );
});

test("an ES module of a package may contain import() and import.meta; they fail only where they are used", async () => {
  const files = pkg("m", { type: "module" }, {
    "index.js": "export const load = () => import('node:fs'); export const url = import.meta.url;",
  });
  const ns = run({ ...files, "/app/main.ts": 'export * from "m"' });
  assert.equal(ns["url"], undefined);
  await assert.rejects(
    (ns["load"] as () => Promise<unknown>)(),
    /import\("node:fs"\) is not available in workflow code/,
  );
  const needs = pkg("n", { type: "module" }, {
    "index.js": "\nimport fs from 'node:fs'; export default fs",
  });
  assert.deepEqual(refusals({ ...needs, "/app/main.ts": 'import "n"' }), []);
});

test("a package without a declared module type is classified by its text", () => {
  const esm = pkg("e", {}, { "index.js": "export const value = 'esm'" });
  assert.equal(value(esm, 'export { value } from "e"'), "esm");
});

test("the `browser` field of a package is used: main module, replaced modules, and disabled modules", () => {
  const main = pkg("b", { main: "./node.js", browser: "./browser.js" }, {
    "node.js": "exports.value = 'node'",
    "browser.js": "exports.value = 'browser'",
  });
  assert.equal(value(main, 'import { value } from "b"; export { value }'), "browser");
  const files = {
    ...pkg("m", {
      main: "./index",
      browser: {
        "./lib/node.js": "./lib/browser.js",
        "./index.js": "./main.js",
        crypto: false,
        "./gone.js": false,
        ws: "web",
        fs: "./fs.js",
      },
    }, {
      "index.js": "exports.value = 'index'",
      "main.js": `const crypto = require("crypto"), gone = require("./gone"), web = require("ws");
exports.value = [require("./lib/node").value, Object.keys(crypto).length, Object.keys(gone).length, web, require("fs").value].join();`,
      "lib/node.js": "exports.value = 'node'",
      "lib/browser.js": "exports.value = 'browser'",
      "gone.js": "throw new Error('not for browsers')",
      "fs.js": "exports.value = 'no files'",
    }),
    ...pkg("web", {}, { "index.js": "module.exports = 'web'" }),
  };
  assert.equal(
    value(files, 'import { value } from "m"; export { value }'),
    "browser,0,0,web,no files",
  );
  // Names of omitted modules are undefined, and that is not an error.
  const esm = pkg("e", { type: "module", exports: "./index.js", browser: { "./node.js": false } }, {
    "index.js":
      "import def, { hash } from './node.js'; export const value = [typeof hash, typeof def].join();",
    "node.js": "export const hash = 1; export default 2;",
  });
  assert.equal(value(esm, 'export { value } from "e"'), "undefined,object");
  // A user's own package.json is for other bundles.
  const own = {
    "/app/package.json": '{"name":"app","browser":{"./src/a.js":false}}',
    "/app/src/a.js": "export const value = 'own'",
  };
  assert.equal(value(own, 'export { value } from "./a.js"'), "own");
});

test("packages in Deno's cache are resolved", () => {
  const cache = "/cache-of/.cache/deno/npm/registry.npmjs.org";
  const files = {
    [`${cache}/ms/2.1.3/package.json`]: '{"name":"ms"}',
    [`${cache}/ms/2.1.3/index.js`]: "var calls = 0; exports.value = () => ++calls;",
    "/app/main.ts": `import { value } from "${cache}/ms/2.1.3/index.js"; export { value }`,
  };
  assert.deepEqual(
    warnings(files),
    warnings({
      ...pkg("ms", {}, { "index.js": files[`${cache}/ms/2.1.3/index.js`]! }),
      "/app/main.ts": 'export { value } from "ms"',
    }),
  );
});
