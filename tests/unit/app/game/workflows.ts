// Workflows of the tests of transact.
import {
  parallel,
  publishState,
  query,
  reducers,
  signal,
  sleep,
  subscribe,
  transact,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../../../ts/workflow/mod.ts";

const game = reducers<typeof import("./reducers.ts")>();
export const go = signal("go");
export const killed = signal<[by: string]>("killed");

/** Ends with who killed one of the kind. */
export const hunts = workflow("Hunts", async (kind: string) => {
  subscribe(killed, kind);
  const by = await waitForSignal(killed);
  return `${kind} by ${by}`;
});

export const fight = workflow("Fight", async (name: string, blows: number[]) => {
  const id = await transact(game.spawn, name, 100);
  let hp = 100;
  for (const blow of blows) {
    transact(game.logLine, `${name} is hit for ${blow}`);
    hp = (await transact(game.applyDamage, id, blow)).hp;
    await sleep(1);
  }
  return hp;
});

export const forgets = workflow("Forgets", async () => {
  transact(game.logLine, "one");
  transact(game.logLine, "two");
  await waitForSignal(go);
  return "gone";
});

/** As the document's statements name it. */
export const buff = workflow("buff", async () => {
  publishState({ stacks: 2 });
  await waitForSignal(go);
});

export const survives = workflow("Survives", async () => {
  transact(game.logLine, "before");
  const caught = await transact(game.logAndThrow, "never").then(
    () => "nothing",
    (e: Error) => `${(e as { type?: string }).type}: ${e.message}`,
  );
  transact(game.logLine, "after");
  return caught;
});

export const unheard = workflow("Unheard", async () => {
  transact(game.failsAtFirst, "try", 2);
  await sleep(1);
  return workflowInfo().attempt;
});

export const needed = workflow("Needed", async (how: "caught" | "forgotten" | "parallel") => {
  transact(game.logLine, `${how} before`);
  const call = () => transact.required(game.logAndThrow, "never");
  if (how === "parallel") await parallel([async () => await call(), () => sleep("1 day")]);
  else if (how === "forgotten") void call();
  else {
    try {
      await call();
    } catch {
      transact(game.logLine, "caught");
    } finally {
      transact(game.logLine, "finally");
    }
  }
  await sleep("1 day");
  return "not reached";
});

/** Its first task ends the run. */
export const neededAtEnd = workflow("NeededAtEnd", async (times: number) => {
  void transact.required(game.failsAtFirst, "at the end", times);
  return "at last";
});

export const many = workflow("Many", async (n: number) => {
  const all = await parallel(Array.from({ length: n }, (_, i) => async () => {
    const id = await transact(game.spawn, `npc ${i}`, i + 1);
    return (await transact(game.applyDamage, id, 1)).hp;
  }));
  return all.map((each) => (each.ok ? each.value : String(each.error)));
});

/** A row a day. */
export const sleepy = workflow("Sleepy", async () => {
  for (let day = 0; day < 3; day++) {
    transact(game.logLine, `day ${day}`);
    await sleep("1 day");
  }
  return 3;
});

export const wrong = workflow("Wrong", async (which: "waits" | "writesEngine" | "unknown") => {
  const reducer = which === "unknown" ? { name: "unknown" } : game[which];
  return await transact(reducer as typeof game.logLine, "").then(
    () => "nothing",
    (e: Error) => e.message,
  );
});

export const status = query<string>("status");
