// Realms that are lost in other ways than by spinning: the core's instance breaks under a workflow,
// or the entry cannot be loaded.
import { equal, match, rejects } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, createRealmFromText, inBrowser, withRealm } from "./realm_host.ts";

const text = `${API}
// Calls into the core at the very end of the stack, then with a little more room, and so on, with frames of several sizes: one of the
// calls gets into the core and no further. A broken core then throws, which ends the loop.
const dives = [
  () => { try { dives[0]() } catch { Math.random() } },
  (a) => { try { dives[1](a, a) } catch { Math.random() } },
  (a, b, c) => { try { dives[2](a, b, c, a) } catch { Math.random() } },
  (...r) => { const [a, b, c, d, e] = r; try { dives[3](a, b, c, d, e, a + b) } catch { Math.random(a, b, c, d, e) } },
];
export const deep = workflow("Deep", async () => {
  await sleep(1);
  for (let i = 0; i < 12; i++) { try { dives[i % 4](i, i, i) } catch { } Math.random(); }
  return "survived";
});
export const recursive = workflow("Recursive", async () => { await sleep(1); const f = () => f() + 1; return f(); });
export const calm = workflow("Calm", async (n) => { for (let i = 0; i < n; i++) await sleep(1000); return n; });`;

export const cases: Case[] = [
  {
    name:
      "realm: a stack overflow inside the core breaks that realm, which is replaced; other runs continue",
    run: () =>
      withRealm(text, async (h) => {
        const neighbors = [h.start("Calm", { args: [3] }), h.start("Calm", { args: [2] })];
        for (const run of neighbors) await run.task();
        for (let round = 0; round < 2; round++) {
          const deep = h.start("Deep");
          await deep.task();
          deep.server.fireTimer("1");
          const outcome = await deep.task();
          equal(
            outcome.response?.$case,
            "failed",
            `round ${round}: ${String(deep.server.closed?.result)}`,
          );
          match(deep.failure, /internal error in the core|crashed the core/);
        }
        equal(await neighbors[0]!.auto(), 3, neighbors[0]!.failure);
        equal(await neighbors[1]!.auto(), 2, neighbors[1]!.failure);
        equal(await h.start("Calm", { args: [1] }).auto(), 1);
      }, { watchdogMs: 120_000 }),
  },
  {
    name: "realm: infinite recursion in workflow code is an error of that workflow",
    run: () =>
      withRealm(text, async (h) => {
        const run = h.start("Recursive");
        await run.task();
        run.server.fireTimer("1");
        await run.task();
        match(run.failure, /Maximum call stack|too much recursion/);
        equal(await h.start("Calm", { args: [1] }).auto(), 1);
      }),
  },
  {
    name: "realm: an entry that cannot be loaded is reported",
    run: () =>
      rejects(
        createRealmFromText(text, {
          entry: inBrowser
            ? new URL("/nowhere.js", location.href)
            : new URL("file:///nowhere/entry.js"),
          startupMs: 20_000,
        }),
        /the realm's worker could not be started/,
      ),
  },
  {
    name: "realm: dispose during a restart ends the realm",
    run: async () => {
      // (What spins ends by itself, see realm_watchdog.ts.)
      const h = await createRealmFromText(
        `${API}export const spin = workflow("Spin", async () => { for (let i = 0; i < 4e9; i++); });\n`,
        { watchdogMs: 500 },
      );
      const run = h.start("Spin");
      await run.task();
      match(run.failure, /without yielding/);
      const again = rejects(h.start("Spin").task(), /RealmDisposedError: the realm is disposed/);
      await h.dispose();
      await again;
    },
  },
];
