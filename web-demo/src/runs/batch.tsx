// Operations on all runs of the filter: one call for each run, from this page.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";
import { count } from "../ui/time.ts";
import { parseArguments } from "./arguments.ts";
import { Field } from "./form_dialog.tsx";
import {
  client,
  counts,
  isServerGone,
  listFilter,
  refresh,
  withCondition,
  withoutOrder,
} from "./state.ts";

type Operation = "cancel" | "terminate" | "signal" | "reset";

const OPERATIONS: readonly (readonly [Operation, string, string])[] = [
  ["cancel", "Cancel", "Requests cancellation of each open run."],
  ["terminate", "Terminate", "Ends each open run at once. The workflows cannot clean up."],
  ["signal", "Signal", "Sends the same signal to each open run."],
  ["reset", "Reset", "Resets each run, open or closed, to its first or last workflow task."],
];
/** Concurrent calls. */
const AT_ONCE = 3;
const CALL_MS = 20_000;
const MOST_FAILURES = 100;

interface Progress {
  readonly all: number;
  readonly done: number;
  readonly failures: readonly string[];
  readonly state: "running" | "stopped" | "done";
}

interface Wanted {
  readonly operation: Operation;
  readonly reason: string;
  readonly signalName: string;
  readonly args: unknown[];
  readonly point: "FIRST_WORKFLOW_TASK" | "LAST_WORKFLOW_TASK";
}

/** Applies the operation to one run. */
async function applyTo(
  run: { readonly workflowId: string; readonly runId: string },
  { operation, reason, signalName, args, point }: Wanted,
): Promise<void> {
  const handle = client!.getHandle(undefined as string | undefined, run.workflowId, run.runId)
    .with({ timeout: CALL_MS });
  if (operation === "cancel") await handle.cancel(reason);
  else if (operation === "terminate") await handle.terminate(reason);
  else if (operation === "signal") await handle.signal(signalName, ...args);
  else await handle.reset({ type: point, reason: reason || "batch reset in temporalex ui" });
}

/** Lists the runs first: an operation can remove runs from the filter. */
async function runBatch(
  wanted: Wanted,
  progress: Signal<Progress | undefined>,
  stop: AbortSignal,
): Promise<void> {
  const own = withoutOrder(listFilter());
  const query = wanted.operation === "reset"
    ? own
    : withCondition(own, 'ExecutionStatus = "Running"');
  const runs: { workflowId: string; runId: string }[] = [];
  for await (
    const { workflowId, runId } of client!.list(query, { pageSize: 1000, timeout: CALL_MS })
  ) {
    if (stop.aborted) break;
    runs.push({ workflowId, runId });
  }
  let done = 0;
  const failures: string[] = [];
  const tell = (
    state: Progress["state"],
  ) => (progress.value = { all: runs.length, done, failures: [...failures], state });
  tell("running");
  let next = 0;
  const work = async () => {
    while (next < runs.length && !stop.aborted) {
      const run = runs[next++]!;
      await applyTo(run, wanted).then(() => done++, (error: Error) => {
        if (failures.length < MOST_FAILURES) failures.push(`${run.workflowId}: ${error.message}`);
        else failures[MOST_FAILURES] = "More failures are not listed.";
        done++;
      });
      tell("running");
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  tell(stop.aborted && done < runs.length ? "stopped" : "done");
  await refresh();
}

export function BatchButton(): JSX.Element {
  const isOpen = useSignal(false);
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={isServerGone.value}
        onClick={() => (isOpen.value = true)}
      >
        Batch…
      </button>
      {isOpen.value && <BatchDialog isOpen={isOpen} />}
    </>
  );
}

function BatchDialog({ isOpen }: { isOpen: Signal<boolean> }): JSX.Element {
  const operation = useSignal<Operation>("cancel");
  const reason = useSignal("");
  const signalName = useSignal("");
  const args = useSignal("");
  const point = useSignal<Wanted["point"]>("LAST_WORKFLOW_TASK");
  const progress = useSignal<Progress | undefined>(undefined);
  const trouble = useSignal<string | undefined>(undefined);
  const stopping = useRef(new AbortController());
  // Closing the dialog stops the operation.
  useEffect(() => () => stopping.current.abort(), []);
  const [, title, text] = OPERATIONS.find(([name]) => name === operation.value)!;
  const all = Object.values(counts.value).reduce((sum, n) => sum + n, 0);
  const affected = operation.value === "reset" ? all : counts.value.RUNNING ?? 0;
  const filter = withoutOrder(listFilter());
  const isRunning = progress.value?.state === "running";
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isRunning) return;
    trouble.value = undefined;
    stopping.current = new AbortController();
    try {
      const wanted = {
        operation: operation.value,
        reason: reason.value.trim(),
        signalName: signalName.value.trim(),
        args: parseArguments(args.value),
        point: point.value,
      };
      progress.value = { all: affected, done: 0, failures: [], state: "running" };
      await runBatch(wanted, progress, stopping.current.signal);
    } catch (error) {
      progress.value = undefined;
      trouble.value = (error as Error).message;
    }
  };
  return (
    <Dialog id="batch" title="Apply to all runs of the filter" isOpen={isOpen}>
      <form class="form" onSubmit={(event) => void submit(event)}>
        <p class="second">
          {filter === "" ? "No filter: all runs." : <code class="wrap">{filter}</code>}
        </p>
        <label>
          Operation
          <select
            value={operation.value}
            disabled={isRunning}
            onChange={({ currentTarget }) => (operation.value = currentTarget.value as Operation)}
          >
            {OPERATIONS.map(([name, title]) => <option key={name} value={name}>{title}</option>)}
          </select>
        </label>
        <p class="second">{text}</p>
        {operation.value === "signal" && (
          <>
            <Field label="Signal" value={signalName} isMono isRequired />
            <Field label="Arguments" hint="one JSON value per line" value={args} isMono rows={2} />
          </>
        )}
        {operation.value === "reset" && (
          <label>
            After the
            <select
              value={point.value}
              onChange={(
                { currentTarget },
              ) => (point.value = currentTarget.value as typeof point.value)}
            >
              <option value="LAST_WORKFLOW_TASK">last workflow task</option>
              <option value="FIRST_WORKFLOW_TASK">first workflow task</option>
            </select>
          </label>
        )}
        {operation.value !== "signal" && (
          <Field label="Reason" hint="recorded in the histories" value={reason} />
        )}
        <ProgressText progress={progress.value} />
        {trouble.value !== undefined && <p class="bad" role="alert">{trouble.value}</p>}
        <p class="button-row">
          <button
            type="button"
            class="button"
            onClick={() => isRunning ? stopping.current.abort() : (isOpen.value = false)}
          >
            {isRunning ? "Stop" : progress.value === undefined ? "Leave the runs" : "Close"}
          </button>
          {progress.value === undefined && (
            <button
              type="submit"
              class={operation.value === "signal" ? "button main" : "button risky"}
              disabled={affected === 0 || isServerGone.value}
            >
              {`${title} ${count(affected)} ${affected === 1 ? "run" : "runs"}`}
            </button>
          )}
        </p>
      </form>
    </Dialog>
  );
}

function ProgressText({ progress }: { progress: Progress | undefined }): JSX.Element | null {
  if (progress === undefined) return null;
  const { all, done, failures, state } = progress;
  const failed = failures.length > MOST_FAILURES ? `over ${MOST_FAILURES}` : count(failures.length);
  return (
    <div>
      <p role="status">
        {state === "stopped" ? "Stopped: " : ""}
        {`${count(done)} of ${count(all)} runs processed`}
        {failures.length > 0 ? `, ${failed} failed.` : "."}
      </p>
      {failures.length > 0 && (
        <ul class="batch-failures bad">{failures.map((text) => <li key={text}>{text}</li>)}</ul>
      )}
    </div>
  );
}
