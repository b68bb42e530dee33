// The linter over programs of `@temporalio/workflow`: what each rule finds, what it leaves alone,
// and that sound programs have no finding.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { mapSources } from "../../../ts/modules/loader/source_host.ts";
import { type LintFinding, lintWorkflows } from "../../../ts/modules/lint/lint.ts";
import { type Rule, RULES, temporalRulesAsMarkdown } from "../../../ts/modules/lint/rules.ts";

const HEAD = `import * as wf from "@temporalio/workflow";
import { condition, continueAsNew, defineQuery, defineSignal, defineUpdate, deprecatePatch, executeChild, isCancellation, makeContinueAsNewFunc, patched, proxyActivities, setHandler, sleep } from "@temporalio/workflow";
const acts = proxyActivities<{ pay(n: number): Promise<void> }>({ startToCloseTimeout: "1 minute" });
const { ship } = proxyActivities<{ ship(n: number): Promise<void> }>({ startToCloseTimeout: "1 minute" });
const again = makeContinueAsNewFunc<typeof w>({ memo: {} });
const state = defineQuery<number>("state");
const set = defineUpdate<number, [number]>("set");
const go = defineSignal("go");
export const keep = [wf, condition, continueAsNew, defineSignal, deprecatePatch, executeChild, isCancellation, patched, setHandler, sleep, acts, ship, again, state, set, go];
`;
const LINES = HEAD.split("\n").length - 1;
const run = (body: string) => `export async function w(n: number): Promise<unknown> {\n${body}\n}`;
const files = async (sources: { readonly [path: string]: string }) =>
  (await lintWorkflows([`file:///${Object.keys(sources)[0]!.replace(/^\//, "")}`], {
    host: mapSources(sources),
  })).findings;
const lint = (code: string) => files({ "w.ts": HEAD + code });
const formatFindings = (findings: readonly LintFinding[]) =>
  findings.map(({ rule, severity, line, column }) =>
    `${severity} ${rule} ${line - LINES}:${column}`
  );

const FOUND: readonly (readonly [what: string, code: string, expected: readonly string[]])[] = [
  [
    "promises that are not awaited",
    run(
      "sleep('1s');\nacts.pay(1);\nship(2);\nwf.condition(() => true);\nexecuteChild('x');\nreturn 1;",
    ),
    [
      "warning floating-promise 2:1",
      "warning floating-promise 3:1",
      "warning floating-promise 4:1",
      "warning floating-promise 5:1",
      "warning floating-promise 6:1",
    ],
  ],
  ["names that older runtimes lack", run("return Array.fromAsync([n]);"), [
    "warning recent-name 2:0",
  ]],
  [
    "continuing as new that is not awaited",
    run("continueAsNew<typeof w>(1);\nvoid wf.continueAsNew(1);\nagain(2);"),
    [
      "error unreturned-continue-as-new 2:1",
      "error unreturned-continue-as-new 3:6",
      "error unreturned-continue-as-new 4:1",
    ],
  ],
  [
    "queries and validators that are async",
    run(
      "setHandler(state, async () => 1);\nsetHandler(set, (v) => v, { validator: async () => {} });\nwf.setHandler(wf.defineQuery('q'), async function () {});",
    ),
    ["error async-query 2:19", "error async-validator 3:40", "error async-query 4:36"],
  ],
  [
    "what the sandbox lacks",
    run(
      "await fetch('x');\nsetInterval(() => {}, 1);\nprocess.env.HOME;\nBuffer.from('x');\nnew WeakRef({});\ncrypto.randomUUID();\nperformance.now();",
    ),
    [
      "error outside 2:7",
      "error outside 3:1",
      "error outside 4:1",
      "error outside 5:1",
      "error outside 6:5",
      "error outside 7:1",
      "error outside 8:1",
    ],
  ],
  [
    "a loop that continues when the workflow is canceled",
    run("for (;;) {\ntry { await acts.pay(1); } catch (e) { wf.log.warn(String(e)); }\n}"),
    [
      "error swallowed-cancellation 3:28",
    ],
  ],
  ["one patch twice", run("if (patched('a')) await sleep(1);\ndeprecatePatch('a');"), [
    "error patch-twice 3:1",
  ]],
  ["digits of the engine", run("return Math.sin(n);"), ["warning engine-math 2:8"]],
];
for (const [what, code, expected] of FOUND) {
  test(`lint of @temporalio programs: ${what}`, async () =>
    assert.deepEqual(formatFindings(await lint(code)), expected));
}

const SOUND: readonly (readonly [what: string, code: string])[] = [
  [
    "clock and random numbers are the run's, and modules too",
    `let count = 0;\nconst at = Date.now();\nconst id = Math.random();\n${
      run("count += 1; return [at, id, new Date(), Math.random(), wf.uuid4()];")
    }`,
  ],
  [
    "durable timers of the runtime",
    run("const timer = setTimeout(() => {}, 10); clearTimeout(timer);"),
  ],
  [
    "promises that go somewhere",
    run(
      "void sleep(1); const p = sleep(2); sleep(3).catch(() => {}); await Promise.race([p, sleep(4)]); return ship(1);",
    ),
  ],
  [
    "continuing as new",
    run(
      "if (n > 3) return continueAsNew<typeof w>(1);\nif (n > 2) await again(1);\nthrow await wf.continueAsNew(2);",
    ),
  ],
  [
    "handlers that may wait",
    run(
      "setHandler(go, async () => { await sleep(1); }); setHandler(set, async (v) => v, { validator: (v) => { if (v < 0) throw new Error('no'); } });",
    ),
  ],
  [
    "globals that are asked for first, and a constant",
    run("if (typeof fetch === 'function') await fetch('x'); return process.env.NODE_ENV;"),
  ],
  [
    "names of one's own",
    run(
      "const fetch = (x: string) => x; const crypto = { randomUUID: () => 1 }; return [fetch('x'), crypto.randomUUID()];",
    ),
  ],
  [
    "a loop that thinks of cancellation",
    run("for (;;) { try { await sleep(1); } catch (e) { if (isCancellation(e)) throw e; } }"),
  ],
  [
    "a loop that ends",
    run("for (let i = 0; i < 3; i++) { try { await sleep(1); } catch { wf.log.info('again'); } }"),
  ],
];
for (const [what, code] of SOUND) {
  test(`lint of @temporalio programs leaves alone: ${what}`, async () =>
    assert.deepEqual(formatFindings(await lint(code)), []));
}

test("code that the loader rejects is found, and helpers of such programs are checked by the same rules", async () => {
  const found = await files({
    "w.ts":
      `import { sleep } from "@temporalio/workflow";\nimport { helper } from "./helper.js";\nimport fs from "node:fs";\nexport async function w() { await sleep(helper()); return fs; }`,
    "helper.ts":
      "let calls = 0;\nexport const helper = () => { setTimeout(() => {}, 1); return ++calls + Date.now(); };",
  });
  assert.deepEqual(found.map(({ rule, file, line }) => `${rule} ${file}:${line}`), [
    "builtin-import /w.ts:3",
  ]);
  const sound = await files({
    "w.ts":
      `import { sleep } from "@temporalio/workflow";\nimport { helper } from "./helper.js";\nexport async function w() { await sleep(helper()); }`,
    "helper.ts":
      "let calls = 0;\nconst at = Date.now();\nexport const helper = () => { setTimeout(() => {}, 1); return ++calls + at; };",
  });
  assert.deepEqual(sound, []);
});

test("a module of both kinds is checked by the rules of both", async () => {
  const found = await files({
    "w.ts": `import { workflow, sleep } from "temporalex/workflow";
import * as wf from "@temporalio/workflow";
export const native = workflow("Native", async () => { sleep(1); });
export async function temporal() { wf.sleep(1); await wf.continueAsNew(); }`,
  });
  assert.deepEqual(found.map(({ rule, severity, line }) => `${severity} ${rule} ${line}`), [
    "error floating-promise 3",
    "warning floating-promise 4",
  ]);
});

test("packages that import Node modules are reported at the import of the package, for both kinds", async () => {
  const sources = (head: string, body: string) => ({
    "/app/w.ts": `${head}\nimport { a } from "needs";\nimport { b } from "computes";\n${body}`,
    "/node_modules/needs/package.json": '{ "name": "needs" }',
    "/node_modules/needs/index.js": "exports.a = require('deeper').a;",
    "/node_modules/deeper/package.json": '{ "name": "deeper" }',
    "/node_modules/deeper/index.js":
      "const fs = require('fs'), { inspect } = require('util');\nexports.a = () => fs.readFileSync(inspect('x'));",
    "/node_modules/computes/package.json": '{ "name": "computes" }',
    "/node_modules/computes/index.js": "try { require('fs'); } catch {}\nexports.b = 1;",
  });
  const native = sources(
    'import { workflow } from "temporalex/workflow";',
    'export const w = workflow("W", async () => [a(), b]);',
  );
  const temporal = sources(
    'import { sleep } from "@temporalio/workflow";',
    "export async function w() { await sleep(b); a(); }",
  );
  for (const each of [native, temporal]) {
    const found = await files(each);
    assert.deepEqual(found.map(({ rule, line, message }) => [rule, line, message]), [
      ["package-builtin", 2, 'the package "needs" imports node:fs, node:util'],
    ]);
  }
});

test("the page of the linter names the rules for programs of @temporalio/workflow", async () => {
  const { readFileSync } = await import("node:fs");
  const page = ["../../../", "../../../../"].map((up) =>
    new URL(`${up}docs/lint.md`, import.meta.url)
  )
    .find((url) => existsSync(url))!;
  assert.ok(
    readFileSync(page, "utf8").includes(temporalRulesAsMarkdown()),
    `write this into docs/lint.md:\n${temporalRulesAsMarkdown()}`,
  );
});

test("each rule for programs of @temporalio/workflow has a test", () => {
  const tested = new Set(
    FOUND.flatMap(([, , expected]) => expected.map((line) => line.split(" ")[1]!)).concat(
      "package-builtin",
    ),
  );
  const rules = Object.entries(RULES as { readonly [id: string]: Rule }).filter((
    [, { temporal }],
  ) => temporal !== undefined);
  assert.deepEqual(rules.map(([id]) => id).filter((id) => !tested.has(id)), []);
});

test("programs that the official replayer has recorded have no errors", async () => {
  const folder = ["../compat/programs", "../../../tests/unit/compat/programs"].map((path) =>
    new URL(`${path}/`, import.meta.url)
  )
    .find((url) => existsSync(url))!;
  const programs = readdirSync(folder).filter((name) => /\.[jt]s$/.test(name)).map((name) =>
    new URL(name, folder)
  );
  assert.ok(programs.length > 0);
  for (const program of programs) {
    const { findings } = await lintWorkflows([program]);
    assert.deepEqual(
      findings.filter(({ severity }) => severity === "error").map(({ rule, file, line }) =>
        `${rule} ${file}:${line}`
      ),
      [],
    );
  }
});
