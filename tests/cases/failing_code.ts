// Code that throws is reported as failing, with message, line and stack, never as a divergence: 60
// programs that throw in different ways.
import { openSession } from "../../ts/debug/mod.ts";
import type { ReplayError } from "../../ts/executor/tasks/replay.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { EditedPrograms, replayEdited } from "./edited_programs.ts";
import { API } from "./realm_host.ts";

/** Statements that throw, each in one line, and the message that the error must have. */
const WAYS: readonly (readonly [code: string, message: RegExp])[] = [
  ['throw new Error("broken");', /broken/],
  ["(undefined).boom.x;", /undefined/],
  ["missing();", /missing/],
  ["const f = () => f(); f();", /call stack|recursion/i],
  ['throw "a text";', /a text/],
  ["throw { code: 7 };", /object/],
  ['JSON.parse("{");', /JSON/],
  ['class Own extends Error {} throw new Own("own");', /own/],
  ["[].reduce((a, b) => a);", /initial|empty/i],
  ["new Array(-1);", /array length/i],
  ['await Promise.reject(new Error("rejected"));', /rejected/],
  ["throw undefined;", /undefined/],
];

/**
 * Where a program throws: a body with the statement in its own line, and a helper function of the
 * module.
 */
const PLACES: readonly ((code: string) => { readonly body: string; readonly helper: string })[] = [
  (code) => ({ body: `${code}\n  await sleep(1000);\n  await sleep(2000);`, helper: "" }),
  (code) => ({ body: `await sleep(1000);\n  ${code}\n  await sleep(2000);`, helper: "" }),
  (code) => ({
    body: "await sleep(1000);\n  await sleep(2000);\n  await helper();",
    helper: `\n  ${code}\n`,
  }),
  (code) => ({
    body:
      `await sleep(1000);\n  try {\n    ${code}\n  } finally {\n    log.info("over");\n  }\n  await sleep(2000);`,
    helper: "",
  }),
  (code) => ({
    body:
      `await (async () => {\n    await sleep(1000);\n    ${code}\n  })();\n  await sleep(2000);`,
    helper: "",
  }),
];

const GOOD =
  `${API}export const w = workflow("W", async () => {\n  await sleep(1000);\n  await sleep(2000);\n});`;

const textOf = ({ body, helper }: { readonly body: string; readonly helper: string }) =>
  `${API}async function helper() {${helper}}\nexport const w = workflow("W", async () => {\n  ${body}\n});`;

const findLine = (text: string, code: string) =>
  text.split("\n").findIndex((line) => line.trim() === code) + 1;

function check(error: ReplayError, message: RegExp, place: string, text: string): void {
  match(error.message, message);
  deepEqual([error.divergence, error.sentence, error.firstTask, error.evidence], [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  ok(error.location.includes(place), `${place} ${error.location}\n${text}`);
}

// An endless recursion takes seconds on a busy machine.
const programs = new EditedPrograms({ lines: true, watchdogMs: 60_000 });

export const cases: Case[] = PLACES.map((place, i): Case => {
  const uses = WAYS.map(([code]) => programs.add(GOOD, textOf(place(code))));
  return {
    name: `failing code: ${WAYS.length} ways to throw are failures with message and line, place ${
      i + 1
    } of ${PLACES.length}`,
    async run() {
      for (const [way, use] of uses.entries()) {
        const [code, message] = WAYS[way]!;
        await use(async ({ path, text, start, edited }) => {
          const run = start();
          await run.auto();
          const history = run.server.history();
          const { realm } = await edited();
          const { verdict, error } = await realm.replay(run.server.workflowId, history);
          equal(verdict, "failed", text);
          const place = `${path}:${findLine(text, code)}:`;
          check(error!, message, place, text);
          const { problem } = await openSession(history, { realm });
          equal(problem!.isDivergence, false, text);
          match(problem!.message, message);
          ok(problem!.location.includes(place), `${problem!.location}\n${text}`);
        });
      }
    },
  };
});

const ofStack = programs.add(GOOD, textOf(PLACES[2]!('throw new Error("broken");')));

cases.push({
  name: "failing code: the stack has the frames of workflow code, nearest first",
  run: () =>
    ofStack(async (edited) => {
      const { error } = await replayEdited(edited, (run) => run.auto());
      const frames = error!.stack!.split("\n");
      const places = frames.map((frame) => frame.split(edited.path).length);
      match(frames[0]!, /helper \(.*\/main\.ts:\d+:\d+\)/);
      ok(places.every((count) => count === 2), error!.stack!);
    }),
});

const ofLast = programs.add(GOOD, textOf(PLACES[1]!('throw new Error("broken");')));

cases.push({
  name: "failing code: an error after the last completed task is at the last event",
  run: () =>
    ofLast(async ({ start, edited }) => {
      const run = start();
      await run.task();
      for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
      const { realm } = await edited();
      const { problem, length } = await openSession(run.server.history(), { realm });
      deepEqual([problem!.message, problem!.position], ["broken", length]);
    }),
});

const ofBranch = (code: string): string =>
  `${API}export const w = workflow("W", async () => {
  await parallel([
    () => sleep(9000),
    async () => {
      await sleep(1000);
      ${code}
      await sleep(2000);
    },
  ]);
});`;

const branches = programs.add(ofBranch(""), ofBranch("missing();"));

cases.push({
  name:
    "failing code: a branch of parallel that fails is named with its error and line, not as a removed step",
  run: () =>
    branches(async (edited) => {
      const { verdict, error } = await replayEdited(edited, (run) => run.auto());
      equal(verdict, "nondeterminism");
      const { edit, repair, location } = error!.divergence!;
      deepEqual([edit.kind, edit.confidence, repair], ["failingCode", "likely", undefined]);
      ok(location.includes(`${edited.path}:8:`), location);
      match(
        error!.sentence!,
        /main\.ts:8\. Branch 2 of parallel in run of workflow "W\d+" failed in this task with ReferenceError: missing is not defined\.$/,
      );
    }),
});
