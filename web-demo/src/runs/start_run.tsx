// Starts a run, optionally with a signal. Types, task queues and signals come from known runs.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { WorkflowSummary } from "temporalex/client";
import { TaskQueueType } from "../../../ts/messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import { parseArguments } from "./arguments.ts";
import { type DeclaredMessage, declaredMessages } from "./declared_messages.ts";
import { Field, FormDialog } from "./form_dialog.tsx";
import { callsOfService } from "./service.ts";
import { client, isServerGone, namespace, refresh, rows, view } from "./state.ts";
import { watchRun } from "./watched_run.ts";

const CALL_MS = 10_000;
/** After this pause in typing the queue is checked. */
const REST_MS = 300;

export function StartButton(): JSX.Element {
  const isOpen = useSignal(false);
  return (
    <>
      <button
        type="button"
        class="button main"
        id="start-run-button"
        disabled={isServerGone.value}
        onClick={() => (isOpen.value = true)}
      >
        Start a run…
      </button>
      {isOpen.value && <StartDialog isOpen={isOpen} />}
    </>
  );
}

/** The latest run of each type. */
function latestByType(): ReadonlyMap<string, WorkflowSummary> {
  const latest = new Map<string, WorkflowSummary>();
  for (const run of rows.value ?? []) {
    const before = latest.get(run.type);
    if (before === undefined || (run.startTime ?? 0) > (before.startTime ?? 0)) {
      latest.set(run.type, run);
    }
  }
  return latest;
}

function StartDialog({ isOpen }: { isOpen: Signal<boolean> }): JSX.Element {
  const latest = latestByType();
  const type = useSignal("");
  const id = useSignal("");
  const queue = useSignal("");
  const args = useSignal("");
  const signalName = useSignal("");
  const signalArgs = useSignal("");
  const hasSignal = useSignal(false);
  const declared = useDeclaredSignals(type, latest);
  const warning = useQueueWarning(queue);
  const chooseType = (name: string) => {
    const known = latest.get(name);
    if (known !== undefined) queue.value = known.taskQueue;
  };
  const submit = async () => {
    const given = {
      id: id.value.trim() || crypto.randomUUID(),
      taskQueue: queue.value.trim(),
      args: named("the workflow", () => parseArguments(args.value)),
      timeout: CALL_MS,
    };
    const handle = hasSignal.value
      ? await client!.signalWithStart(type.value.trim(), {
        ...given,
        signal: signalName.value.trim(),
        signalArgs: named("the signal", () => parseArguments(signalArgs.value)),
      })
      : await client!.start(type.value.trim(), given);
    view.value = "list";
    await refresh();
    await watchRun({ workflowId: handle.workflowId, runId: handle.runId! });
  };
  return (
    <FormDialog
      id="start-run"
      title="Start a run"
      isOpen={isOpen}
      action={hasSignal.value ? "Signal with start" : "Start"}
      submit={submit}
    >
      <datalist id="known-types">
        {[...latest.keys()].map((name) => <option key={name} value={name} />)}
      </datalist>
      <datalist id="known-queues">
        {[...new Set([...latest.values()].map(({ taskQueue }) => taskQueue))].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id="declared-signals">
        {declared.value.map(({ name }) => <option key={name} value={name} />)}
      </datalist>
      <Field
        label="Workflow type"
        value={type}
        list="known-types"
        isMono
        isRequired
        onInput={chooseType}
      />
      <Field label="Task queue" value={queue} list="known-queues" isMono isRequired />
      {warning.value !== undefined && <p class="second" role="status">{warning.value}</p>}
      <Field label="Workflow id" hint="default: a random id" value={id} isMono />
      <Field label="Arguments" hint="one JSON value per line" value={args} isMono rows={3} />
      <label class="check">
        <input
          type="checkbox"
          checked={hasSignal.value}
          onChange={() => (hasSignal.value = !hasSignal.value)}
        />
        Send a signal; start the workflow if it does not run
      </label>
      {hasSignal.value && (
        <>
          <Field
            label="Signal"
            hint={declared.value.length === 0
              ? undefined
              : `declared: ${declared.value.map(({ name }) => name).join(", ")}`}
            value={signalName}
            list="declared-signals"
            isMono
            isRequired
          />
          <Field
            label="Arguments of the signal"
            hint="one JSON value per line"
            value={signalArgs}
            isMono
            rows={2}
          />
        </>
      )}
    </FormDialog>
  );
}

/** Names whose arguments are invalid. */
function named<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`);
  }
}

/** The signals that the latest run of the type declares; none without a worker. */
function useDeclaredSignals(
  type: Signal<string>,
  latest: ReadonlyMap<string, WorkflowSummary>,
): Signal<readonly DeclaredMessage[]> {
  const declared = useSignal<readonly DeclaredMessage[]>([]);
  const run = latest.get(type.value);
  useEffect(() => {
    let isOver = false;
    declared.value = [];
    if (run !== undefined) {
      void declaredMessages(run).then((list) => {
        if (!isOver) declared.value = list.filter(({ kind }) => kind === "signal");
      }, () => {
        // Without a worker, the names are unknown and can be typed.
      });
    }
    return () => {
      isOver = true;
    };
  }, [run?.runId]);
  return declared;
}

/** A sentence if no worker polls the queue. */
function useQueueWarning(queue: Signal<string>): Signal<string | undefined> {
  const warning = useSignal<string | undefined>(undefined);
  const name = queue.value.trim();
  useEffect(() => {
    warning.value = undefined;
    if (name === "") return;
    let isOver = false;
    const timer = setTimeout(() => {
      const request = { namespace, taskQueue: { name }, taskQueueType: TaskQueueType.WORKFLOW };
      void callsOfService.describeTaskQueue(request, { timeoutMs: CALL_MS }).then(({ pollers }) => {
        if (isOver || pollers.length > 0) return;
        warning.value = `No worker polls ${name}: the run waits until one does.`;
      }, () => {
        // The start reports an error of the service.
      });
    }, REST_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [name]);
  return warning;
}
