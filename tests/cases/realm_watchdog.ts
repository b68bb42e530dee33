// The watchdog: a workflow that does not yield is stopped with its realm, its task fails by name,
// its later tasks run in quarantine, and other runs continue normally.
import { equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { endsComputingThreads } from "../../ts/platform/threads.ts";
import { API, withRealm } from "./realm_host.ts";

// The loop ends by itself after a while: Deno keeps a terminated thread computing
// (denoland/deno#35657), next to all later tests. The window is long enough for a healthy realm's
// first task on a busy machine.
const WINDOW = 500;
/** Whatever takes longer hangs. */
const HANGS = 60_000;
const text = `${API}
export const spin = workflow("Spin", async (how) => {
  await sleep(1);
  if (how === "loop") for (let i = 0; i < 4e9; i++);
  if (how === "microtasks") for (let i = 0; i < 4e7; i++) await null;
  if (how === "regexp") /^(a+)+$/.test("a".repeat(28) + "b");
  if (how === "stop") return "stopped";
  if (how === "once" && sideEffect(() => Math.random()) < 2) { const until = sideEffect(() => Date.now() + 10000); while (sideEffect(() => Date.now()) < until); }
});
export const calm = workflow("Calm", async (n) => {
  let sum = 0;
  for (let i = 0; i < n; i++) { await sleep(1000); sum += Math.random() < 2 ? 1 : 0; }
  return sum;
});
export const busy = workflow("Busy", async (ms) => {
  // Computes for so long in many turns: each turn is short.
  const until = sideEffect(() => Date.now() + ms);
  while (sideEffect(() => Date.now()) < until) {
    let x = 0;
    for (let k = 0; k < 1e7; k++) x += k % 7;
    await parallel([async () => x]);
  }
  return "done";
});`;

const inTime = <T>(promise: Promise<T>, what: string): Promise<T> => {
  let timer: ReturnType<typeof setTimeout>;
  return Promise.race([
    promise,
    new Promise<never>((_, reject) =>
      timer = setTimeout(() => reject(new Error(`${what} took more than ${HANGS} ms`)), HANGS)
    ),
  ]).finally(() => clearTimeout(timer));
};

export const cases: Case[] = [
  ...["loop", "microtasks", "regexp"].map((how): Case => ({
    name: `watchdog: a workflow that never yields (${how}) fails its task by name`,
    run: () =>
      withRealm(text, async (h) => {
        const run = h.start("Spin", { args: [how] });
        await run.task();
        run.server.fireTimer("1");
        const outcome = await inTime(run.task(), "stopping it");
        equal(outcome.response?.$case, "failed");
        equal(outcome.evict, true);
        match(
          run.failure,
          /^workflow "Spin" \(id "wf", run .+\) ran for 500 ms without yielding, so it was stopped: .*activity/,
        );
        equal(run.server.taskFailure?.cause, 14);
        const next = h.start("Calm", { args: [2] });
        equal(await inTime(next.auto(), "the next run"), 2);
      }, { watchdogMs: WINDOW }),
  })),
  {
    name: "watchdog: open tasks of other runs are replayed from full history and do not fail",
    run: () =>
      withRealm(text, async (h) => {
        const neighbors = Array.from(
          { length: 6 },
          (_, i) => h.start("Calm", { args: [2 + i % 3] }),
        );
        for (const run of neighbors) {
          await run.task();
        }
        const spinner = h.start("Spin", { args: ["loop"] });
        await spinner.task();
        spinner.server.fireTimer("1");
        for (const run of neighbors) {
          run.server.fireTimer("1");
        }
        // The spinner's task goes in among those of the others.
        const open = [
          ...neighbors.slice(0, 3).map((run) => run.task()),
          spinner.task(),
          ...neighbors.slice(3).map((run) => run.task()),
        ];
        const outcomes = await inTime(Promise.all(open), "all tasks");
        equal(outcomes.filter((o) => o.response?.$case === "failed").length, 1);
        match(spinner.failure, /without yielding/);
        for (const run of neighbors) {
          for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
          equal(
            await run.auto(),
            Number(
              run.server.events.filter((e) => e.attributes.case === "timerFiredEventAttributes")
                .length,
            ),
            run.failure,
          );
          equal(run.failure, "");
        }
      }, { watchdogMs: WINDOW }),
  },
  {
    name:
      "watchdog: further tasks of endless code run in quarantine in parallel, and the run can recover",
    run: () =>
      withRealm(text, async (h) => {
        const run = h.start("Spin", { args: ["once"] });
        await run.task();
        run.server.fireTimer("1");
        equal((await inTime(run.task(), "the first spin")).response?.$case, "failed");
        // The second attempt spins as well: not reported, and the others are not held up meanwhile.
        run.server.attempt = 2;
        const second = run.task();
        const calm = h.start("Calm", { args: [3] });
        equal(await inTime(calm.auto(), "another run while it spins in quarantine"), 3);
        const outcome = await inTime(second, "the second spin");
        equal(outcome.response?.$case, "nothing");
        match(outcome.error?.message ?? "", /without yielding/);
        // Where its threads cannot be ended they are not made without end: later attempts fail at
        // once.
        run.server.attempt = 3;
        const third = performance.now();
        match(
          (await inTime(run.task(), "the third spin")).error?.message ?? "",
          /without yielding/,
        );
        const ran = performance.now() - third >= WINDOW;
        equal(ran, endsComputingThreads(), `the third attempt ${ran ? "ran" : "did not run"}`);
      }, { watchdogMs: WINDOW }),
  },
  {
    name: "watchdog: long work that yields and a waiting run are not terminated",
    run: () =>
      withRealm(text, async (h) => {
        const run = h.start("Busy", { args: [1000] });
        await inTime(run.task(), "the busy run");
        equal(run.server.closed?.result, "done", run.failure);
        const waiting = h.start("Calm", { args: [1] });
        await waiting.task();
        await new Promise((resolve) => setTimeout(resolve, 1000));
        equal(await waiting.auto(), 1);
      }, { watchdogMs: 800 }),
  },
  {
    name: "watchdog: an endless replay is a failed verdict",
    run: () =>
      withRealm(text, async (h) => {
        const run = h.start("Spin", { args: ["stop"] });
        equal(await run.auto(), "stopped");
        const spinning = text.replace(
          'if (how === "stop") return "stopped";',
          'if (how === "stop") for (let i = 0; i < 4e9; i++);',
        );
        await withRealm(spinning, async (other) => {
          const verdict = await inTime(
            other.realm.replay("wf", run.server.history()),
            "the replay",
          );
          equal(verdict.verdict, "failed");
          match(verdict.error?.message ?? "", /workflow "Spin" .*ran for 500 ms without yielding/);
          equal(
            (await other.realm.replay("wf", h.start("Calm", { args: [0] }).server.history()))
              .verdict,
            "ok",
          );
        }, { watchdogMs: WINDOW });
      }, { watchdogMs: WINDOW }),
  },
];
