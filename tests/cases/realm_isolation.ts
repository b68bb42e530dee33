// Worker realms keep runs apart, and the host apart from them (P8): two runs that alternate in one
// realm see neither each other's time, randomness nor mistakes; the host's globals are its own.
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, type RealmRun, withRealm } from "./realm_host.ts";

/** Lets two runs take their tasks in turn. */
async function alternate(a: RealmRun, b: RealmRun, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    for (const run of [a, b]) {
      if (run.server.closed !== undefined) continue;
      await run.task();
      for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
    }
  }
}

export const cases: Case[] = [
  {
    name: "realm: two alternating runs have separate time and randomness, as each has alone",
    run: async () => {
      const text = `${API}export const w = workflow("W", async () => {
        const seen = [];
        for (let i = 0; i < 3; i++) { seen.push(Math.random(), Date.now(), crypto.randomUUID(), new Date().getMinutes()); await sleep(60000); }
        return seen;
      });`;
      const ids = [
        "aaaaaaaa-0000-4000-8000-000000000001",
        "bbbbbbbb-0000-4000-8000-000000000002",
      ] as const;
      const alone: unknown[] = [];
      for (const runId of ids) {
        alone.push(
          await withRealm(text, async (h) => {
            const run = h.start("W", { runId });
            run.server.nowMs += runId === ids[0] ? 0 : 10 * 60_000;
            return await run.auto();
          }),
        );
      }
      await withRealm(text, async (h) => {
        const [a, b] = ids.map((runId) => h.start("W", { runId })) as [RealmRun, RealmRun];
        b.server.nowMs += 10 * 60_000;
        await alternate(a, b, 4);
        deepEqual([a.server.closed?.result, b.server.closed?.result], alone);
        ok(String(alone[0]) !== String(alone[1]));
        for (const run of [a, b]) {
          equal((await h.realm.replay("wf", run.server.history())).verdict, "ok");
        }
      });
    },
  },
  {
    name: "realm: an unhandled rejection fails the task of its run, never of another",
    run: () =>
      withRealm(
        `${API}export const bad = workflow("Bad", async (n) => {
          for (let i = 0; ; i++) { await sleep(1); if (i === n) void Promise.reject(new Error("unhandled " + i)); }
        });
        export const good = workflow("Good", async () => {
          for (let i = 0; i < 6; i++) {
            await sleep(1);
            // Handled one turn late is handled.
            const late = Promise.reject(new Error("caught late"));
            await Promise.resolve();
            late.catch(() => {});
          }
          return "good";
        });
        export const micro = workflow("Micro", async () => { await sleep(1); queueMicrotask(() => { throw new Error("in a microtask") }); await sleep(1); });
        export const listener = workflow("Listener", async () => {
          await sleep(1);
          const t = new EventTarget();
          t.addEventListener("x", () => { throw new Error("in a listener") });
          t.dispatchEvent(new Event("x"));
          await sleep(1);
        });`,
        async (h) => {
          for (const n of [0, 1, 2]) {
            const [bad, good] = [h.start("Bad", { args: [n] }), h.start("Good")];
            await alternate(bad, good, 7);
            equal(good.server.closed?.result, "good", good.failure);
          }
          for (const n of [0, 2]) {
            const run = h.start("Bad", { args: [n] });
            for (let i = 0; i <= n; i++) {
              await run.task();
              equal(run.failure, "", `task ${i} of Bad(${n})`);
              run.server.fireTimer(String(i + 1));
            }
            await run.task();
            match(
              run.failure,
              new RegExp(`unhandled promise rejection in a workflow .*unhandled ${n}`),
            );
          }
          for (
            const [type, expected] of [["Micro", /in a microtask/], [
              "Listener",
              /in a listener/,
            ]] as const
          ) {
            const run = h.start(type);
            await run.task();
            run.server.fireTimer("1");
            await run.task();
            match(run.failure, expected, type);
          }
          const after = h.start("Good");
          equal(await after.auto(), "good");
        },
      ),
  },
  {
    name: "realm: a run does not see global state of another run",
    run: () =>
      withRealm(
        `${API}const attempts = [
          () => { globalThis.left = 1 }, () => { Array.prototype.left = 1 }, () => { Math.left = 1 }, () => { console.left = 1 },
          () => { Error.stackTraceLimit = 0 }, () => { "secret".match(/(s)/) }, () => { Object.prototype.left = 1 },
          () => { crypto.left = 1 }, () => { performance.left = 1 }, () => { JSON.left = 1 }, () => { Promise.left = 1 },
        ];
        export const leave = workflow("Leave", async (n) => { try { attempts[n]() } catch {} });
        export const find = workflow("Find", async () => [
          typeof left, [].left, Math.left, console.left, typeof new Error("x").stack, RegExp.$1, RegExp.lastMatch, {}.left, crypto.left, performance.left,
          JSON.left, Promise.left,
        ]);
        export const count = Array.from({ length: 1 }, () => attempts.length)[0];`,
        async (h) => {
          const find = async () => {
            const run = h.start("Find");
            await run.task();
            equal(run.failure, "");
            return run.server.closed?.result;
          };
          const before = await find();
          for (let n = 0; n < 11; n++) {
            const run = h.start("Leave", { args: [n] });
            await run.task();
            equal(run.failure, "");
          }
          deepEqual(await find(), before);
        },
      ),
  },
  {
    name: "realm: host code never sees a replaced global",
    run: async () => {
      const names = [
        "Date",
        "Math",
        "setTimeout",
        "fetch",
        "crypto",
        "performance",
        "console",
        "Function",
        "eval",
        "WeakRef",
        "Intl",
      ];
      const scope = globalThis as unknown as { [name: string]: unknown };
      const look = () => names.map((name) => scope[name]);
      const before = look();
      const random = Math.random;
      await withRealm(
        `${API}export const w = workflow("W", async () => { await sleep(1); return Date.now(); });`,
        async (h) => {
          const run = h.start("W");
          const task = run.task();
          look().forEach((value, i) => ok(value === before[i], `${names[i]} while a task runs`));
          await task;
          equal(await run.auto(), run.server.nowMs);
        },
      );
      look().forEach((value, i) => ok(value === before[i], names[i]));
      ok(
        Math.random === random && !Object.isFrozen(Array.prototype) &&
          Object.isExtensible(globalThis),
      );
      ok(
        Math.abs(Date.now() - new Date().getTime()) < 60_000 && Date.now() > Date.UTC(2026, 0, 2),
        "the host's clock",
      );
    },
  },
  {
    name: "realm: module-level objects are shared by the runs of a realm, with a warning",
    run: () =>
      withRealm(
        `${API}const seen = [];\nexport const w = workflow("W", async (n) => { seen.push(n); return [...seen]; });`,
        async (h) => {
          deepEqual(h.realm.warnings.map((w) => [w.code, w.line, w.name]), [[
            "module-state",
            4,
            "seen",
          ]]);
          for (const n of [1, 2]) {
            const run = h.start("W", { args: [n] });
            await run.task();
            deepEqual(run.server.closed?.result, n === 1 ? [1] : [1, 2]);
          }
        },
      ),
  },
  {
    // docs/dev/semantics/values.md#time-and-randomness: what to do instead works; what not to do is
    // blocked or made deterministic.
    name: "realm: the determinism table of the programming model",
    run: () =>
      withRealm(
        `${API}export const dont = workflow("Dont", async (n) => {
          switch (n) {
            case 0: return Date.now();
            case 1: return Math.random();
            case 2: return crypto.randomUUID();
            case 3: return process.env.FOO;
            case 4: return await fetch("http://localhost/");
            case 5: return Deno.readTextFileSync("x");
          }
        });
        export const instead = workflow("Instead", async () => {
          const values = [
            sideEffect(() => Date.now()), sideEffect(() => Math.random()), sideEffect(() => crypto.randomUUID()),
            sideEffect(() => typeof process.versions),
          ];
          await sleep(1000);
          return values;
        });`,
        async (h) => {
          const result = async (n: number) => {
            const run = h.start("Dont", {
              args: [n],
              runId: "cccccccc-0000-4000-8000-000000000003",
            });
            await run.task();
            return run.failure === "" ? run.server.closed?.result : run.failure;
          };
          for (const n of [0, 1, 2]) {
            const first = await result(n);
            ok(first !== undefined);
            equal(await result(n), first, `row ${n}: the same on replay`);
          }
          match(String(await result(3)), /process\.env\.FOO .*sideEffect\(\) or an activity/);
          match(String(await result(4)), /fetch\(\) .*activity/);
          match(String(await result(5)), /Deno\.readTextFileSync .*sideEffect\(\) or an activity/);
          const run = h.start("Instead");
          await run.task();
          h.realm.evict(run.server.runId);
          const values = await run.auto() as unknown[];
          equal((await h.realm.replay("wf", run.server.history())).verdict, "ok");
          ok(
            Math.abs((values[0] as number) - Date.now()) < 60_000,
            "recorded once, from the host's clock",
          );
        },
      ),
  },
];
