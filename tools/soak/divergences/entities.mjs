// Programs with handlers, canceled timers, try/finally, equal children and open runs, native and
// for Temporal.
import { strip } from "../verdicts/edits.mjs";

const NATIVE =
  `import { activities, executeChild, on, parallel, receive, reply, noreply, select, signal, sleep, spawnAsync, stop, timer, update, waitForSignal, workflow } from "temporalex/workflow";

const acts = activities<any>({ startToClose: "1m" });
`;

const COMPAT =
  `import { CancellationScope, condition, defineQuery, defineSignal, defineUpdate, executeChild, isCancellation, proxyActivities, setHandler, sleep } from "@temporalio/workflow";

const acts = proxyActivities<any>({ startToCloseTimeout: "1m" });
`;

/** Name, dialect, text, and what a client does; a run that the client does not end stays open. */
export const ENTITIES = [
  {
    name: "account",
    dialect: "native",
    text: `${NATIVE}
const deposit = update<[amount: number], number>("deposit");
const withdraw = update<[amount: number], number>("withdraw");
const freeze = signal("freeze");
const close = signal("close");

export const main = workflow("Account", async () => {
  await acts.audit("opened");
  const balance = await receive<number>(0, [
    on(deposit, async ([amount], balance) => {
      await acts.store(amount);
      return reply(balance + amount, balance + amount);
    }),
    on(withdraw, async ([amount], balance) => {
      await acts.score(amount);
      await sleep("2s");
      return reply(balance - amount, balance - amount);
    }),
    on(freeze, async (_, balance) => {
      await acts.notify("frozen");
      return noreply(balance);
    }),
    on(close, (_, balance) => stop(balance)),
  ]);
  await acts.cleanUp(balance);
  await sleep("1m");
  return balance;
});
`,
    async drive(env) {
      const handle = await env.client.start("Account", { id: "account" });
      await env.advance("1s");
      await handle.update("deposit", 10);
      await handle.update("withdraw", 3);
      await handle.signal("freeze");
      await env.advance("1s");
      await handle.signal("close");
      await handle.result();
    },
  },
  {
    name: "ticket",
    dialect: "native",
    text: `${NATIVE}
const assign = signal<[who: string]>("assign");
const comment = update<[text: string], string>("comment");

export const main = workflow("Ticket", async () => {
  await acts.audit("opened");
  const who = await waitForSignal(assign);
  await acts.notify(who);
  await receive<string[]>([], [
    on(comment, ([text], all) =>
      spawnAsync(async () => {
        await acts.store(text);
        await sleep("1s");
        return text;
      }, all)),
  ]);
  return "closed";
});
`,
    async drive(env) {
      const handle = await env.client.start("Ticket", { id: "ticket" });
      await env.advance("1s");
      await handle.signal("assign", "ada");
      await env.advance("1s");
      await handle.update("comment", "first");
      await handle.update("comment", "second");
    },
  },
  {
    name: "race",
    dialect: "native",
    text: `${NATIVE}
const answer = signal<[text: string]>("answer");

export const main = workflow("Race", async () => {
  await acts.notify("asked");
  const text = await select([
    on(answer, ([text]) => text),
    timer("5m", () => "nothing"),
  ]);
  await acts.store(text);
  const first = await select([
    on(() => acts.score(text), (score) => String(score)),
    timer("1h", () => "late"),
  ]);
  await acts.audit(first);
  await sleep("10s");
  return first;
});
`,
    async drive(env) {
      const handle = await env.client.start("Race", { id: "race" });
      await env.advance("1s");
      await handle.signal("answer", "yes");
      await handle.result();
    },
  },
  {
    name: "parcels",
    dialect: "native",
    text: `${NATIVE}
export const pack = workflow("Pack", async (box: number) => {
  await sleep("1s");
  return box;
});

export const wrap = workflow("Wrap", async (box: number) => box);

export const main = workflow("Parcels", async () => {
  await acts.reserveStock("all");
  await parallel([
    () => executeChild(pack, { args: [1] }),
    () => executeChild(pack, { args: [2] }),
    () => executeChild(pack, { args: [3] }),
  ]);
  try {
    await acts.ship("boxes");
    await sleep("5s");
    await sleep("5s");
  } finally {
    await acts.cleanUp("tables");
    await acts.audit("shipped");
  }
  return "done";
});
`,
    async drive(env) {
      await (await env.client.start("Parcels", { id: "parcels" })).result();
    },
  },
  {
    name: "approval",
    dialect: "compat",
    text: `${COMPAT}
export const approve = defineSignal<[string]>("approve");
export const amend = defineUpdate<string, [string]>("amend");
export const status = defineQuery<string>("status");

export async function Approval(): Promise<string> {
  let by = "";
  let text = "draft";
  setHandler(status, () => text);
  setHandler(approve, (name) => {
    by = name;
  });
  setHandler(amend, async (next) => {
    await acts.store(next);
    text = next;
    return text;
  });
  await acts.notify("asked");
  if (!(await condition(() => by !== "", "1 day"))) {
    await acts.audit("late");
    return "late";
  }
  await acts.audit(by);
  await sleep("10s");
  return text;
}
`,
    async drive(env) {
      const handle = await env.client.start("Approval", { id: "approval" });
      await env.advance("1s");
      await handle.update("amend", "second");
      await handle.signal("approve", "ada");
      await handle.result();
    },
  },
  {
    name: "trip",
    dialect: "compat",
    text: `${COMPAT}
export const cancelTrip = defineSignal("cancel-trip");

export async function Trip(): Promise<string> {
  let isCanceled = false;
  const scope = new CancellationScope();
  setHandler(cancelTrip, () => {
    isCanceled = true;
    scope.cancel();
  });
  await acts.reserveStock("seat");
  try {
    await scope.run(async () => {
      await acts.chargeCard("fare");
      await sleep("2 days");
      await acts.ship("ticket");
    });
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await acts.refund("fare");
    await acts.notify("canceled");
  } finally {
    await acts.cleanUp("seat");
    await sleep("5s");
  }
  return isCanceled ? "canceled" : "done";
}
`,
    async drive(env) {
      const handle = await env.client.start("Trip", { id: "trip" });
      await env.advance("1s");
      await handle.signal("cancel-trip");
      await handle.result();
    },
  },
  {
    name: "batch",
    dialect: "compat",
    text: `${COMPAT}
export const more = defineSignal<[number]>("more");

export async function Piece(size: number): Promise<number> {
  await sleep("1s");
  return size;
}

export async function Batch(): Promise<number> {
  let wanted = 0;
  setHandler(more, (n) => {
    wanted += n;
  });
  const sizes = await Promise.all([
    executeChild(Piece, { args: [1] }),
    executeChild(Piece, { args: [2] }),
    executeChild(Piece, { args: [3] }),
  ]);
  await acts.store(sizes.length);
  await CancellationScope.cancellable(async () => {
    await Promise.race([
      sleep("1h"),
      condition(() => wanted > 1),
    ]);
    CancellationScope.current().cancel();
  });
  await acts.audit(wanted);
  await condition(() => wanted > 99);
  return wanted;
}
`,
    async drive(env) {
      const handle = await env.client.start("Batch", { id: "batch" });
      await env.advance("3s");
      await handle.signal("more", 1);
      await handle.signal("more", 1);
      await env.advance("3s");
    },
  },
];

/** Returns the text as JavaScript. */
export const entityCode = ({ text }) => strip(text);
