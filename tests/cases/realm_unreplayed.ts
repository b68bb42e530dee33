// Code that does not run again on replay (queries, validators, functions of sideEffect, getters of
// their results and errors, microtasks that they leave) does not affect the run: it continues as
// one without such code, and its history replays (P3).
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, type RealmHarness, withRealm } from "./realm_host.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

/** What such code may try: numbers, commands, microtasks, and all of it later. */
const DEEDS: readonly string[] = [
  "Math.random()",
  "crypto.randomUUID()",
  "crypto.getRandomValues(new Uint8Array(3))",
  "api.random()",
  "api.uuid4()",
  "sleep(5)",
  "api.sideEffect(() => 1)",
  "api.patched('p')",
  "publishState(7)",
  "api.upsertMemo({ a: 1 })",
];

/**
 * [where, code that does `deed()`]: what a query returns, a validator returns, a side effect
 * returns.
 */
const SHAPES: { readonly [name: string]: string } = {
  directly: "deed(); return 1;",
  "in toJSON": "return { toJSON() { return String(deed()); } };",
  "in a getter": "return { get a() { return String(deed()); } };",
  "in a getter of an error":
    'throw Object.defineProperty(new Error("x"), "message", { get: () => "m" + String(deed()) });',
  "in the details of a failure":
    'throw new api.ApplicationFailure("x", { details: [{ toJSON() { return String(deed()); } }] });',
  "in a cause":
    'throw new Error("x", { cause: Object.defineProperty(new Error("y"), "message", { get: () => String(deed()) }) });',
  "in a microtask": "queueMicrotask(() => { try { deed(); } catch {} }); return 1;",
  "after a promise": "Promise.resolve().then(deed).catch(() => {}); return 1;",
  "after ten awaits":
    "void (async () => { for (let i = 0; i < 10; i++) await null; try { deed(); } catch {} })(); return 1;",
  "in an async generator":
    "void (async () => { try { for await (const x of (async function* () { yield 1; yield deed(); })()) void x; } catch {} })(); return 1;",
  "in a thenable":
    "void (async () => { try { await { then(done) { done(deed()); } }; } catch {} })(); return 1;",
  "in a finally":
    "void (async () => { try { await null; } finally { try { deed(); } catch {} } })(); return 1;",
  "in a microtask of a getter":
    "return { get a() { queueMicrotask(() => { try { deed(); } catch {} }); return 1; } };",
  "in a timer": "try { setTimeout(deed, 1); } catch {} return 1;",
};

const text = `${API}
const go = signal("go"); const ask = update("ask");
const deeds = [${DEEDS.map((deed) => `() => ${deed}`).join(", ")}];
const shapes = [${Object.values(SHAPES).map((code) => `(deed) => { ${code} }`).join(",\n  ")}];
const hostile = (n) => shapes[Math.floor(n / deeds.length)](deeds[n % deeds.length]);
export const w = workflow("W", {
  queries: { q: (_published, n) => hostile(n) },
  async run(effects) {
    publishState({ a: 1 });
    const seen = [];
    const step = async () => {
      seen.push(Math.random(), crypto.randomUUID());
      if (Math.random() < 0.5) { await sleep(1); await sleep(2); } else await sleep(3);
    };
    for (const n of effects) {
      const given = sideEffect(() => {
        if (n < 0) return 1;
        try { const value = hostile(n); return typeof value === "object" ? value : 1; } catch { return 1; }
      });
      await null; await null;
      void given;
      await step();
    }
    log.info("fields", { get a() { return Math.random(); }, b: { toJSON() { return Math.random(); } } });
    await receive(0, [
      on(ask, () => reply(1, 1), { validate: ([n]) => { if (n >= 0) throw hostile(n) ?? new Error("no"); } }),
      on(go, () => stop(1)),
    ]);
    for (let i = 0; i < 4; i++) await step();
    return seen;
  },
});`;

const HOSTILE = DEEDS.length * Object.keys(SHAPES).length;
const nameOf = (n: number) =>
  `${DEEDS[n % DEEDS.length]} ${Object.keys(SHAPES)[Math.floor(n / DEEDS.length)]}`;
const RUN_ID = "12121212-1212-4212-8212-121212121212";
/** Deeds of sideEffect whose values come from the host, as intended. */
const ANSWERED_IN_EFFECTS = 3;

/** Numbers in [0, 1) from a seed. */
function rng(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

type Plan = {
  readonly effects: readonly number[];
  readonly acts: readonly (readonly ["query" | "update", number])[];
};

/** What a run with that plan gives; `replayed`: by its history. */
async function live(
  h: RealmHarness,
  plan: Plan,
): Promise<{ result: unknown; replayed: string; failure: string }> {
  const run = h.start("W", { runId: RUN_ID, args: [plan.effects] });
  const { server } = run;
  for (let i = 0; i < 3 * plan.effects.length + 1; i++) {
    await run.task();
    if (run.failure !== "") return { result: undefined, replayed: "", failure: run.failure };
    for (const id of [...server.timers.keys()]) server.fireTimer(id);
  }
  for (const [kind, n] of plan.acts) {
    if (kind === "query") {
      server.report(await h.realm.runTask(readWorkflowTask(server.queryTask("q", [n], true))));
    } else {
      server.update(`u${server.updates.size}`, "ask", n);
      await run.task();
      if (run.failure !== "") return { result: undefined, replayed: "", failure: run.failure };
    }
  }
  server.signal("go");
  const result = await run.auto();
  const { verdict, error } = await h.realm.replay("wf", server.history());
  h.realm.evict(RUN_ID);
  return { result, replayed: error?.message ?? verdict, failure: run.failure };
}

export const cases: Case[] = [
  {
    name: "unreplayed code: queries and validators cannot change the run",
    run: () =>
      withRealm(text, async (h) => {
        const plain = await live(h, { effects: [], acts: [] });
        equal(plain.failure, "");
        const wrong: string[] = [];
        for (let n = 0; n < HOSTILE; n++) {
          // Of updates one of three: among those is every deed and every shape.
          for (const kind of n % 3 === 0 ? ["query", "update"] as const : ["query"] as const) {
            const met = await live(h, { effects: [], acts: [[kind, n]] });
            if (JSON.stringify(met) !== JSON.stringify(plain)) {
              wrong.push(`${kind}: ${nameOf(n)}: ${met.failure || met.replayed}`);
            }
          }
        }
        equal(wrong.join("\n"), "");
      }),
  },
  {
    name:
      "unreplayed code: a side effect returns the host's value or fails its task by name, without changing the run",
    run: () =>
      withRealm(text, async (h) => {
        const plain = await live(h, { effects: [-1], acts: [] });
        equal(plain.failure, "");
        const wrong: string[] = [];
        for (let n = 0; n < HOSTILE; n++) {
          const met = await live(h, { effects: [n], acts: [] });
          const shape = Object.keys(SHAPES)[Math.floor(n / DEEDS.length)]!;
          if (n % DEEDS.length < ANSWERED_IN_EFFECTS && shape !== "in a timer") {
            if (JSON.stringify(met) !== JSON.stringify(plain)) {
              wrong.push(`${nameOf(n)}: ${met.failure || met.replayed}`);
            }
          } else if (
            !/was called in the function of sideEffect|is not available/.test(met.failure)
          ) {
            // An error that is thrown, and so is not a returned value, is never read.
            const unread = /error|failure|cause/.test(shape);
            if (!unread || JSON.stringify(met) !== JSON.stringify(plain)) {
              wrong.push(`${nameOf(n)}: ${met.failure || "no failure"}`);
            }
          }
        }
        equal(wrong.join("\n"), "");
      }),
  },
  {
    name: "unreplayed code: random runs with and without it are equal, and replay",
    run: () =>
      withRealm(text, async (h) => {
        for (let seed = 1; seed <= 12; seed++) {
          const random = rng(seed);
          const draw = (limit: number) => Math.floor(random() * limit);
          const effects = Array.from({ length: draw(4) }, () =>
            draw(13) * DEEDS.length + draw(ANSWERED_IN_EFFECTS));
          const acts = Array.from({ length: draw(6) }, () =>
            [draw(2) === 0 ? "query" : "update", draw(HOSTILE)] as const);
          const met = await live(h, { effects, acts });
          const plain = await live(h, {
            effects: effects.map(() =>
              -1
            ),
            acts: [],
          });
          deepEqual(met, plain, `seed ${seed}`);
          equal(met.replayed, "ok");
        }
      }),
  },
  {
    name: "unreplayed code: a query and an update that change the run are rejected by name",
    run: () =>
      withRealm(text, async (h) => {
        const run = h.start("W", { args: [[]] });
        await run.task();
        const { server } = run;
        server.report(
          await h.realm.runTask(readWorkflowTask(server.queryTask("q", [DEEDS.length], true))),
        );
        match(
          server.queryAnswers["query"]!.message,
          /Math\.random\(\) is not available in workflow code: a query does not run again/,
        );
        const u = server.update("u", "ask", 0);
        await run.task();
        equal(run.failure, "");
        match(
          u.failure!.message,
          /Math\.random\(\) is not available in workflow code: a validator does not run again/,
        );
      }),
  },
];
