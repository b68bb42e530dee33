// Resets a run to a workflow task, with a preview of the messages that are applied again.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { fromBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { count, date } from "../ui/time.ts";
import { Field, FormDialog } from "./form_dialog.tsx";
import { previewReset, type Reapplied, type ResetPreview, resetTasks } from "./reset_preview.ts";
import { client, isServerGone, refresh } from "./state.ts";
import { type Watched, watchedRun, watchRun } from "./watched_run.ts";

const KINDS: readonly (readonly [Reapplied, string])[] = [
  ["SIGNAL", "signals"],
  ["UPDATE", "updates"],
  ["CANCEL_REQUEST", "cancel requests"],
];
/** Names that are listed for each kind. */
const MOST_NAMES = 12;

export function ResetButton({ run }: { run: Watched }): JSX.Element {
  const isOpen = useSignal(false);
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={isServerGone.value || watchedRun.value === undefined}
        onClick={() => (isOpen.value = true)}
      >
        Reset…
      </button>
      {isOpen.value && <ResetDialog run={run} isOpen={isOpen} />}
    </>
  );
}

function ResetDialog({ run, isOpen }: { run: Watched; isOpen: Signal<boolean> }): JSX.Element {
  // The history of the opening: the point does not move while the reader decides.
  const events = useMemo(() => fromBinary(HistorySchema, watchedRun.peek()!.bytes).events, []);
  const tasks = useMemo(() => resetTasks(events), [events]);
  const point = useSignal(tasks.at(-1)?.eventId ?? 0);
  const reason = useSignal("");
  const excluded = useSignal<readonly Reapplied[]>([]);
  const preview = useMemo(() => previewReset(events, point.value), [events, point.value]);
  const reset = async () => {
    try {
      const handle = client!.getHandle(undefined as string | undefined, run.workflowId, run.runId);
      const next = await handle.reset({
        eventId: point.value,
        reason: reason.value.trim() || "reset in temporalex ui",
        reapplyExclude: excluded.value,
        timeout: 30_000,
      });
      await refresh();
      await watchRun({ workflowId: run.workflowId, runId: next.runId! });
    } catch (error) {
      if (!(rootOf(error) instanceof ServiceError)) throw error;
      const { code, message } = rootOf(error) as ServiceError;
      throw code === Code.UNIMPLEMENTED
        ? new Error(`This service has no reset. ${message}`)
        : error;
    }
  };
  return (
    <FormDialog
      id="reset-run"
      title={`Reset ${run.workflowId}?`}
      isOpen={isOpen}
      action="Reset"
      isRisky
      isReady={tasks.length > 0}
      submit={reset}
    >
      <p class="second">
        A new run continues after the chosen workflow task. This run is terminated if it is open.
      </p>
      {tasks.length === 0
        ? <p class="bad">This run has no completed workflow task, so it has no reset point.</p>
        : (
          <label>
            After the workflow task
            <select
              value={String(point.value)}
              onChange={({ currentTarget }) => (point.value = Number(currentTarget.value))}
            >
              {tasks.map(({ eventId, timeMs }, i) => (
                <option key={eventId} value={String(eventId)}>
                  {`${i + 1}${
                    i === 0 ? " (first)" : i === tasks.length - 1 ? " (last)" : ""
                  }, event ${count(eventId)}${timeMs === undefined ? "" : `, ${date(timeMs)}`}`}
                </option>
              ))}
            </select>
          </label>
        )}
      <Preview preview={preview} excluded={excluded} />
      <Field label="Reason" hint="recorded in the history" value={reason} />
    </FormDialog>
  );
}

function Preview(
  { preview, excluded }: { preview: ResetPreview; excluded: Signal<readonly Reapplied[]> },
): JSX.Element {
  const { messages, again, children } = preview;
  const kinds = KINDS.filter(([kind]) => messages.some((message) => message.kind === kind));
  return (
    <div class="reset-preview" aria-live="polite">
      {kinds.length === 0 && <p>No message arrived after this task, so none is applied again.</p>}
      {kinds.map(([kind, title]) => {
        const own = messages.filter((message) => message.kind === kind);
        const isExcluded = excluded.value.includes(kind);
        return (
          <label key={kind} class="check">
            <input
              type="checkbox"
              checked={!isExcluded}
              onChange={() => (excluded.value = isExcluded
                ? excluded.value.filter((each) => each !== kind)
                : [...excluded.value, kind])}
            />
            <span>
              {`Apply ${count(own.length)} ${own.length === 1 ? title.slice(0, -1) : title} again`}
              <span class="soft">
                {kind === "CANCEL_REQUEST"
                  ? ""
                  : `: ${own.slice(0, MOST_NAMES).map(({ name }) => name).join(", ")}${
                    own.length > MOST_NAMES ? ", …" : ""
                  }`}
              </span>
            </span>
          </label>
        );
      })}
      {again.length > 0 && (
        <p>
          Later work that the new run can request again:{" "}
          {again.map(({ what, times }) => times === 1 ? what : `${what} (${times} times)`).join(
            ", ",
          )}.
        </p>
      )}
      {children.length > 0 && (
        <p class="bad">
          {`The reset does not undo ${count(children.length)} later child ${
            children.length === 1 ? "workflow" : "workflows"
          }: ${children.slice(0, MOST_NAMES).join(", ")}.`}
        </p>
      )}
    </div>
  );
}

/** The service's error in the client's error. */
function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && !(root instanceof ServiceError) && root.cause instanceof Error) {
    root = root.cause;
  }
  return root;
}
