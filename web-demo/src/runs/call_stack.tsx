// Where the code of a running workflow waits: the query `__stack_trace`, on request.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { client, isServerGone } from "./state.ts";
import { type Watched, watchedRun } from "./watched_run.ts";

const ASK_MS = 10_000;

export function CallStack({ run }: { run: Watched }): JSX.Element {
  const text = useSignal<string | undefined>(undefined);
  const trouble = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const askedAt = useSignal(0);
  const events = watchedRun.value?.model.lines.length ?? 0;
  const ask = async () => {
    isBusy.value = true;
    try {
      const handle = client!.getHandle(undefined as string | undefined, run.workflowId, run.runId);
      const stack = await handle.with({ timeout: ASK_MS }).query<unknown>("__stack_trace");
      text.value = typeof stack === "string" && stack.trim() !== ""
        ? stack
        : "The workflow does not wait at any line.";
      trouble.value = undefined;
      askedAt.value = events;
    } catch (error) {
      trouble.value = (error as Error).message;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <section class="section call-stack" aria-label="Call stack">
      <h3>Call stack</h3>
      {text.value !== undefined && <pre class="well" tabIndex={0}>{text.value}</pre>}
      {text.value !== undefined && askedAt.value < events && (
        <p class="soft" role="status">
          {`Of event ${askedAt.value}; the run has ${events} events.`}
        </p>
      )}
      {trouble.value !== undefined && <p class="bad wrap" role="alert">{trouble.value}</p>}
      <button
        type="button"
        class="button small"
        disabled={isBusy.value || isServerGone.value}
        onClick={() => void ask()}
      >
        {text.value === undefined ? "Show call stack" : "Update call stack"}
      </button>
    </section>
  );
}
