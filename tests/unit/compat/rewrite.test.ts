// The rewriting loader against AsyncLocalStorage: the same program, once as it is under
// AsyncLocalStorage and once rewritten over the slot, must see the same scope at every step, run in
// the same order, and take the same number of microtask ticks.
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import {
  asyncStorageContext,
  type ScopeContext,
  type ScopeFrame,
  SlotContext,
} from "../../../ts/compat/context.ts";
import { rewriteHelper } from "../../../ts/compat/rewritten.ts";
import { RewriteError, rewriteModule } from "../../../ts/modules/loader/rewrite.ts";

interface Tools {
  /** Notes a step with the scope in which it runs. */
  say(step: string): void;
  /** Runs a function in a scope. */
  run<T>(scope: string, fn: () => T): T;
  /** A promise that settles after some ticks. */
  ticks(n: number): Promise<void>;
  fail(n: number, message: string): Promise<never>;
}

const frames = (source: string) =>
  rewriteModule(source, { compileGenerators: false, restoreFrames: true }).code;
const hop = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
const frame = (name: string) => ({ scope: name }) as unknown as ScopeFrame;

function tools(context: ScopeContext): { tools: Tools; steps: string[] } {
  const steps: string[] = [];
  const scope = () =>
    (context.current() as unknown as { scope: string } | undefined)?.scope ?? "root";
  const ticks = async (n: number) => {
    for (let i = 0; i < n; i++) await undefined;
  };
  return {
    steps,
    tools: {
      say: (step) => void steps.push(`${step} in ${scope()}`),
      run: (name, fn) => context.run(frame(name), fn),
      ticks,
      fail: async (n, message) => {
        await ticks(n);
        throw new Error(message);
      },
    },
  };
}

/**
 * Runs `source` (statements; it may return a promise) and returns its steps, with constant noise
 * from other scopes.
 */
async function execute(
  source: string,
  context: ScopeContext,
  compileGenerators = false,
): Promise<string[]> {
  const slot = context instanceof SlotContext ? context : undefined;
  const { code } = rewriteModule(source, { compileGenerators, restoreFrames: slot !== undefined });
  const made = tools(context);
  const { say, run, ticks, fail } = made.tools;
  const main = new Function("say", "run", "ticks", "fail", "$tx", code);
  const helper = rewriteHelper(slot);
  let done = false;
  // Another scope's continuations between all others, so that a slot that is not put back shows.
  const noise = context.run(frame("noise"), async () => {
    for (let i = 0; i < 200 && !done; i++) {
      await undefined;
      slot?.restore(frame("noise"));
    }
  });
  const result = context.run(undefined, () => main(say, run, ticks, fail, helper));
  await Promise.resolve(result).then(
    () => made.steps.push("done"),
    (e: Error) => made.steps.push(`threw ${e.message}`),
  );
  done = true;
  await noise;
  await hop();
  return made.steps;
}

const asyncStorage = () => asyncStorageContext(new AsyncLocalStorage<ScopeFrame | undefined>());

async function same(source: string, compileGenerators: boolean): Promise<void> {
  const expected = await execute(source, asyncStorage(), compileGenerators);
  assert.deepEqual(await execute(source, new SlotContext(), compileGenerators), expected);
  assert.ok(expected.length > 1, "the case must take steps");
}

const CASES: { [name: string]: string } = {
  "nested scopes": `
    async function work(name, n) {
      say(name + " 1"); await ticks(n); say(name + " 2");
      await run(name + ".inner", async () => { say(name + " inner 1"); await ticks(n); say(name + " inner 2"); });
      say(name + " 3"); await ticks(1); say(name + " 4");
    }
    return (async () => {
      const a = run("a", () => work("a", 2)), b = run("b", () => work("b", 3));
      await a; say("main 1"); await b; say("main 2");
    })();`,
  "Promise.all in scopes": `
    return run("outer", async () => {
      const results = await Promise.all(["x", "y", "z"].map((n, i) => run(n, async () => { await ticks(3 - i); say(n); return n; })));
      say(results.join());
      await Promise.race([run("p", async () => { await ticks(1); say("p"); }), run("q", async () => { await ticks(4); say("q"); })]);
      say("raced");
      await ticks(6);
      say("end");
    });`,
  "catch and finally": `
    return run("outer", async () => {
      try { await run("inner", async () => { await fail(2, "x"); }); } catch (e) { say("caught " + e.message); }
      try { await fail(1, "y"); } catch { say("caught y"); await ticks(2); say("after y"); } finally { say("finally 1"); await ticks(1); say("finally 2"); }
      try { try { await fail(3, "z"); } finally { say("inner finally"); } } catch ({ message = say("default") , stack }) { say("pattern " + message); }
      try { await fail(1, "w"); } catch ({ name, other = say("default ran") }) { say(name); }
      await run("thrower", async () => { try { await ticks(1); } finally { say("thrower finally"); } throw new Error("out"); });
    });`,
  "return, break and continue through finally": `
    async function f(how) {
      for (const i of [1, 2]) {
        try {
          await ticks(i);
          if (how === "return") return await ticks(1).then(() => "value");
          if (how === "break") break;
          if (how === "continue") continue;
        } finally { say(how + " finally " + i); await ticks(1); say(how + " finally end " + i); }
      }
      say(how + " after");
      return "end";
    }
    return run("s", async () => { for (const how of ["return", "break", "continue"]) say(await f(how)); });`,
  "expression bodies and operators": `
    const one = async () => await ticks(1).then(() => 1);
    const two = async (x) => (await one()) + (say("between"), await one()) * x;
    const object = async () => ({ a: await one(), ...(await (async () => ({ b: await two(2) }))()) });
    const chain = async () => (await object())?.b.toFixed(await one());
    return run("s", async () => { say(String(await chain())); say(\`\${await one()}-\${await two(3)}\`); const [p = await one()] = []; say("p" + p); });`,
  "methods, accessors and private names": `
    class C {
      #n = 0;
      async add(k) { this.#n += await (async () => { await ticks(1); return k; })(); say("add"); return this; }
      static async make() { await ticks(1); say("make"); return new this(); }
      get later() { return (async () => { await ticks(1); say("later"); return this.#n; })(); }
      async *[Symbol.asyncIterator]() { yield this.#n; yield* [1, 2]; }
    }
    return run("s", async () => {
      const c = await (await C.make()).add(3);
      say("n" + await c.later);
      for await (const x of c) say("x" + x);
      say("out");
    });`,
  "for await in every form": `
    async function* numbers(n) { for (let i = 0; i < n; i++) { await ticks(1); say("make " + i); yield { i, list: [i] }; } }
    return run("s", async () => {
      const o = {};
      for await (const x of numbers(2)) say("x" + x.i);
      say("after 1");
      for await (const { i, list: [first = say("never")] , more = say("default") } of numbers(2)) { say("i" + i + first); await ticks(1); say("body end"); }
      say("after 2");
      for await (o.last of numbers(1)) say("last" + o.last.i);
      say("after 3");
      outer: for (const k of [1, 2]) {
        inner: for await (const x of numbers(3)) { if (x.i === 0) continue inner; say("k" + k); if (k === 1) continue outer; break outer; }
      }
      say("after 4");
      try { for await (const x of numbers(3)) { await ticks(1); throw new Error("body"); } } catch (e) { say(e.message); }
      for await (const x of [ticks(2).then(() => "a"), "b"]) say(x);
      if (o.last) for await (const x of ["c"]) say(x); else say("no");
      say("end");
      return (async () => { for await (const x of numbers(5)) { if (x.i === 1) return x; } })();
    });`,
  "async generators run in the scope of the caller of next()": `
    async function* steps() {
      say("start");
      try { for (let i = 0; ; i++) { await ticks(1); say("have " + i); const got = yield i; say("got " + got); } }
      finally { say("closing"); await ticks(1); say("closed"); }
    }
    return run("outer", async () => {
      const it = steps();
      await run("a", async () => { say(String((await it.next("0")).value)); });
      await run("b", async () => { say(String((await it.next("1")).value)); await ticks(1); say("b end"); });
      await run("b", () => it.return());
      say("outer end");
      async function* outer() { yield "first"; say("delegating"); yield* steps(); say("never"); }
      for await (const x of outer()) { say("x" + x); if (x === 1) break; }
      say("end");
    });`,
  "callbacks of promises": `
    return run("outer", async () => {
      const p = run("a", () => ticks(2).then(() => { say("then in a"); return ticks(1); }).finally(() => say("finally in a")));
      const q = fail(1, "x").then(() => say("no"), () => { say("rejected"); throw new Error("y"); }).catch(async (e) => { say(e.message); await ticks(1); say("catch end"); });
      const method = "then", callbacks = [() => say("spread"), () => say("no")];
      const r = ticks(1)["then"](() => say("computed")), s = ticks(1).then(...callbacks), t = ticks(1)?.then(null, undefined);
      await Promise.all([p, q, r, s, t]);
      say("end");
    });`,
  "concurrent functions of many scopes": `
    return (async () => {
      const all = [];
      for (let i = 0; i < 5; i++) all.push(run("s" + i, async () => {
        for (let k = 0; k < 3; k++) {
          try { if ((i + k) % 2) await ticks(k + 1); else await fail(k + 1, "e"); say(i + "." + k); } catch { say(i + "." + k + " caught"); }
        }
      }));
      await Promise.allSettled(all);
    })();`,
};

for (const [name, source] of Object.entries(CASES)) {
  test(`rewritten code sees the scopes of AsyncLocalStorage: ${name}`, () => same(source, false));
  test(`the same with compiled async generators: ${name}`, () => same(source, true));
}

test("known limit: return() and throw() from another scope leave a native async generator in its own", async () => {
  const source = `
    async function* values() { try { yield 1; } finally { say("closing"); } }
    return (async () => {
      const it = values();
      await run("a", () => it.next());
      await run("b", () => it.return());
    })();`;
  assert.deepEqual(await execute(source, new SlotContext()), ["closing in a", "done"]);
});

test("a rewritten function takes as many ticks as the original", async () => {
  const source = `
    async function plain(x) { await x; await x; return x; }
    async function caught(x) { try { await Promise.reject(x); } catch (e) { await e; } finally { await 0; } return x; }
    async function returned(x) { return plain(x); }
    async function looped(x) { for await (const y of [x, x]) { await y; if (y === "stop") break; } return x; }
    async function* gen(x) { const a = yield x; yield* [a, x]; return await x; }
    async function consumed(x) { let n = 0; for await (const y of gen(x)) n++; return n; }
    const arrow = async (x) => await plain(await x);
    const thenable = { then(f) { f(1); } };
    async function foreign() { return await thenable; }
    return { plain, caught, returned, looped, consumed, arrow, foreign };`;
  type Functions = { [name: string]: (x: unknown) => Promise<unknown> };
  const helper = rewriteHelper(new SlotContext());
  const original = new Function(source)() as Functions;
  const rewritten = new Function("$tx", frames(source))(helper) as Functions;
  const ticksOf = async (fn: (x: unknown) => Promise<unknown>, x: unknown) => {
    let ticks = 0, settled = false;
    fn(x).then(() => settled = true);
    while (!settled && ticks < 1000) {
      await undefined;
      ticks++;
    }
    return ticks;
  };
  for (const name of Object.keys(original)) {
    for (const x of [1, "stop"]) {
      const expected = await ticksOf(original[name]!, x);
      assert.equal(await ticksOf(rewritten[name]!, x), expected, `${name}(${x})`);
      assert.ok(expected > 0 && expected < 1000);
    }
  }
});

test("the number of lines stays the same", () => {
  const source = `"use strict";
async function f({
  a = 1,
}) {
  "directive";
  try {
    await a;
  } catch ({
    message,
  }) {
    return message; // a comment
  }
  for await (const {
    x,
  } of a) await x;
  return await (
    a
  );
}
const g = async () => // why
  (await f({}));`;
  const out = frames(source);
  assert.equal(out.split("\n").length, source.split("\n").length);
  assert.match(out, /"directive";const \$txFrame/);
  new Function("$tx", out);
});

test("code without suspension is not rewritten", () => {
  const source =
    "const f = async () => g(); function* h() { yield 1; } for (const x of y) try { z(x) } catch (e) { w(e) } finally { v() }";
  assert.equal(frames(source), source);
});

test("compiled async generators: forms of definition", async () => {
  const source = `
    const key = async () => "m";
    const out = [];
    async function* declared(a, b = a + 1, ...rest) { yield [a, b, rest.length, arguments.length]; }
    const named = async function* self(n) { if (n > 0) yield* self(n - 1); yield n; };
    const anonymous = async function* ({ a } = { a: "d" }) { yield a; };
    return (async () => {
      const object = { x: 1, async *plain() { yield this.x; }, async * [await key()]() { yield (() => this.x)(); }, async *"quoted"() {}, async *1() { return; } };
      class C { #p = 2; static async *s() { yield "s"; } async *#q() { yield this.#p; } q() { return this.#q(); } }
      for (const it of [declared(1), named(2), anonymous(), object.plain(), object.m(), object.quoted(), object[1](), C.s(), new C().q()]) {
        const all = [];
        for await (const x of it) all.push(x);
        out.push(all);
      }
      return out;
    })();`;
  const { code } = rewriteModule(source, { compileGenerators: true, restoreFrames: true });
  assert.doesNotMatch(code, /async\s*\*|async function\s*\*/);
  const out = await new Function("$tx", code)(rewriteHelper(new SlotContext()));
  assert.deepEqual(out, [[[1, 2, 0, 1]], [0, 1, 2], ["d"], [1], [1], [], [], ["s"], [2]]);
  assert.throws(
    () =>
      rewriteModule("\nclass D extends C { async *m() { yield super.m(); } }", {
        compileGenerators: true,
        restoreFrames: false,
      }),
    (e: Error) =>
      e instanceof RewriteError && e.line === 2 &&
      /^uses super in an async generator/.test(e.message),
  );
});

test("code that the context could not follow is rejected with its line", () => {
  for (
    const [source, construct, line] of [
      ["async () => {\n  await import('x'); }", "import() inside a workflow module", 2],
      ["async () => {\n\n  await using x = y; }", "`await using`", 3],
    ] as const
  ) {
    assert.throws(
      () => frames(source),
      (e: Error) => e instanceof RewriteError && e.construct === construct && e.line === line,
    );
  }
});

const inexactIn = (source: string) =>
  rewriteModule(source, { compileGenerators: false, restoreFrames: true }).inexact;

test("a construct whose scope the slot does not follow is named", () => {
  for (
    const [source, construct] of [
      ["als.enterWith(1)", 'the name "enterWith"'],
      ["const { enterWith } = als", 'the name "enterWith"'],
      ["({ then(resolve) { resolve(1); } })", 'the name "then"'],
      ["class Flow { catch(f) { this.f = f; } }", 'the name "catch"'],
      ["class Flow { finally = (f) => f(); }", 'the name "finally"'],
      ["flow.then = f", 'the name "then"'],
      ["const { then } = p", 'the name "then"'],
      ["Promise.prototype.then.call(p, f)", 'the name "then"'],
      ["const f = p.catch", 'the name "catch"'],
      ["const name = 'finally'", 'the name "finally"'],
      ["Array.fromAsync(list, f)", 'the name "fromAsync"'],
      ["p[name](f)", "a call of a computed name"],
      ["p?.[name]((x) => x)", "a call of a computed name"],
      ["async function* g() { yield 1; }", "an async generator of JavaScript"],
      ["async () => { for await (const { a = x.then } of y) a(); }", 'the name "then"'],
    ] as const
  ) assert.equal(inexactIn(source), construct, source);
});

test("calls of promises' methods and plain code are followed exactly", () => {
  for (
    const source of [
      "p.then(f, g).catch((e) => e).finally(h)",
      "p?.then(f)",
      "async () => { try { await p; } catch { await q; } finally { await r; } }",
      "list[0](f)",
      "handlers[name]()",
      "acts[name]('x', 1, [x], { y })",
      "const text = 'and then'; then(f); const caught = { catchAll: 1 };",
      "function* g() { yield 1; }",
    ]
  ) assert.equal(inexactIn(source), undefined, source);
});
