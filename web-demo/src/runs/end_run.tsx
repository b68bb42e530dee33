// Buttons that cancel and terminate a run, each with a dialog that names the run.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Dialog } from "../ui/dialog.tsx";
import { client, isServerGone, refresh } from "./state.ts";
import type { Watched } from "./watched_run.ts";

interface How {
  readonly id: string;
  readonly button: string;
  readonly title: string;
  readonly text: string;
  readonly class: string;
  end(run: Watched, reason: string): Promise<void>;
}

const handleOf = ({ workflowId, runId }: Watched) =>
  client!.getHandle(undefined as string | undefined, workflowId, runId).with({ timeout: 10_000 });

const WAYS: readonly How[] = [
  {
    id: "cancel-run",
    button: "Cancel",
    title: "Cancel this run?",
    text: "Requests cancellation. The workflow can clean up first.",
    class: "button",
    end: (run, reason) => handleOf(run).cancel(reason),
  },
  {
    id: "terminate-run",
    button: "Terminate",
    title: "Terminate this run?",
    text: "Ends the workflow at once. The workflow cannot clean up.",
    class: "button risky",
    end: (run, reason) => handleOf(run).terminate(reason),
  },
];

function EndButton({ run, how }: { run: Watched; how: How }): JSX.Element {
  const isOpen: Signal<boolean> = useSignal(false);
  const reason = useSignal("");
  const trouble = useSignal<string | undefined>(undefined);
  const end = async (event: Event) => {
    event.preventDefault();
    try {
      await how.end(run, reason.value);
      isOpen.value = false;
      await refresh();
    } catch (error) {
      trouble.value = (error as Error).message;
    }
  };
  return (
    <>
      <button
        type="button"
        class={how.class}
        disabled={isServerGone.value}
        onClick={() => (isOpen.value = true)}
      >
        {how.button}…
      </button>
      <Dialog id={how.id} title={how.title} isOpen={isOpen}>
        <form onSubmit={(event) => void end(event)}>
          <p>
            <b class="mono">{run.workflowId}</b> <span class="soft mono">{run.runId}</span>
          </p>
          <p>{how.text}</p>
          <label class="reason">
            Reason <span class="soft">(recorded in the history)</span>
            <input
              value={reason.value}
              onInput={(event) => (reason.value = event.currentTarget.value)}
            />
          </label>
          {trouble.value !== undefined && <p class="bad" role="alert">{trouble.value}</p>}
          <p class="dialog-buttons">
            <button type="submit" class={how.class}>{how.button} {run.workflowId}</button>
            <button type="button" class="button" onClick={() => (isOpen.value = false)}>
              Leave it running
            </button>
          </p>
        </form>
      </Dialog>
    </>
  );
}

export const EndRun = ({ run }: { run: Watched }): JSX.Element => (
  <section class="section end-run" aria-label="End the run">
    {WAYS.map((how) => <EndButton key={how.id} run={run} how={how} />)}
  </section>
);
