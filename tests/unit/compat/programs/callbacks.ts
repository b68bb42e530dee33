// Code that is called back: by promises, timers, triggers, thenables and generators, across scopes.
import * as wf from "@temporalio/workflow";

const acts = wf.proxyActivities({ startToCloseTimeout: "10s" });
const names = new Map<wf.CancellationScope, string>();

function note(step: string): void {
  const where = names.get(wf.CancellationScope.current()) ?? "root";
  acts[`${step}@${where}`]!().catch(() => {});
}

function scoped<T>(name: string, fn: () => Promise<T>): Promise<T> {
  const scope = new wf.CancellationScope();
  names.set(scope, name);
  return scope.run(fn);
}

export async function callbacks(): Promise<void> {
  // Promises' callbacks run in the scope that registered them.
  const chain = scoped("then", () => {
    const slept = wf.sleep(10);
    return slept.then(() => note("then.1")).then(async () => {
      await wf.sleep(5);
      note("then.2");
      throw new Error("x");
    }).catch((e: Error) => note(`then.${e.message}`)).finally(() => note("then.finally"));
  });
  const late = wf.sleep(15);
  scoped("early", async () => {
    late.then(() => note("late"));
    await wf.sleep(1);
  });
  await chain;
  note("chain");
  // Timers.
  const fired = new wf.Trigger<string>();
  await scoped("timer", async () => {
    setTimeout(() => note("timeout"), 10);
    setTimeout(
      async (what: string) => {
        note(`timeout.${what}`);
        await wf.sleep(5);
        note(`timeout.after.${what}`);
        fired.resolve(what);
      },
      15,
      "arg",
    );
    clearTimeout(setTimeout(() => note("never"), 5000));
    await wf.sleep(1);
    note("timer.set");
  });
  note(`fired.${await fired}`);
  // A trigger that belongs to a scope.
  const scope = new wf.CancellationScope();
  names.set(scope, "triggered");
  let trigger!: wf.Trigger<number>;
  const waiting = scope.run(async () => {
    trigger = new wf.Trigger<number>();
    try {
      return await trigger;
    } finally {
      note("trigger.finally");
    }
  });
  await wf.sleep(5);
  scope.cancel();
  await waiting.catch((e) => note(`trigger.${wf.isCancellation(e)}`));
  // Conditions are evaluated outside of every scope.
  let ready = 0;
  const seen: string[] = [];
  await Promise.all([
    scoped("waits", async () => {
      await wf.condition(() => {
        const where = names.get(wf.CancellationScope.current()) ?? "root";
        if (!seen.includes(where)) seen.push(where);
        return ready > 1;
      });
      note(`condition.${seen.join("-")}`);
    }),
    scoped("sets", async () => {
      for (; ready < 2; ready++) await wf.sleep(5);
      note("set");
    }),
  ]);
  // A promise that one scope makes and others wait for.
  const shared = scoped("maker", async () => {
    await wf.sleep(10);
    note("made");
    return "value";
  });
  await Promise.all(["p", "q"].map((name) =>
    scoped(name, async () => {
      const value = await shared;
      note(`shared.${value}`);
      await Promise.resolve();
      note("shared.later");
    })
  ));
  await wf.sleep(1);
}
