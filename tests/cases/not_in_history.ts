// Commands that the code issues after the last command of the history: the replay passes, and says
// so.
import { openSession } from "../../ts/debug/mod.ts";
import { whyText } from "../../ts/run_view/why.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, type RealmHarness, withRealm } from "./realm_host.ts";

const HEAD = `${API}
const acts = api.activities({ startToClose: "1m" });
const go = signal("go");
`;
const program = (body: string): string =>
  `${HEAD}export const w = workflow("W", async () => {\n${body}\n});`;
const OPEN = '  await sleep(1000);\n  await receive(0, [on(go, () => stop(0))]);\n  return "done";';
const LONGER = OPEN.replace("  await receive", "  await acts.extra();\n  await receive");

/** Records the first body up to its receive, and replays the second. */
async function open(
  after: string,
  seen: (history: Uint8Array, harness: RealmHarness) => Promise<void>,
): Promise<void> {
  await withRealm(program(OPEN), async (recorded) => {
    const run = recorded.start("W");
    await run.task();
    for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
    await run.task();
    const history = run.server.history();
    await withRealm(program(after), (harness) => seen(history, harness), { lines: true });
  });
}

const textOf = (said: readonly (string | { readonly name: string })[]) =>
  said.map((piece) => typeof piece === "string" ? piece : piece.name).join("");

export const cases: Case[] = [
  {
    name:
      "not in history: a step after the last recorded command is named, with its line, and fails a strict replay",
    run: () =>
      open(LONGER, async (history, { realm }) => {
        const { verdict, warnings } = await realm.replay("w", history);
        equal(verdict, "ok");
        equal(warnings.length, 1);
        match(
          warnings[0]!.message,
          /^Replays, then calls activity extra, which the history does not have: main\.ts:\d+$/,
        );
        const strict = await realm.replay("w", history, { strict: true });
        equal(strict.verdict, "nondeterminism");
        match(
          strict.error!.sentence!,
          /^In task 2 your code calls activity extra, which history did not record: main\.ts:\d+\./,
        );
      }),
  },
  {
    name: "not in history: the session lists the command, and the pending wait does not include it",
    run: () =>
      open(LONGER, async (history, { realm }) => {
        const session = await openSession(history, { realm });
        equal(session.problem, undefined);
        deepEqual(session.notInHistory.map(({ task, isLast, does }) => [task, isLast, does]), [[
          2,
          true,
          "calls activity extra",
        ]]);
        const view = session.viewAt(session.length);
        deepEqual(view.commands.map(({ isNotInHistory }) => isNotInHistory), [true]);
        const why = textOf(whyText(view, "").said);
        match(
          why,
          /^This code waits for activity extra \(not in the history\)\. No event of the recorded run can end that wait\.$/,
        );
        ok(!why.includes("would wake it"), why);
      }),
  },
  {
    name: "not in history: the recorded program has no findings, also in strict mode",
    run: () =>
      open(OPEN, async (history, { realm }) => {
        const { verdict, warnings } = await realm.replay("w", history, { strict: true });
        deepEqual([verdict, warnings], ["ok", []]);
        deepEqual((await openSession(history, { realm })).notInHistory, []);
      }),
  },
  {
    name: "not in history: commands after an event that no task has processed are not compared",
    run: () =>
      withRealm(program("  await sleep(1000);\n  await acts.extra();"), async (recorded) => {
        const run = recorded.start("W");
        await run.task();
        for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
        const history = run.server.history();
        const { verdict, warnings } = await recorded.realm.replay("w", history, { strict: true });
        deepEqual([verdict, warnings], ["ok", []]);
      }),
  },
];
