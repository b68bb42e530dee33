// Repairs in the lines of the program: with the repair applied, the history replays.
// tools/soak/divergences.mjs tests more edits.
import type { BareReplay, ExplainerHelp } from "../../ts/realm/explained.ts";
import { Explainer } from "../../ts/realm/explained.ts";
import type { Divergence } from "../../ts/debug/divergence/types.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { settleActivity } from "./driver.ts";
import { type EditedProgram, EditedPrograms } from "./edited_programs.ts";
import { createRealmFromTexts, type RealmRun } from "./realm_host.ts";

const HEAD = `import { activities, patched, sleep, workflow } from "temporalex/workflow";

const acts = activities<{ reserve(order: string): string; charge(order: string): string; ship(order: string): string }>({
  startToClose: "1m",
});

export const w = workflow("W", async (): Promise<string> => {
`;
const program = (body: string, head = HEAD): string => `${head}${body}\n});\n`;

const BODY = `  const held: string = await acts.reserve("o-1");
  await sleep("10s");
  if (held.length > 99) return "none";
  const paid = await acts.charge(held);
  await acts.ship(paid);
  await sleep("1m");
  return paid;`;

async function toTheEnd(run: RealmRun): Promise<void> {
  const { server } = run;
  const done = { reserve: () => "held", charge: () => "paid", ship: () => "shipped" };
  for (let i = 0; server.closed === undefined && i < 50; i++) {
    await run.task();
    for (const id of [...server.activities.keys()]) await settleActivity(server, id, done);
    for (const id of [...server.timers.keys()]) server.fireTimer(id);
  }
  equal(run.failure, "");
}

const programs = new EditedPrograms();

interface Found {
  readonly divergence: Divergence;
  readonly program: EditedProgram;
  readonly workflowId: string;
  readonly history: Uint8Array;
}

/** Records with the one text and replays with the other, once. */
function foundOnce(before: string, after: string): () => Promise<Found> {
  ok(before !== after, "the edit changes the text");
  const use = programs.add(before, after);
  let found: Promise<Found> | undefined;
  return () =>
    found ??= use(async (program) => {
      const run = program.start();
      await toTheEnd(run);
      const [workflowId, history] = [run.server.workflowId, run.server.history()];
      const { verdict, error } = await (await program.edited()).realm.replay(workflowId, history);
      equal(verdict, "nondeterminism");
      return { divergence: error!.divergence!, program, workflowId, history };
    });
}

/** What the repairs that are applied were found for. */
const toApply: (() => Promise<Found>)[] = [];

function putIn(text: string, { repair }: Divergence): string {
  const lines = text.split("\n");
  for (const { first, last, lines: by } of repair!.changes!) {
    lines.splice(first - 1, last - first + 1, ...by);
  }
  return lines.join("\n");
}

/** The repair of an edit, as it is shown; the last case applies it. */
function repaired(
  name: string,
  [from, to]: [string, string],
  code: RegExp | string,
  head = HEAD,
): Case {
  const find = foundOnce(program(BODY, head), program(BODY, head).replace(from, to));
  toApply.push(find);
  return {
    name: `repairs: ${name}`,
    async run() {
      const { repair } = (await find()).divergence;
      if (typeof code === "string") equal(repair!.code, code);
      else match(repair!.code, code);
      equal(repair!.isReplayed, true);
    },
  };
}

function inWords(name: string, [from, to]: [string, string], code: string): Case {
  const find = foundOnce(program(BODY), program(BODY).replace(from, to));
  return {
    name: `repairs: ${name}`,
    async run() {
      const { divergence } = await find();
      equal(divergence.repair!.code, code);
      equal(divergence.repair!.changes, undefined);
    },
  };
}

const withPatch = (id: string) =>
  program(
    BODY.replace("  await acts.ship(paid);", `  if (patched("${id}")) await acts.ship(paid);`),
  );
const renamedPatch = foundOnce(withPatch("ship"), withPatch("ship-it"));
toApply.push(renamedPatch);

const inBranches = (names: string[]) =>
  program(
    BODY.replace(
      "  await acts.ship(paid);",
      `  await Promise.all([${
        names.map((n) => `(async () => await acts.${n}(paid))()`).join(", ")
      }]);`,
    ),
  );
const inBranch = foundOnce(inBranches(["ship"]), inBranches(["ship", "reserve"]));

const unproven = programs.add(
  program(BODY),
  program(BODY).replace('  await sleep("1m");', '  await acts.ship(paid);\n  await sleep("1m");'),
);

export const cases: Case[] = [
  repaired(
    "a step that was added runs behind a patch",
    ["  await acts.ship", '  await acts.charge(\n    "twice",\n  );\n  await acts.ship'],
    'if (patched("with-charge")) {\n  await acts.charge(\n    "twice",\n  );\n}',
  ),
  repaired(
    "what a new step gives is declared before the patch",
    ["  await acts.ship", '  const twice: string = await acts.charge("twice");\n  await acts.ship'],
    'let twice: string;\nif (patched("with-charge")) {\n  twice = await acts.charge("twice");\n}',
  ),
  repaired(
    "of two steps in one line the new one alone",
    ["  await acts.ship(paid)", '  await acts.charge("twice"); await acts.ship(paid)'],
    'if (patched("with-charge")) {\n  await acts.charge("twice");\n}',
  ),
  repaired(
    "a renamed step keeps its old name for runs that have it",
    ["acts.charge(held)", "acts.chargeCard(held)"],
    'let paid;\nif (patched("new-charge-card")) {\n  paid = await acts.chargeCard(held);\n} else {\n  paid = await acts.charge(held);\n}',
  ),
  repaired(
    "two steps in another order stand in both",
    [
      '  await acts.ship(paid);\n  await sleep("1m");',
      '  await sleep("1m");\n  await acts.ship(paid);',
    ],
    /^if \(patched\("order-of-timer"\)\) \{\n {2}await sleep\("1m"\);\n {2}await acts\.ship\(paid\);\n\} else \{\n {2}await acts\.ship\(paid\);\n {2}await sleep\("1m"\);\n\}$/,
  ),
  repaired(
    "an end that comes earlier is one for new runs",
    ["  await acts.ship", '  if (paid === "paid") return paid;\n  await acts.ship'],
    'if (patched("ends-before-ship")) {\n  if (paid === "paid") return paid;\n}',
  ),
  repaired(
    "`patched` is imported where it is not, and called as the module calls the API",
    ["  await acts.ship", '  await acts.charge("twice");\n  await acts.ship'],
    /^if \(patched\(/,
    HEAD.replace("patched, ", ""),
  ),
  repaired(
    "a module that imports the whole API calls it by that name",
    ["  await acts.ship", '  await acts.charge("twice");\n  await acts.ship'],
    /^if \(wf\.patched\(/,
    HEAD.replace("{ activities, patched, sleep, workflow }", "* as wf").replace(
      "const acts",
      "const { activities, sleep, workflow } = wf;\nconst acts",
    ),
  ),
  {
    name: "repairs: a patch gets its id back",
    async run() {
      const { divergence, program: { text } } = await renamedPatch();
      equal(putIn(text, divergence), text.replace("ship-it", "ship"));
    },
  },
  inWords(
    "the values of a step that is gone are to be filled in, in the module's own call",
    ["  await acts.ship(paid);\n", ""],
    'if (!patched("without-ship")) {\n  await acts.ship(/* as in event 22 */);\n}',
  ),
  inWords(
    "a step of another kind is added before the old one",
    ["await acts.ship(paid)", 'await sleep("1h")'],
    'if (patched("new-timer")) {\n  await sleep("1h");\n} else {\n  await acts.ship(/* as in event 22 */);\n}',
  ),
  repaired(
    "a timer that another step took the place of",
    ['await sleep("10s")', 'await acts.charge("first")'],
    'if (patched("new-charge")) {\n  await acts.charge("first");\n} else {\n  await sleep("10 s");\n}',
  ),
  repaired(
    "a timer that is gone",
    ['  await sleep("10s");\n', ""],
    /^if \(!patched\("without-timer"\)\) \{\n {2}await sleep\("10 s"\);\n\}/,
  ),
  {
    name:
      "repairs: a step within a branch has only a description: its statement contains other code",
    async run() {
      const { divergence } = await inBranch();
      deepEqual([divergence.edit.kind, divergence.repair!.changes], ["inserted", undefined]);
      match(
        divergence.repair!.code,
        /^if \(patched\("with-reserve"\)\) \{\n {2}\/\/ the line that/,
      );
    },
  },
  {
    name: "repairs: without a realm that runs the changed module a repair is not proven",
    run: () =>
      unproven(async ({ path, text, start, edited }) => {
        const run = start();
        await toTheEnd(run);
        const { realm } = await edited();
        const replayOf = async (help: ExplainerHelp) => {
          const bare: BareReplay = (id, history, options) =>
            realm.replay(id, history, { ...options, explain: false });
          const { error } = await new Explainer(bare, help).replay(
            run.server.workflowId,
            run.server.history(),
          );
          return error!.divergence!;
        };
        const sourceOf = () => ({ url: path, text });
        const shown = await replayOf({ sourceOf });
        deepEqual([shown.edit.confidence, shown.repair!.changes, shown.repair!.isReplayed], [
          "likely",
          undefined,
          undefined,
        ]);
        match(shown.sentence, /\?$/);
        match(shown.repair!.code, /patched\("with-ship"\)/);
        const proven = await replayOf({
          sourceOf,
          withText: async (changed) => (await createRealmFromTexts({ [path]: changed.text })).realm,
        });
        deepEqual([proven.edit.confidence, proven.repair!.isReplayed], ["verified", true]);
        match(proven.sentence, /\.$/);
      }),
  },
  {
    name: "repairs: histories replay with the repairs that are shown",
    async run() {
      const found: Found[] = [];
      for (const find of toApply) found.push(await find());
      const { realm, dispose } = await createRealmFromTexts(Object.fromEntries(
        found.map(({ program: { path, text }, divergence }) => [path, putIn(text, divergence)]),
      ));
      try {
        for (const { program, divergence, workflowId, history } of found) {
          const { verdict } = await realm.replay(workflowId, history);
          equal(verdict, "ok", putIn(program.text, divergence));
        }
      } finally {
        await dispose();
      }
    },
  },
];
