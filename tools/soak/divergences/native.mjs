// Native programs for the edits, and what a client does with each. Together they issue every kind
// of command that replay matches.
const HEAD =
  `import { activities, continueAsNew, deprecatePatch, executeChild, externalWorkflow, localActivities, now, on, parallel, patched, publishState, random, receive, reply, noreply, select, sideEffect, signal, sleep, spawn, spawnAsync, startChild, stop, timer, update, upsertMemo, upsertSearchAttributes, uuid4, waitForSignal, workflow } from "temporalex/workflow";

const acts = activities<any>({ startToClose: "1m" });
const near = localActivities<any>({ startToClose: "5s" });
`;

/** Every activity returns its name and its first argument. */
export const ACTIVITIES = [
  ...[
    "reserveStock",
    "chargeCard",
    "ship",
    "notify",
    "refund",
    "score",
    "fetchPage",
    "store",
    "cleanUp",
    "audit",
    "remind",
  ],
];
export const LOCAL = ["lookUp", "format"];

/** Names, text, and what a client does; a history is that of the run under the id. */
export const PROGRAMS = [
  {
    name: "order",
    text: `${HEAD}
export const main = workflow("Order", async (customer: string) => {
  const number = sideEffect(() => 4711);
  await acts.reserveStock(customer, number);
  const charged = await acts.chargeCard(customer);
  if (String(charged).length > 3) {
    await sleep("10s");
    await acts.audit(charged);
  } else {
    await acts.refund(charged);
  }
  await sleep("1m");

  upsertMemo({ state: "charged" });
  await acts.ship(customer);
  await acts.notify(customer, "shipped");
  if (patched("thanks")) {
    await acts.notify(customer, "thanks");
  }
  await sleep("2m");
  await acts.cleanUp();
  return "done";
});
`,
    async drive(env) {
      return (await env.client.start("Order", { id: "order", args: ["ada"] })).result();
    },
  },
  {
    name: "cart",
    text: `${HEAD}
const addItem = update<[sku: string], number>("add_item");
const removeItem = update<[sku: string], number>("remove_item");
const checkout = signal("checkout");

export const main = workflow("Cart", async (customer: string) => {
  publishState("open");
  await acts.audit("opened");
  const items = await receive<string[]>([], [
    on(addItem, ([sku], items) => reply(items.length + 1, [...items, sku])),
    on(removeItem, ([sku], items) => reply(items.length - 1, items.filter((one) => one !== sku))),
    on(checkout, (_, items) => stop(items)),
  ]);
  await acts.chargeCard(customer, items);
  await sleep("30s");
  const paid = signal<[by: string]>("paid");
  const by = await waitForSignal(paid);
  await acts.ship(by, items);
  await acts.notify(customer);
  return items.length;
});
`,
    async drive(env) {
      const handle = await env.client.start("Cart", { id: "cart", args: ["ada"] });
      await env.advance("1s");
      await handle.update("add_item", "A");
      await handle.update("add_item", "B");
      await handle.update("remove_item", "A");
      await handle.signal("checkout");
      await env.advance("1m");
      await handle.signal("paid", "ada");
      await handle.result();
    },
  },
  {
    name: "crawl",
    text: `${HEAD}
export const main = workflow("Crawl", async (pages: number) => {
  const root = await acts.fetchPage("root");
  const found = await parallel([
    () => acts.fetchPage("left"),
    async () => {
      await sleep("5s");
      return await acts.fetchPage("middle");
    },
    async () => {
      const page = await acts.fetchPage("right");
      await acts.store(page);
      return page;
    },
  ]);
  for (let i = 0; i < pages; i++) {
    await acts.store(i);
    await sleep("1s");
  }
  await acts.score(root, found.length);
  await acts.cleanUp();
  return pages;
});
`,
    async drive(env) {
      return (await env.client.start("Crawl", { id: "crawl", args: [3] })).result();
    },
  },
  {
    name: "approval",
    text: `${HEAD}
const approve = signal<[by: string]>("approve");
const withdraw = signal("withdraw");

export const main = workflow("Approval", async (order: string) => {
  await acts.notify("approver", order);
  const first = await select([
    on(withdraw, () => "withdrawn"),
    timer("3 days", () => "late"),
  ]);
  if (first === "late") {
    await acts.remind(order);
    await sleep("1h");
  }
  const second = await select([
    on(approve, ([by]) => by),
    on(withdraw, () => "withdrawn"),
    timer("7 days", () => "expired"),
  ]);
  await acts.audit(second);
  if (second !== "expired") {
    await acts.ship(order);
    await acts.notify("customer", order);
  }
  await sleep("1 day");
  await acts.store(order, second);
  return second;
});
`,
    async drive(env) {
      const handle = await env.client.start("Approval", { id: "approval", args: ["o-1"] });
      await env.advance("4 days");
      await handle.signal("approve", "grace");
      await handle.result();
    },
  },
  {
    name: "parent",
    text: `${HEAD}
const expedite = signal("expedite");

export const pack = workflow("Pack", async (item: string) => {
  await sleep("1h");
  return item;
});
export const wrap = workflow("Wrap", async (item: string) => item);
export const courier = workflow("Courier", async (parcel: string) => {
  await waitForSignal(expedite);
  return parcel;
});

export const main = workflow("Parent", async (item: string) => {
  await acts.reserveStock(item);
  const box = await executeChild(pack, { id: "pack-1", args: [item] });
  await sleep("5m");
  const gift = await executeChild(wrap, { id: "wrap-1", args: [box] });
  const trip = await startChild(courier, { id: "courier-1", args: [gift] });
  await acts.audit("left");
  await trip.signal(expedite);
  const parcel = await trip.result();

  upsertMemo({ parcel });
  await acts.notify(parcel);
  await sleep("1m");
  await acts.cleanUp(parcel);
  return parcel;
});
`,
    async drive(env) {
      return (await env.client.start("Parent", { id: "parent", args: ["book"] })).result();
    },
  },
  {
    name: "reminders",
    text: `${HEAD}
const paid = signal("paid");
const note = update<[text: string], number>("note");

export const main = workflow("Reminders", async (who: string) => {
  let days = 0;
  await near.lookUp(who);
  for (let day = 7; day <= 21; day += 7) {
    const { timedOut } = await receive(0, [
      on(note, ([text], n) => reply(n + text.length, n + 1)),
      on(paid, (_, n) => stop(n)),
    ], { timeout: "7 days" });
    if (!timedOut) break;
    days = day;
    await acts.remind(who, day);
  }
  const text = await near.format(who, days);
  await acts.store(text);
  if (days > 7) {
    await acts.score(who);
    await sleep("1h");
    await acts.audit(who);
  }
  await acts.notify(who, text);
  return days;
});
`,
    async drive(env) {
      const handle = await env.client.start("Reminders", { id: "reminders", args: ["ada"] });
      await env.advance("1s");
      await handle.update("note", "one");
      await env.advance("15 days");
      await handle.update("note", "two");
      await handle.signal("paid");
      await handle.result();
    },
  },
  {
    name: "stock",
    text: `${HEAD}
const restock = update<[sku: string], string>("restock");
const recount = update<[sku: string], string>("recount");
const close = signal("close");

export const main = workflow("Stock", async () => {
  await acts.audit("opened");
  const seen = await receive<string[]>([], [
    on(restock, ([sku], seen) =>
      spawnAsync(async (updateState) => {
        const price = await acts.score(sku);
        await sleep("3s");
        await acts.store(sku, price);
        return await updateState((now) => [String(price), [...now, sku]]);
      }, seen)),
    on(recount, ([sku], seen) =>
      spawnAsync(async () => {
        await acts.fetchPage(sku);
        return sku;
      }, seen)),
    on(close, (_, seen) => stop(seen)),
  ]);
  await acts.cleanUp(seen);
  await sleep("10s");
  await acts.notify("closed");
  return seen;
});
`,
    async drive(env) {
      const handle = await env.client.start("Stock", { id: "stock" });
      await env.advance("1s");
      await handle.update("restock", "nut");
      await handle.update("recount", "nut");
      await handle.update("restock", "bolt");
      await handle.signal("close");
      await handle.result();
    },
  },
  {
    name: "subscription",
    text: `${HEAD}
const pause = signal("pause");

export const main = workflow("Subscription", async (months: number) => {
  await acts.chargeCard("first");
  await acts.notify("welcome");
  const grace = random() < 2 ? "7 days" : "9 days";
  for (let month = 1; month < months; month++) {
    await sleep("30 days");
    await acts.chargeCard(month);
    if (month === 2) {
      await acts.score(month);
      await acts.notify("two months");
    }
  }
  await sleep(grace);
  await externalWorkflow("books").signal(pause);
  await acts.audit("ended");
  await near.format("ended");
  await acts.store("ended");
  return months;
});

export const books = workflow("Books", async () => {
  await waitForSignal(pause);
  return "noted";
});
`,
    async drive(env) {
      await env.client.start("Books", { id: "books" });
      return (await env.client.start("Subscription", { id: "subscription", args: [4] })).result();
    },
  },
];
