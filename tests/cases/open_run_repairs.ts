// Repairs of open runs, by seeds: a program is recorded up to some step, edited in one place, and
// its repair is applied. The run then continues with the repaired program, and schedules what the
// original program schedules. No recorded activity runs a second time.
import type { Divergence } from "../../ts/debug/divergence/types.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { settleActivity } from "./driver.ts";
import type { MiniServer } from "./mini_server.ts";
import { EditedPrograms, type UseProgram } from "./edited_programs.ts";
import { createRealmFromTexts, RealmRun } from "./realm_host.ts";

const HEAD =
  `import { activities, on, patched, receive, signal, sleep, stop, workflow } from "temporalex/workflow";

const acts = activities({ startToClose: "1m" });
const go = signal("go");

export const w = workflow("W", async () => {
`;
const programOf = (steps: readonly string[]): string =>
  `${HEAD}${
    steps.map((step) => `  ${step}`).join("\n")
  }\n  await receive(0, [on(go, () => stop(0))]);\n});\n`;

/** Mulberry32: the same numbers for a seed in every runtime. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 0x9e3779b9 >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const done = new Proxy({}, { get: (_, name) => () => String(name), has: () => true }) as Record<
  string,
  () => string
>;

/** Ends what is open on the server. */
async function settle(server: MiniServer): Promise<void> {
  for (const id of [...server.activities.keys()]) await settleActivity(server, id, done);
  for (const id of [...server.timers.keys()]) server.fireTimer(id);
}

/**
 * One round per step, and the first task. `half`: the last step has ended and no task has processed
 * that.
 */
async function advance(run: RealmRun, rounds: number, half: boolean): Promise<void> {
  await run.task();
  for (let i = 0; i < rounds; i++) {
    await settle(run.server);
    if (i < rounds - 1 || !half) await run.task();
  }
  equal(run.failure, "");
}

/** Continues until only the receive is open. */
async function finish(run: RealmRun): Promise<void> {
  for (let i = 0; i < 40; i++) {
    const isOpen = run.server.activities.size + run.server.timers.size > 0;
    if (!isOpen && i > 0) break;
    await settle(run.server);
    await run.task();
    equal(run.failure, "");
  }
}

/** Activities in the order in which the history has them. */
const scheduled = (server: MiniServer): string[] =>
  server.events.flatMap(({ attributes }) =>
    attributes.case === "activityTaskScheduledEventAttributes"
      ? [attributes.value.activityType?.name ?? ""]
      : []
  );

const EDITS = [
  "insert before last",
  "insert before last",
  "insert",
  "rename",
  "swap",
  "insert two",
  "replace timer",
] as const;

interface Plan {
  readonly edit: (typeof EDITS)[number];
  readonly original: readonly string[];
  readonly edited: readonly string[];
  readonly rounds: number;
  readonly half: boolean;
  /**
   * The moved step is the last recorded one, or not recorded: the history cannot tell it from a
   * step that was added before.
   */
  readonly isSwapAtEnd: boolean;
}

function planOf(seed: number): Plan {
  const below = randomOf(seed);
  const count = 2 + below(4);
  const original = Array.from(
    { length: count },
    (_, i) =>
      below(5) === 0
        ? `await sleep("${i + 1} s");`
        : below(3) === 0
        ? `const v${i} = await acts.step${i}();`
        : `await acts.step${i}();`,
  );
  // Recorded steps are 0 to `rounds`, as far as there are so many.
  const rounds = 1 + below(count);
  const last = Math.min(rounds, count - 1);
  const edit = EDITS[below(EDITS.length)]!;
  const edited = [...original];
  const at = edit === "insert before last"
    ? last
    : edit === "swap"
    ? 1 + below(last)
    : below(last + 1);
  if (edit === "rename") {
    edited[at] = edited[at]!.replace(
      /step\d+|sleep\("\d+ s"\)/,
      (name) => name.startsWith("step") ? "renamed" : name,
    );
  } else if (edit === "replace timer") edited[at] = "await acts.instead();";
  else if (edit === "swap") edited.splice(at - 1, 2, ...edited.slice(at - 1, at + 1).toReversed());
  else {edited.splice(
      at,
      0,
      ...(edit === "insert two"
        ? ["await acts.extra();", "await acts.other();"]
        : ["await acts.extra();"]),
    );}
  return {
    edit,
    original,
    edited,
    rounds,
    half: below(3) === 0,
    isSwapAtEnd: edit === "swap" && at >= last,
  };
}

function applied(text: string, { repair }: Divergence): string {
  const lines = text.split("\n");
  for (const { first, last, lines: by } of repair!.changes!) {
    lines.splice(first - 1, last - first + 1, ...by);
  }
  return lines.join("\n");
}

/** A repair that is offered for a seed. */
interface Offered {
  readonly path: string;
  readonly text: string;
  readonly run: RealmRun;
  readonly whole: MiniServer;
  readonly isSwapAtEnd: boolean;
  about(text: string): string;
}

/** Records, and replays the edited program. Returns what is to be applied. */
async function repairOf(
  seed: number,
  use: UseProgram,
): Promise<Offered | "no divergence" | "nothing to apply"> {
  const { edit, rounds, half, isSwapAtEnd } = planOf(seed);
  const about = (text: string) =>
    `seed ${seed}, ${edit}, ${rounds} rounds${half ? " and a half" : ""}\n${text}`;
  return await use(async ({ path, text: after, start, edited }) => {
    const [run, whole] = [start(), start()];
    await advance(run, rounds, half);
    await advance(whole, rounds, half);
    await finish(whole);
    const { server } = run;
    const { realm } = await edited();
    const { error } = await realm.replay(server.workflowId, server.history(), { strict: true });
    if (error?.divergence === undefined) return "no divergence";
    if (error.divergence.repair?.changes === undefined) return "nothing to apply";
    const text = applied(after, error.divergence);
    return { path, text, run, whole: whole.server, isSwapAtEnd, about };
  });
}

/** Continues the runs with the repaired programs. */
async function assertHold(repairs: readonly Offered[]): Promise<void> {
  const servers = new Map(repairs.map(({ run: { server } }) => [server.runId, server]));
  const { realm, dispose } = await createRealmFromTexts(
    Object.fromEntries(repairs.map(({ path, text }) => [path, text])),
    {
      fetchHistory: (_workflowId, runId) =>
        Promise.resolve({
          history: servers.get(runId)!.history(),
          nextPageToken: new Uint8Array(0),
        }),
    },
  );
  try {
    for (const { text, run: { server }, whole, isSwapAtEnd, about } of repairs) {
      const recorded = scheduled(server);
      const { verdict, error } = await realm.replay(server.workflowId, server.history(), {
        strict: true,
      });
      equal(verdict, "ok", about(`${error?.sentence ?? error?.message}\n${text}`));
      await finish(new RealmRun(server, realm));
      const all = scheduled(server);
      ok(
        recorded.every((name) => all.filter((one) => one === name).length === 1),
        about(`${all.join()}\n${text}`),
      );
      if (!isSwapAtEnd) deepEqual(all, scheduled(whole), about(text));
    }
  } finally {
    await dispose();
  }
}

/**
 * Number of results by what came of the seeds. Throws where a repair was offered that does not
 * hold.
 */
export async function openRunRepairs(
  seeds: readonly number[],
): Promise<ReadonlyMap<"no divergence" | "nothing to apply" | "holds", number>> {
  const programs = new EditedPrograms();
  const uses = seeds.map((seed) => {
    const { original, edited } = planOf(seed);
    return programs.add(programOf(original), programOf(edited));
  });
  const found: (Offered | "no divergence" | "nothing to apply")[] = [];
  for (const [i, use] of uses.entries()) found.push(await repairOf(seeds[i]!, use));
  const offered = found.filter((one) => typeof one === "object");
  await assertHold(offered);
  const countOf = (what: string) => found.filter((one) => one === what).length;
  return new Map([
    ["no divergence", countOf("no divergence")],
    ["nothing to apply", countOf("nothing to apply")],
    ["holds", offered.length],
  ]);
}

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

export const cases: Case[] = [{
  name:
    `repairs of open runs: seeds ${SEEDS.join()} replay strictly and continue as the original program`,
  async run() {
    const results = await openRunRepairs(SEEDS);
    ok(results.get("holds")! >= 3, JSON.stringify([...results]));
  },
}];
