// For Temporal's own worker: a child of our parents, and parents of our children.
import * as wf from "@temporalio/workflow";

export async function officialChild(kind) {
  let released;
  wf.setHandler(wf.defineSignal("release"), (by) => void (released = by));
  await wf.condition(() => released !== undefined);
  if (kind === "fails") throw wf.ApplicationFailure.nonRetryable("it was to fail", "Wanted", kind);
  return `${kind}, released ${released}`;
}

/** Parent of a child that another program's worker runs. */
export async function officialParent(taskQueue) {
  const doubled = await wf.executeChild("Quick", { taskQueue, args: [21] });
  const child = await wf.startChild("Patient", { taskQueue, args: [false] });
  await child.signal("release", "officially");
  const failed = await wf.executeChild("Failing", { taskQueue, args: ["this"] }).catch((
    e,
  ) => [e.name, e.cause.type, e.cause.message]);
  const scope = new wf.CancellationScope();
  const cancelled = await scope.run(() =>
    wf.startChild("Patient", { taskQueue, args: [false], workflowId: "officially-cancelled" })
  );
  const requested = await scope.run(() =>
    wf.startChild("Patient", {
      taskQueue,
      args: [true],
      cancellationType: "WAIT_CANCELLATION_REQUESTED",
    })
  );
  scope.cancel();
  return [
    ...[doubled.doubled, await child.result(), failed],
    await cancelled.result().catch((e) => [e.name, wf.isCancellation(e)]),
    await requested.result().catch((e) => e.name),
  ];
}
