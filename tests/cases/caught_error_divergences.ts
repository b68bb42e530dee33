// An error that does not fail the task, because the code catches it or because a message handler
// fails with it: the report names the error and the line that threw it, instead of the step that no
// longer comes.
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { EditedPrograms, replayEdited } from "./edited_programs.ts";
import { API, type RealmRun } from "./realm_host.ts";

const NATIVE_HEAD = `${API}const acts = api.activities({ startToClose: "1m" });
`;
const COMPAT_HEAD = `import * as wf from "@temporalio/workflow";
const acts = wf.proxyActivities({ startToCloseTimeout: "1m" });
const sleep = wf.sleep;
`;

const BODY = `  const menu = { pizza: { price: 3 } };
  await sleep(1000);
  try {
    const { price } = menu.pizza;
    await acts.charge(price);
  } catch {
    await acts.refund();
  }`;

const FINALLY = `  const menu = { pizza: { price: 3 } };
  await sleep(1000);
  try {
    const { price } = menu.pizza;
    await acts.charge(price);
  } finally {
    await acts.refund();
  }`;

const native = (body: string): string =>
  `${NATIVE_HEAD}export const w = workflow("W", async () => {\n${body}\n});`;
const compat = (body: string): string => `${COMPAT_HEAD}export async function W() {\n${body}\n}`;

const natives = new EditedPrograms();
const compats = new EditedPrograms();

async function oneTimer(run: RealmRun): Promise<void> {
  await run.task();
  for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
  await run.task();
}

function checkMistake(before: string, sentence: RegExp): () => Promise<void> {
  const after = before.replace("= menu.pizza;", "= menu.pasta;");
  const line = after.split("\n").findIndex((text) => text.includes("menu.pasta")) + 1;
  const programs = before.startsWith(COMPAT_HEAD) ? compats : natives;
  const use = programs.add(before, after);
  return () =>
    use(async (edited) => {
      const { error } = await replayEdited(edited, oneTimer);
      equal(error!.divergence!.edit.kind, "failingCode", error!.sentence);
      match(error!.sentence!, sentence);
      const place = `${edited.path}:${line}:`;
      ok(error!.location.includes(place), `${place} ${error!.location}`);
    });
}

const CAUGHT = /calls activity refund where history has activity charge .* and caught it\.$/;
const PASSED =
  /calls activity refund where history has activity charge .*The code threw TypeError: /;

export const cases: Case[] = [
  ["native: a catch without a parameter", native(BODY), CAUGHT],
  ["native: a catch with a parameter", native(BODY.replace("catch {", "catch (e) {")), CAUGHT],
  ["native: a finally", native(FINALLY), PASSED],
  ["@temporalio/workflow: a catch", compat(BODY), CAUGHT],
  ["@temporalio/workflow: a finally", compat(FINALLY), PASSED],
].map(([name, program, sentence]) => ({
  name: `caught error divergences: ${name as string}`,
  run: checkMistake(program as string, sentence as RegExp),
}));

const ENTITY = `${NATIVE_HEAD}const add = update("add");
const note = signal("note");
export const w = workflow("W", async () => {
  await receive(0, [
    on(add, async ([by], n) => {
      //ADD
      await acts.charge(by);
      return reply(n, n + by);
    }),
    on(note, async (_, n) => {
      //NOTE
      await acts.notify(n);
      return noreply(n);
    }),
  ]);
});`;

const COMPAT_ENTITY = `${COMPAT_HEAD}export async function W() {
  wf.setHandler(wf.defineUpdate("add"), async (by) => {
    //ADD
    await acts.charge(by);
    return by;
  });
  await wf.condition(() => false);
}`;

async function oneMessage(run: RealmRun, kind: "update" | "signal"): Promise<void> {
  await run.task();
  if (kind === "update") run.server.update("u1", "add", [1]);
  else run.server.signal("note");
  await run.task();
}

/** A statement that throws, in a handler of a program. */
function checkHandler(
  program: string,
  [mark, code]: readonly [mark: string, code: string],
  drive: (run: RealmRun) => Promise<void>,
  sentence: RegExp,
): () => Promise<void> {
  const after = program.replace(mark, () => code);
  const line = after.split("\n").findIndex((text) => text.trim() === code) + 1;
  const programs = program.startsWith(COMPAT_HEAD) ? compats : natives;
  const use = programs.add(program, after);
  return () =>
    use(async (edited) => {
      const { error } = await replayEdited(edited, drive);
      const { edit, repair } = error!.divergence!;
      deepEqual([edit.kind, repair], ["failingCode", undefined], error!.sentence);
      match(error!.sentence!, sentence);
      const place = `${edited.path}:${line}:`;
      ok(error!.location.includes(place), `${place} ${error!.location}\n${error!.sentence}`);
    });
}

const updated = (run: RealmRun) => oneMessage(run, "update");
const noted = (run: RealmRun) => oneMessage(run, "signal");
const HANDLERS: readonly [name: string, run: () => Promise<void>][] = [
  [
    "native: an update handler with a mistake",
    checkHandler(
      ENTITY,
      ["//ADD", "(undefined).price;"],
      updated,
      /rejects update add where history has activity charge .*Handler of update "add" failed in this task with TypeError: /,
    ),
  ],
  [
    "native: an update handler that throws an error on purpose",
    checkHandler(
      ENTITY,
      ["//ADD", 'throw new Error("no more");'],
      updated,
      /Handler of update "add" failed in this task with Error: no more\.$/,
    ),
  ],
  [
    "native: an update handler that throws a value",
    checkHandler(
      ENTITY,
      ["//ADD", "throw null;"],
      updated,
      /Handler of update "add" failed in this task with null\.$/,
    ),
  ],
  [
    "native: a signal handler",
    checkHandler(
      ENTITY,
      ["//NOTE", 'throw new Error("no more");'],
      noted,
      /never reaches activity notify, .*Handler of signal "note" failed in this task with Error: no more\.$/,
    ),
  ],
  [
    "@temporalio/workflow: an update handler that throws a failure",
    checkHandler(
      COMPAT_ENTITY,
      ["//ADD", 'throw wf.ApplicationFailure.nonRetryable("sold out");'],
      updated,
      /rejects update add where history has activity charge .*Handler of update "add" failed in this task with ApplicationFailure: sold out\.$/,
    ),
  ],
];

cases.push(...HANDLERS.map(([name, run]) => ({ name: `caught error divergences: ${name}`, run })));
