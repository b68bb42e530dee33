// Explanations of divergences, of histories that were recorded and programs that were edited since:
// the first task, the line, the sentence, the likely edit, and who shares it. Many edits of many
// programs: tools/soak/divergences.mjs.
import { sharedDivergences } from "../../ts/debug/mod.ts";
import type { ReplayError } from "../../ts/executor/tasks/replay.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { type EditedProgram, EditedPrograms, replayEdited } from "./edited_programs.ts";
import { API, type RealmRun, withRealm } from "./realm_host.ts";

const HEAD = `${API}
const { select, timer, patched, spawn } = api;
const add = update("add");
const add2 = update("add2");
`;
const program = (body: string): string =>
  `${HEAD}export const w = workflow("W", async () => {\n${body}\n});`;
const firstLine = HEAD.split("\n").length + 1;

const STEPS = `  await sleep(1000);
  sideEffect(() => 7);
  await sleep(2000);
  api.upsertMemo({ at: 3 });
  await sleep(3000);
  return "done";`;

const programs = new EditedPrograms();

type At = (line: number) => void;

/** Records with the one body, and replays with the other. */
function diverges(
  before: string,
  after: string,
  seen: (error: ReplayError, at: At) => void,
  drive: (run: RealmRun) => Promise<unknown> = (run) => run.auto(),
): () => Promise<void> {
  const use = programs.add(program(before), program(after));
  return () =>
    use(async (edited) => {
      const { verdict, error } = await replayEdited(edited, drive);
      equal(verdict, "nondeterminism");
      ok(error!.evidence === undefined, "what it is made of stays behind");
      seen(error!, atLine(edited, error!));
    });
}

const atLine = ({ path }: EditedProgram, { location }: ReplayError): At => (line) =>
  ok(location.includes(`${path}:${firstLine + line}:`), `line ${firstLine + line}: ${location}`);

const updated = async (run: RealmRun) => {
  await run.task();
  run.server.update("u1", "add");
  await run.task();
};

const handlerOf = (name: string) =>
  `  return await receive(0, [\n    on(${name}, (_, n) => stop(n + 1, n)),\n  ]);`;

const endingHandler = (body: string) =>
  `  return await receive(0, [
    on(add, async (_, n) => api.spawnAsync(async () => {
${body}
      await sleep(1000);
      return 1;
    }, n)),
  ]);`;

const drawing = (draws: string) =>
  `  await sleep(1000);\n${draws}  await api.startChild("Pack", {});\n  await sleep(2000);`;

const grouped = programs.add(
  program(STEPS),
  program(STEPS.replace("  await sleep(2000);\n", "")),
);

export const cases: Case[] = [
  {
    name: "divergences: an added step is named with its line, and the explanation is verified",
    run: diverges(
      STEPS,
      STEPS.replace(
        "  api.upsertMemo",
        '  await api.externalWorkflow("other").signal("ping");\n  api.upsertMemo',
      ),
      (error, at) => {
        equal(error.firstTask, 3);
        at(3);
        match(
          error.sentence!,
          /^In task 3 your code sends signal ping to workflow other where history has an upsert of the memo \(event \d+\): main\.ts:\d+\. Signal ping to workflow other was added before an upsert of the memo\.$/,
        );
        const { edit, repair, first, tasks } = error.divergence!;
        deepEqual([edit.kind, edit.confidence], ["inserted", "verified"]);
        equal(repair!.patchId, "with-ping");
        match(repair!.code, /^if \(api\.patched\("with-ping"\)\) \{/);
        deepEqual([first.history!.kind, first.code!.kind, first.same], ["memo", "signal", false]);
        deepEqual(tasks.map(({ task, notReplayed }) => [task, notReplayed]), [
          [1, false],
          [2, false],
          [3, false],
          [4, true],
        ]);
        equal(error.eventId, first.history!.eventId);
      },
    ),
  },
  {
    name: "divergences: a removed step",
    run: diverges(STEPS, STEPS.replace("  sideEffect(() => 7);", ""), (error) => {
      equal(error.firstTask, 2);
      match(
        error.sentence!,
        /^In task 2 your code skips a side effect, which history recorded \(event \d+\), after main\.ts:\d+\. A side effect was removed\.$/,
      );
      deepEqual([error.divergence!.edit.kind, error.divergence!.edit.confidence], [
        "removed",
        "verified",
      ]);
    }),
  },
  {
    name: "divergences: a step of another kind",
    run: diverges(
      STEPS,
      STEPS.replace("await sleep(2000)", 'await api.externalWorkflow("o").signal("go")'),
      (error, at) => {
        equal(error.firstTask, 2);
        at(2);
        equal(error.divergence!.edit.kind, "changedKind");
        match(error.sentence!, /A timer of 2 s was replaced by signal go to workflow o\.$/);
      },
    ),
  },
  {
    name: "divergences: code that ends too early names the line at which it ended",
    run: diverges(
      STEPS,
      STEPS.replace("  api.upsertMemo", '  if (1) return "early";\n  api.upsertMemo'),
      (error, at) => {
        equal(error.firstTask, 3);
        at(3);
        equal(error.divergence!.edit.kind, "endedEarly");
        match(error.location, /^run \(/);
        match(
          error.sentence!,
          /your code completes the workflow where history has an upsert of the memo \(event \d+\): main\.ts:\d+\./,
        );
      },
    ),
  },
  {
    name: "divergences: a changed branch is named with the line of the decision",
    run: diverges(
      `  const n = sideEffect(() => 7);
  if (n > 5) {
    await sleep(1000);
    sideEffect(() => 8);
  } else {
    api.upsertMemo({ n });
    await sleep(2000);
  }`,
      `  const n = sideEffect(() => 7);
  if (n > 8) {
    await sleep(1000);
    sideEffect(() => 8);
  } else {
    api.upsertMemo({ n });
    await sleep(2000);
  }`,
      (error, at) => {
        equal(error.firstTask, 1);
        at(1);
      },
    ),
  },
  {
    name: "divergences: a handler that ends too early names its own line",
    run: diverges(endingHandler(""), endingHandler("      if (1) return 2;"), (error, at) => {
      at(2);
      match(error.location, /handler of add \(/);
    }, updated),
  },
  {
    name: "divergences: code that continues after the end of its history",
    run: diverges(
      STEPS,
      STEPS.replace(
        '  return "done"',
        '  await api.externalWorkflow("o").signal("late");\n  return "done"',
      ),
      (error) => {
        equal(error.firstTask, 4);
        deepEqual([error.divergence!.edit.kind, error.divergence!.edit.confidence], [
          "endedLate",
          "verified",
        ]);
        match(error.sentence!, /where history has the end of the workflow/);
      },
    ),
  },
  {
    name: "divergences: an extra command is reported in its task, not at a later event",
    run: diverges(
      STEPS,
      STEPS.replace(
        "  sideEffect(() => 7);\n  await sleep(2000);",
        "  sideEffect(() => 7);\n  await parallel([() => sleep(2000), () => sleep(9000)]);",
      ),
      (error) => {
        equal(error.firstTask, 2);
        match(
          error.sentence!,
          /^In task 2 your code starts a timer of 9 s, which history did not record: main\.ts:/,
        );
      },
    ),
  },
  {
    name: "divergences: an await that never reaches the step reports its position",
    run: diverges(
      STEPS,
      STEPS.replace(
        "  api.upsertMemo",
        '  await api.waitForSignal(signal("go"));\n  api.upsertMemo',
      ),
      (error, at) => {
        equal(error.firstTask, 3);
        at(3);
        match(
          error.sentence!,
          /your code never reaches an upsert of the memo, which history recorded \(event \d+\): it waits for .*go.* at main\.ts:/,
        );
      },
    ),
  },
  {
    name: "divergences: a patch that was renamed names the line of patched",
    run: diverges(
      '  await sleep(1);\n  if (patched("old")) await sleep(2);\n  await sleep(3);',
      '  await sleep(1);\n  if (patched("new")) await sleep(2);\n  await sleep(3);',
      (error, at) => {
        equal(error.firstTask, 2);
        at(1);
        equal(error.divergence!.edit.kind, "patchRenamed");
        equal(error.divergence!.repair!.code, 'if (patched("old")) await sleep(2);');
        match(error.sentence!, /Patch "old" was renamed to "new"\?$/);
      },
    ),
  },
  {
    name: "divergences: an update whose handler was renamed",
    run: diverges(handlerOf("add"), handlerOf("add2"), (error, at) => {
      equal(error.divergence!.edit.kind, "handlerMissing");
      at(1);
      match(
        error.sentence!,
        /has no handler for update add, which history accepted .*Update add has no handler: it was renamed to add2\?$/,
      );
    }, updated),
  },
  {
    name:
      "divergences: an extra random number before a child is named as the cause of its changed id",
    run: diverges(drawing(""), drawing("  api.uuid4();\n"), (error, at) => {
      equal(error.firstTask, 2);
      at(2);
      equal(error.divergence!.edit.kind, "randomShifted");
      match(
        error.sentence!,
        /The id of child workflow Pack differs: the code uses more or fewer random numbers before it\?$/,
      );
    }, async (run) => {
      await run.task();
      run.server.fireTimer([...run.server.timers.keys()][0]!);
      await run.task();
    }),
  },
  {
    name:
      "divergences: runs that share one are grouped, and explain: false leaves explanations out",
    run: () =>
      grouped(async ({ start, edited }) => {
        const { realm } = await edited();
        const runs = [start(), start({ runId: "another" })];
        for (const run of runs) await run.auto();
        const replay = (i: number, options = {}) =>
          realm.replay(runs[i]!.server.workflowId, runs[i]!.server.history(), options);
        const errors = [(await replay(0)).error!, (await replay(1)).error!];
        const shared = sharedDivergences(
          errors.map(({ divergence }, run) => ({ run, divergence })),
        );
        deepEqual(shared.map(({ runs }) => runs), [[0, 1]]);
        deepEqual(sharedDivergences([{ run: 1, divergence: undefined }]), []);
        const bare = (await replay(0, { explain: false })).error!;
        deepEqual([bare.sentence, bare.firstTask, bare.divergence], [
          undefined,
          undefined,
          undefined,
        ]);
      }),
  },
  {
    name:
      "divergences: a workflow type that is not in the code is reported as such, without a suggested edit",
    run: () =>
      grouped(async ({ start }) => {
        const run = start();
        await run.auto();
        await withRealm(
          program(STEPS).replace('workflow("W"', 'workflow("Other"'),
          async ({ realm }) => {
            const { workflowId } = run.server;
            const { verdict, error } = await realm.replay(workflowId, run.server.history());
            equal(verdict, "failed");
            match(
              error!.message,
              /^workflow type "W\d+" is not known to this worker; it has "Other"/,
            );
            deepEqual([error!.sentence, error!.firstTask, error!.divergence], [
              undefined,
              undefined,
              undefined,
            ]);
          },
        );
      }),
  },
];
