// Nexus operations to all ends: what workflow code hears of each, and in which order, ends up in
// names of activities.
import * as wf from "@temporalio/workflow";

// As `service()` and `operation()` of nexus-rpc make them.
const named = (name: string) =>
  ({ name }) as { name: string; inputType?: never; outputType?: never };
const desk = {
  name: "desk",
  operations: {
    echo: named("say-again"),
    refuses: named("refuses"),
    gives: named("gives"),
    bad: named("bad"),
    runs: named("runs"),
  },
};
// deno-lint-ignore no-explicit-any
const client = wf.createNexusServiceClient<any>({ endpoint: "desk", service: desk });
const acts = wf.proxyActivities({ startToCloseTimeout: "10s" });
let steps = 0;

const note = (step: unknown): Promise<unknown> => acts[`${steps++}.${step}`]!();

function told(error: unknown): string {
  const parts: string[] = [];
  for (
    let each = error as (Error & { type?: string; operation?: string }) | undefined;
    each instanceof Error;
  ) {
    parts.push([each.name, each.operation ?? each.type, each.message].filter(Boolean).join(" "));
    each = each.cause as typeof each;
  }
  return parts.join(" < ");
}

const outcome = (promise: Promise<unknown>) =>
  promise.then((value) => note(value), (error) => note(told(error)));

async function cancels(cancellationType: wf.NexusOperationCancellationType): Promise<void> {
  const scope = new wf.CancellationScope();
  await scope.run(async () => {
    const handle = await client.startOperation("runs", `waits for ${cancellationType}`, {
      cancellationType,
    });
    const ends = wf.CancellationScope.nonCancellable(() => outcome(handle.result()));
    await wf.CancellationScope.nonCancellable(() => wf.sleep(200));
    scope.cancel();
    await ends;
  });
}

export async function nexus(): Promise<number> {
  await outcome(client.executeOperation("echo", "a"));
  const { token, result } = await client.startOperation(desk.operations.echo, "b");
  await note(`${typeof token} ${token?.length}`);
  await outcome(result());
  for (const key of ["refuses", "gives", "bad"]) await outcome(client.executeOperation(key, "x"));
  await outcome(client.executeOperation({ name: "unheard-of" }, "x"));
  await outcome(client.executeOperation("runs", "fails"));
  // In the order in which their events stand in history.
  await Promise.all([1, 2, 3].map((n) => outcome(client.executeOperation("echo", `at once ${n}`))));
  await outcome(client.executeOperation("runs", "never ends", { scheduleToCloseTimeout: "1s" }));
  for (const type of Object.values(wf.NexusOperationCancellationType)) {
    // What is abandoned ends when the workflow has ended.
    if (type !== "ABANDON") await cancels(type);
  }
  const scope = new wf.CancellationScope();
  const unsent = outcome(scope.run(() => client.executeOperation("echo", "unsent")));
  scope.cancel();
  await unsent;
  await outcome(scope.run(() => client.executeOperation("echo", "never made")));
  await cancels("ABANDON");
  return steps;
}

/** Behind the operation `runs`. */
export async function behind(how: string): Promise<string> {
  if (how === "fails") throw wf.ApplicationFailure.nonRetryable("broken", "Broken");
  await wf.sleep("1 minute");
  return how;
}
