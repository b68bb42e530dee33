// Workflows for Temporal's own TypeScript SDK, of which each shows one thing. scenarios.mjs runs
// them.
import * as wf from "@temporalio/workflow";

const acts = wf.proxyActivities({
  startToCloseTimeout: "20s",
  retry: { initialInterval: 10, maximumInterval: 20, maximumAttempts: 4 },
});
const beating = wf.proxyActivities({
  startToCloseTimeout: "60s",
  heartbeatTimeout: "30s",
  retry: { initialInterval: 10, maximumAttempts: 2 },
  cancellationType: "WAIT_CANCELLATION_COMPLETED",
});
const fading = wf.proxyActivities({
  startToCloseTimeout: "60s",
  heartbeatTimeout: "3s",
  retry: { initialInterval: 10, maximumAttempts: 2 },
});
/**
 * Long enough for everybody to have seen what came before, also on a busy machine: then histories
 * have one order.
 */
const A_WHILE = 1500;
const local = wf.proxyLocalActivities({
  startToCloseTimeout: "5s",
  retry: { initialInterval: 10, maximumAttempts: 3 },
});

/** A failure and its causes, as a program sees them. */
function told(error) {
  if (!(error instanceof Error)) return String(error);
  const { name, message, cause, type, retryState, nonRetryable, details, timeoutType } = error;
  return {
    name,
    message,
    ...(type !== undefined && type !== null && { type }),
    ...(retryState !== undefined && { retryState }),
    ...(nonRetryable !== undefined && nonRetryable !== null && { nonRetryable }),
    ...(details !== undefined && details !== null && { details }),
    ...(timeoutType !== undefined && { timeoutType }),
    ...(cause !== undefined && { cause: told(cause) }),
  };
}

const outcome = (promise) =>
  promise.then((value) => ({ value }), (error) => ({ error: told(error) }));

export const hello = async (name) =>
  `${await acts.greet("hello", name)}, from ${wf.workflowInfo().workflowType}`;

/** What the run knows of itself, without what differs from run to run. */
export async function info() {
  const {
    workflowType,
    attempt,
    namespace,
    taskQueue,
    memo,
    continuedFromExecutionRunId,
    historyLength,
    searchAttributes,
  } = wf
    .workflowInfo();
  await wf.sleep(1);
  return {
    workflowType,
    attempt,
    namespace,
    taskQueue,
    memo,
    continued: continuedFromExecutionRunId !== undefined,
    historyLength,
    later: wf.workflowInfo().historyLength,
    searchAttributes,
  };
}

export async function retries() {
  return {
    thirdTime: await outcome(acts.failsUntil(3)),
    gaveUp: await outcome(acts.failsUntil(99)),
    final: await outcome(acts.failsForGood("no", { code: 7 })),
    together: await Promise.all([1, 2, 3, 4, 5].map((n) => acts.echo(n))),
  };
}

export async function timeouts() {
  const short = wf.proxyActivities({ startToCloseTimeout: 200, retry: { maximumAttempts: 1 } });
  const absent = wf.proxyActivities({
    taskQueue: "unpolled",
    scheduleToStartTimeout: 200,
    startToCloseTimeout: "5s",
  });
  return {
    startToClose: await outcome(short.hangs(2000)),
    scheduleToStart: await outcome(absent.echo(1)),
  };
}

/** The first attempt stops sending heartbeats; the second gets the details that the first left. */
export const heartbeats = () => outcome(fading.fallsSilent());

export async function cancelsActivity() {
  const scope = new wf.CancellationScope();
  const result = scope.run(() => outcome(beating.beatsUntilCancelled()));
  await wf.sleep(A_WHILE);
  scope.cancel();
  return result;
}

export const completedElsewhere = () => outcome(beating.handsOver());

// ---------------------------------------------------------------------------------------- messages

export const add = wf.defineSignal("add");
export const close = wf.defineSignal("close");
export const total = wf.defineQuery("total");
export const broken = wf.defineQuery("broken");
export const deposit = wf.defineUpdate("deposit");

export async function account(start = 0) {
  let sum = start;
  let closed = false;
  const log = [];
  wf.setHandler(add, (amount) => {
    sum += amount;
    log.push(`signal ${amount}`);
  });
  wf.setHandler(close, () => void (closed = true));
  wf.setHandler(total, () => sum);
  wf.setHandler(broken, () => {
    throw wf.ApplicationFailure.nonRetryable("the query is broken");
  });
  wf.setHandler(
    deposit,
    async (amount) => {
      if (amount > 1000) {
        throw wf.ApplicationFailure.create({
          message: "too much",
          type: "Limit",
          details: [amount],
        });
      }
      const checked = await acts.echo(amount);
      sum += checked;
      log.push(`update ${amount}`);
      return sum;
    },
    {
      validator: (amount) => {
        if (!(amount > 0)) throw new Error(`not a positive amount: ${amount}`);
      },
    },
  );
  await wf.condition(() => closed && wf.allHandlersFinished());
  return { sum, log };
}

// --------------------------------------------------------------------------------- time and scopes

export async function timers() {
  const log = [];
  const told = (name) => () => log.push(name);
  await Promise.all([
    wf.sleep(120).then(told("c")),
    wf.sleep(10).then(told("a")),
    wf.sleep(60).then(told("b")),
  ]);
  const scope = new wf.CancellationScope({ cancellable: true });
  const slept = scope.run(() => outcome(wf.sleep("1 day")));
  scope.cancel();
  const timed = await outcome(wf.CancellationScope.withTimeout(20, () => wf.sleep("1 hour")));
  const condition = [await wf.condition(() => false, 15), await wf.condition(() => true, 15)];
  return { log, cancelled: await slept, timed, condition };
}

export async function cancelled() {
  const log = [];
  try {
    await wf.CancellationScope.cancellable(async () => {
      try {
        await wf.sleep("1 day");
      } catch (error) {
        log.push(error.name);
        throw error;
      }
    });
  } catch (error) {
    log.push(wf.isCancellation(error));
    await wf.CancellationScope.nonCancellable(async () => {
      await wf.sleep(10);
      log.push(await acts.greet("bye", "all"));
    });
    if (log.length < 3) throw error;
  }
  return log;
}

export async function dies() {
  await wf.sleep("1 day");
}

export async function continues(count, log = []) {
  log.push(`${count} ${wf.workflowInfo().continuedFromExecutionRunId !== undefined}`);
  if (count > 0) await wf.continueAsNew(count - 1, log);
  return { log, memo: wf.workflowInfo().memo };
}

// ----------------------------------------------------------------------------------------- markers

export async function locals() {
  return {
    echoed: await outcome(local.echo("near")),
    thirdTime: await outcome(local.failsUntil(3)),
    gaveUp: await outcome(local.failsForGood("no", null)),
    uuid: wf.uuid4().length,
    random: Math.random() < 1,
  };
}

export async function patches() {
  const first = wf.patched("new-way");
  await wf.sleep(1);
  wf.deprecatePatch("old-way");
  return [first, wf.patched("new-way"), await acts.echo(first ? "new" : "old")];
}

// ----------------------------------------------------------------------------------- ends of a run

export async function fails(kind) {
  await wf.sleep(1);
  if (kind === "application") {
    throw wf.ApplicationFailure.create({
      message: "no",
      type: "Refused",
      details: [{ why: "because" }],
      nonRetryable: true,
    });
  }
  if (kind === "activity") await acts.failsForGood("deep", [1]);
  if (kind === "retried") {
    if (wf.workflowInfo().attempt < 3) {
      throw wf.ApplicationFailure.retryable(`attempt ${wf.workflowInfo().attempt}`);
    }
    return wf.workflowInfo().attempt;
  }
  return kind;
}

/** Fails the workflow task, not the workflow, until the code is fixed. */
export function breaks() {
  throw new TypeError("a bug");
}

export async function remembers() {
  const before = wf.workflowInfo().memo;
  wf.upsertMemo({ note: "changed", gone: null });
  await wf.sleep(1);
  const info = wf.workflowInfo();
  return { before, after: info.memo, keys: Object.keys(info).sort() };
}

/** The attributes with the types that the service gave them, at the start and after a change. */
export async function typedAttributes() {
  const all = () =>
    wf.workflowInfo().typedSearchAttributes.getAll().map((
      { key, value },
    ) => [key.name, key.type, value]).sort();
  const before = all();
  wf.upsertSearchAttributes({ AnyDouble: [2], AnyList: ["c", "d"], AnyInt: [5] });
  await wf.sleep(1);
  return [before, all()];
}

export async function attributes() {
  wf.upsertSearchAttributes({ UnregisteredAttribute: ["x"] });
  await wf.sleep(1);
}

// --------------------------------------------------------------------------------- other workflows

/** Histories are compared event by event: no task may time out because the machine is busy. */
const workflowTaskTimeout = "60s";

export async function parent(how) {
  const child = await wf.startChild(obeys, {
    args: ["returns"],
    workflowId: `${wf.workflowInfo().workflowId}-child`,
    workflowTaskTimeout,
    ...how,
  });
  return outcome(child.result());
}

/** A child that acts on its parent's messages, after the parent has seen its start. */
export async function obeys(how, next = 0) {
  if (how === "waits") await wf.sleep("1h");
  if (how === "lingers") {
    // Its parent learns that it was asked to, and then that it has stopped.
    await wf.sleep("1h").catch(async (error) => {
      await wf.CancellationScope.nonCancellable(() => wf.sleep(A_WHILE));
      throw error;
    });
  }
  await wf.sleep(A_WHILE);
  if (how === "fails") {
    throw wf.ApplicationFailure.nonRetryable("as told", "Told", 7);
  }
  if (how === "retried" && wf.workflowInfo().attempt < 2) {
    throw wf.ApplicationFailure.retryable("again");
  }
  if (how === "continues" && next < 2) await wf.continueAsNew(how, next + 1);
  const { parent, root } = wf.workflowInfo();
  return [how, next, parent?.workflowId, root?.workflowId];
}

export async function parentOf(how, options = {}) {
  const { workflowId } = wf.workflowInfo();
  const child = {
    workflowId: `${workflowId}-child`,
    workflowTaskTimeout,
    args: [how],
    ...options,
  };
  if (how !== "cancelled") return outcome(wf.executeChild(obeys, child));
  const scope = new wf.CancellationScope();
  const result = scope.run(() => outcome(wf.executeChild(obeys, { ...child, args: ["lingers"] })));
  await wf.sleep(A_WHILE);
  scope.cancel();
  return result;
}

/** Ends when its child has begun. */
export async function leaves(policy) {
  const options = {
    workflowId: `${wf.workflowInfo().workflowId}-child`,
    parentClosePolicy: policy,
    workflowTaskTimeout,
    args: ["waits"],
  };
  await wf.startChild(obeys, options);
  await wf.sleep(A_WHILE);
}

/** A child may be signaled right after its start, and reports to its parent what it got. */
export async function talks() {
  const child = await wf.startChild(talksBack, {
    workflowId: `${wf.workflowInfo().workflowId}-child`,
    workflowTaskTimeout,
  });
  let heard = 0;
  wf.setHandler(add, (n) => void (heard += n));
  await child.signal(add, 5);
  await wf.condition(() => heard > 0);
  return [heard, await child.result()];
}
export async function talksBack() {
  let heard = 0;
  wf.setHandler(add, (n) => void (heard += n));
  await wf.condition(() => heard > 0);
  await wf.getExternalWorkflowHandle(wf.workflowInfo().parent.workflowId)
    .signal(add, heard * 2);
  return heard;
}

export async function signalsOther(id) {
  return outcome(wf.getExternalWorkflowHandle(id).signal(add, 5));
}

export async function cancelsOther(id) {
  return outcome(wf.getExternalWorkflowHandle(id).cancel());
}

/** Many commands in one task, many tasks in one run. */
export async function busy(rounds, width) {
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    const results = await Promise.all(
      Array.from(
        { length: width },
        (_, i) => (i % 3 === 0 ? wf.sleep(1).then(() => 1) : acts.echo(i)),
      ),
    );
    sum += results.reduce((a, b) => a + b, 0);
  }
  return sum;
}
