// A step that was replaced by one of another kind, in runs in which other tasks come before its
// end or the code needs its result, and ends of runs that differ.
import { deepEqual, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { EditedPrograms, replayEdited } from "./edited_programs.ts";
import { API, type RealmRun } from "./realm_host.ts";

const HEAD = `import * as wf from "@temporalio/workflow";
const acts = wf.proxyActivities({ startToCloseTimeout: "1m" });
`;
const program = (body: string) => `${HEAD}export async function W() {\n${body}\n}`;

const WAITS = program(`  wf.setHandler(wf.defineSignal("go"), () => {});
  await acts.echo(1);
  await wf.sleep(10);
  await acts.last();`);

const READS = program(`  const { price } = await acts.echo(1);
  await acts.charge(price);
  await acts.last();`);

const CHAIN = program(`  await wf.sleep(10);
  if (wf.workflowInfo().historyLength < 100) await wf.continueAsNew();
  return "done";`);

const programs = new EditedPrograms();

/** A task of a signal comes between the start of the activity and its end. */
async function signalFirst(run: RealmRun): Promise<void> {
  run.server.signal("go");
  await run.task();
  await firstStepDone(run);
}

async function firstStepDone(run: RealmRun): Promise<void> {
  const [activity] = run.server.activities.keys();
  run.server.completeActivity(activity!, { price: 20 });
  await run.task();
  await timersFired(run);
}

async function timersFired(run: RealmRun): Promise<void> {
  for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
  await run.task();
}

const HANDLES = program(`  wf.setHandler(wf.defineUpdate("add"), async () => {
    await wf.sleep(5);
    return "added";
  });
  await wf.sleep(50);`);

const ofHandler = programs.add(HANDLES, HANDLES.replace("await wf.sleep(5);", ";"));

const SELECTS = `${API}const acts = api.activities({ startToClose: "1m" });
export const w = workflow("W", async () => {
  await acts.first();
  const started = 1;
  await api.select([
    on(() => acts.echo(started), () => "echo"),
    api.timer("20 days", () => "late"),
  ]);
});`;

const ofSelect = programs.add(SELECTS, SELECTS.replace('api.timer("20 days", () => "late"),', ""));

interface Expected {
  readonly kind: string;
  readonly text: string;
  readonly confidence: string;
}

function check(
  before: string,
  [from, to]: readonly [from: string, to: string],
  drive: (run: RealmRun) => Promise<void>,
  expected: Expected,
): () => Promise<void> {
  const use = programs.add(before, before.replace(from, to));
  return () =>
    use(async (edited) => {
      const { error } = await replayEdited(edited, async (run) => {
        await run.task();
        await drive(run);
      });
      const { kind, text, confidence } = error!.divergence!.edit;
      deepEqual({ kind, text, confidence }, expected, error!.sentence);
    });
}

const TO_TIMER = ["acts.echo(1)", 'wf.sleep("7s")'] as const;
const REPLACED = { kind: "changedKind", text: "activity echo was replaced by a timer of 7 s" };
const CONTINUES = "if (wf.workflowInfo().historyLength < 100) await wf.continueAsNew();";

export const cases: Case[] = [
  {
    name: "replaced step divergences: an activity became a timer, and a signal came before its end",
    run: check(WAITS, TO_TIMER, signalFirst, { ...REPLACED, confidence: "verified" }),
  },
  {
    name: "replaced step divergences: an activity whose result the code reads became a timer",
    run: check(READS, TO_TIMER, firstStepDone, { ...REPLACED, confidence: "likely" }),
  },
  {
    name: "replaced step divergences: a run that continued as new completes",
    run: check(CHAIN, [CONTINUES, ""], timersFired, {
      kind: "endedEarly",
      text: "the workflow no longer continues as new",
      confidence: "likely",
    }),
  },
  {
    name: "replaced step divergences: a run that completed continues as new",
    run: check(CHAIN.replace(CONTINUES, ""), ['return "done";', CONTINUES], timersFired, {
      kind: "endedLate",
      text: "the workflow now continues as new",
      confidence: "likely",
    }),
  },
  {
    name:
      "replaced step divergences: a timer that a handler no longer has is at a line of the handler",
    run: () =>
      ofHandler(async (edited) => {
        const { error } = await replayEdited(edited, async (run) => {
          run.server.update("u1", "add");
          await run.task();
          await timersFired(run);
        });
        const line = edited.text.split("\n").findIndex((text) => text.includes('"added"')) + 1;
        ok(error!.location.includes(`${edited.path}:${line}:`), error!.location);
        match(error!.sentence!, /A timer of 5 ms was removed\?$/);
      }),
  },
  {
    name:
      "replaced step divergences: a timer that a select no longer has is at a line of the select",
    run: () =>
      ofSelect(async (edited) => {
        const { error } = await replayEdited(edited, async (run) => {
          await run.task();
          await firstStepDone(run);
        });
        const line = edited.text.split("\n").findIndex((text) => text.includes("acts.echo")) + 1;
        ok(error!.location.includes(`${edited.path}:${line}:`), error!.location);
        match(error!.sentence!, /A timer of 20 d was removed\?$/);
      }),
  },
];
