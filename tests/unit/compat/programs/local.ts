// Local activities across scopes, with retries that wait in timers of the workflow, mixed with
// ordinary activities and rejected ones.
import * as wf from "@temporalio/workflow";

const acts = wf.proxyActivities({ startToCloseTimeout: "10s" });
const inside = wf.proxyLocalActivities({
  startToCloseTimeout: "5s",
  localRetryThreshold: "50ms",
  retry: { initialInterval: "200ms", backoffCoefficient: 1, maximumAttempts: 5 },
});
const names = new Map<wf.CancellationScope, string>();

function here(): string {
  return names.get(wf.CancellationScope.current()) ?? "root";
}

function scoped<T>(name: string, fn: () => Promise<T>): Promise<T> {
  const scope = new wf.CancellationScope();
  names.set(scope, name);
  return scope.run(fn);
}

export async function local(): Promise<void> {
  await inside[`first@${here()}`]!();
  await Promise.all(["a", "b"].map((name) =>
    scoped(name, async () => {
      await inside[`${name}.1@${here()}`]!();
      await acts[`${name}.2@${here()}`]!();
      await inside[`fail.${name}@${here()}`]!();
      await acts[`${name}.3@${here()}`]!();
      await inside[`${name}.4@${here()}`]!();
    })
  ));
  await scoped("cancelled", async () => {
    wf.CancellationScope.current().cancel();
    // Refused, and yet each uses up a number.
    await inside["refused"]!().catch(() => {});
    await acts["refused"]!().catch(() => {});
  });
  await inside[`later@${here()}`]!();
  await acts[`last@${here()}`]!();
}
