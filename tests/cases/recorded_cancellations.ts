// Histories in which a receive and a parallel were canceled, recorded before their failures carried
// partial results. The workflows report every property that code can see of these failures, so a
// changed class, key or text changes a command.
import {
  activities,
  ActivityFailure,
  cancelled,
  CancelledFailure,
  continueAsNew,
  isCancellation,
  noreply,
  on,
  parallel,
  receive,
  reply,
  shield,
  signal,
  sleep,
  spawnAsync,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { CommandKind } from "../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { RecordedActivation } from "../../ts/executor/tasks/recording.ts";
import { comparable, type Drive, drive, makeRunner } from "./driver.ts";
import { RECORDED } from "./recorded_cancellations_data.ts";

const acts = activities<{ work(x: number): number; note(seen: unknown): void }>();
const add = signal<[number]>("add");
const later = signal<[number]>("later");
const ask = update<[number], number>("ask");

/** What code can see of a caught failure. */
const describe = (e: unknown) => [
  (e as Error).name,
  (e as Error).message,
  e instanceof CancelledFailure,
  e instanceof ActivityFailure,
  isCancellation(e),
  Object.keys(e as object).sort(),
  JSON.stringify(e, (key, value) => (key === "failure" ? undefined : value)),
];

const loop = () =>
  receive([] as number[], [
    on(add, ([n], s) => noreply([...s, n])),
    on(later, ([n], s) => spawnAsync(() => acts.work(n), [...s, n])),
    on(ask, async ([n], s) => {
      const [one] = await parallel([() => acts.work(n), () => sleep(n)]);
      return reply(one.ok ? one.value : -1, s);
    }),
  ]);

export const caught = workflow("Caught", async () => {
  const seen: unknown[] = [];
  await loop().catch((e) => seen.push(describe(e)));
  await receive(0, []).catch((e) => seen.push(describe(e)));
  await parallel([() => sleep(1), () => 7]).catch((e) => seen.push(describe(e)));
  await shield(() => acts.note(seen));
  return seen;
});

const nested = () =>
  parallel([
    () => parallel([() => acts.work(1), () => sleep("1h")]),
    async () => await acts.work(2).catch(() => "handled"),
  ]);

export const branches = workflow("Branches", async () => {
  const seen: unknown[] = [];
  await nested().catch((e) => seen.push(describe(e)));
  await shield(() => acts.note(seen));
  return await nested();
});

export const thrown = workflow("Thrown", () => loop());

export const continued = workflow("Continued", async (again: boolean): Promise<unknown> => {
  if (!again) return cancelled();
  await shield(() => sleep(5));
  return continueAsNew(false);
});

export const definitions = { caught, branches, thrown, continued };

/** The lives of the recorded runs, for recording them again. */
export const lives: { readonly [K in keyof typeof definitions]: (d: Drive) => Promise<void> } = {
  async caught(d) {
    d.server.signal("add", 1);
    await d.task();
    d.server.signal("later", 2);
    await d.task();
    d.server.update("u1", "ask", 3);
    await d.task();
    d.server.signal("add", 4);
    d.server.update("u2", "ask", 5);
    await d.task();
    d.server.requestCancel("enough");
    await d.task();
    const open = [...d.server.activities.values()].find(({ type }) => type === "note")!;
    d.server.completeActivity(open.id);
    await d.task();
  },
  async branches(d) {
    await d.task();
    d.server.requestCancel("enough");
    await d.task();
    const open = [...d.server.activities.values()].find(({ type }) => type === "note")!;
    d.server.completeActivity(open.id);
    await d.task();
  },
  async thrown(d) {
    d.server.signal("add", 1);
    await d.task();
    d.server.requestCancel("enough");
    await d.task();
  },
  async continued(d) {
    await d.task();
    d.server.requestCancel("enough");
    await d.task();
    d.server.fireTimer("1");
    await d.task();
  },
};

/** Start arguments by workflow. */
export const args: { readonly [name: string]: unknown[] } = { continued: [true] };

const base64 = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** Commands whose attributes have no stack, which names lines of this file. */
const WITHOUT_STACKS: ReadonlySet<CommandKind> = new Set([
  CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY,
  CommandKind.COMMAND_KIND_START_TIMER,
  CommandKind.COMMAND_KIND_COMPLETE_WORKFLOW,
  CommandKind.COMMAND_KIND_CONTINUE_AS_NEW,
]);

/** Commands as text: kind, number, and the bytes of those without a stack. */
export function commandTexts(activations: readonly RecordedActivation[]): string[] {
  return comparable(activations).flatMap(({ commands }) =>
    commands.map(({ kind, cancel, seq, attributes }) =>
      [
        kind,
        cancel ? "cancel" : "issue",
        seq,
        WITHOUT_STACKS.has(kind) ? btoa(String.fromCharCode(...attributes)) : "",
      ].join(" ")
    )
  );
}

async function replaysUnchanged(name: keyof typeof definitions): Promise<void> {
  const { history, commands } = RECORDED[name];
  const definition = definitions[name];
  const { runner } = await makeRunner([definition]);
  const verdict = await runner.replay("wf", base64(history), { record: true });
  equal(verdict.verdict, "ok", `${name}: ${verdict.error?.message}`);
  if (verdict.recorded !== undefined) deepEqual(commandTexts(verdict.recorded), commands, name);
  // The same life today is the recorded one.
  const d = await drive(definition, { args: args[name] ?? [] });
  await lives[name](d);
  if (d.live.length > 0) deepEqual(commandTexts(d.live), commands, name);
  await d.checkReplay();
}

export const cases: Case[] = [
  {
    name: "histories recorded before failures carried partial results replay unchanged",
    async run() {
      for (const name of Object.keys(definitions)) {
        await replaysUnchanged(name as keyof typeof definitions);
      }
    },
  },
];
