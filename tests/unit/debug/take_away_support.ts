// Two programs, one of each model, each with ten edits that part from the histories of the first
// edition.
import { API, createRealmFromText } from "../../cases/realm_host.ts";

const NATIVE = `${API}
const acts = api.activities({ startToClose: "10s" });
export const add = signal("add");
export const done = signal("done");
export const main = workflow("Main", async (who) => {
  const items = await receive([], [on(add, ([item], s) => noreply([...s, item])), on(done, (_, s) => stop(s))]);
  const priced = [];
  for (const item of items.slice(0, 3)) {
    priced.push(await acts.price(item));
  }
  await sleep(1000);
  const receipt = await acts.charge(who, priced.length);
  await sleep(2000);
  await acts.ship(receipt);
  return receipt;
});
`;

const COMPAT = `import * as wf from "@temporalio/workflow";
const acts = wf.proxyActivities({ startToCloseTimeout: "10s" });
export async function Main(who) {
  const items = [];
  let done = false;
  wf.setHandler(wf.defineSignal("add"), (item) => void items.push(item));
  wf.setHandler(wf.defineSignal("done"), () => void (done = true));
  await wf.condition(() => done);
  const priced = [];
  for (const item of items.slice(0, 3)) {
    priced.push(await acts.price(item));
  }
  await wf.sleep(1000);
  const receipt = await acts.charge(who, priced.length);
  await wf.sleep(2000);
  await acts.ship(receipt);
  return receipt;
}
`;

const EDITS: readonly (readonly [from: string, to: string])[] = [
  ["  const priced = [];\n", "  const priced = [];\n  await SLEEP(5);\n"],
  ["  await SLEEP(1000);\n", ""],
  ["acts.charge(", "acts.pay("],
  ["  await SLEEP(2000);\n", "  await acts.note(receipt);\n"],
  ["  await acts.ship(receipt);\n", ""],
  ["slice(0, 3)", "slice(0, 2)"],
  [
    "  await SLEEP(1000);\n  const receipt = await acts.charge(who, priced.length);\n",
    "  const receipt = await acts.charge(who, priced.length);\n  await SLEEP(1000);\n",
  ],
  [
    "    priced.push(await acts.price(item));\n",
    "    priced.push(await acts.price(item));\n    await SLEEP(1);\n",
  ],
  ["  return receipt;\n", "  await acts.thank(who);\n  return receipt;\n"],
  ["acts.price(item)", "acts.value(item)"],
];

export interface Edited {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** Twenty: ten of each. */
export const EDITED: readonly Edited[] = (["native", "compat"] as const).flatMap((of) => {
  const before = of === "native" ? NATIVE : COMPAT;
  const sleep = of === "native" ? "sleep" : "wf.sleep";
  return EDITS.map(([from, to], i) => {
    const after = before.replace(from.replaceAll("SLEEP", sleep), to.replaceAll("SLEEP", sleep));
    if (after === before) throw new Error(`edit ${i} changes nothing`);
    return { name: `${of} ${i + 1}`, before, after };
  });
});

/** The history of a run with so many signals. */
export async function recorded(text: string, signals = 20): Promise<Uint8Array> {
  const h = await createRealmFromText(text);
  try {
    const run = h.start("Main", { args: ["ada"] });
    const task = async () => {
      await run.task();
      if (run.failure !== "") throw new Error(run.failure);
    };
    await task();
    for (let i = 0; i < signals; i++) {
      run.server.signal("add", `item ${i}`);
      await task();
    }
    run.server.signal("done");
    await task();
    while (run.server.closed === undefined) {
      for (const id of [...run.server.activities.keys()]) {
        run.server.completeActivity(id, `answer ${id}`);
      }
      for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
      await task();
    }
    return run.server.history();
  } finally {
    await h.dispose();
  }
}
