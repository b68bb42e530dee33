// Cancellations in edited programs: a timer that was removed between a step and its cancellation, a
// cancellation that no longer comes, an activity that is abandoned, and ends that differ.
import type { ReplayError } from "../../ts/executor/tasks/replay.ts";
import { equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { EditedPrograms, replayEdited } from "./edited_programs.ts";
import type { RealmRun } from "./realm_host.ts";

const HEAD = `import * as wf from "@temporalio/workflow";
const acts = wf.proxyActivities({ startToCloseTimeout: "1m" });
const go = wf.defineSignal("go");
`;

const SCOPE = `${HEAD}export async function W() {
  const scope = new wf.CancellationScope();
  const charged = scope.run(() => acts.charge("ada"));
  await wf.sleep(1000);
  scope.cancel();
  await charged.catch(() => {});
  await wf.sleep(2000);
}`;

const RACE = `${HEAD}export async function W() {
  let isReady = false;
  wf.setHandler(go, () => {
    isReady = true;
  });
  await wf.CancellationScope.cancellable(async () => {
    await Promise.race([
      wf.sleep(60000),
      wf.condition(() => isReady),
    ]);
    wf.CancellationScope.current().cancel();
  });
  await wf.sleep(2000);
}`;

const HANDLER = `${HEAD}const hang = wf.defineUpdate("hang");
export async function W() {
  let isDone = false;
  wf.setHandler(hang, async () => {
    await wf.sleep(3600000);
    return "done";
  });
  wf.setHandler(go, () => {
    isDone = true;
  });
  await wf.condition(() => isDone);
}`;

const ENDS = `${HEAD}export async function W() {
  const count = 1;
  await wf.sleep(1000);
  if (count > 0) {
    throw wf.ApplicationFailure.nonRetryable("too many", "Limit");
  }
  const text = String(count);
  wf.log.info(text);
  return text;
}`;

const oneTimer = async (run: RealmRun) => {
  await run.task();
  for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
  await run.task();
};

const signaled = async (run: RealmRun) => {
  await run.task();
  run.server.signal("go");
  await run.task();
};

const updated = async (run: RealmRun) => {
  await run.task();
  run.server.update("u1", "hang");
  await run.task();
};

interface Edit {
  readonly program: string;
  readonly change: readonly [from: string, to: string];
  readonly drive: (run: RealmRun) => Promise<void>;
  /** A part of the line that the report must name, in the edited program. */
  readonly line: string;
  readonly kind: string;
  readonly sentence: RegExp;
}

const programs = new EditedPrograms();

function checkEdit(
  { program, change: [from, to], drive, line, kind, sentence }: Edit,
): () => Promise<void> {
  const text = program.replace(from, to);
  ok(text !== program, "the edit changes the program");
  const use = programs.add(program, text);
  return () =>
    use(async (edited) => {
      const { error } = await replayEdited(edited, drive);
      ok(error!.location.includes(`${edited.path}:`), error!.location);
      check(error!, text.split("\n").findIndex((text) => text.includes(line)) + 1);
    });

  function check(error: ReplayError, number: number): void {
    match(error.sentence!, sentence);
    equal(error.divergence!.edit.kind, kind, error.sentence);
    const named = Number(/:(\d+):\d+\)?$/.exec(error.location)?.[1]);
    ok(Math.abs(named - number) <= 2, `line ${number}: ${error.location}`);
  }
}

const EDITS: readonly [name: string, edit: Edit][] = [
  ["a timer that was removed before a cancellation is named, not the canceled activity", {
    program: SCOPE,
    change: ["  await wf.sleep(1000);\n", ""],
    drive: oneTimer,
    line: "scope.cancel()",
    kind: "removed",
    sentence:
      /cancels activity charge in the task that starts it, before it is sent; history has activity charge \(event 5\).*A timer of 1 s was removed\?$/,
  }],
  ["an activity whose cancellation type became ABANDON", {
    program: SCOPE,
    change: ['"1m" }', '"1m", cancellationType: "ABANDON" }'],
    drive: oneTimer,
    line: "acts.charge",
    kind: "changedInput",
    sentence:
      /abandons activity charge, and does not request its cancellation; .* was changed to ABANDON\?$/,
  }],
  ["a condition that was removed from a race: the line is that of the race", {
    program: RACE,
    change: ["      wf.condition(() => isReady),\n", ""],
    drive: signaled,
    line: "wf.sleep(60000)",
    kind: "removed",
    sentence: /never reaches the cancellation of a timer of 1 min, which history recorded/,
  }],
  ["a handler that waits for a promise which nothing settles", {
    program: HANDLER,
    change: ["await wf.sleep(3600000)", "await new Promise(() => {})"],
    drive: updated,
    line: "new Promise",
    kind: "removed",
    sentence: /never reaches a timer of 1 h, .*A timer of 1 h was removed[.?]$/,
  }],
  ["another end is located where the code decided", {
    program: ENDS,
    change: ["count > 0", "count > 1"],
    drive: oneTimer,
    line: "if (count > 1)",
    kind: "unknown",
    sentence: /The workflow no longer fails with Limit: too many\?$/,
  }],
  ["a failure that the history does not have is named", {
    program: ENDS.replace("count > 0", "count > 1"),
    change: ["count > 1", "count > 0"],
    drive: oneTimer,
    line: "if (count > 0)",
    kind: "unknown",
    sentence: /The workflow now fails with Limit: too many\?$/,
  }],
];

export const cases: Case[] = EDITS.map(([name, edit]) => ({
  name: `canceled step divergences: ${name}`,
  run: checkEdit(edit),
}));
