// Errors of workflow code name the user's file and line in every engine: of modules that the realm has loaded from text, whatever file or
// bundle the package itself lies in.
import { equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, withRealm } from "./realm_host.ts";

/** Its steps, one a line; the first is the sixth line of the module. */
const program = (...steps: string[]): string =>
  `${API}
export const w = workflow("W", async () => {
  await null;
  ${steps.join("\n  ")}
});`;
const line = (n: number): number => program("").split("\n").length - 2 + n;

export const cases: Case[] = [
  {
    name: "lines: a divergence names the line that issued the command",
    run: () =>
      withRealm(program("await sleep(1);", "await sleep(2);", "return 1;"), async (first) => {
        const run = first.start("W");
        equal(await run.auto(), 1);
        const changed = program("await sleep(1);", "await sleep(2);", "sideEffect(() => 1);", "return 1;");
        await withRealm(changed, async (second) => {
          const verdict = await second.realm.replay(run.server.workflowId, run.server.history());
          equal(verdict.verdict, "nondeterminism");
          ok(verdict.error!.location.includes(`/app/main.ts:${line(3)}:`), verdict.error!.location);
        });
      }),
  },
  {
    name: "lines: a bug names its line and no function of the engine's, with name and message, in the failure and in a replay",
    run: () =>
      withRealm(program("await sleep(1);", "await sleep(2);", "return 1;"), async (first) => {
        const run = first.start("W");
        await run.auto();
        await withRealm(program("await sleep(1);", "throw new TypeError('a bug');"), async (second) => {
          const verdict = await second.realm.replay(run.server.workflowId, run.server.history());
          equal(verdict.verdict, "failed");
          ok(verdict.error!.location.includes(`/app/main.ts:${line(2)}:`), verdict.error!.location);
          ok(!/eval|\[as/.test(verdict.error!.location), verdict.error!.location);
          const { name, message, stack } = verdict.error!.thrown as { name: string; message: string; stack: string };
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
        });
      }),
  },
  {
    name: "lines: what is logged of an error has its message and line",
    run: () =>
      withRealm(program("console.error(new RangeError('too far'));"), async (h) => {
        await h.start("W").task();
        const [entry] = h.logs.filter(({ level }) => level === "error");
        match(entry!.message, new RegExp(`^RangeError: too far\\n {4}at .*/app/main\\.ts:${line(1)}:`));
      }),
  },
];
