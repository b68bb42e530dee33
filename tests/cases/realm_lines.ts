// Errors of workflow code name the user's file and line in every engine: of modules that the realm
// has loaded from text, in whatever file or bundle the package itself is.
import { equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { endsComputingThreads } from "../../ts/platform/threads.ts";
import { API, withRealm } from "./realm_host.ts";

/** Its steps, one a line; the first is the sixth line of the module. */
const program = (...steps: string[]): string =>
  `${API}
export const w = workflow("W", async () => {
  await null;
  ${steps.join("\n  ")}
});`;
/** Steps that end by themselves after a while: Deno leaves a terminated thread computing. */
const ENDLESS: { readonly [how: string]: readonly string[] } = {
  "a loop without a body": [
    "for (let i = 0; i < 2000; i++) await null;",
    "for (let i = 0; i < 4e9; i++); // HERE",
  ],
  "a loop of statements": [
    "let n = 0;",
    "for (let i = 0; i < 2e9; i++) {",
    "n = (n + i) % 7; // HERE",
    "}",
  ],
  "microtasks": ["for (let i = 0; i < 4e7; i++) {", "await null; // HERE", "}"],
  "a call of the language": ["const text = 'a'.repeat(28) + 'b';", "/^(a+)+$/.test(text); // HERE"],
};
/** A history of one timer, which the endless programs replay. */
let shortRun: Promise<Uint8Array> | undefined;
const recordShortRun = () =>
  withRealm(program("await sleep(1);", "return 1;"), async (first) => {
    const run = first.start("W");
    equal(await run.auto(), 1);
    return run.server.history();
  });
const line = (n: number): number => program("").split("\n").length - 2 + n;

export const cases: Case[] = [
  {
    name: "lines: a divergence names the line that issued the command",
    run: () =>
      withRealm(program("await sleep(1);", "await sleep(2);", "return 1;"), async (first) => {
        const run = first.start("W");
        equal(await run.auto(), 1);
        const changed = program(
          "await sleep(1);",
          "await sleep(2);",
          "sideEffect(() => 1);",
          "return 1;",
        );
        await withRealm(changed, async (second) => {
          const verdict = await second.realm.replay(run.server.workflowId, run.server.history());
          equal(verdict.verdict, "nondeterminism");
          ok(verdict.error!.location.includes(`/app/main.ts:${line(3)}:`), verdict.error!.location);
        });
      }),
  },
  {
    name:
      "lines: a bug is reported with line, name and message and no engine frames, in the failure and in a replay",
    run: () =>
      withRealm(program("await sleep(1);", "await sleep(2);", "return 1;"), async (first) => {
        const run = first.start("W");
        await run.auto();
        await withRealm(
          program("await sleep(1);", "throw new TypeError('a bug');"),
          async (second) => {
            const verdict = await second.realm.replay(run.server.workflowId, run.server.history());
            equal(verdict.verdict, "failed");
            ok(
              verdict.error!.location.includes(`/app/main.ts:${line(2)}:`),
              verdict.error!.location,
            );
            ok(!/eval|\[as/.test(verdict.error!.location), verdict.error!.location);
            const { name, message, stack } = verdict.error!.thrown as {
              name: string;
              message: string;
              stack: string;
            };
            equal(`${name}: ${message}`, "TypeError: a bug");
            match(stack, /^TypeError: a bug\n {4}at .*\/app\/main\.ts:\d+:\d+/);
            const failing = second.start("W");
            await failing.task();
            failing.server.fireTimer("1");
            await failing.task();
            match(
              failing.server.taskFailure!.failure.stackTrace,
              new RegExp(`^TypeError: a bug\\n {4}at .*/app/main\\.ts:${line(2)}:\\d+`),
            );
          },
        );
      }),
  },
  {
    name: "lines: stacks read by workflow code contain only its frames and are equal on replay",
    run: () => {
      const text = program(
        "const early = new Error('a').stack;",
        "await sleep(1);",
        "const late = [1].map(() => new Error('b').stack)[0];",
        "await sleep(1);",
        "return [early, late];",
      );
      return withRealm(text, async ({ start, realm }) => {
        const stacks = await start("W").auto() as string[];
        for (const stack of stacks) {
          const frames = stack.split("\n").filter((frame) => /:\d+:\d+\)?$/.test(frame));
          ok(frames.length > 0 && frames.every((frame) => frame.includes("/app/main.ts:")), stack);
        }
        const evicted = start("W");
        while (evicted.server.closed === undefined) {
          await evicted.task();
          for (const id of [...evicted.server.timers.keys()]) evicted.server.fireTimer(id);
          realm.evict(evicted.server.runId);
        }
        equal(JSON.stringify(evicted.server.closed.result), JSON.stringify(stacks));
      });
    },
  },
  ...Object.entries(ENDLESS).map(([how, steps]): Case => ({
    name: `lines: code that never ends (${how}) names the line that it was stopped at`,
    run: async () => {
      const history = await (shortRun ??= recordShortRun());
      await withRealm(program("await sleep(1);", ...steps), async ({ realm }) => {
        const { verdict, error } = await realm.replay("wf", history);
        equal(verdict, "failed");
        equal(error!.lost, "spun");
        const at = steps.findIndex((step) => step.includes("HERE")) + 2;
        // Where a thread cannot be ended, it is not done again.
        match(
          error!.location,
          endsComputingThreads() ? new RegExp(`/app/main\\.ts:${line(at)}:\\d+$`) : /^$/,
        );
        // The task of the first timer.
        if (endsComputingThreads()) equal(error!.eventId, 8);
        equal((await realm.replay("wf", history, { explain: false })).error!.location, "");
      }, { watchdogMs: 500 });
    },
  })),
  {
    name: "lines: the current line of a lost task is logged",
    run: () =>
      withRealm(program("await sleep(1);", "for (let i = 0; i < 4e9; i++);"), async (h) => {
        const run = h.start("W");
        await run.task();
        run.server.fireTimer("1");
        await run.task();
        match(run.failure, /without yielding/);
        const lines = () => h.logs.filter(({ message }) => /was at/.test(message));
        const deadline = performance.now() + 20_000;
        while (endsComputingThreads() && lines().length === 0 && performance.now() < deadline) {
          await new Promise((r) => setTimeout(r, 50));
        }
        const messages = lines().map(({ message }) => message);
        if (!endsComputingThreads()) return equal(messages.length, 0);
        match(
          messages[0]!,
          new RegExp(
            `^workflow "W" \\(id "wf"\\) was at .*/app/main\\.ts:${
              line(2)
            }:\\d+ when it was stopped$`,
          ),
        );
      }, { watchdogMs: 500 }),
  },
  {
    name: "lines: a logged error has its message and line",
    run: () =>
      withRealm(program("console.error(new RangeError('too far'));"), async (h) => {
        await h.start("W").task();
        const [entry] = h.logs.filter(({ level }) => level === "error");
        match(
          entry!.message,
          new RegExp(`^RangeError: too far\\n {4}at .*/app/main\\.ts:${line(1)}:`),
        );
      }),
  },
];
