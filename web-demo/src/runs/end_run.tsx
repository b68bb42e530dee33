// Buttons that reset, cancel and terminate a run, each with a dialog that names the run.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Field, FormDialog } from "./form_dialog.tsx";
import { ResetButton } from "./reset_run.tsx";
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
      <FormDialog
        id={how.id}
        title={how.title}
        isOpen={isOpen}
        action={`${how.button} ${run.workflowId}`}
        isRisky
        cancel="Leave it running"
        submit={async () => {
          await how.end(run, reason.value);
          await refresh();
        }}
      >
        <p>
          <b class="mono wrap">{run.workflowId}</b> <span class="soft mono wrap">{run.runId}</span>
        </p>
        <p class="second">{how.text}</p>
        <Field label="Reason" hint="recorded in the history" value={reason} />
      </FormDialog>
    </>
  );
}

/** A closed run can only be reset. */
export const EndRun = ({ run, isOpen }: { run: Watched; isOpen: boolean }): JSX.Element => (
  <section class="section end-run" aria-label={isOpen ? "End or reset the run" : "Reset the run"}>
    <ResetButton run={run} />
    {isOpen && WAYS.map((how) => <EndButton key={how.id} run={run} how={how} />)}
  </section>
);
