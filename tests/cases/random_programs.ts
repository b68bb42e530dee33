// Random workflow programs and random lives for them, for property tests. A program is data that one workflow interprets, so it crosses
// payloads; what it did, in order, is its trace and its result. A life is a list of things that happen outside.
import fc from "fast-check";
import {
  activities,
  type ActivityFailure,
  cancelled,
  isCancellation,
  noreply,
  on,
  parallel,
  patched,
  publishState,
  receive,
  reply,
  shield,
  sideEffect,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";

export type Leaf =
  | { op: "act"; wait?: boolean }
  | { op: "sleep"; ms: number }
  | { op: "wait"; name: "a" | "b" }
  | { op: "side" }
  | { op: "patch"; id: string }
  | { op: "publish" };
export type Op = Leaf | { op: "par"; branches: Op[][] } | { op: "race"; arms: Leaf[] } | { op: "shield"; body: Op[] };
export type Step = Op | { op: "receive"; timeout: number; sync: Op[]; async: Op[]; update: Op[]; later: Op[] };

const acts = activities<{ work(label: string): string }>();
const confirmed = activities<{ work(label: string): string }>({ cancellationType: "waitCancellationCompleted" });
const a = signal<[number]>("a");
const b = signal<[number]>("b");
const c = signal<[number]>("c");
const end = signal<[number]>("stop");
const u = update<[number], string>("u");
const v = update<[number], string>("v");
const halt = update<[number], string>("halt");

/** Interprets a program; its result is everything that happened, in order. */
export const interpreter = workflow("Interpreter", {
  queries: { published: (state: unknown) => state },
  run: async (program: Step[]): Promise<string[]> => {
    const trace: string[] = [];
    let steps = 0;

    async function attempt(label: string, fn: () => unknown): Promise<void> {
      try {
        const value = await fn();
        trace.push(`${label}=${JSON.stringify(value) ?? "void"}`);
      } catch (e) {
        const cause = ((e as ActivityFailure).cause as Error | undefined)?.message ?? "";
        trace.push(`${label}!${(e as Error).name} ${cause}`);
        if (cancelled() && isCancellation(e)) throw e;
      }
    }

    function leaf(op: Leaf, label: string): unknown {
      switch (op.op) {
        case "act":
          return op.wait === true ? confirmed.work(label) : acts.work(label);
        case "sleep":
          return sleep(op.ms);
        case "wait":
          return waitForSignal(op.name);
        case "side":
          return sideEffect(() => `side ${label}`);
        case "patch":
          return patched(op.id);
        case "publish":
          return publishState([...trace]);
      }
    }

    async function body(ops: readonly Op[], path: string): Promise<void> {
      for (const op of ops) {
        const label = `${path}.${op.op}${steps++}`;
        if (op.op === "par") {
          await attempt(
            label,
            async () => (await parallel(op.branches.map((ops, i) => () => body(ops, `${label}[${i}]`)))).map((r) => r.ok),
          );
        } else if (op.op === "race") {
          await attempt(
            label,
            () => Promise.race(op.arms.map((arm, i) => Promise.resolve(leaf(arm, `${label}[${i}]`)).then((x) => [i, x]))),
          );
        } else if (op.op === "shield") await attempt(label, () => shield(() => body(op.body, label)));
        else await attempt(label, () => leaf(op, label));
      }
    }

    for (const step of program) {
      if (step.op !== "receive") {
        await body([step], "run");
        continue;
      }
      const label = `run.receive${steps++}`;
      await attempt(label, () =>
        receive([] as string[], [
          on(a, ([n], s) => noreply([...s, `a${n}`])),
          on(b, async ([n], s) => (await body(step.sync, `${label}.b${n}`), noreply([...s, `b${n}`]))),
          on(c, ([n], s) =>
            spawnAsync(async (change) => {
              await body(step.async, `${label}.c${n}`);
              await change((now) => [undefined, [...now, `c${n}`]]);
            }, s)),
          on(
            u,
            async ([n], s) => (await body(step.update, `${label}.u${n}`), reply(`u${n} after ${s.length}`, [...s, `u${n}`])),
            {
              validate: ([n], s) => {
                if ((n + s.length) % 4 === 0) throw new Error(`u${n} refused at ${s.length}`);
              },
            },
          ),
          on(v, ([n], s) =>
            spawnAsync(async (change) => {
              await body(step.later, `${label}.v${n}`);
              return await change((now) => [`v${n} after ${now.length}`, [...now, `v${n}`]]);
            }, [...s, `v${n} spawned`])),
          on(end, (_, s) => stop(s)),
          on(halt, ([n], s) => stop([...s, `halt${n}`], `halted ${s.length}`)),
        ], { timeout: step.timeout }));
    }
    return trace;
  },
});

const leaf: fc.Arbitrary<Leaf> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Leaf>({ op: "act" }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }).map((ms): Leaf => ({ op: "sleep", ms })) },
  { weight: 2, arbitrary: fc.constantFrom<Leaf>({ op: "wait", name: "a" }, { op: "wait", name: "b" }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Leaf>({ op: "side" }, { op: "patch", id: "p" }, { op: "patch", id: "q" }, { op: "publish" }),
  },
);
const { body } = fc.letrec<{ op: Op; body: Op[] }>((tie) => ({
  op: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 6, arbitrary: leaf },
    {
      weight: 2,
      arbitrary: fc.record({ op: fc.constant("par" as const), branches: fc.array(tie("body"), { minLength: 1, maxLength: 3 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ op: fc.constant("race" as const), arms: fc.array(leaf, { minLength: 2, maxLength: 3 }) }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("shield" as const), body: tie("body") }) },
  ),
  body: fc.array(tie("op"), { minLength: 1, maxLength: 3 }),
}));
const handlerBody = fc.oneof(fc.constant<Op[]>([]), body);

export const program: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: body.map((ops): Step => ops[0]!) },
    {
      weight: 2,
      arbitrary: fc.record({
        op: fc.constant("receive" as const),
        timeout: fc.constantFrom(5, 5, 5, 0),
        sync: handlerBody,
        async: handlerBody,
        update: handlerBody,
        later: handlerBody,
      }),
    },
  ),
  { minLength: 1, maxLength: 4 },
);

/** Something that happens outside. `pick` chooses among what is open when it happens. */
export type Happening =
  | { kind: "signal"; name: "a" | "b" | "c" | "stop" | "other"; n: number }
  | { kind: "update"; name: "u" | "v" | "halt"; n: number }
  | { kind: "timer"; pick: number }
  | { kind: "activity"; pick: number; fails: boolean }
  | { kind: "cancel" };

const n = fc.integer({ min: 0, max: 9 });
export const life: fc.Arbitrary<Happening[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("signal" as const),
        name: fc.constantFrom("a" as const, "b", "c", "stop", "other"),
        n,
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("update" as const),
        name: fc.constantFrom("u" as const, "u", "v", "v", "halt"),
        n,
      }),
    },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("timer" as const), pick: n }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant("activity" as const), pick: n, fails: fc.boolean() }) },
    { weight: 1, arbitrary: fc.constant({ kind: "cancel" as const }) },
  ),
  { minLength: 1, maxLength: 25 },
);
