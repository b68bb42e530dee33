// Side effects that history lacks: workflow code throws the error, and the report still has an
// event, a sentence and an edit.
import type { ReplayError } from "../../ts/executor/tasks/replay.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { EditedPrograms, replayEdited } from "./edited_programs.ts";
import { API } from "./realm_host.ts";

const program = (body: string): string =>
  `${API}export const w = workflow("W", async () => {\n${body}\n});`;
const firstLine = API.split("\n").length + 1;

/** Records a run of the first body and replays it with the second. */
function diverges(
  before: string,
  after: string,
  seen: (error: ReplayError, at: (line: number) => void) => void,
): () => Promise<void> {
  const use = programs.add(program(before), program(after));
  return () =>
    use(async (edited) => {
      const { verdict, error } = await replayEdited(edited, (run) => run.auto());
      equal(verdict, "nondeterminism");
      seen(error!, (line) => {
        const place = `${edited.path}:${firstLine + line}:`;
        ok(error!.location.includes(place), `${place} ${error!.location}`);
      });
    });
}

const programs = new EditedPrograms();

const TWO = `  const a = sideEffect(() => 1);
  await sleep(1000);
  const c = sideEffect(() => 3);
  await sleep(2000);
  return a + c;`;

const LOOP = `  let sum = 0;
  for (let i = 0; i < 3; i++) {
    sum += sideEffect(() => i);
    await sleep(1000);
  }
  return sum;`;

export const cases: Case[] = [
  {
    name:
      "side effect divergences: one that was added is named at its line, and verified with the later ones renumbered",
    run: diverges(
      TWO,
      TWO.replace("  await sleep(1000);", "  sideEffect(() => 2);\n  await sleep(1000);"),
      (error, at) => {
        equal(error.firstTask, 1);
        at(1);
        match(
          error.sentence!,
          /^In task 1 your code runs a side effect where history has a timer of 1 s \(event 6\): main\.ts:\d+\. A side effect was added before a timer of 1 s\.$/,
        );
        deepEqual(
          [error.eventId, error.divergence!.edit.kind, error.divergence!.edit.confidence],
          [6, "inserted", "verified"],
        );
      },
    ),
  },
  {
    name:
      "side effect divergences: one that was removed is verified with the later ones renumbered",
    run: diverges(
      TWO.replace("  await sleep(1000);", "  sideEffect(() => 2);\n  await sleep(1000);"),
      TWO,
      (error) => {
        equal(error.firstTask, 1);
        deepEqual(
          [error.eventId, error.divergence!.edit.kind, error.divergence!.edit.confidence],
          [6, "removed", "verified"],
        );
      },
    ),
  },
  {
    name: "side effect divergences: a timer that was removed between two side effects",
    run: diverges(TWO, TWO.replace("  await sleep(1000);\n", ""), (error, at) => {
      equal(error.firstTask, 1);
      at(1);
      match(error.sentence!, /A timer of 1 s was removed\.$/);
    }),
  },
  {
    name: "side effect divergences: a timer that was removed in a loop of side effects",
    run: diverges(LOOP, LOOP.replace("    await sleep(1000);\n", ""), (error) => {
      equal(error.firstTask, 1);
      match(error.sentence!, /A timer of 1 s was removed\?$/);
    }),
  },
  {
    name: "side effect divergences: one round more than history has",
    run: diverges(LOOP, LOOP.replace("i < 3", "i < 4"), (error, at) => {
      equal(error.firstTask, 4);
      at(2);
      match(
        error.sentence!,
        /^In task 4 your code runs a side effect where history has the end of the workflow \(event \d+\)/,
      );
    }),
  },
];
