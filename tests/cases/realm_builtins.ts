// The built-in objects of a realm: all runs share them, and the realm's own code uses them. They
// cannot be changed once modules are loaded; a replacement made during loading is reverted or
// rejected.
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, createRealmFromText, type RealmHarness, withRealm } from "./realm_host.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

/**
 * What the executor, the converter, the core's glue and the model are used for in one run, a query
 * and an update.
 */
const WORK = `
const go = signal("go"); const ask = update("ask"); const acts = api.activities({ startToClose: "5s" });
export const w = workflow("W", { queries: { q: (published, n) => ({ published, n }) }, async run(...args) {
  publishState({ args, m: [...new Map([[1, 2]])] });
  const seen = [Math.random(), Date.now(), crypto.randomUUID(), sideEffect(() => [1, "two"]), api.patched("p")];
  const done = await parallel([() => sleep(1), () => sleep(2), async () => "third"]);
  const first = await api.select([api.timer("1s", () => "timer"), on(go, () => "signal")]);
  const state = await receive({ list: [] }, [
    on(ask, ([n], s) => reply(s.list.length, { list: [...s.list, n] }), { validate: ([n], s) => { if (s.list.includes(n)) throw new Error("again"); } }),
    on(go, (_, s) => api.spawnAsync(async () => { await sleep(1); await api.updateState((s) => [1, { list: [...s.list, "async"] }]); }, s)),
    on(signal("end"), (_, s) => stop(s)),
  ]);
  log.info("line", { a: { b: 1 } });
  return { seen, done: JSON.stringify(done), first, state, args, text: "\\u00e9\\ud83d\\ude00" };
} });`;

const RUN_ID = "34343434-3434-4434-8434-343434343434";

/** Runs one whole life, and returns everything that is observable. */
async function live(h: RealmHarness): Promise<unknown> {
  const run = h.start("W", { runId: RUN_ID, args: [{ a: [1, "x"] }, null] });
  const { server } = run;
  await run.task();
  for (const id of [...server.timers.keys()]) server.fireTimer(id);
  server.signal("go");
  await run.task();
  for (const id of [...server.timers.keys()]) server.fireTimer(id);
  const updates = [1, 1, 2].map((n, i) => server.update(`u${i}`, "ask", n));
  server.signal("go");
  await run.task();
  server.report(await h.realm.runTask(readWorkflowTask(server.queryTask("q", [{ x: 1 }], true))));
  for (const id of [...server.timers.keys()]) server.fireTimer(id);
  await run.task();
  server.signal("end");
  await run.task();
  const { verdict, error } = await h.realm.replay("wf", server.history());
  return {
    failure: run.failure,
    closed: server.closed,
    updates: updates.map(({ stage, result, failure }) => [stage, result, failure?.message]),
    query: server.queryAnswers["query"],
    replay: error?.message ?? verdict,
  };
}

/** Every object of the language that has a name, with its own name. */
const WALK = `
const walk = (visit) => {
  const seen = new Set();
  const open = [[globalThis, "globalThis"]];
  while (open.length > 0) {
    const [object, name] = open.pop();
    if (object === null || (typeof object !== "object" && typeof object !== "function") || seen.has(object)) continue;
    seen.add(object);
    // Under symbols a runtime keeps its own things (Deno: who listens to the global object).
    const before = Reflect.ownKeys(object).filter((key) => object !== globalThis || typeof key === "string").map((key) => [key, Reflect.getOwnPropertyDescriptor(object, key)]);
    for (const [key, d] of before) if (d !== undefined) open.push([d.value, name + "." + String(key)], [d.get, name + ".get " + String(key)]);
    open.push([Object.getPrototypeOf(object), name + ".__proto__"]);
    visit(object, name, before);
  }
};`;

/**
 * Takes the stack of an error, caught and not, while the methods that stacks could be formatted
 * with are replaced; then restores them, so that the loader has nothing to reject.
 */
const WITHOUT_METHODS = `
const found = (() => {
  const methods = [
    ...["map", "filter", "slice", "find", "findLastIndex", "some", "join", "push", Symbol.iterator].map((name) => [Array.prototype, name]),
    ...["split", "replace", "includes", "indexOf", "slice", "endsWith", Symbol.iterator].map((name) => [String.prototype, name]),
    ...["test", "exec", Symbol.replace, Symbol.split, Symbol.match].map((name) => [RegExp.prototype, name]),
    [Set.prototype, "has"], [Set.prototype, Symbol.iterator], [Map.prototype, "get"], [Reflect, "apply"], [globalThis, "String"],
  ].map(([object, name]) => [object, name, Object.getOwnPropertyDescriptor(object, name)]);
  const count = methods.length;
  let used = "";
  const stand = (name) => function () { used += name + " "; };
  for (let i = 0; i < count; i++) methods[i][0][methods[i][1]] = stand(typeof methods[i][1] === "symbol" ? methods[i][1].description : methods[i][1]);
  function failing() { return new Error("here"); }
  const stack = failing().stack;
  const { defineProperty } = Object;
  for (let i = 0; i < count; i++) defineProperty(methods[i][0], methods[i][1], methods[i][2]);
  return { used, stack };
})();
export const w = workflow("W", async () => found);`;

/** [code at the top level of a module, what the refusal names] */
const REPLACED: readonly (readonly [string, string])[] = [
  ['JSON.stringify = () => "{}"', "JSON.stringify"],
  ["Map.prototype.get = function get(key) {}", "Map.prototype.get"],
  ["Array.prototype.push = () => 0", "Array.prototype.push"],
  ["Array.prototype[Symbol.iterator] = function* () {}", "Array.prototype[symbol]"],
  [
    "Object.defineProperty(Promise.prototype, 'then', { value: () => {} })",
    "Promise.prototype.then",
  ],
  ["Object.assign(Math, { random: () => 4 })", "Math.random"],
  ["globalThis.Promise = class {}", "Promise"],
  ["globalThis.Date = { now: () => 1 }", "Date"],
  ["delete Uint8Array.prototype.constructor; delete Map.prototype.set", "Map.prototype.set"],
  ["TextEncoder.prototype.encode = () => new Uint8Array(1)", "TextEncoder.prototype.encode"],
  ["Object.setPrototypeOf(Map.prototype, { get: 1 })", "Map.prototype.__proto__"],
  ["Object.prototype.get = 5", "Object.prototype.get"],
  ["Object.prototype.timeout = 5", "Object.prototype.timeout"],
  [
    "Object.defineProperty(Array.prototype, 'then', { get() { return 1; }, configurable: true })",
    "Array.prototype.then",
  ],
  [
    "Object.defineProperty(String.prototype, 'slice', { value: 1, configurable: false, writable: false })",
    "String.prototype.slice",
  ],
  ["Object.getPrototypeOf(Uint8Array.prototype).set = () => {}", "TypedArray.prototype.set"],
  ["Function.prototype.call = () => {}", "Function.prototype.call"],
  ["Map.prototype.get = () => 1; throw new Error('and fails')", "Map.prototype.get"],
];

export const cases: Case[] = [
  {
    name: "stacks are formatted without built-ins that a module can replace",
    async run() {
      await withRealm(`${API}${WITHOUT_METHODS}`, async (h) => {
        const run = h.start("W");
        await run.task();
        const { used, stack } = run.server.closed?.result as { used: string; stack: string };
        equal(used, "");
        match(stack, /^(?:Error: here\n\s+at )?failing[@ ].*main\.ts:\d+:\d+/);
      });
    },
  },
  {
    name: "built-ins: a user module that replaces one is rejected with name and line",
    async run() {
      const wrong: string[] = [];
      for (const [code, name] of REPLACED) {
        const told = await createRealmFromText(`${API}\nconst x = 1;\n${code};\n${WORK}`).then(
          async (h) => (await h.dispose(), "loaded"),
          (e: Error) => e.message,
        );
        const line = /then|symbol|__proto__/.test(name) || /throw|: false/.test(code) ? "" : ":5: ";
        if (
          !told.includes(`replaces ${name}`) ||
          !told.includes("on which every run of the realm and the realm itself stand") ||
          !told.includes(line)
        ) wrong.push(`${code}: ${told}`);
      }
      equal(wrong.join("\n"), "");
    },
  },
  {
    name: "built-ins: a package that replaces them has no effect, and a warning is logged",
    async run() {
      const plain = await withRealm(`${API}${WORK}`, live) as {
        failure: string;
        replay: string;
        closed: { result: object };
      };
      deepEqual([plain.failure, plain.replay, Object.keys(plain.closed.result).length], [
        "",
        "ok",
        6,
      ]);
      for (
        const evil of [
          "() => { throw new Error('evil'); }",
          "() => undefined",
          "function () { return this; }",
        ]
      ) {
        const packaged = `${WALK}
          const { defineProperty } = Reflect;
          const all = [];
          walk((object, name, before) => { for (const [key, d] of before) all.push([object, key, d]); });
          let count = 0;
          for (let i = 0; i < all.length; i++) {
            const object = all[i][0], key = all[i][1], d = all[i][2];
            if (d === undefined || key === "prototype") continue;
            if (typeof d.value === "function" && defineProperty(object, key, { value: ${evil}, writable: true, configurable: true })) count++;
            else if (d.get && defineProperty(object, key, { get: ${evil}, configurable: true })) count++;
          }
          export const replaced = count;`;
        const h = await createRealmFromText("", {
          workflows: "/app/main.ts",
          sources: {
            "/app/main.ts":
              `import { replaced } from "evil";\n${API}${WORK}\nexport const n = workflow("N", async () => replaced);`,
            "/app/node_modules/evil/package.json":
              '{ "name": "evil", "type": "module", "exports": "./index.js" }',
            "/app/node_modules/evil/index.js": packaged,
          },
        });
        try {
          deepEqual(await live(h), plain, evil);
          const counted = h.start("N");
          await counted.task();
          ok(
            Number(counted.server.closed?.result) > 700,
            `${counted.server.closed?.result} built-ins were replaced`,
          );
          const warnings = h.logs.filter(({ level }) => level === "warn").map(({ message }) =>
            message
          );
          match(
            warnings.join("\n"),
            /evil\/index\.js replaces \S+, on which every run .* stand: the realm keeps its own/,
          );
        } finally {
          await h.dispose();
        }
      }
    },
  },
  {
    name: "built-ins: polyfills may be added while modules load, and are then sealed",
    run: () =>
      withRealm(
        `${API}
        BigInt.prototype.toJSON = function () { return String(this); };
        Array.prototype.lastOne = function () { return this[this.length - 1]; };
        Reflect.getMetadata = () => "meta";
        globalThis.__registry = { list: [] };
        Symbol.mine ??= Symbol("mine");
        ${WORK}
        export const added = workflow("Added", async () => {
          const tried = [];
          for (const write of [() => { globalThis.__registry.x = 1; }, () => { Array.prototype.lastOne = 1; }, () => { Reflect.getMetadata.x = 1; }]) {
            try { write(); tried.push("written"); } catch (e) { tried.push(e.name); }
          }
          return [JSON.stringify({ n: 5n }), [1, 2].lastOne(), Reflect.getMetadata(), tried];
        });`,
        async (h) => {
          const run = h.start("Added");
          await run.task();
          deepEqual(run.server.closed?.result, ['{"n":"5"}', 2, "meta", [
            "TypeError",
            "TypeError",
            "TypeError",
          ]], run.failure);
          equal((await live(h) as { replay: string }).replay, "ok");
        },
      ),
  },
  {
    name: "built-ins: no object that two runs share can be written",
    run: () =>
      withRealm(
        `${API}
        // What runs reach without a name: by syntax, and by what functions answer. Made twice: what both have is shared.
        const make = () => [
          globalThis, Object.values(api),
          function () {}, () => {}, async () => {}, function* () {}, async function* () {}, class {}, (function* () {})(), (async function* () {})(), (async () => {})(),
          [], {}, /x/g, /x/g.exec("x"), "x", 1, 1n, true, Symbol("x"), new Date(0), new Error("x"), new AggregateError([]), new Map(), new Set(), new WeakMap(), new WeakSet(),
          [].values(), "".matchAll(/x/g), ""[Symbol.iterator](), new Map().entries(), new Set().values(), (function () { return arguments; })(),
          [].values().map?.((x) => x), globalThis.Iterator?.from?.({ next() {} }), globalThis.Iterator?.concat?.(), globalThis.Iterator?.zip?.([]),
          new Uint8Array(1), new DataView(new ArrayBuffer(1)), new Proxy({}, {}), Promise.resolve(), Promise.withResolvers?.(),
          new URL("http://a/?b=1"), new URL("http://a/?b=1").searchParams, new URLSearchParams("a=1").entries(), new TextEncoder(), new TextDecoder(),
          new AbortController(), new AbortController().signal, new Event("x"), new EventTarget(), new CustomEvent("x"), new DOMException("x"),
          ...Object.getOwnPropertyNames(Intl).filter((name) => /^[A-Z]/.test(name) && name !== "Locale" && name !== "DisplayNames").map((name) => { try { return new Intl[name](); } catch {} }),
          new Intl.Locale("en"), new Intl.NumberFormat().formatToParts(1), Intl.Segmenter && new Intl.Segmenter().segment("a"), Intl.Segmenter && new Intl.Segmenter().segment("a")[Symbol.iterator](),
          structuredClone({ a: 1 }), globalThis.DisposableStack && new DisposableStack(), globalThis.AsyncDisposableStack && new AsyncDisposableStack(),
          globalThis.Temporal?.Instant.fromEpochMilliseconds(0), globalThis.Temporal?.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO("UTC"),
          crypto, performance, console, WebAssembly, sideEffect, new api.ApplicationFailure("x"), new api.CancelledFailure("x"),
        ];
        const all = (roots) => {
          const found = new Map();
          const open = roots.map((root, i) => [root, "root " + i]);
          while (open.length > 0) {
            const [value, path] = open.pop();
            if (value === null || (typeof value !== "object" && typeof value !== "function") || found.has(value)) continue;
            found.set(value, path);
            for (const key of Reflect.ownKeys(value)) {
              const d = Reflect.getOwnPropertyDescriptor(value, key);
              // Where the copies of this package share what is theirs, and where a runtime keeps its own.
              const theirs = value === globalThis && typeof key === "symbol" && String(Symbol.keyFor(key) ?? "temporalex.").startsWith("temporalex.");
              if (theirs) continue;
              if (d !== undefined) for (const part of ["value", "get", "set"]) open.push([d[part], path + "." + String(key) + (part === "value" ? "" : " " + part)]);
            }
            open.push([Object.getPrototypeOf(value), path + ".__proto__"]);
          }
          return found;
        };
        export const look = workflow("Look", async () => {
          const [first, second] = [all(make()), all(make())];
          const open = [];
          let count = 0;
          for (const [object, path] of first) {
            if (!second.has(object)) continue;
            // Stand-ins for what is blocked refuse everything by themselves.
            if (Object.getPrototypeOf(object) === null && object.prototype === fetch.prototype) continue;
            count++;
            let written = false;
            try { written = Reflect.defineProperty(object, "left behind", { value: 1, configurable: true }); } catch {}
            if (written) { open.push(path); delete object["left behind"]; continue; }
            for (const key of Reflect.ownKeys(object)) {
              const d = Reflect.getOwnPropertyDescriptor(object, key);
              if (d !== undefined && (d.configurable || d.writable)) open.push(path + "." + String(key) + " can be written");
            }
          }
          return { count, open };
        });`,
        async (h) => {
          const run = h.start("Look");
          await run.task();
          equal(run.failure, "");
          const { count, open } = run.server.closed!.result as { count: number; open: string[] };
          ok(count > 1000, `${count} shared objects were looked at`);
          equal(open.join("\n"), "");
        },
      ),
  },
  {
    name:
      "built-ins: a run does not see properties that another run put on prototypes of the global object",
    run: () =>
      withRealm(
        `${API}
        export const write = workflow("Write", async () => {
          const tried = [];
          for (let at = globalThis; at !== null; at = Object.getPrototypeOf(at)) {
            try { at.leaked = "from another run"; tried.push("written"); } catch { tried.push("refused"); }
          }
          return tried;
        });
        export const read = workflow("Read", async () => globalThis.leaked ?? "nothing");`,
        async (h) => {
          const [write, read] = [h.start("Write"), h.start("Read")];
          await write.task();
          await read.task();
          equal(read.server.closed?.result, "nothing");
          ok(
            (write.server.closed?.result as string[]).every((word) => word === "refused"),
            write.failure,
          );
        },
      ),
  },
];
