// Steps that the replay cannot tell apart: the report compares durations and inputs, and locates a
// removed step after the last await.
import type { ReplayError } from "../../ts/executor/tasks/replay.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { settleActivity } from "./driver.ts";
import { EditedPrograms, replayEdited } from "./edited_programs.ts";
import { API, type RealmRun } from "./realm_host.ts";

const HEAD = `${API}const acts = api.activities({ startToClose: "1m" });\n`;
const program = (body: string): string =>
  `${HEAD}export const w = workflow("W", async () => {\n${body}\n});`;
const firstLine = HEAD.split("\n").length + 1;

const programs = new EditedPrograms();

function parted(
  before: string,
  after: string,
  drive: (run: RealmRun) => Promise<unknown>,
  seen: (error: ReplayError, at: (line: number) => void) => void,
): () => Promise<void> {
  const use = programs.add(program(before), program(after));
  return () =>
    use(async (edited) => {
      const { verdict, error } = await replayEdited(edited, drive);
      equal(verdict, "nondeterminism");
      seen(error!, (line) => {
        const place = `${edited.path}:${firstLine + line}:`;
        ok(error!.location.includes(place), `${place} ${error!.location}`);
      });
    });
}

const THREE = `  await sleep(1000);
  await sleep(2000);
  await sleep(3000);
  await sleep(4000);
  api.upsertMemo({ at: 1 });`;

async function twoTimers(run: RealmRun): Promise<void> {
  await run.task();
  for (let i = 0; i < 2; i++) {
    for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
    await run.task();
  }
}

export const cases: Case[] = [
  {
    name:
      "equal steps: a step that became a timer is not explained by a later timer of another duration",
    run: (() => {
      const body = '  await acts.charge("ada");\n  await sleep("2 days");';
      const drive = async (run: RealmRun) => {
        await run.task();
        for (const id of [...run.server.activities.keys()]) {
          await settleActivity(run.server, id, { charge: () => "paid" });
        }
        await run.task();
      };
      return parted(body, body.replace('acts.charge("ada")', 'sleep("7s")'), drive, (error, at) => {
        equal(error.divergence!.edit.kind, "changedKind");
        match(error.sentence!, /Activity charge was replaced by a timer of 7 s[.?]$/);
        at(0);
      });
    })(),
  },
  {
    name: "equal steps: of timers of other durations the removed one is named, not the last",
    run: parted(
      THREE,
      THREE.replace("  await sleep(2000);\n", ""),
      (run) => run.auto(),
      (error, at) => {
        equal(error.divergence!.edit.kind, "removed");
        match(error.sentence!, /where history has a timer of 4 s .* A timer of 2 s was removed\?$/);
        at(1);
      },
    ),
  },
  {
    name: "equal steps: of timers of other durations the added one is named, not the last",
    run: parted(
      THREE,
      THREE.replace("  await sleep(2000);\n", "  await sleep(9000);\n  await sleep(2000);\n"),
      (run) => run.auto(),
      (error, at) => {
        match(error.sentence!, /A timer of 9 s was added before a timer of 2 s\?$/);
        at(1);
      },
    ),
  },
  {
    name: "equal steps: the input of a child identifies the removed one",
    run: (() => {
      const started = (n: number) => `    () => api.executeChild("Pack", { args: [${n}] }),\n`;
      const body = `  await parallel([\n${started(1)}${started(2)}${started(3)}  ]);`;
      return parted(body, body.replace(started(2), ""), (run) => run.task(), (error, at) => {
        deepEqual([error.divergence!.edit.kind, error.divergence!.edit.confidence], [
          "removed",
          "likely",
        ], error.sentence);
        at(2);
      });
    })(),
  },
  {
    name:
      "equal steps: a removed timer is located after the await before it, not in the finally block",
    run: (() => {
      const body = `  try {
    await sleep(1000);
    await sleep(2000);
  } finally {
    api.upsertMemo({ at: 1 });
  }`;
      return parted(
        body,
        body.replace("    await sleep(2000);\n", ""),
        (run) => run.auto(),
        (error, at) => {
          match(error.sentence!, /, after main\.ts:\d+\. A timer of 2 s was removed[.?]$/);
          at(1);
        },
      );
    })(),
  },
  {
    name: "equal steps: of timers of which two are equal the added one is named",
    run: (() => {
      const body = `  await parallel([
    () => sleep(1000),
    () => sleep(2000),
    () => sleep(2000),
  ]);`;
      const after = body.replace(
        "    () => sleep(1000),\n",
        "    () => sleep(1000),\n    () => sleep(1000),\n",
      );
      return parted(body, after, (run) => run.auto(), (error, at) => {
        equal(error.divergence!.edit.kind, "inserted", error.sentence);
        match(error.sentence!, /A timer of 1 s was added before a timer of 2 s\?$/);
        at(2);
      });
    })(),
  },
  {
    name:
      "equal steps: of several patches the renamed one is named, and a removed one is not renamed",
    run: (() => {
      const named = (first: string) =>
        ["one", "two", "three"].map((id, i) =>
          `  if (${i === 0 ? first : `api.patched("${id}")`}) {\n    await sleep(1000);\n  }`
        ).join("\n");
      const body = named('api.patched("one")');
      const runs = [
        parted(body, named('api.patched("uno")'), (run) => run.auto(), (error, at) => {
          match(error.sentence!, /Patch "one" was renamed to "uno"\?$/);
          at(0);
        }),
        parted(body, named("false"), (run) => run.auto(), (error) => {
          equal(error.divergence!.edit.kind, "patchRemoved", error.sentence);
        }),
      ];
      return async () => {
        for (const run of runs) await run();
      };
    })(),
  },
  {
    name:
      "equal steps: a removed step far before the next wait is located after the await before it",
    run: (() => {
      const body = `  await sleep(1000);
  if (ofRun) {
    await sleep(2000);
  }
  // The rest of
  // the workflow
  // is below.
  await api.waitForSignal(api.signal("go"));`;
      const known = `  const ofRun = true;\n${body}`;
      return parted(
        known,
        known.replace("ofRun = true", "ofRun = false"),
        twoTimers,
        (error, at) => {
          match(
            error.sentence!,
            /never reaches a timer of 2 s, .*, after main\.ts:\d+; it waits for waitForSignal "go" at main\.ts:\d+\. A timer of 2 s was removed[.?]$/,
          );
          at(1);
        },
      );
    })(),
  },
];
