// Type tests of select and timer: what must compile with which value, and what must not (each
// comment "@ts-expect-error" is an assertion that tsc checks).
import {
  activities,
  ApplicationFailure,
  type Arm,
  continueAsNew,
  executeChild,
  type Handler,
  noreply,
  on,
  parseSignal,
  payload,
  query,
  receive,
  reply,
  select,
  type Signal,
  signal,
  signals,
  sleep,
  spawnAsync,
  stop,
  timer,
  timers,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
const is = <T extends true>(): T => true as T;

const stack = signal<[number]>("stack");
const dispel = signal("dispel");
const rename = update<[string], number>("rename");
const status = query<string>("status");
const acts = activities<{ charge(id: string): Promise<{ total: number }>; roll(): number }>();
const child = workflow("Child", async (n: number) => `${n}`);

// ------------------------------------------------------------------------------------------ values
export async function values() {
  let sum = 0;
  const literals = await select([
    timer("60s", () => "expired"),
    timer("named", 5, () => "named"),
    on(stack, ([n]) => {
      sum += n;
    }),
    on(dispel, () => "dispelled"),
  ]);
  is<Equal<typeof literals, "expired" | "named" | "dispelled" | void>>();
  const mixed = await select([
    on(dispel, async () => ({ late: false })),
    on(stack, ([n]) => n),
    on(() => acts.charge("x"), (receipt) => receipt.total > 3),
    on(() => acts.roll(), (n) => n.toFixed()),
    on(() => executeChild(child, { args: [1] }), (text) => text.length),
  ]);
  is<Equal<typeof mixed, string | number | boolean | { late: boolean }>>();
  // Arms that only throw add nothing.
  const thrown = await select([
    on(dispel, () => {
      throw new ApplicationFailure("dispelled");
    }),
    on(sleep(3), () => 7),
  ]);
  is<Equal<typeof thrown, number>>();
  const given: unknown = 4;
  const unknown = await select([on(dispel, () => given), timer(1, () => 1)]);
  is<Equal<typeof unknown, unknown>>();
  const settled = await select([
    on(Promise.all([acts.roll(), acts.charge("x")]), ([n, { total }]) => n + total),
  ]);
  is<Equal<typeof settled, number>>();
  // Any number of arms, made beforehand.
  const many = ["a", "b"].map((name) => on(signal<[boolean]>(name), ([yes]) => yes));
  const one = await select(many);
  is<Equal<typeof one, boolean>>();
  const arms: Arm<number>[] = [timer(1, () => 1), on(stack, ([n]) => n)];
  const made = await select(arms);
  is<Equal<typeof made, number>>();
  // A list of arms with further arms before or after it, also where the result's type is given.
  const more = await select([...many, timer("1s", () => undefined)]);
  is<Equal<typeof more, boolean | undefined>>();
  const around = await select([
    timer(1, () => 1 as const),
    ...many,
    on(dispel, () => "x" as const),
  ]);
  is<Equal<typeof around, boolean | 1 | "x">>();
  const expected: boolean | undefined = await select([...many, timer("1s", () => undefined)]);
  const returned = async (): Promise<number> => await select([...arms, timer("1s", () => 3)]);
  // @ts-expect-error the result of an arm is another type
  const wrong: boolean = await select([...many, timer("1s", () => 3)]);
  // @ts-expect-error a promise has a body, also after a list of arms
  await select([...many, sleep(5)]);
  void [expected, returned, wrong];
  const handle: Promise<void> = timer("deadline", "1h");
  await select([on(handle, (nothing) => nothing)]);
  return sum;
}

/** Control values are values: any code that gets them may return them. */
export const forever = workflow("Forever", async (n: number) => {
  const end = await select([timer("30 days", () => continueAsNew(n + 1)), on(dispel, () => n)]);
  return end;
});
export async function inHandlers() {
  await receive({ n: 0 }, [
    on(dispel, (_, s) => select([on(stack, ([n]) => noreply({ n })), timer("1m", () => stop(s))])),
    on(
      rename,
      async ([name], s) =>
        await select([on(dispel, () => reply(0, s)), timer("1m", () => stop(s, name.length))]),
    ),
  ]);
}

// ------------------------------------------------------------------------------------------ misuse
export async function misuse() {
  // @ts-expect-error no arms
  await select([]);
  // @ts-expect-error not an array
  await select(timer(1, () => 1));
  // @ts-expect-error an update is not an arm
  await select([on(rename, ([name], s: number) => reply(name.length, s))]);
  // @ts-expect-error whatever its handler returns
  await select([timer(1, () => 1), on(rename, () => 5)]);
  // @ts-expect-error a query is not an arm
  await select([on(status, () => 5)]);
  // @ts-expect-error a promise has a body
  await select([sleep(5)]);
  // @ts-expect-error so has a function
  await select([() => sleep(5)]);
  // @ts-expect-error and a signal
  await select([dispel]);
  // @ts-expect-error and a signal's handler
  await select([on(dispel)]);
  // @ts-expect-error a named timer without a body is a promise
  await select([timer("deadline", "1h")]);
  // @ts-expect-error the argument is a number
  await select([on(stack, ([n]) => n.length)]);
  // @ts-expect-error a select has no state
  await select([on(stack, ([n], state) => state.n + n)]);
  // @ts-expect-error the result is { total }
  await select([on(() => acts.charge("x"), (receipt) => receipt.sum)]);
  // @ts-expect-error a timer has no value
  await select([timer(1, (n) => n)]);
  // @ts-expect-error a duration
  timer({}, () => 1);
  // @ts-expect-error a timer outside an arm needs a name
  await timer("1h");
  // @ts-expect-error the name comes first
  timer("1h", () => 1, "name");
  // @ts-expect-error a function gives a value, no handler result
  await select([on(() => noreply(1), () => 1)]);
  // @ts-expect-error nor does it continue as new
  await select([on(async () => continueAsNew(1), () => 1)]);
  // @ts-expect-error the value is the union of what the bodies return
  const wrong: string = await select([timer(1, () => "x"), on(stack, ([n]) => n)]);
  // @ts-expect-error a timer is not a handler of a receive
  await receive(0, [timer(1, () => 1)]);
  // @ts-expect-error nor is a promise
  await receive(0, [on(sleep(1), () => noreply(1))]);
  // @ts-expect-error nor is an arm that returns no handler result
  await receive(0, [on(stack, ([n]) => n)]);
  // @ts-expect-error spawnAsync is for handlers of a receive
  const handlers: Handler<string>[] = [on(stack, ([n]) => spawnAsync(async () => n, n))];
  return [wrong, handlers];
}

// ------------------------------------------------------------------------------------------- names
export function names() {
  const table = signals({ threatDetected: payload<[enemyId: number]>(), standDown: payload() });
  is<Equal<typeof table.threatDetected, Signal<[enemyId: number]>>>();
  is<Equal<typeof table.standDown, Signal>>();
  const parsed = parseSignal(table, "threat_detected", [1]);
  if (parsed?.key === "threatDetected") is<Equal<typeof parsed.args, [enemyId: number]>>();
  const clock = timers("arrival", "wait");
  is<Equal<keyof typeof clock, "arrival" | "wait">>();
  // @ts-expect-error: the signal does not exist
  table.threat_detected;
  // @ts-expect-error: a signal needs payload
  signals({ a: "a" });
}

// -------------------------------------------------------------------------------- declared results
interface Outcome {
  readonly kind: "paid" | "canceled";
}
/** The result may be declared: then the bodies' literals have its types. */
export async function declared() {
  const outcome = await select<Outcome | "remind">([
    on(dispel, () => ({ kind: "paid" })),
    timer("1s", () => "remind"),
  ]);
  is<Equal<typeof outcome, Outcome | "remind">>();
  const contextual: Outcome | "remind" = await select([
    on(dispel, () => ({ kind: "paid" })),
    timer("1s", () => "remind"),
  ]);
  // @ts-expect-error a body that returns something else
  await select<Outcome | "remind">([timer("1s", () => "late")]);
  // @ts-expect-error an update cannot be an arm, whatever the result
  await select<number>([on(rename, () => 5)]);
  return contextual;
}

const open = update<[], { status: "ok" | "full" }>("open");
/** A response keeps its literals in an async handler. */
export async function asyncResponses() {
  await receive({ n: 0 }, [
    on(open, (_, s) => spawnAsync(() => Promise.resolve({ status: "full" }), { ...s, n: 1 })),
  ]);
}
