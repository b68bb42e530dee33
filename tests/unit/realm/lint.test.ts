// The linter: each rule finds what it is for, at its line and column, and leaves alone what merely
// looks like it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { mapSources } from "../../../ts/modules/loader/source_host.ts";
import {
  type LintFinding,
  type LintOptions,
  lintWorkflows,
} from "../../../ts/modules/lint/lint.ts";
import { type Rule, RULES, rulesAsMarkdown } from "../../../ts/modules/lint/rules.ts";

const HEAD = `import * as wf from "temporalex/workflow";
import { activities, cancelled, deprecatePatch, isCancellation, noreply, on, parallel, patched, publishState, query, receive, reply, shield, sideEffect, signal, sleep, spawnAsync, stop, update, updateState, waitForSignal, workflow, now } from "temporalex/workflow";
const acts = activities<{ pay(n: number): Promise<void>; ship(n: number): Promise<number> }>({ startToClose: "10s" });
const { pay } = activities<{ pay(n: number): Promise<void> }>({ startToClose: "10s" });
const go = signal<[n: number]>("go");
const add = update<[n: number], number>("add");
export const keep = [wf, acts, pay, go, add, activities, cancelled, deprecatePatch, isCancellation, noreply, on, parallel, patched, publishState, query, receive, reply, shield, sideEffect, signal, sleep, spawnAsync, stop, update, updateState, waitForSignal, workflow, now];
`;
const LINES = HEAD.split("\n").length - 1;
const run = (body: string) => `export const w = workflow("W", async (n: number) => {\n${body}\n});`;

async function lint(code: string, options: LintOptions = {}): Promise<readonly LintFinding[]> {
  const host = mapSources({ "w.ts": HEAD + code });
  return (await lintWorkflows(["file:///w.ts"], { ...options, host })).findings;
}
const formatFindings = (findings: readonly LintFinding[]) =>
  findings.map(({ rule, line, column }) => `${rule} ${line - LINES}:${column}`);

/** What is found, as "rule line:column" from the first line behind the head. */
const FOUND: readonly (readonly [what: string, code: string, expected: readonly string[]])[] = [
  ["timers and network", run("setTimeout(() => {}, 10);\nawait fetch('x');\nprocess.env.X;"), [
    "outside 2:1",
    "outside 3:7",
    "outside 4:1",
  ]],
  ["a type before the call", run("const a: number = Number(process.argv[0]); return a;"), [
    "outside 2:26",
  ]],
  ["streams and workers", run("new Worker('x');\nnew FormData();"), ["outside 2:5", "outside 3:5"]],
  ["crypto.subtle", run("await crypto.subtle.digest('x', new Uint8Array());"), ["outside 2:7"]],
  [
    "the clock while loading",
    "export const at = Date.now();\nexport const d = new Date();\nexport const r = Math.random();\nexport const u = crypto.randomUUID();",
    [
      "clock-while-loading 1:19",
      "clock-while-loading 2:22",
      "clock-while-loading 3:18",
      "clock-while-loading 4:18",
    ],
  ],
  [
    "primitives while loading",
    "export const a = sleep(1);\nexport const b = acts.pay(1);\nexport const c = wf.now();",
    [
      "primitive-while-loading 1:18",
      "primitive-while-loading 2:18",
      "primitive-while-loading 3:18",
    ],
  ],
  [
    "floating promises",
    run("sleep('1s');\nacts.pay(n);\npay(n);\nvoid wf.sleep(1);\nparallel([]);"),
    [
      "floating-promise 2:1",
      "floating-promise 3:1",
      "floating-promise 4:1",
      "floating-promise 5:6",
      "floating-promise 6:1",
    ],
  ],
  [
    "Nexus operations that are not awaited",
    `import { nexus } from "temporalex/workflow";\nconst desk = nexus("desk", { endpoint: "front" });\n` +
    run("desk.ask(n);\nawait desk.ask(n);"),
    ["floating-promise 4:1"],
  ],
  [
    "children that are not awaited, and children in validators",
    `import { executeChild, spawn, startChild, upsertMemo } from "temporalex/workflow";\n` +
    run(
      'spawn("C");\nexecuteChild("C");\nstartChild("C");\nupsertMemo({});\nsideEffect(() => upsertMemo({}));',
    ),
    [
      "floating-promise 3:1",
      "floating-promise 4:1",
      "floating-promise 5:1",
      "blocking-where-forbidden 7:18",
    ],
  ],
  [
    "continueAsNew that is not returned",
    `import { continueAsNew, continueAsNewWith } from "temporalex/workflow";\n` +
    run(
      "n > 3 && continueAsNew(1);\nif (n > 2) { await wf.continueAsNew(1); }\nvoid continueAsNewWith({}, 2);\n" +
        "const next = continueAsNew(4);\nif (n > 1) return next;\nreturn n > 0 ? continueAsNew(5) : continueAsNewWith({}, 6);",
    ),
    [
      "unreturned-continue-as-new 3:10",
      "unreturned-continue-as-new 4:20",
      "unreturned-continue-as-new 5:6",
    ],
  ],
  [
    "continueAsNew in handlers and branches",
    `import { continueAsNew } from "temporalex/workflow";\n` +
    run(
      "await receive(n, [\n  on(go, (_, s) => continueAsNew(s)),\n  on(add, (_, s) => spawnAsync(async () => { return continueAsNew(s); }, s)),\n" +
        "]);\nawait parallel([() => wf.continueAsNew(1)]);",
    ),
    [
      "continue-as-new-where-forbidden 4:20",
      "continue-as-new-where-forbidden 5:53",
      "continue-as-new-where-forbidden 7:23",
    ],
  ],
  [
    "receives that nothing ends",
    `import { continueAsNew } from "temporalex/workflow";\n` +
    run(
      "await receive(n, [on(go, (_, s) => noreply(s)), on(add, ([x], s) => { if (x > 1) return spawnAsync(async () => x, s); return x ? reply(x, s) : wf.reply(x, s); })]);",
    ) +
    "\n" +
    run(
      "const state = await receive(n, [on(go, (_, s) => stop(s))], { timeout: '1d' });\nreturn continueAsNew(state.state);",
    )
      .replaceAll(/w = |"W"/g, (t) => t.replace(/w|W/, (c) => c + "2")),
    ["unbounded-history 3:7", "unbounded-history 6:21"],
  ],
  [
    "a state that is dropped",
    `import { continueAsNew, workflowInfo } from "temporalex/workflow";\n` +
    run(
      "await receive(n, [on(go, (_, s) => stop(s))], { until: () => workflowInfo().continueAsNewSuggested });\nreturn continueAsNew(n);",
    ),
    ["discarded-state 3:7"],
  ],
  [
    "races",
    run("await Promise.race([sleep('1s'), acts.ship(n)]);\nawait Promise.any([acts.ship(n)]);"),
    [
      "promise-race 2:7",
      "promise-race 3:7",
    ],
  ],
  [
    "async validators and queries",
    `export const w = workflow("W", {\n  messages: { go, add },\n  queries: { a: async () => 1 },\n  async run() {\n    return await receive(0, [on(add, ([n], s) => reply(n, s), { validate: async () => {} }), on(go, (_, s) => stop(s))]);\n  },\n});`,
    [
      "async-query 3:14",
      "async-validator 5:75",
    ],
  ],
  [
    "numbers of the engine",
    run(
      "const s = Math.sqrt(n) + sideEffect(() => Math.sin(n));\nreturn Math.exp(n) + Math.PI + s;",
    ),
    [
      "engine-math 3:8",
    ],
  ],
  ["async side effects", run("return sideEffect(async () => 1);"), ["async-side-effect 2:19"]],
  [
    "primitives where they are forbidden",
    `export const w = workflow("W", {\n  queries: { a: () => { publishState(1); return 1; } },\n  async run() {\n    sideEffect(() => now());\n    return await receive(0, [on(add, ([n], s) => reply(n, s), { validate: () => void acts.pay(1) })]);\n  },\n});`,
    [
      "blocking-where-forbidden 2:25",
      "blocking-where-forbidden 4:22",
      "unbounded-history 5:18",
      "blocking-where-forbidden 5:86",
    ],
  ],
  [
    "receive in handlers and branches",
    run(
      "await receive(0, [on(go, async (_, s) => { await receive(0, []); return stop(s); })]);\nawait parallel([() => receive(0, [])]);",
    ),
    [
      "receive-where-forbidden 2:50",
      "receive-where-forbidden 3:23",
    ],
  ],
  [
    "selects and named timers",
    `import { select, timer } from "temporalex/workflow";\nexport const t = timer("x", "1h");\n` +
    run(
      "select([on(go, () => 1)]);\ntimer('x', 5);\nsideEffect(() => select([on(go, () => 1)]));\n" +
        "await select([on(sleep('1h'), () => 1), on(acts.ship(n), () => 2), on(async () => await receive(0, []), () => 3)]);",
    ),
    [
      "primitive-while-loading 2:18",
      "floating-promise 4:1",
      "floating-promise 5:1",
      "blocking-where-forbidden 6:18",
      "eager-arm 7:18",
      "eager-arm 7:44",
      "receive-where-forbidden 7:89",
    ],
  ],
  ["foreign promises", run("await new Promise((resolve) => keep.push(resolve as never));"), [
    "module-state 2:0",
    "foreign-await 2:1",
  ]],
  [
    "swallowed cancellation",
    run(
      "while (true) {\n  try {\n    await sleep('1s');\n  } catch {\n    publishState('again');\n  }\n}",
    ),
    ["swallowed-cancellation 5:5"],
  ],
  ["patched and deprecatePatch", run("if (patched('a')) await sleep(1);\ndeprecatePatch('a');"), [
    "patch-twice 3:1",
  ]],
  [
    "messages that are not received",
    `export const late = signal("late");\nexport const w = workflow("W", { messages: { late, go }, async run() { await waitForSignal(go); } });`,
    ["unhandled-message 2:46"],
  ],
  ["what the loader refuses", `import "node:fs";\nlet n = 0;\nexport const next = () => ++n;`, [
    "builtin-import 1:0",
    "module-state 3:0",
  ]],
];

for (const [what, code, expected] of FOUND) {
  test(`found: ${what}`, async () => assert.deepEqual(formatFindings(await lint(code)), expected));
}

const SOUND: readonly (readonly [what: string, code: string])[] = [
  [
    "the run's own clock and numbers",
    run("return [Date.now(), new Date(), Math.random(), crypto.randomUUID(), performance.now()];"),
  ],
  [
    "a constant date while loading",
    "export const epoch = new Date(0);\nexport const parse = Date.parse('2020-01-01');",
  ],
  ["the host's clock in a side effect", run("return sideEffect(() => process.env.HOME ?? '');")],
  ["looking around", run("return typeof fetch === 'function' || n instanceof Object;")],
  [
    "names of one's own",
    run(
      "const fetch = (x: string) => x;\nconst setTimeout = (x: number) => x;\nfetch('a');\nsetTimeout(1);",
    ),
  ],
  [
    "a sleep of one's own",
    "const helper = { sleep(n: number) { return n; } };\nexport const f = () => { helper.sleep(1); };",
  ],
  ["a shadowed primitive", "export const f = (sleep: (n: number) => void) => { sleep(1); };"],
  [
    "awaited, returned and stored primitives",
    run("const p = acts.ship(n);\nawait sleep(1);\nif (n > 1) return sleep(2);\nreturn await p;"),
  ],
  ["all of several promises", run("return await Promise.all([acts.ship(1), acts.ship(2)]);")],
  ["a race of other promises", run("return await Promise.race([Promise.resolve(1)]);")],
  [
    "a catch that throws again",
    run(
      "for (;;) {\n  try {\n    await sleep(1);\n  } catch (e) {\n    if (isCancellation(e)) throw e;\n  }\n}",
    ),
  ],
  [
    "a catch in a loop that ends",
    run(
      "for (let i = 0; i < 3; i++) {\n  try {\n    await acts.pay(i);\n    break;\n  } catch {\n    await sleep('1s');\n  }\n}",
    ),
  ],
  [
    "a loop that asks",
    run(
      "while (true) {\n  if (cancelled()) return;\n  try { await sleep(1); } catch { publishState(1); }\n}",
    ),
  ],
  [
    "patched at several places",
    run("if (patched('a')) await sleep(1);\nif (patched('a')) await sleep(2);"),
  ],
  [
    "validators and queries that only compute",
    `export const w = workflow("W", {\n  messages: { add },\n  queries: { a: (p: number) => p + 1 },\n  async run() {\n    return await receive(0, [on(add, ([n], s) => reply(n, s + n), { validate: ([n]) => { if (n < 0) throw new Error('no'); } }), on(go, (_, s) => stop(s))]);\n  },\n});`,
  ],
  [
    "receive in a separate function",
    "async function room() { return await receive(0, [on(go, (_, s) => stop(s))]); }\nexport const w = workflow('W', async () => await room());",
  ],
  [
    "selects",
    `import { select, timer } from "temporalex/workflow";\nconst hour = timer("1h", () => false);\nconst named = timer("hour", 1, () => false);\n` +
    run(
      "const late = timer('late', '1h');\nconst body = () => 0;\n" +
        "await select([hour, named, on(late, () => 1), on(() => acts.ship(n), () => 2), timer(5, body), " +
        "on(go, async () => await receive(0, [on(go, (_, s) => stop(s))]))]);",
    ),
  ],
  [
    "receives that end, and generations that ask",
    `import { continueAsNew, workflowInfo } from "temporalex/workflow";\n` +
    run(
      "await receive(n, [on(go, (_, s) => noreply(s))], { timeout: '1h' });\n" +
        "await receive(n, [on(go, (_, s) => { if (n > 3) return noreply(s); return stop(s); })]);\n" +
        "const goesOn = (s: number) => stop(s);\nawait receive(n, [on(go, (_, s) => goesOn(s))]);\nawait receive(n, [on(go, goesOn as never)]);\n" +
        "await receive(n, [on(go, (_, s) => noreply(s))], { until: (s) => s > 3 });",
    ) + "\n" + [
      "const { state: s } = await receive(n, [on(go, (_, s) => noreply(s))], { until: () => workflowInfo().continueAsNewSuggested });\nreturn continueAsNew(s);",
      "await receive(undefined, [on(go, () => stop(undefined))], { until: () => true });\nreturn continueAsNew(n);",
      "const s = await receive(n, [on(go, (_, s) => workflowInfo().historyLength > 1000 ? stop(s) : noreply(s))]);\nreturn continueAsNew(s);",
    ].map((body, i) => run(body).replace("w = ", `w${i} = `).replace('"W"', `"W${i}"`)).join("\n"),
  ],
  [
    "handlers kept in a constant",
    `const handlers = [on(go, (_, s: number) => noreply(s)), on(add, ([n], s: number) => spawnAsync(async () => { await sleep(1); return n; }, s))];\nexport const w = workflow("W", { messages: { go, add }, run: async () => await receive(0, handlers) });`,
  ],
];

for (const [what, code] of SOUND) {
  test(`no finding: ${what}`, async () => assert.deepEqual(formatFindings(await lint(code)), []));
}

test("messages that another module handles, also through a namespace, are handled", async () => {
  const messages =
    `import { signal } from "temporalex/workflow";\nexport const a = signal("a");\nexport const b = signal("b");\n`;
  const by = (imports: string, name: string) => ({
    "messages.ts": messages,
    "handlers.ts":
      `${imports}\nimport { on, stop } from "temporalex/workflow";\nexport const handlers = [on(${name}, (_, s: number) => stop(s))];\n`,
    "w.ts":
      `import { a, b } from "./messages.ts";\nimport { handlers } from "./handlers.ts";\nimport { receive, workflow } from "temporalex/workflow";\n` +
      `export const w = workflow("W", { messages: { a, b }, run: async () => await receive(0, handlers) });\n`,
  });
  const named = await lintWorkflows(["file:///w.ts"], {
    host: mapSources(by('import { a } from "./messages.ts";', "a")),
  });
  assert.deepEqual(
    named.findings.map(({ rule, file, line, message }) => [rule, file, line, message]),
    [
      ["unhandled-message", "/w.ts", 4, 'workflow "W" lists the signal b, and nothing receives it'],
    ],
  );
  assert.equal(named.files.length, 3);
  const all = await lintWorkflows(["file:///w.ts"], {
    host: mapSources(by('import * as m from "./messages.ts";', "m.a")),
  });
  assert.deepEqual(all.findings, []);
});

test("comments and options switch rules off, on lines, in files and everywhere", async () => {
  const code = (comment: string) => run(`sleep(1); ${comment}\nprocess.env.A;`);
  assert.deepEqual(
    formatFindings(await lint(code("// temporalex-ignore floating-promise -- on purpose"))),
    ["outside 3:1"],
  );
  assert.deepEqual(formatFindings(await lint(code("// temporalex-ignore outside"))), [
    "floating-promise 2:1",
    "outside 3:1",
  ]);
  assert.deepEqual(formatFindings(await lint(run("// temporalex-ignore\nsleep(1);"))), []);
  assert.deepEqual(
    formatFindings(await lint(`// temporalex-ignore-file outside, floating-promise\n${code("")}`)),
    [],
  );
  const off = await lint(code(""), { rules: { outside: "off", "floating-promise": "warning" } });
  assert.deepEqual(off.map(({ rule, severity }) => [rule, severity]), [[
    "floating-promise",
    "warning",
  ]]);
});

test("a module with a syntax error and a missing module are findings", async () => {
  assert.deepEqual(formatFindings(await lint("export const = 1;")), ["syntax 1:14"]);
  const { findings } = await lintWorkflows(["file:///nowhere.ts"], { host: mapSources({}) });
  assert.deepEqual(findings.map(({ rule, file, line }) => [rule, file, line]), [[
    "not-found",
    "/nowhere.ts",
    0,
  ]]);
});

test("examples and documentation have no findings", async () => {
  const root = new URL("../../../", import.meta.url);
  const workflows = readdirSync(new URL("examples/", root)).flatMap((name) => {
    const path = new URL(`examples/${name}/`, root);
    try {
      return readdirSync(path).filter((file) => /^workflows?\.[jt]s$/.test(file)).map((file) =>
        new URL(file, path)
      );
    } catch {
      return [];
    }
  });
  assert.ok(workflows.length >= 7);
  const { findings } = await lintWorkflows(workflows);
  assert.deepEqual(findings.filter(({ rule }) => rule !== "unhandled-message"), []);
  assert.deepEqual(findings, []);
});

test("every rule states its finding, reason and advice, and the table in the documentation is current", () => {
  for (const [id, rule] of Object.entries(RULES as { [id: string]: Rule })) {
    for (const text of [rule.finds, rule.why, rule.advice]) {
      assert.ok(text.length > 6 && !text.endsWith("."), id);
    }
    // tests/unit/realm/lint_temporal.test.ts has that one for both kinds of programs.
    if (rule.loader !== true && id !== "package-builtin") {
      assert.ok(
        FOUND.some(([, , expected]) => expected.some((found) => found.startsWith(`${id} `))),
        `${id} is tested`,
      );
    }
  }
  const docs = readFileSync("docs/lint.md", "utf8");
  assert.ok(docs.includes(rulesAsMarkdown()), "docs/lint.md does not have the table of rules.ts");
});
