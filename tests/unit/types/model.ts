// Type tests of the model: what must compile, and what must not (each @ts-expect-error is an
// assertion that tsc checks).
import {
  activities,
  type ContinueAsNew,
  continueAsNew,
  continueAsNewWith,
  noreply,
  on,
  parallel,
  query,
  receive,
  type ReceiveUntilResult,
  reply,
  sideEffect,
  signal,
  sleep,
  spawnAsync,
  type StandardSchemaV1,
  stop,
  update,
  waitForSignal,
  workflow,
  type WorkflowDefinition,
} from "../../../ts/workflow/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
const is = <T extends true>(): T => true as T;

interface Item {
  readonly sku: string;
}
interface Receipt {
  readonly total: number;
}
const addItem = update<[Item], number>("add_item");
const ping = update("ping");
const checkout = signal("checkout");
const bump = signal<[number]>("bump");
const status = query<string>("status");
const filtered = query<Item[], [filter: string, limit: number]>("filtered");

// ------------------------------------------------------------------------------------------- until
export async function untils() {
  const n = await receive(0, [on(bump, ([by], s) => noreply(s + by))], {
    until: (s) => s.toFixed() === "3",
  });
  is<Equal<typeof n, ReceiveUntilResult<number>>>();
  const timed = await receive(0, [], { until: (s) => s > 3, timeout: 5 });
  is<Equal<typeof timed.state, number>>();
  // @ts-expect-error the state is a number
  await receive(0, [], { until: (s) => s.length > 3 });
  // @ts-expect-error it decides at once
  await receive(0, [], { until: () => Promise.resolve(true) });
  // @ts-expect-error a number
  workflow("W", { rememberUpdates: "all", run: () => Promise.resolve(1) });
}

// ---------------------------------------------------------------------------------------- handlers
export async function handlers() {
  const cart = await receive({ items: [] as Item[], n: 0 }, [
    on(addItem, ([item], c) => reply(c.items.length + 1, { ...c, items: [...c.items, item] }), {
      validate: ([i], c) => {
        i.sku.trim();
        c.items.length.toFixed();
      },
    }),
    on(bump, ([n], c) => noreply({ ...c, n: c.n + n })),
    on(checkout, (_, c) => stop(c)),
    on(addItem, (_, c) => stop(c, 5)),
    on(ping, (_, c) => reply(undefined, c)),
    on(addItem, async ([item], c) => {
      await sleep(1);
      return spawnAsync(async (updateState) => {
        const n: number = await updateState((s) => [s.n, { ...s, items: [...s.items, item] }]);
        return n;
      }, c);
    }),
    on(checkout, (_, c) => spawnAsync(async () => "ignored", c)),
  ]);
  is<Equal<typeof cart, { items: Item[]; n: number }>>();

  const timed = await receive(0, [on(checkout, (_, n) => stop(n))], { timeout: "1h" });
  is<Equal<typeof timed, { readonly timedOut: boolean; readonly state: number }>>();
  is<typeof timed extends { timedOut: boolean; state: number } ? true : false>();

  await receive({ n: 0 }, [
    // @ts-expect-error the response has the wrong type
    on(addItem, (_, c) => reply("x", c)),
    // @ts-expect-error a signal handler cannot reply
    on(checkout, (_, c) => reply(1, c)),
    // @ts-expect-error nor stop with a response
    on(checkout, (_, c) => stop(c, 1)),
    // @ts-expect-error an update handler must reply
    on(addItem, (_, c) => noreply(c)),
    // @ts-expect-error nor may it stop without a response
    on(addItem, (_, c) => stop(c)),
    // @ts-expect-error the argument is a number
    on(bump, ([n], _c) => noreply({ n: n.length })),
    // @ts-expect-error the state has another shape
    on(checkout, () => stop({ m: 1 })),
    // @ts-expect-error the async handler gives the update's response: a number
    on(addItem, (_, c) => spawnAsync(async () => "x", c)),
    // @ts-expect-error async handlers return no handler results
    on(checkout, (_, c) => spawnAsync(async () => noreply(c), c)),
    // @ts-expect-error nor continueAsNew
    on(checkout, (_, c) => spawnAsync(async () => continueAsNew(1), c)),
    // @ts-expect-error handlers do not continue as new
    on(checkout, () => continueAsNew(1)),
    // @ts-expect-error a query has no handler here
    on(status, (_, c) => noreply(c)),
    // @ts-expect-error a handler returns something
    on(checkout, () => {}),
  ]);
  // @ts-expect-error validators are synchronous and return nothing
  on(addItem, (_, c: number) => reply(1, c), { validate: async () => "no" satisfies void });
}

// -------------------------------------------------------------------------------------- activities
interface Acts {
  charge(items: Item[], currency?: string): Promise<Receipt>;
  count(): number;
  readonly version: string;
}
export async function calls() {
  const acts = activities<Acts>({ startToClose: "1m" });
  is<Equal<Awaited<ReturnType<typeof acts.charge>>, Receipt>>();
  is<Equal<Awaited<ReturnType<typeof acts.count>>, number>>();
  await acts.charge([{ sku: "a" }]);
  await acts.charge.with({ startToClose: 5, retry: { maximumAttempts: 2 } })([], "EUR");
  // @ts-expect-error no activity of that name
  await acts.chrage([]);
  // @ts-expect-error wrong argument
  await acts.charge("x");
  // @ts-expect-error too many arguments
  await acts.count(1);
  // @ts-expect-error only a function can be an activity
  await acts.version();
  // @ts-expect-error the result is a Receipt
  const wrong: string = await acts.charge([]);
  // @ts-expect-error no option of that name
  activities<Acts>({ startToCloseTimeout: "1m" });
  // @ts-expect-error not a cancellation type
  activities<Acts>({ cancellationType: "later" });
  return wrong;
}

// ---------------------------------------------------------------------------------------- parallel
export async function branches() {
  const [user, config, plain] = await parallel([
    async () => ({ name: "x" }),
    () => sleep(1),
    () => 5,
  ]);
  if (user.ok) is<Equal<typeof user.value, { name: string }>>();
  else is<Equal<typeof user.error, unknown>>();
  if (config.ok) is<Equal<typeof config.value, void>>();
  if (plain.ok) is<Equal<typeof plain.value, number>>();
  const many = await parallel([1, 2, 3].map((n) => async () => n));
  for (const one of many) if (one.ok) one.value.toFixed();
  await parallel([]);
  await parallel([() => Promise.reject(new Error("never returns"))]);
  // @ts-expect-error a branch does not continue as new
  await parallel([() => continueAsNew(1)]);
  // @ts-expect-error nor return handler results
  await parallel([() => 1, async () => noreply(1)]);
  // @ts-expect-error branches are functions
  await parallel([sleep(1)]);
}

// ----------------------------------------------------------------------------------------- waiting
export async function waits() {
  const none = await waitForSignal(checkout);
  is<Equal<typeof none, undefined>>();
  const one = await waitForSignal(bump);
  is<Equal<typeof one, number>>();
  const two = await waitForSignal(signal<[number, string]>("two"));
  is<Equal<typeof two, [number, string]>>();
  const unknown = await waitForSignal("by_name");
  is<Equal<typeof unknown, unknown>>();
  // @ts-expect-error an update is not a signal
  await waitForSignal(addItem);
  // @ts-expect-error not a duration
  await sleep({});
  const n: number = sideEffect(() => 5);
  // @ts-expect-error the function of sideEffect is synchronous
  sideEffect(async () => 5);
  return n;
}

// ------------------------------------------------------------------------------------- definitions
export const plain = workflow(
  "Plain",
  async (a: number, b: string): Promise<Receipt> => ({ total: a + b.length }),
);
is<Equal<typeof plain, WorkflowDefinition<[a: number, b: string], Receipt>>>();

export const again = workflow("Again", {
  run: async (n: number): Promise<string | ContinueAsNew<[number]>> =>
    n > 3 ? "end" : continueAsNew(n + 1),
});
is<Equal<typeof again, WorkflowDefinition<[n: number], string>>>();
export const inferred = workflow(
  "Inferred",
  async (n: number) => n > 3 ? "end" : continueAsNew(n + 1),
);
is<Equal<typeof inferred, WorkflowDefinition<[n: number], "end">>>();
export const wrongArgs = workflow(
  "WrongArgs",
  // @ts-expect-error it must continue with the arguments of run
  async (n: number) => n > 3 ? "end" : continueAsNew("x"),
);
// Further parameters of run may be left out, where they are optional.
export const optional = workflow("Optional", {
  messages: { status },
  queries: { status: (p: string) => p },
  async run(state: { items: string[]; note?: string }, max?: number, label?: string) {
    if (label === "all") return continueAsNew(state, 1, label);
    if (max === undefined) return continueAsNew(state, undefined);
    if (max === 0) return continueAsNewWith({ taskQueue: "other" }, { items: [] });
    return max > 3 ? "end" : continueAsNew({ ...state, note: "again" });
  },
});
is<
  Equal<
    typeof optional,
    WorkflowDefinition<
      [state: { items: string[]; note?: string }, max?: number, label?: string],
      "end"
    >
  >
>();
export const annotated = workflow(
  "Annotated",
  async (n: number, label?: string): Promise<string | ContinueAsNew<[number]>> =>
    label ?? continueAsNew(n + 1),
);
export const allOptional = workflow(
  "AllOptional",
  async (n?: number) => n === 3 ? n : continueAsNew(),
);
export const rest = workflow(
  "Rest",
  async (first: string, ...more: number[]) => more[3] ?? continueAsNew(first, 1, 2),
);
export const tooFew = workflow(
  "TooFew",
  // @ts-expect-error a required parameter of run may not
  async (n: number, label: string) => n > 3 ? label : continueAsNew(n + 1),
);
export const tooMany = workflow(
  "TooMany",
  // @ts-expect-error a third one does not exist
  async (n: number, label?: string) => label ?? continueAsNew(n + 1, "x", 3),
);

// @ts-expect-error run is asynchronous
export const notAsync = workflow("NotAsync", (n: number) => n);

export const responds = workflow("Responds", {
  messages: { status, filtered, addItem },
  queries: {
    status: (p: Receipt) => String(p.total),
    filtered: (_p: Receipt, filter, limit) => [{ sku: filter.slice(0, limit) }],
  },
  run: async () => {},
});
export const unanswered = workflow("Unanswered", {
  messages: { status, filtered },
  // @ts-expect-error a query is declared but has no handler
  queries: { status: (p: string) => p },
  run: async () => {},
});
export const badAnswer = workflow("BadAnswer", {
  messages: { status },
  // @ts-expect-error the result has the wrong type
  queries: { status: (p: number) => p },
  run: async () => {},
});
export const badArgument = workflow("BadArgument", {
  messages: { filtered },
  // @ts-expect-error the first argument of the query is a string
  queries: { filtered: (_p: unknown, filter: number) => [{ sku: String(filter) }] },
  run: async () => {},
});
// @ts-expect-error queries cannot be left out when they are declared
export const noQueries = workflow("NoQueries", { messages: { status }, run: async () => {} });
export const free = workflow("Free", {
  queries: { anything: (p: number, x: string) => p + x },
  run: async () => {},
});

// ----------------------------------------------------------------------------------------- schemas
declare const itemSchema: StandardSchemaV1<unknown, Item>;
declare const numberSchema: StandardSchemaV1<unknown, number>;
export const checked = update<[Item], number>("checked", { args: [itemSchema] });
export const inferredArgs = signal("inferred", { args: [itemSchema, numberSchema] });
is<Equal<typeof inferredArgs, ReturnType<typeof signal<[Item, number]>>>>();
// @ts-expect-error the schema gives another type
export const mismatched = update<[Item], number>("mismatched", { args: [numberSchema] });
// @ts-expect-error a message needs a name
export const unnamed = signal();
