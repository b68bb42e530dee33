// Messages without a handler in edited programs: the report names the message, and the line of its
// definition or handler.
import type { ReplayError } from "../../ts/executor/tasks/replay.ts";
import { equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { EditedPrograms, replayEdited } from "./edited_programs.ts";
import { API, type RealmRun } from "./realm_host.ts";

const NATIVE = `${API}const approve = signal("approve");
const cancel = signal("cancel");
const add = update("add");
export const w = workflow("W", async () => {
  await api.waitForSignal(approve);
  await sleep(1000);
  return "done";
});`;

const ENTITY = `${API}const approve = signal("approve");
const add = update("add");
export const w = workflow("W", async () => {
  await receive(0, [
    on(add, ([by], n) => reply(n, n + 1)),
    on(approve, async (_, n) => {
      await sleep(1000);
      return stop(n);
    }),
  ]);
  return "done";
});`;

const COMPAT = `import * as wf from "@temporalio/workflow";
const approve = wf.defineSignal("approve");
const add = wf.defineUpdate("add");
export async function W() {
  let approved = false;
  wf.setHandler(add, () => 1);
  wf.setHandler(approve, () => {
    approved = true;
  });
  await wf.condition(() => approved);
  await wf.sleep(1000);
  return "done";
}`;

const signaled = async (run: RealmRun) => {
  await run.task();
  run.server.signal("approve");
  await run.task();
};

const updated = async (run: RealmRun) => {
  await run.task();
  run.server.update("u1", "add", [1]);
  await run.task();
};

interface Edit {
  readonly program: string;
  readonly change: readonly [from: string, to: string];
  readonly drive: (run: RealmRun) => Promise<void>;
  /** A part of the line that the report must name, in the edited program. */
  readonly line: string;
  readonly sentence: RegExp;
}

function checkEdit(
  programs: EditedPrograms,
  { program, change: [from, to], drive, line, sentence }: Edit,
): () => Promise<void> {
  const text = program.replace(from, to);
  ok(text !== program, "the edit changes the program");
  const number = text.split("\n").findIndex((text) => text.includes(line)) + 1;
  const use = programs.add(program, text);
  return () =>
    use(async (edited) => {
      check((await replayEdited(edited, drive)).error!, `${edited.path}:${number}:`, sentence);
    });
}

function check(error: ReplayError, place: string, sentence: RegExp): void {
  equal(error.divergence!.edit.kind, "handlerMissing", error.sentence);
  match(error.sentence!, sentence);
  ok(error.location.includes(place), `${place} ${error.location}`);
}

const REMOVED =
  /has no handler for signal approve, and .*Signal approve has no handler: it was removed or renamed\?$/;
const RENAMED =
  /has no handler for signal approve, and .*Signal approve has no handler: it was renamed to approveV2\?$/;
const UPDATE_RENAMED =
  /has no handler for update add, .*Update add has no handler: it was renamed to addV2\?$/;
const UPDATE_REMOVED =
  /has no handler for update add, .*Update add has no handler: it was removed or renamed\?$/;

const KINDS: { readonly [kind: string]: readonly [name: string, edit: Edit][] } = {
  native: [
    ["a signal whose definition was renamed", {
      program: NATIVE,
      change: ['signal("approve")', 'signal("approveV2")'],
      drive: signaled,
      line: 'signal("approveV2")',
      sentence: RENAMED,
    }],
    ["a signal that the code no longer waits for", {
      program: NATIVE,
      change: ["waitForSignal(approve)", "waitForSignal(cancel)"],
      drive: signaled,
      line: "waitForSignal(cancel)",
      sentence: /Signal approve has no handler: it was renamed to cancel\?$/,
    }],
  ],
  entity: [
    ["a signal whose definition was renamed", {
      program: ENTITY,
      change: ['signal("approve")', 'signal("approveV2")'],
      drive: signaled,
      line: 'signal("approveV2")',
      sentence: RENAMED,
    }],
    ["a signal whose handler was removed", {
      program: ENTITY,
      change: [
        "    on(approve, async (_, n) => {\n      await sleep(1000);\n      return stop(n);\n    }),\n",
        "",
      ],
      drive: signaled,
      line: 'signal("approve")',
      sentence: REMOVED,
    }],
    ["an update whose definition was renamed", {
      program: ENTITY,
      change: ['update("add")', 'update("addV2")'],
      drive: updated,
      line: 'update("addV2")',
      sentence: UPDATE_RENAMED,
    }],
    ["an update whose handler was removed", {
      program: ENTITY,
      change: ["    on(add, ([by], n) => reply(n, n + 1)),\n", ""],
      drive: updated,
      line: 'update("add")',
      sentence: UPDATE_REMOVED,
    }],
  ],
  "@temporalio/workflow": [
    ["a signal whose definition was renamed", {
      program: COMPAT,
      change: ['defineSignal("approve")', 'defineSignal("approveV2")'],
      drive: signaled,
      line: 'defineSignal("approveV2")',
      sentence: RENAMED,
    }],
    ["a signal whose handler was removed", {
      program: COMPAT,
      change: ["  wf.setHandler(approve, () => {\n    approved = true;\n  });\n", ""],
      drive: signaled,
      line: 'defineSignal("approve")',
      sentence: REMOVED,
    }],
    ["a signal whose handler is set for another name", {
      program: COMPAT,
      change: ["setHandler(approve,", 'setHandler(wf.defineSignal("approveV2"),'],
      drive: signaled,
      line: 'setHandler(wf.defineSignal("approveV2")',
      sentence: RENAMED,
    }],
    ["an update whose definition was renamed", {
      program: COMPAT,
      change: ['defineUpdate("add")', 'defineUpdate("addV2")'],
      drive: updated,
      line: 'defineUpdate("addV2")',
      sentence: UPDATE_RENAMED,
    }],
    ["an update whose handler was removed", {
      program: COMPAT,
      change: ["  wf.setHandler(add, () => 1);\n", ""],
      drive: updated,
      line: 'defineUpdate("add")',
      sentence: UPDATE_REMOVED,
    }],
  ],
};

// Modules of one realm define messages of the same names.
const native = new EditedPrograms({ lines: true });
const compat = new EditedPrograms({ lines: true });
const unknownSignal = native.add(
  NATIVE,
  NATIVE.replace("sleep(1000)", 'api.externalWorkflow("other").signal("ping")'),
);

export const cases: Case[] = [
  ...Object.entries(KINDS).flatMap(([kind, edits]) =>
    edits.map(([name, edit]): Case => ({
      name: `handler divergences: ${kind}: ${name}`,
      run: checkEdit(edit.program === COMPAT ? compat : native, edit),
    }))
  ),
  {
    name:
      "handler divergences: a signal without a handler in any version does not hide another edit",
    run: () =>
      unknownSignal(async (edited) => {
        const { error } = await replayEdited(edited, async (run) => {
          await run.task();
          run.server.signal("unknown");
          await run.task();
          run.server.signal("approve");
          await run.task();
        });
        ok(error!.divergence!.edit.kind !== "handlerMissing", error!.sentence);
      }),
  },
];
