// One workflow that interprets programs: a program is data, so it crosses payloads; what it did, in
// order, is its trace and its result. It imports nothing but the package, so that worker realms
// load it as they load a user's module.
import {
  activities,
  type ActivityFailure,
  ApplicationFailure,
  broadcast,
  cancelled,
  CancelledFailure,
  carry,
  type ContinueAsNew,
  continueAsNew,
  isCancellation,
  isParallelCancellation,
  isReceiveCancellation,
  localActivities,
  MisuseError,
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
  | { op: "par"; branches: Op[][]; returns?: boolean }
  | { op: "race"; arms: Leaf[] }
  | { op: "select"; times: number; arms: ArmOp[] }
  | { op: "shield"; body: Op[] };
export type Step = Op | { op: "again" } | {
  op: "receive";
  timeout: number;
  /** A cancellation is returned, not thrown. */
  returns?: boolean;
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
      if (e instanceof MisuseError) throw e;
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
        await attempt(label, () => branches(op, label));
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

  /** Every branch notes its end itself: the results of a canceled parallel must say the same. */
  async function branches(op: Extract<Op, { op: "par" }>, label: string): Promise<boolean[]> {
    const ended: boolean[] = [];
    const calls = op.branches.map((ops, i) => async () => {
      ended[i] = false;
      await body(ops, `${label}[${i}]`);
      ended[i] = true;
    });
    const check = (results: readonly { ok: boolean }[]) => {
      const shown = results.map(({ ok }) => ok);
      same(`results of ${label}`, shown, ended);
      return shown;
    };
    if (op.returns !== true) {
      return await parallel(calls).then(check, (e) => {
        if (isParallelCancellation(e)) trace.push(`${label} had ${check(e.results)}`);
        throw e;
      });
    }
    const outcome = await parallel(calls, { onCancel: "return" });
    if (!outcome.canceled) return check(outcome.result);
    trace.push(`${label} returned ${check(outcome.results)}`);
    throw new CancelledFailure();
  }

  /** A failed comparison is a bug of the package: it fails the task, which fails the test. */
  function same(what: string, got: unknown, expected: unknown): void {
    const [a, b] = [JSON.stringify(got), JSON.stringify(expected)];
    if (a !== b) throw new MisuseError(`${what}: ${a} instead of ${b}`);
  }

  async function step(one: Exclude<Step, { op: "again" }>): Promise<void> {
    if (one.op !== "receive") return await body([one], "run");
    const label = `run.receive${steps++}`;
    /** The state after the last processed message, as the handlers know it. */
    let last: string[] = [];
    const next = (state: string[]) => last = state;
    const handlers = [
      on(a, ([n], s: string[]) => noreply(next([...s, `a${n}`]))),
      on(b, async ([n], s: string[]) => {
        await body(one.sync, `${label}.b${n}`);
        return noreply(next([...s, `b${n}`]));
      }),
      on(c, ([n], s: string[]) =>
        spawnAsync(async (change) => {
          await body(one.async, `${label}.c${n}`);
          await change((now) => [undefined, next([...now, `c${n}`])]);
        }, s)),
      on(
        u,
        async ([n], s: string[]) => {
          await body(one.update, `${label}.u${n}`);
          return reply(`u${n} after ${s.length}`, next([...s, `u${n}`]));
        },
        {
          validate: ([n], s) => {
            if ((n + s.length) % 4 === 0) throw new Error(`u${n} refused at ${s.length}`);
          },
        },
      ),
      on(v, ([n], s: string[]) =>
        spawnAsync(async (change) => {
          await body(one.later, `${label}.v${n}`);
          return await change((now) => [`v${n} after ${now.length}`, next([...now, `v${n}`])]);
        }, next([...s, `v${n} spawned`]))),
      on(end, (_, s: string[]) => stop(s)),
      on(halt, ([n], s: string[]) => stop(next([...s, `halt${n}`]), `halted ${s.length}`)),
    ];
    const check = (state: string[]) => {
      same(`state of ${label}`, state, last);
      return state;
    };
    const { timeout } = one;
    await attempt(label, async () => {
      if (one.returns !== true) {
        const result = await receive([] as string[], handlers, { timeout }).catch((e) => {
          if (isReceiveCancellation<string[]>(e)) trace.push(`${label} had ${check(e.state)}`);
          throw e;
        });
        check(result.state);
        return result;
      }
      const outcome = await receive([] as string[], handlers, { timeout, onCancel: "return" });
      if (!outcome.canceled) return (check(outcome.result.state), outcome.result);
      trace.push(`${label} returned ${check(outcome.state)}`);
      throw new CancelledFailure();
    });
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
      try {
        await step(one);
      } catch (e) {
        // What a canceled run had done is visible as well.
        throw isCancellation(e) && cancelled() ? new CancelledFailure("canceled", [trace]) : e;
      }
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
