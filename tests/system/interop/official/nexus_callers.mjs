// A program for `@temporalio/workflow` that calls Nexus operations with every outcome, for workers
// that alternate; and the workflow that implements its operations.
import * as wf from "@temporalio/workflow";
import * as nexus from "nexus-rpc";

const { operation } = nexus;
export const desk = nexus.service("desk", {
  echo: operation({ name: "say-again" }),
  nothing: operation(),
  refuses: operation(),
  gives: operation(),
  badRequest: operation(),
  busy: operation(),
  runs: operation(),
});

const client = wf.createNexusServiceClient({ endpoint: "desk", service: desk });

/** An error and its causes, without what differs from run to run. */
function told(error) {
  const parts = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    const {
      name,
      message,
      type,
      endpoint,
      service,
      operation,
      nonRetryable,
      timeoutType,
      retryable,
    } = each;
    const more = { type, endpoint, service, operation, nonRetryable, timeoutType, retryable };
    const kind = each instanceof nexus.HandlerError
      ? "of a handler"
      : each instanceof wf.TemporalFailure
      ? "of Temporal"
      : "";
    const token = "operationToken" in each
      ? (each.operationToken ? "with token" : "without token")
      : "";
    parts.push(`${name}: ${message} ${kind} ${token} ${JSON.stringify(more)}`);
  }
  return parts.join(" < ");
}

const outcome = (promise) => promise.then((value) => `value ${JSON.stringify(value)}`, told);

/**
 * Cancels an operation that has started, and stays for a while: later reports of the operation are
 * ignored.
 */
async function cancelStarted(cancellationType, how, staysMs = 0) {
  const scope = new wf.CancellationScope();
  const handle = await scope.run(() =>
    client.startOperation("runs", how, { cancellationType, summary: "to be cancelled" })
  );
  await wf.sleep(100);
  scope.cancel();
  scope.cancel();
  const said = await outcome(handle.result());
  if (staysMs > 0) await wf.sleep(staysMs);
  return [handle.operation, said];
}

/** Cancels an operation whose start the server has not reported: its handler is busy. */
async function cancelUnstarted(cancellationType, operation = "busy", input = "x") {
  const scope = new wf.CancellationScope();
  // Where the cancellation waits, the timeout is the end of it.
  const scheduleToCloseTimeout = cancellationType.startsWith("WAIT") ? "9s" : "5m";
  const call = scope.run(() =>
    client.executeOperation(operation, input, { cancellationType, scheduleToCloseTimeout })
  );
  const said = outcome(call);
  await wf.sleep(1);
  scope.cancel();
  return [await said];
}

async function cancelUnsent(cancellationType) {
  const scope = new wf.CancellationScope();
  const said = outcome(
    scope.run(() => client.executeOperation(desk.operations.echo, "x", { cancellationType })),
  );
  scope.cancel();
  const never = outcome(scope.run(() => client.executeOperation(desk.operations.echo, "x")));
  return [await said, await never, await outcome(client.executeOperation("echo", "after all"))];
}

/** Cancels in the task in which the server says that the operation has started. */
async function cancelAtItsStart(cancellationType) {
  const scope = new wf.CancellationScope();
  const handle = await scope.run(() =>
    client.startOperation("runs", "waits", { cancellationType })
  );
  scope.cancel();
  return [await outcome(handle.result())];
}

const TYPES = Object.values(wf.NexusOperationCancellationType);

const cases = {
  result: async () => [
    await outcome(client.executeOperation(desk.operations.echo, "a", { summary: "asks" })),
    await outcome(client.executeOperation("nothing", undefined)),
  ],
  handle: async () => {
    const at = await client.startOperation("echo", "b");
    const later = await client.startOperation(desk.operations.runs, "completes", {
      scheduleToCloseTimeout: "10 minutes",
    });
    const { service, operation, token } = later;
    return [
      at.token ?? "none",
      await at.result(),
      service,
      operation,
      typeof token,
      await later.result(),
      await later.result(),
    ];
  },
  several: async () => {
    const calls = ["completes", "fails", "completes"].map((how) =>
      outcome(client.executeOperation("runs", how))
    );
    const echoes = ["c", "d"].map((text) => outcome(client.executeOperation("echo", text)));
    return await Promise.all([...calls, wf.sleep(20), ...echoes]);
  },
  refused: async () => [
    await outcome(client.executeOperation("refuses", "why")),
    await outcome(client.executeOperation("gives", "up")),
  ],
  badRequest: async () => [await outcome(client.executeOperation("badRequest", "x"))],
  noSuchOperation:
    async () => [await outcome(client.executeOperation({ name: "unheard-of" }, "x"))],
  fails: async () => [
    await outcome(client.executeOperation("runs", "fails")),
    await outcome(client.executeOperation("runs", "withdraws")),
  ],
  timesOut: async () => [
    await outcome(client.executeOperation("busy", "x", { scheduleToCloseTimeout: "4s" })),
    await outcome(client.executeOperation("runs", "waits", { scheduleToCloseTimeout: "4s" })),
  ],
  cancelUnsent: () => Promise.all(TYPES.map(cancelUnsent)),
  cancelAtItsStart: () => Promise.all(TYPES.map(cancelAtItsStart)),
  waitCompleted: () => cancelStarted("WAIT_CANCELLATION_COMPLETED", "waits"),
  waitCompletedInVain: () => cancelStarted("WAIT_CANCELLATION_COMPLETED", "does not listen"),
  waitRequested: () => cancelStarted("WAIT_CANCELLATION_REQUESTED", "waits", 500),
  waitRequestedInVain: () =>
    cancelStarted("WAIT_CANCELLATION_REQUESTED", "does not listen", 35_000),
  tryCancel: () => cancelStarted("TRY_CANCEL", "waits", 500),
  tryCancelInVain: () => cancelStarted("TRY_CANCEL", "does not listen", 35_000),
  abandon: () => cancelStarted("ABANDON", "waits"),
  unstartedWaitCompleted: () => cancelUnstarted("WAIT_CANCELLATION_COMPLETED"),
  unstartedWaitRequested: () => cancelUnstarted("WAIT_CANCELLATION_REQUESTED"),
  unstartedTryCancel: () => cancelUnstarted("TRY_CANCEL"),
  unstartedAbandon: () => cancelUnstarted("ABANDON"),
};
export const names = Object.keys(cases);

/**
 * What the official worker cannot live through (docs/dev/semantics/commands.md#nexus-operations).
 */
const ours = {
  abandonAndStay: () => cancelStarted("ABANDON", "does not listen", 35_000),
  unstartedAndStay: async () => {
    const said = await cancelUnstarted("TRY_CANCEL", "runs", "starts late");
    await wf.sleep(7000);
    return said;
  },
};

export async function caller(what) {
  return await (cases[what] ?? ours[what])();
}

/** Is cancelled itself while it waits. */
export async function cancelledCaller() {
  return await client.executeOperation("runs", "waits");
}

/** The failure of an operation is the workflow's own. */
export async function failedCaller(operation) {
  return await client.executeOperation(operation, "x");
}

/** Behind the operation `runs`. */
export async function behind(how) {
  if (how === "fails") throw wf.ApplicationFailure.nonRetryable("broken", "Broken", 7);
  if (how === "withdraws") throw new wf.CancelledFailure("withdrawn");
  if (how === "waits") await wf.sleep("1 hour");
  if (how === "does not listen") await wf.CancellationScope.nonCancellable(() => wf.sleep("30s"));
  return `${how} at last`;
}
