// One workflow that interprets programs: a program is data, so it crosses payloads; what it did, in
// order, is its trace and its result. It imports nothing but the package, so that worker realms
// load it as they load a user's module.
import {
  activities,
  type ActivityFailure,
  ApplicationFailure,
  broadcast,
  cancelled,
  carry,
  type ContinueAsNew,
  continueAsNew,
  isCancellation,
  localActivities,
  noreply,
  on,
  parallel,
  patched,
  procedure,
  publishState,
  random,
  receive,
  reducers,
  reply,
  select,
  shield,
  sideEffect,
  signal,
  sleep,
  spawnAsync,
  stop,
  subscribe,
  timer,
  transact,
  unsubscribe,
  update,
  uuid4,
  waitForSignal,
  workflow,
  workflowInfo,
} from "temporalex/workflow";

export type Leaf =
  | { op: "act"; wait?: boolean; near?: boolean }
  | { op: "sleep"; ms: number }
  | { op: "wait"; name: "a" | "b" }
  | { op: "side" }
  | { op: "transact"; wait: boolean }
  | { op: "random" }
  | { op: "throw" }
  | { op: "patch"; id: string }
  | { op: "publish" }
  // Of the database engine: a procedure with a timeout or without, a named timer, subscriptions,
  // broadcasts, what the run belongs to.
  | { op: "ask"; timeout: number }
  | { op: "named"; ms: number }
  | { op: "subscribe"; name: "a" | "b" | "c"; filter?: string }
  | { op: "unsubscribe"; name: "a" | "b" | "c"; filter?: string }
  | { op: "broadcast"; name: "a" | "b" | "c"; filter?: string }
  | { op: "belongs" };
/**
 * An arm of a select. `handed`: a promise that was started before; "again": what the first such arm
 * of the program was given.
 */
export type ArmOp =
  | { arm: "signal"; name: "a" | "b" | "c"; then: Op[] }
  | { arm: "timer"; ms: number; then: Op[] }
  | { arm: "handed"; leaf: Leaf; again: boolean; then: Op[] }
  | { arm: "call"; body: Op[]; then: Op[] };
export type Op =
  | Leaf
  | { op: "par"; branches: Op[][] }
  | { op: "race"; arms: Leaf[] }
  | { op: "select"; times: number; arms: ArmOp[] }
  | { op: "shield"; body: Op[] };
export type Step = Op | { op: "again" } | {
  op: "receive";
  timeout: number;
  sync: Op[];
  async: Op[];
  update: Op[];
  later: Op[];
};

const acts = activities<{ work(label: string): string }>();
const confirmed = activities<{ work(label: string): string }>({
  cancellationType: "waitCancellationCompleted",
});
const near = localActivities<{ work(label: string): string }>();
const nearConfirmed = localActivities<{ work(label: string): string }>({
  cancellationType: "waitCancellationCompleted",
});
const tables = reducers<{ note(database: never, label: string, wait: boolean): string }>();
const a = signal<[number]>("a");
const b = signal<[number]>("b");
const c = signal<[number]>("c");
const end = signal<[number]>("stop");
const u = update<[number], string>("u");
const v = update<[number], string>("v");
const halt = update<[number], string>("halt");

/** What the run subscribes to, and belongs to. */
function belongings(): unknown[] {
  const { WorkflowSubscription, WorkflowEntityId, WorkflowCorrelationId } =
    workflowInfo().searchAttributes;
  return [WorkflowSubscription ?? null, WorkflowEntityId ?? null, WorkflowCorrelationId ?? null];
}

/**
 * Runs the steps of a program. It continues with a trace, and with the number of operations that
 * were started.
 */
function interpretation(trace: string[], begun = 0) {
  let steps = begun;

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
        if (op.near === true) {
          return op.wait === true ? nearConfirmed.work(label) : near.work(label);
        }
        return op.wait === true ? confirmed.work(label) : acts.work(label);
      case "sleep":
        return sleep(op.ms);
      case "wait":
        return waitForSignal(op.name);
      case "transact": {
        const noted = transact(tables.note, label, op.wait);
        return op.wait ? noted : undefined;
      }
      case "side":
        return sideEffect(() => `side ${label}`);
      case "random":
        return [random(), uuid4()];
      case "throw":
        throw new ApplicationFailure(`thrown at ${label}`, {
          type: "Thrown",
          details: [label, { at: [1.5, null] }],
        });
      case "patch":
        return patched(op.id);
      case "publish":
        return publishState([...trace]);
      case "ask":
        return procedure("ask", [label], { timeout: op.timeout });
      case "named":
        return timer(`wait of ${label}`, op.ms);
      case "subscribe":
        subscribe(op.name, op.filter);
        return belongings();
      case "unsubscribe":
        unsubscribe(op.name, op.filter);
        return belongings();
      case "broadcast":
        return broadcast(op.name, op.filter, 7);
      case "belongs":
        return belongings();
    }
  }

  let kept: Promise<unknown> | undefined;

  function armOf(arm: ArmOp, label: string) {
    const then = (has: unknown) => async () => {
      await body(arm.then, label);
      return [label, has];
    };
    switch (arm.arm) {
      case "signal":
        return on(arm.name === "a" ? a : arm.name === "b" ? b : c, ([n]) => then(n)());
      case "timer":
        return timer(`timer of ${label}`, arm.ms, then("fired"));
      case "handed": {
        const made = async () => await leaf(arm.leaf, label);
        const promise = arm.again ? kept ??= made() : made();
        // Its outcome after the select is ignored.
        promise.catch(() => {});
        return on(promise, (value) => then(value)());
      }
      case "call":
        return on(() => body(arm.body, label), then("called"));
    }
  }

  async function selects(op: Extract<Op, { op: "select" }>, label: string): Promise<unknown[]> {
    const won: unknown[] = [];
    const seen = new Set<string>();
    const arms = op.arms.filter((arm) =>
      arm.arm !== "signal" || (!seen.has(arm.name) && seen.add(arm.name))
    );
    for (let i = 0; i < op.times; i++) {
      won.push(await select(arms.map((arm, j) => armOf(arm, `${label}<${i}.${j}>`))));
    }
    return won;
  }

  async function body(ops: readonly Op[], path: string): Promise<void> {
    for (const op of ops) {
      const label = `${path}.${op.op}${steps++}`;
      if (op.op === "par") {
        await attempt(
          label,
          async () =>
            (await parallel(op.branches.map((ops, i) => () => body(ops, `${label}[${i}]`)))).map((
              r,
            ) => r.ok),
        );
      } else if (op.op === "race") {
        await attempt(
          label,
          () => Promise.race(op.arms.map(async (arm, i) => [i, await leaf(arm, `${label}[${i}]`)])),
        );
      } else if (op.op === "select") await attempt(label, () => selects(op, label));
      else if (op.op === "shield") await attempt(label, () => shield(() => body(op.body, label)));
      // Not caught: it fails the update, the branch or the workflow.
      else if (op.op === "throw") leaf(op, label);
      else await attempt(label, () => leaf(op, label));
    }
  }

  async function step(one: Exclude<Step, { op: "again" }>): Promise<void> {
    if (one.op !== "receive") return await body([one], "run");
    const label = `run.receive${steps++}`;
    await attempt(label, () =>
      receive([] as string[], [
        on(a, ([n], s) => noreply([...s, `a${n}`])),
        on(b, async ([n], s) => (await body(one.sync, `${label}.b${n}`), noreply([...s, `b${n}`]))),
        on(c, ([n], s) =>
          spawnAsync(async (change) => {
            await body(one.async, `${label}.c${n}`);
            await change((now) => [undefined, [...now, `c${n}`]]);
          }, s)),
        on(
          u,
          async (
            [n],
            s,
          ) => (await body(one.update, `${label}.u${n}`),
            reply(`u${n} after ${s.length}`, [...s, `u${n}`])),
          {
            validate: ([n], s) => {
              if ((n + s.length) % 4 === 0) throw new Error(`u${n} refused at ${s.length}`);
            },
          },
        ),
        on(v, ([n], s) =>
          spawnAsync(async (change) => {
            await body(one.later, `${label}.v${n}`);
            return await change((now) => [`v${n} after ${now.length}`, [...now, `v${n}`]]);
          }, [...s, `v${n} spawned`])),
        on(end, (_, s) => stop(s)),
        on(halt, ([n], s) => stop([...s, `halt${n}`], `halted ${s.length}`)),
      ], { timeout: one.timeout }));
  }

  return { step, begun: () => steps };
}

/**
 * Interprets a program; its result is everything that happened, in order. "again" continues as new
 * with the steps that are left.
 */
export const interpreter = workflow("Interpreter", {
  queries: { published: (state: unknown) => state },
  run: async (program: Step[]): Promise<string[] | ContinueAsNew<[Step[]]>> => {
    const trace: string[] = [];
    const { step } = interpretation(trace);
    for (const [i, one] of program.entries()) {
      if (one.op === "again") return continueAsNew(program.slice(i + 1));
      await step(one);
    }
    return trace;
  },
});

/**
 * The same with a round for each step. What it comes to does not hang on where the run continues as
 * new.
 */
export const rounds = workflow("Rounds", {
  carry: (_program: Step[]): { at: number; begun: number; trace: string[] } => ({
    at: 0,
    begun: 0,
    trace: [],
  }),
  round: async ({ at, begun, trace }, program) => {
    const one = program[at];
    if (one === undefined) return trace;
    if (one.op === "again") return continueAsNew(program.slice(at + 1));
    const interpreted = interpretation(trace, begun);
    await interpreted.step(one);
    return carry({ at: at + 1, begun: interpreted.begun(), trace });
  },
});
