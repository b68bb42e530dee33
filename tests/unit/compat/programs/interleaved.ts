// Scopes whose continuations interleave in the same drains. Every step schedules an activity that
// is named after the step and the scope in which the code runs, so a recorded history shows the
// scope of each step and the order of the steps.
import * as wf from "@temporalio/workflow";

const acts = wf.proxyActivities({ startToCloseTimeout: "10s" });
const names = new Map<wf.CancellationScope, string>();

/** Schedules `<step>@<scope>` without waiting. */
function note(step: string): void {
  const where = names.get(wf.CancellationScope.current()) ?? "root";
  acts[`${step}@${where}`]!().catch(() => {});
}

function scoped<T>(name: string, fn: () => Promise<T>): Promise<T> {
  const scope = new wf.CancellationScope();
  names.set(scope, name);
  return scope.run(fn);
}

async function worker(name: string, rounds: number): Promise<string> {
  for (let i = 0; i < rounds; i++) {
    await wf.sleep(20);
    note(`${name}.${i}`);
    await scoped(`${name}-inner${i}`, async () => {
      await Promise.resolve();
      note(`${name}.${i}.in`);
      try {
        await wf.sleep(20);
        note(`${name}.${i}.slept`);
        if (i === 1) throw new Error(name);
      } catch (e) {
        note(`${name}.${i}.caught.${(e as Error).message}`);
        await null;
      } finally {
        note(`${name}.${i}.finally`);
      }
    });
    note(`${name}.${i}.out`);
  }
  return name;
}

export async function interleaved(): Promise<string[]> {
  const all = ["a", "b", "c"].map((name) => scoped(name, () => worker(name, 2)));
  const done = await Promise.all(all);
  note("all");
  const first = await Promise.race([
    scoped("slow", () => wf.sleep(200).then(() => "slow")),
    scoped("fast", () => wf.sleep(10).then(() => "fast")),
  ]);
  note(`first.${first}`);
  const settled = await Promise.allSettled([
    scoped("rejects", async () => {
      await wf.sleep(10);
      note("rejecting");
      throw new Error("x");
    }),
    scoped("resolves", async () => {
      await wf.sleep(10);
      note("resolving");
      return 1;
    }),
  ]);
  note(`settled.${settled.map((one) => one.status).join()}`);
  await wf.sleep(5);
  return done;
}
