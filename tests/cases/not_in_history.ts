// Commands that the code issues after the last command of the history: the replay passes, and says
// so.
import { openSession } from "../../ts/debug/mod.ts";
import { whyText } from "../../ts/run_view/why.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { EditedPrograms } from "./edited_programs.ts";
import { API, type RealmHarness, type RealmRun } from "./realm_host.ts";

const HEAD = `${API}
const acts = api.activities({ startToClose: "1m" });
const go = signal("go");
`;
const program = (body: string): string =>
  `${HEAD}export const w = workflow("W", async () => {\n${body}\n});`;
const OPEN = '  await sleep(1000);\n  await receive(0, [on(go, () => stop(0))]);\n  return "done";';
const LONGER = OPEN.replace("  await receive", "  await acts.extra();\n  await receive");

const programs = new EditedPrograms({ lines: true });

/** Runs the first task; no task has processed the end of its timer. */
async function toTheTimer(run: RealmRun): Promise<void> {
  await run.task();
  for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
}

/** Records the first body up to its receive, and replays the second. */
function open(
  after: string,
  seen: (history: Uint8Array, harness: RealmHarness) => Promise<void>,
): () => Promise<void> {
  const use = programs.add(program(OPEN), program(after));
  return () =>
    use(async ({ start, edited }) => {
      const run = start();
      await toTheTimer(run);
      await run.task();
      await seen(run.server.history(), await edited());
    });
}

const SHORT = program("  await sleep(1000);\n  await acts.extra();");
const unprocessed = programs.add(SHORT, SHORT);

const textOf = (said: readonly (string | { readonly name: string })[]) =>
  said.map((piece) => typeof piece === "string" ? piece : piece.name).join("");

export const cases: Case[] = [
  {
    name:
      "not in history: a step after the last recorded command is named, with its line, and fails a strict replay",
    run: open(LONGER, async (history, { realm }) => {
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
    run: open(LONGER, async (history, { realm }) => {
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
    run: open(OPEN, async (history, { realm }) => {
      const { verdict, warnings } = await realm.replay("w", history, { strict: true });
      deepEqual([verdict, warnings], ["ok", []]);
      deepEqual((await openSession(history, { realm })).notInHistory, []);
    }),
  },
  {
    name: "not in history: commands after an event that no task has processed are not compared",
    run: () =>
      unprocessed(async ({ start, edited }) => {
        const run = start();
        await toTheTimer(run);
        const { realm } = await edited();
        const { verdict, warnings } = await realm.replay("w", run.server.history(), {
          strict: true,
        });
        deepEqual([verdict, warnings], ["ok", []]);
      }),
  },
];
