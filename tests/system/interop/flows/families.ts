// Parents, children and neighbors on a real server. Pure: their histories are replayed in the
// browser, too.
import {
  ApplicationFailure,
  ChildWorkflowFailure,
  continueAsNew,
  defineSearchAttributeKey,
  executeChild,
  externalWorkflow,
  parallel,
  shield,
  signal,
  sleep,
  spawn,
  startChild,
  upsertMemo,
  upsertSearchAttributes,
  waitForSignal,
  workflow,
  workflowInfo,
} from "temporalex/workflow";

export const release = signal<[string]>("release");
export const stage = defineSearchAttributeKey("Stage", "KEYWORD");
export const score = defineSearchAttributeKey("Score", "INT");

/** An error and its causes in a few words. */
function describeError(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { type } = error as ApplicationFailure;
  return [
    `${error.name}: ${error.message}${type === undefined ? "" : ` (${type})`}`,
    ...describeError(error.cause),
  ];
}

export const quick = workflow("Quick", async (n: number) => {
  const { parent, root } = workflowInfo();
  await sleep(1);
  return { doubled: n * 2, parent: parent?.workflowId, root: root?.workflowId };
});

export const failing = workflow("Failing", async (kind: string): Promise<number> => {
  if (kind === "late") await sleep("1 hour");
  const { attempt } = workflowInfo();
  if (kind === "retried" && attempt === 3) return attempt;
  throw new ApplicationFailure(`${kind} fails`, {
    type: "Kind",
    nonRetryable: kind !== "retried",
    details: [kind],
  });
});

/** Waits to be released. Asked to cancel it does, or cleans up first and ends well. */
export const patient = workflow("Patient", async (swallows: boolean): Promise<string> => {
  try {
    return await waitForSignal(release);
  } catch (error) {
    if (!swallows) throw error;
    await shield(() => sleep(200));
    return "swallowed";
  }
});

/** Every way in which a child can end. `taken`: the id of a workflow that is open. */
export const outcomes = workflow("Outcomes", async (taken: string) => {
  const { workflowId } = workflowInfo();
  const [one, two] = await parallel([
    () => spawn(quick, 1),
    () => executeChild(quick, { id: `${workflowId}-two`, args: [2] }),
  ]);
  const failures = await parallel([
    () => executeChild(failing, { args: ["this"] }),
    () => executeChild(failing, { args: ["late"], executionTimeout: "1s" }),
    () =>
      executeChild(failing, {
        args: ["retried"],
        retry: { initialInterval: 10, maximumAttempts: 4 },
      }),
    () => executeChild(patient, { id: taken, args: [false] }),
    () =>
      startChild(quick, { id: `${workflowId}-two`, args: [3], idReusePolicy: "REJECT_DUPLICATE" }),
    () => executeChild("Nowhere", { taskQueue: "unpolled", executionTimeout: "1s" }),
  ]);
  return {
    values: [one, two].map((each) => each.ok ? each.value : describeError(each.error)),
    failures: failures.map((each) => each.ok ? each.value : describeError(each.error)),
  };
});

type CancellationType =
  | "waitCancellationCompleted"
  | "waitCancellationRequested"
  | "tryCancel"
  | "abandon";

/** Starts a patient child under a known id, and cancels it. */
export const cancelling = workflow(
  "Cancelling",
  async (cancellationType: CancellationType, swallows: boolean) => {
    const id = `${workflowInfo().workflowId}-child`;
    const handle = await startChild(patient, {
      id,
      args: [swallows],
      cancellationType,
      parentClosePolicy: "ABANDON",
    });
    handle.cancel("not needed any more");
    const ended = await handle.result().then((value) => [value], (error) => {
      if (!(error instanceof ChildWorkflowFailure)) throw error;
      return describeError(error);
    });
    // A server drops the requests of a workflow that has closed before it sent them.
    await waitForSignal(release);
    return ended;
  },
);

/** Waits for a child; what becomes of it when this one is cancelled is the child's business. */
export const waiting = workflow(
  "Waiting",
  (swallows: boolean) =>
    executeChild(patient, { id: `${workflowInfo().workflowId}-child`, args: [swallows] }),
);

export const closing = workflow(
  "Closing",
  async (parentClosePolicy: "TERMINATE" | "ABANDON" | "REQUEST_CANCEL") => {
    const id = `${workflowInfo().workflowId}-child`;
    const { firstExecutionRunId } = await startChild(patient, {
      id,
      args: [false],
      parentClosePolicy,
    });
    return firstExecutionRunId;
  },
);

/** Signals a child, signals and cancels workflows of others, and finds some of them missing. */
export const messenger = workflow("Messenger", async (released: string, cancelled: string) => {
  const child = await startChild(patient, { args: [false] });
  await child.signal(release, "by its parent");
  const seen: unknown[] = [await child.result()];
  seen.push(await child.signal(release, "late").catch(describeError));
  await externalWorkflow(released).signal(release, "by a neighbor");
  await externalWorkflow(cancelled).cancel("a neighbor asks");
  seen.push(
    await externalWorkflow("absent").signal("x").catch(describeError),
    await externalWorkflow("absent").cancel().catch(describeError),
  );
  return seen;
});

/** Changes what it is found by. */
export const marked = workflow("Marked", async (round: number) => {
  upsertSearchAttributes([{ key: stage, value: `round ${round}` }, { key: score, value: round }]);
  upsertMemo({ note: { round }, [`kept${round}`]: true });
  await waitForSignal(release);
  upsertSearchAttributes([{ key: score, value: null }]);
  upsertMemo({ note: null });
  await waitForSignal(release);
  const { memo, searchAttributes } = workflowInfo();
  return round === 2 ? { memo, searchAttributes } : continueAsNew(round + 1);
});

/** A child of another task queue, whose worker belongs to another program. */
export const crossing = workflow(
  "Crossing",
  async (workflowType: string, taskQueue: string, args: unknown[]) => {
    const handle = await startChild<string>(workflowType, { taskQueue, args });
    await handle.signal("release", "over the border");
    return await handle.result().catch(describeError);
  },
);
