// Types from definitions to clients: what is right compiles, and each wrong name, argument or
// result does not. Checked by tsc alone; the functions are never called.
import type { Client, UpdateHandle, WorkflowHandle } from "../../../ts/client/mod.ts";
import { withContext } from "../../../ts/activity/mod.ts";
import {
  activities,
  continueAsNew,
  defineSearchAttributeKey,
  query,
  signal,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";

interface Item {
  sku: string;
}
const addItem = update<[item: Item, count: number], number>("add_item");
const clear = update<[], void>("clear");
const checkout = signal("checkout");
const note = signal<[text: string]>("note");
const status = query<{ phase: string }>("status");
const items = query<Item[], [filter: string]>("items");
const cart = workflow("Cart", {
  messages: { status, items },
  queries: { status: (published: { phase: string }) => published, items: () => [] },
  async run(customer: { name: string }, _limit?: number) {
    if (customer.name === "twice") return continueAsNew({ name: "x" }, 1);
    return { total: 3 };
  },
});
const bare = workflow("Bare", async () => "done" as const);

const amount = defineSearchAttributeKey("Amount", "DOUBLE");
const tags = defineSearchAttributeKey("Tags", "KEYWORD_LIST");

const report = { type: "startWorkflow", workflowType: "Report" } as const;

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function same<A, B>(_equal: Equal<A, B>): void {}

export async function right(client: Client): Promise<void> {
  const handle = await client.start(cart, { id: "1", args: [{ name: "a" }] });
  await client.start(cart, {
    id: "1",
    args: [{ name: "a" }, 3],
    taskQueue: "q",
    idReusePolicy: "REJECT_DUPLICATE",
  });
  const result = await handle.result();
  same<typeof result, { total: number }>(true);
  const added = await handle.update(addItem, { sku: "x" }, 1);
  same<typeof added, number>(true);
  await handle.update(clear);
  const executed = await handle.executeUpdate(addItem, {
    args: [{ sku: "x" }, 1],
    updateId: "u",
    timeout: "5s",
  });
  same<typeof executed, number>(true);
  await handle.executeUpdate(clear, { timeout: 10 });
  const started = await handle.startUpdate(addItem, {
    args: [{ sku: "x" }, 1],
    waitFor: "accepted",
  });
  same<typeof started, UpdateHandle<number>>(true);
  const again = handle.getUpdateHandle("u", addItem);
  same<typeof again, UpdateHandle<number>>(true);
  await handle.signal(checkout);
  await handle.signal(note, "text");
  const answer = await handle.query(status);
  same<typeof answer, { phase: string }>(true);
  const filtered = await handle.with({ timeout: "1s" }).query(items, "x");
  same<typeof filtered, Item[]>(true);

  const word = await client.execute(bare, { id: "2" });
  same<typeof word, "done">(true);
  const found = client.getHandle(cart, "1");
  same<typeof found, WorkflowHandle<typeof cart>>(true);
  await client.signalWithStart(cart, {
    id: "1",
    args: [{ name: "a" }],
    signal: note,
    signalArgs: ["x"],
  });
  await client.signalWithStart(bare, { id: "1", signal: checkout });

  const both = await client.startUpdateWithStart(cart, {
    id: "1",
    args: [{ name: "a" }],
    update: addItem,
    updateArgs: [{ sku: "x" }, 1],
    waitFor: "accepted",
  });
  same<typeof both.workflow, WorkflowHandle<typeof cart>>(true);
  same<typeof both.update, UpdateHandle<number>>(true);
  const counted = await client.executeUpdateWithStart(cart, {
    id: "1",
    args: [{ name: "a" }],
    update: addItem,
    updateArgs: [{ sku: "x" }, 1],
  });
  same<typeof counted, number>(true);
  await client.executeUpdateWithStart(bare, { id: "1", update: clear });
  const anything = await client.executeUpdateWithStart("Other", {
    id: "1",
    update: "set",
    updateArgs: [1],
  });
  same<typeof anything, unknown>(true);

  await client.start(bare, {
    id: "1",
    searchAttributes: [{ key: amount, value: 3 }, { key: tags, value: ["a"] }],
  });
  await client.start(bare, { id: "1", searchAttributes: { Amount: 3, Tags: ["a"] } });
  const { typedSearchAttributes } = await found.describe();
  const much = typedSearchAttributes.get(amount);
  same<typeof much, number | undefined>(true);
  await client.start(bare, { id: "1", searchAttributes: typedSearchAttributes });

  const nightly = await client.schedule.create({
    scheduleId: "nightly",
    spec: {
      calendars: [{ hour: 3, dayOfWeek: [{ start: "MONDAY", end: "FRIDAY" }, "SUNDAY"] }],
      timezone: "Europe/Berlin",
    },
    action: { type: "startWorkflow", workflowType: cart, args: [{ name: "a" }], taskQueue: "q" },
    policies: { overlap: "SKIP", catchupWindow: "1h" },
    searchAttributes: [{ key: amount, value: 1 }],
  });
  await client.schedule.create({
    scheduleId: "s",
    spec: {},
    action: { type: "startWorkflow", workflowType: bare },
  });
  await client.schedule.create({
    scheduleId: "s",
    spec: {},
    action: { type: "startWorkflow", workflowType: "Other", args: [1] },
  });
  await nightly.update((now) => ({ ...now, spec: { ...now.spec, jitter: "1m" } }));
  await nightly.update<typeof cart>((now) => ({
    ...now,
    action: { ...now.action, type: "startWorkflow", workflowType: cart, args: [{ name: "b" }] },
  }));

  // Names instead of definitions: values are untyped.
  const untyped = await client.start("Other", { id: "3", args: [1, "two"] });
  same<Awaited<ReturnType<typeof untyped.result>>, unknown>(true);
  const unknown: unknown = await untyped.update("anything", 1, 2);
  await untyped.signal("go", unknown);
  await untyped.query("state", 1);
}

export async function wrong(client: Client): Promise<void> {
  // @ts-expect-error the update takes arguments
  await client.executeUpdateWithStart(bare, { id: "1", update: addItem });
  await client.executeUpdateWithStart(bare, {
    id: "1",
    update: addItem,
    // @ts-expect-error the update's argument has another type
    updateArgs: [{ sku: 1 }, 1],
  });
  // @ts-expect-error the workflow takes arguments
  await client.executeUpdateWithStart(cart, { id: "1", update: clear });
  // @ts-expect-error a service takes no cron schedule with such a start
  await client.executeUpdateWithStart(bare, { id: "1", update: clear, cronSchedule: "* * * * *" });
  // @ts-expect-error startUpdateWithStart says what it waits for
  await client.startUpdateWithStart(bare, { id: "1", update: clear });
  await client.schedule.create({
    scheduleId: "s",
    spec: {},
    // @ts-expect-error the scheduled workflow takes arguments
    action: { type: "startWorkflow", workflowType: cart },
  });
  const odd = { type: "startWorkflow", workflowType: cart, args: [{ nome: "a" }] } as const;
  // @ts-expect-error the argument's type is wrong
  await client.schedule.create({ scheduleId: "s", spec: {}, action: odd });
  await client.schedule.create({
    scheduleId: "s",
    // @ts-expect-error no such day
    spec: { calendars: [{ dayOfWeek: "MONTAG" }] },
    action: report,
  });
  await client.schedule.create({
    scheduleId: "s",
    spec: {},
    action: report,
    // @ts-expect-error no such policy
    policies: { overlap: "NEVER" },
  });
  // @ts-expect-error a value of another type than the key's
  await client.start(bare, { id: "1", searchAttributes: [{ key: amount, value: "much" }] });
  // @ts-expect-error a start needs an id
  await client.start(bare, {});
  // @ts-expect-error the workflow takes arguments
  await client.start(cart, { id: "1" });
  // @ts-expect-error the argument's type is wrong
  await client.start(cart, { id: "1", args: [{ nome: "a" }] });
  // @ts-expect-error a third argument does not exist
  await client.start(cart, { id: "1", args: [{ name: "a" }, 1, 2] });
  // @ts-expect-error the workflow takes none
  await client.start(bare, { id: "1", args: [1] });
  // @ts-expect-error no such policy
  await client.start(bare, { id: "1", idReusePolicy: "SOMETIMES" });
  const handle = await client.start(cart, { id: "1", args: [{ name: "a" }] });
  // @ts-expect-error the result has no such field
  (await handle.result()).sum;
  // @ts-expect-error the update takes two arguments
  await handle.update(addItem, { sku: "x" });
  // @ts-expect-error of these types
  await handle.update(addItem, { sku: 1 }, 1);
  // @ts-expect-error the result is a number
  const text: string = await handle.update(addItem, { sku: "x" }, 1);
  // @ts-expect-error it takes none
  await handle.update(clear, 1);
  // @ts-expect-error arguments are missing
  await handle.executeUpdate(addItem, { timeout: 1 });
  // @ts-expect-error the stage is missing
  await handle.startUpdate(addItem, { args: [{ sku: "x" }, 1] });
  // @ts-expect-error the signal needs its text
  await handle.signal(note);
  // @ts-expect-error which is a string
  await handle.signal(note, 1);
  // @ts-expect-error a query is not a signal
  await handle.signal(status);
  // @ts-expect-error a signal is not an update
  await handle.update(checkout);
  // @ts-expect-error an update is not a query
  await handle.query(addItem);
  // @ts-expect-error the query needs its filter
  await handle.query(items);
  // @ts-expect-error signals and updates are not workflows
  await client.start(checkout, { id: "1" });
  // @ts-expect-error the signal's arguments are missing
  await client.signalWithStart(cart, { id: "1", args: [{ name: "a" }], signal: note });
  return void text;
}

const module = {
  charge: withContext((context, amount: number) => `${context.info.attempt}: ${amount}`),
  later: (_id: string): Promise<boolean> => Promise.resolve(true),
  constant: 3,
};

/** Activities that take their context explicitly look to workflows as if they did not. */
export async function activityTypes(): Promise<void> {
  const calls = activities<typeof module>({ startToClose: "1m" });
  const charged = await calls.charge(3);
  same<typeof charged, string>(true);
  const late = await calls.later("x");
  same<typeof late, boolean>(true);
  // @ts-expect-error the amount is a number
  await calls.charge("3");
  // @ts-expect-error the context is not passed by workflows
  await calls.charge({}, 3);
  // @ts-expect-error no such activity
  await calls.refund(3);
  // @ts-expect-error not a function, so not an activity
  await calls.constant();
}
