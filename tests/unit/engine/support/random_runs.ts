// Runs of random workflows on a real engine in real time: concurrent activities of all durations,
// with failures, retries, timeouts and cancellations; children, messages to other runs, updates,
// timers, continue-as-new; signals, cancel requests and terminations from outside while tasks are
// running. A seed decides what each run does; the machine's scheduling decides the order.
import { delay } from "@std/async/delay";
import fc from "fast-check";
import { activityContext } from "../../../../ts/activity/mod.ts";
import { type Client, silentLogger, type WorkflowHandle } from "../../../../ts/client/mod.ts";
import type { RawService } from "../../../../ts/service/raw.ts";
import { Worker } from "../../../../ts/worker/mod.ts";
import {
  activities,
  ApplicationFailure,
  type ContinueAsNew,
  continueAsNew,
  executeChild,
  externalWorkflow,
  noreply,
  on,
  parallel,
  receive,
  reply,
  shield,
  signal,
  sleep,
  startChild,
  stop,
  update,
  upsertMemo,
  workflow,
} from "../../../../ts/workflow/mod.ts";

/** What one activity does at its attempts. `fails`: that many attempts fail before one succeeds. */
interface Work {
  readonly ms: number;
  readonly fails: number;
  readonly hangs: boolean;
}

export type Step =
  | { readonly op: "work"; readonly all: readonly Work[]; readonly seconds: number }
  | { readonly op: "race"; readonly all: readonly Work[]; readonly ms: number }
  | { readonly op: "sleep"; readonly ms: number }
  | { readonly op: "child"; readonly steps: readonly Step[]; readonly waits: boolean }
  | { readonly op: "tell" }
  | { readonly op: "memo" }
  | { readonly op: "receive"; readonly ms: number; readonly work: Work }
  | { readonly op: "again" }
  | { readonly op: "fail" };

const work = fc.record({
  ms: fc.constantFrom(0, 1, 5, 20, 60, 150),
  fails: fc.constantFrom(0, 0, 0, 1, 2, 9),
  hangs: fc.constantFrom(false, false, false, false, false, false, true),
});
const several = fc.array(work, { minLength: 1, maxLength: 5 });
const leaf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("work" as const),
      all: several,
      seconds: fc.constantFrom(1, 0.05),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("race" as const),
      all: several,
      ms: fc.constantFrom(2, 30),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant("sleep" as const), ms: fc.constantFrom(1, 10, 40) }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ op: "memo" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ op: "tell" }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("receive" as const),
      ms: fc.constantFrom(5, 50, 100),
      work,
    }),
  },
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: leaf },
    {
      weight: 2,
      arbitrary: fc.record({
        op: fc.constant("child" as const),
        steps: fc.array(leaf, { maxLength: 3 }),
        waits: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.constant<Step>({ op: "again" }) },
    { weight: 1, arbitrary: fc.constant<Step>({ op: "fail" }) },
  ),
  { minLength: 1, maxLength: 6 },
);
/** What is done to a run from outside, after how many milliseconds each. */
type Deed = readonly [
  after: number,
  what: "poke" | "add" | "stop" | "cancel" | "terminate" | "other",
];
const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.tuple(
    fc.constantFrom(0, 0, 2, 10, 40),
    fc.constantFrom(
      ...[
        "poke",
        "poke",
        "poke",
        "add",
        "add",
        "add",
        "stop",
        "other",
        "cancel",
        "terminate",
      ] as const,
    ),
  ),
  { maxLength: 8 },
);
const draw = fc.record({ steps, deeds });

/** Neighboring numbers are bad seeds for the generator. */
const drawOf = (seed: number) =>
  fc.sample(draw, { seed: Math.imul(seed + 1, 0x9e3779b1), numRuns: 1 })[0]!;

const poke = signal<[number]>("poke");
const halt = signal("halt");
const add = update<[number], number>("add");

const acts = activities<{ toil(work: Work): Promise<number> }>();

/** One after the other, whatever becomes of each. */
export const random = workflow(
  "Random",
  async (
    program: readonly Step[],
    depth = 0,
  ): Promise<number | ContinueAsNew<[readonly Step[], number?]>> => {
    let done = 0;
    const toil = (work: Work, seconds: number) =>
      acts.toil.with({
        startToClose: seconds * 1000,
        scheduleToClose: "1s",
        retry: { initialInterval: "3ms", backoffCoefficient: 2, maximumAttempts: 4 },
        cancellationType: work.ms > 20 ? "waitCancellationCompleted" : "tryCancel",
      })(work);
    for (const [i, step] of program.entries()) {
      switch (step.op) {
        case "work":
          done += (await parallel(step.all.map((work) => () =>
            toil(work, step.seconds)
          ))).filter(({ ok }) =>
            ok
          ).length;
          break;
        case "race":
          await Promise.race([
            sleep(step.ms),
            ...step.all.map((work) => toil(work, 1).catch(() => 0)),
          ]);
          break;
        case "sleep":
          await sleep(step.ms);
          break;
        case "memo":
          upsertMemo({ done, [`step ${i}`]: true });
          break;
        case "tell":
          await externalWorkflow("absent").signal("poke", 1).catch(() => undefined);
          break;
        case "child":
          if (depth > 1) break;
          if (step.waits) {await executeChild(random, { args: [step.steps, depth + 1] }).catch(() =>
              undefined
            );} else {await startChild(random, {
              args: [step.steps, depth + 1],
              parentClosePolicy: i % 2 === 0 ? "ABANDON" : "TERMINATE",
            });}
          break;
        case "receive":
          done = (await receive(done, [
            on(poke, ([n], sum) => noreply(sum + n)),
            on(add, async ([n], sum) => {
              await shield(() => toil(step.work, 1)).catch(() => 0);
              return reply(sum, sum + n);
            }, {
              validate: ([n]) => {
                if (n % 3 === 0) throw new Error("no");
              },
            }),
            on(halt, (_, sum) => stop(sum)),
          ], { timeout: step.ms })).state;
          break;
        case "again":
          return continueAsNew(program.slice(i + 1), depth);
        case "fail":
          throw new ApplicationFailure("it fails", { type: "Random", details: [done] });
      }
    }
    return done;
  },
);

async function toil({ ms, fails, hangs }: Work): Promise<number> {
  const context = activityContext();
  const { attempt } = context.info;
  context.heartbeat(attempt);
  await delay(hangs ? 5_000 : ms, { signal: context.cancelled });
  if (attempt <= fails) throw new Error("not yet");
  return attempt;
}

/** A worker that runs them. Several workers may have one queue. */
export const randomWorker = (
  service: RawService,
  taskQueue: string,
  namespace?: string,
): Promise<Worker> =>
  Worker.create({
    service,
    taskQueue,
    ...(namespace !== undefined && { namespace }),
    workflows: [{ random }],
    activities: { toil },
    realm: "inline",
    logger: silentLogger,
    maxConcurrentActivities: 200,
  });

/**
 * Starts the run of a seed and does to it what its seed says. Resolves when it has ended, however
 * it has.
 */
export async function liveRandom(client: Client, seed: number): Promise<void> {
  const { steps, deeds } = drawOf(seed);
  const handle = await client.start(random, {
    id: `random-${seed}`,
    args: [steps],
    memo: { seed },
  });
  const calls: Promise<unknown>[] = [];
  for (const [after, what] of deeds) {
    await delay(after);
    calls.push(doTo(handle, what, seed).catch(() => undefined));
  }
  await handle.result().catch(() => undefined);
  await Promise.all(calls);
}

async function doTo(
  handle: WorkflowHandle<typeof random>,
  what: Deed[1],
  seed: number,
): Promise<unknown> {
  switch (what) {
    case "poke":
      return await handle.signal(poke, seed);
    case "add":
      return await Promise.race([handle.update(add, seed), delay(3_000)]);
    case "stop":
      return await handle.signal(halt);
    case "other":
      return await handle.signal("unheard", seed);
    case "cancel":
      return await handle.cancel("enough");
    case "terminate":
      return await handle.terminate("enough");
  }
}

/** Lives seeds `from` to `to` (not included), so many at once. */
export async function liveMany(
  client: Client,
  from: number,
  to: number,
  atOnce: number,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  let next = from;
  let done = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (next < to) {
      await liveRandom(client, next++);
      onProgress(++done);
    }
  }));
}
